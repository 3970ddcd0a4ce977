"""Serves recorded exchanges as a gateway on loopback: same status, headers and bytes, at the recorded times.

A request gets the answer that was recorded for the same body, else the next one recorded for its endpoint. One that
asks for no stream gets what a recorded stream said as one body, when the stream had ended. It runs on the event loop
that starts it, listens on 127.0.0.1 only, asks for no key and connects to nobody. No web page gets anything from it,
unless its origin was named (``playground.loopback`` says how).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from playground.domain.accumulator import Accumulator
from playground.engine.cassettes.cassette import Cassette
from playground.engine.cassettes.playback_clock import PlaybackClock
from playground.engine.inspect.frames import FrameIndex
from playground.gateway.redact import MASK
from playground.gateway.tape import Exchange, Read
from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSON
from playground.loopback import ambiguous_length, is_origin, no_json, wrong_host
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    import h11

LARGEST_REQUEST: Final = 256 * 1024 * 1024  # bytes
PATIENCE: Final = 60.0  # seconds for a request to arrive, and for the next one on a connection
#: Headers that are about one connection, or about a body as it came over it; ours is written anew.
_OF_THE_CONNECTION: Final = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding", "upgrade", "trailer"}
)
#: What a recorded gateway allowed to web pages. Ours allows what it was told to.
_FOR_PAGES: Final = ("access-control-", "timing-allow-origin", "cross-origin-")
_BODILESS: Final = (204, 304)

Log = Callable[[str], None]


class Piece(NamedTuple):
    """Bytes of an answer that came together, within one frame; ``first`` of it or not."""

    at: float
    data: bytes
    first: bool


class Asked(NamedTuple):
    """A request as it came; ``headers`` with names in lower case."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def path(self) -> str:
        """The target without its query, and without a slash at its end."""
        return self.target.partition("?")[0].rstrip("/")

    def all(self, name: str) -> list[str]:
        """The values of the headers of that name."""
        return [value for one, value in self.headers if one == name]


class Reel:
    """Which of a cassette's exchanges answers which request."""

    def __init__(self, exchanges: tuple[Exchange, ...]) -> None:
        self._exchanges = exchanges
        self._bodies = [_body_key(exchange.request_body) for exchange in exchanges]
        self._played: Counter[int] = Counter()

    @property
    def models(self) -> list[str]:
        """The models that were asked, each once."""
        found = []
        for exchange in self._exchanges:
            with contextlib.suppress(ValueError, RecursionError):
                body = loads(exchange.request_body or b"null")
                if isinstance(body, dict) and isinstance(body.get("model"), str):
                    found.append(body["model"])
        return list(dict.fromkeys(found))

    def choose(self, path: str, body: bytes) -> tuple[int, bool] | None:
        """The exchange for a request, by its number, and whether its body is the same; None for an unknown path.

        Of several, the one that was played least, and of those the first.
        """
        protocol = next((name for name in PROTOCOLS if path.endswith(get_protocol(name).endpoint)), None)
        numbers = [number for number, exchange in enumerate(self._exchanges) if exchange.protocol == protocol]
        if protocol is None or not numbers:
            return None
        key = _body_key(body)
        alike = [number for number in numbers if self._bodies[number] == key]
        number = min(alike or numbers, key=lambda one: (self._played[one], one))
        self._played[number] += 1
        return number, bool(alike)


class ReplayServer:
    """``start`` it and ``aclose`` it on the same event loop. ``log`` is told of each request, in one line.

    It answers to loopback names and to ``hosts``. Web pages of the origins ``pages`` ("*": of all) may read them.
    """

    def __init__(
        self,
        cassette: Cassette,
        clock: PlaybackClock | None = None,
        port: int = 0,
        log: Log | None = None,
        *,
        hosts: Collection[str] = (),
        pages: Collection[str] = (),
    ) -> None:
        self.clock = clock or PlaybackClock()
        self._hosts = frozenset(hosts)
        self._pages = frozenset(pages)
        self.base_url = ""
        self._exchanges = cassette.exchanges
        self._reel = Reel(cassette.exchanges)
        self._port = port
        self._log = log or (lambda _: None)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._quiet = asyncio.Event()  # nobody is served
        self._quiet.set()

    async def start(self) -> str:
        """Listen, and give the base address to enter into a client. Raises OSError in words."""
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        except OSError as error:
            reason = error.strerror or str(error)
            raise OSError(f"Cannot listen on port {self._port}: {reason}. Choose another, or 0 for any.") from None
        host, port = self._server.sockets[0].getsockname()[:2]
        self.base_url = f"http://{host}:{port}/v1"
        return self.base_url

    async def aclose(self) -> None:
        """End, with whatever is being sent."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
            for writer in tuple(self._open):
                writer.transport.abort()
            self.clock.wake()
            await self._quiet.wait()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        import h11

        self._open.add(writer)
        self._quiet.clear()
        with contextlib.suppress(OSError):
            writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = _Connection(h11.Connection(h11.SERVER), reader, writer)
        try:
            while request := await connection.request():
                connection.for_pages = self._for_pages(request)
                if not await self._answer(connection, request) or not connection.again():
                    break
        except h11.RemoteProtocolError as error:
            with contextlib.suppress(OSError, h11.ProtocolError):
                self._log(f"Refused what is no HTTP request: {error}")
                await connection.refuse(f"This is no HTTP request: {error}.")
        except (OSError, TimeoutError, h11.ProtocolError):
            pass  # a client that went away or fell silent
        finally:
            writer.close()
            self._open.discard(writer)
            if not self._open:
                self._quiet.set()

    async def _answer(self, connection: _Connection, asked: Asked) -> bool:
        """Answer one request; gives whether the answer is whole, so that another one may follow on the connection."""
        method, path = asked.method, asked.path
        if refused := self._refusal(asked):
            status, message = refused
            self._log(f"{method} {path}: refused. {message}")
            await connection.reply(status, {"code": status, "message": message, "data": None})
            return True
        if method == "OPTIONS" and connection.for_pages:
            await connection.reply(200, {})
            return True
        if method == "GET" and path.endswith("/models"):
            models = [{"id": name, "object": "model"} for name in self._reel.models]
            await connection.reply(200, {"object": "list", "data": models})
            return True
        chosen = self._reel.choose(path, asked.body) if method == "POST" else None
        if chosen is None:
            self._log(f"{method} {path}: nothing recorded")
            message = f"Nothing is recorded for {method} {path}."
            await connection.reply(404, {"code": 404, "message": message, "data": None})
            return True
        number, alike = chosen
        how = "the same body" if alike else "another body, taken in order"
        exchange = self._exchanges[number]
        if _wants_one_body(asked.body) and (whole := as_one_body(exchange)) is not None:
            exchange, how = whole, f"{how}; the stream as one body"
        self._log(f"{method} {path}: exchange {number + 1} of {len(self._exchanges)} ({how})")
        return await self._play(connection, exchange)

    def _refusal(self, asked: Asked) -> tuple[int, str] | None:
        """The status and the words for a request that a web page may have sent; None for one that is answered."""
        if not asked.target.startswith(("/", "*")):  # a target with a host in it counts for more than the header
            return 421, "The request is for a proxy; this server answers for itself alone."
        if message := wrong_host(asked.all("host"), self._hosts, "replay"):
            return 421, message
        if (asked.body or asked.method == "POST") and (message := no_json(asked.all("content-type"))):
            return 415, message
        if asked.all("access-control-request-method") and not self._for_pages(asked):
            origin = next(iter(asked.all("origin")), "")[:100]
            mended = f" If it is yours: playground replay --cors {origin}" if is_origin(origin) else ""
            return 403, f"A web page asks to read the answers, and none may.{mended}"
        return None

    def _for_pages(self, asked: Asked) -> list[tuple[str, str]]:
        """The headers that let the page read which sent the request; none, unless its origin was named."""
        origin = next(iter(asked.all("origin")), None)
        if origin is None or not ({"*", origin} & self._pages):
            return []
        wanted = ", ".join(asked.all("access-control-request-headers"))
        return [
            ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Allow-Methods", "GET, POST"),
            *([("Access-Control-Allow-Headers", wanted)] if wanted else []),
            ("Access-Control-Expose-Headers", "*"),
            ("Vary", "Origin"),
        ]

    async def _play(self, connection: _Connection, exchange: Exchange) -> bool:
        """Send a recorded answer. False where it broke off: the connection ends as the recorded one did."""
        clock, gone = self.clock, connection.gone
        # What the recorded request took to go out is not ours to wait for: this one is here.
        begun = clock.now - next((at for at in (exchange.sent, exchange.connected) if at is not None), 0.0)
        ended = exchange.ended or 0.0
        answered = exchange.answered if exchange.answered is not None else ended
        if not await clock.until(begun + answered, gone) or exchange.status is None or exchange.status < 200:
            return False
        connection.begin(exchange)
        await connection.flush()
        for piece in pieces(exchange):
            if not await clock.until(begun + piece.at, gone, step=piece.first):
                return False
            if clock.stands_still:
                begun = clock.now - piece.at  # from here on, should it go again
            connection.send(piece.data)
            await connection.flush()
        if not await clock.until(begun + ended, gone) or not exchange.complete:
            return False
        connection.end()
        await connection.flush()
        return True


def as_one_body(exchange: Exchange) -> Exchange | None:
    """A recorded stream as the exchange it would have been without streaming; None for one that is no stream.

    What broke off or failed on its way stays as it was recorded: there is no whole of it.
    """
    streamed = (exchange.content_type or "").partition(";")[0].strip().lower() == "text/event-stream"
    if not streamed or not exchange.protocol or not exchange.complete:
        return None
    protocol = get_protocol(exchange.protocol)
    answer = Accumulator()
    for _, events in exchange.replay(protocol.decoder(exchange.content_type)):
        answer.add_events(events)
    if answer.failure is not None or not answer.ending_seen:
        return None
    try:
        body = json.dumps(protocol.write_answer(answer, int(exchange.started_at)), ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    headers = [pair for pair in exchange.response_headers if pair[0].lower() != "content-type"]
    at = exchange.reads[-1].at if exchange.reads else exchange.ended or 0.0
    return replace(
        exchange,
        response_headers=(("Content-Type", "application/json"), *headers),
        reads=[Read(at, body.encode("utf-8", "replace"))],
        answered=at,  # without a stream, nothing is said before all is known
    )


def _wants_one_body(body: bytes) -> bool:
    """Whether a request can be read and asks for no stream."""
    try:
        asked = loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(asked, dict) and asked.get("stream") is not True


def pieces(exchange: Exchange) -> Iterator[Piece]:
    """The reads of an answer, cut where a frame ends as well."""
    index = FrameIndex(exchange)
    index.extend()
    ends = sorted({index.end_of(number) for number in range(len(index))} - {0})
    position, frame, first = 0, 0, True
    for at, data in exchange.reads:
        left = data
        while left:
            room = ends[frame] - position if frame < len(ends) else len(left)
            piece, left = left[:room], left[room:]
            yield Piece(at, piece, first)
            position += len(piece)
            first = len(piece) == room
            frame += first


class _Connection:
    """One client: requests in, answers out, in HTTP/1.1 as ``h11`` spells it."""

    def __init__(self, http: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._http = http
        self._reader = reader
        self._writer = writer
        self.for_pages: list[tuple[str, str]] = []  # headers of the next answer

    def gone(self) -> bool:
        """Whether the client has closed the connection."""
        return self._reader.at_eof() or self._writer.is_closing()

    async def request(self) -> Asked | None:
        """The next request; None when there is none. Raises as asyncio and h11 do."""
        import h11

        asked = Asked("", "", (), b"")
        body = bytearray()
        async with asyncio.timeout(PATIENCE):
            while True:
                event = self._http.next_event()
                if event is h11.NEED_DATA:
                    if self._http.they_are_waiting_for_100_continue:
                        self._write(h11.InformationalResponse(status_code=100, headers=[]))
                    self._http.receive_data(await self._reader.read(65536))
                elif isinstance(event, h11.Request):
                    headers = tuple((name.decode("ascii"), value.decode("latin-1")) for name, value in event.headers)
                    asked = Asked(event.method.decode("ascii"), event.target.decode("ascii", "replace"), headers, b"")
                    version = event.http_version.decode("ascii")
                    if refused := ambiguous_length([name for name, _ in headers], version):
                        await self.refuse(refused)
                        return None
                elif isinstance(event, h11.Data):
                    body += event.data
                    if len(body) > LARGEST_REQUEST:
                        return None
                elif isinstance(event, h11.EndOfMessage):
                    return asked._replace(body=bytes(body))
                else:  # closed, or paused
                    return None

    async def refuse(self, message: str) -> None:
        """Answer a request that cannot be read with 400. No other one is read on this connection."""
        await self.reply(400, {"code": 400, "message": message, "data": None}, last=True)

    async def reply(self, status: int, value: JSON, *, last: bool = False) -> None:
        """A whole JSON answer of our own; after the ``last`` one the connection is closed."""
        import h11

        body = json.dumps(value).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), *self.for_pages]
        headers += [("Connection", "close")] if last else []
        self._write(h11.Response(status_code=status, headers=headers))
        self.send(body)
        self.end()
        await self.flush()

    def begin(self, exchange: Exchange) -> None:
        """Status and headers as recorded, without what belongs to the connection, was masked, or is for web pages."""
        import h11

        headers = [(name.encode(), value.encode("latin-1")) for name, value in self.for_pages]
        for name, value in exchange.response_headers:
            if name.lower() in _OF_THE_CONNECTION or name.lower().startswith(_FOR_PAGES) or MASK in value:
                continue
            with contextlib.suppress(h11.LocalProtocolError, UnicodeError):
                pair = (name.encode("ascii"), value.encode("latin-1"))
                h11.Response(status_code=200, headers=[pair])  # refuses what no header can carry
                headers.append(pair)
        status = exchange.status or 0
        if status not in _BODILESS:
            headers.append((b"Transfer-Encoding", b"chunked"))
        reason = exchange.reason.encode("ascii", "replace") if exchange.reason.isprintable() else b""
        self._write(h11.Response(status_code=status, headers=headers, reason=reason))

    def send(self, data: bytes) -> None:
        """A piece of the body."""
        import h11

        self._write(h11.Data(data=data))

    def end(self) -> None:
        """The end of the body."""
        import h11

        self._write(h11.EndOfMessage())

    async def flush(self) -> None:
        """Wait until the client has taken enough. Raises OSError when it has gone."""
        await self._writer.drain()

    def again(self) -> bool:
        """Make ready for another request; gives whether there can be one."""
        import h11

        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            return True
        return False

    def _write(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data:
            self._writer.write(data)


def _body_key(body: bytes) -> str:
    """A text that bodies share which say the same."""
    try:
        return json.dumps(loads(body), sort_keys=True)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")
