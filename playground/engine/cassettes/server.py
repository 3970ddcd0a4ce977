"""Serve recorded exchanges as a gateway on loopback: same status, headers and bytes, at the recorded times.

A request gets the answer that was recorded for the same body, else the next one recorded for its endpoint. A request
without streaming gets a recorded stream as one body, if the stream is complete. The server runs on the event loop that
starts it, listens on 127.0.0.1 only, asks for no key and opens no connections. Web pages can read its answers only if
their origin was named (see ``playground.system.loopback``). The reason phrase is that of the status, not the recorded
one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from playground.domain.accumulator import Accumulator
from playground.engine.cassettes.cassette import Cassette
from playground.engine.inspect.frames import FrameIndex
from playground.engine.io.loopback_server import LoopbackServer, wait_for_disconnect
from playground.gateway.redact import MASK
from playground.gateway.tape import Exchange, Read
from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSON
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol
from playground.system.loopback import ambiguous_length, is_origin, no_json, wrong_host

_CHECK_INTERVAL: Final = 0.5  # seconds between checks for a disconnected client


class PlaybackClock:
    """A clock that runs at ``speed`` times the real one, or waits for ``step``."""

    def __init__(self, speed: float = 1.0) -> None:
        self._speed = _checked(speed)
        self._stepping = False
        self._permits = 0
        self._anchor = (time.monotonic(), 0.0)  # real time and time on this clock at the last change
        self._changed = asyncio.Event()

    @property
    def speed(self) -> float:
        """Times the recorded speed; infinity for at once."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        speed = _checked(speed)
        self._anchor = (time.monotonic(), self.now)
        self._speed = speed
        self.wake()

    @property
    def stepping(self) -> bool:
        """True while each frame waits for ``step``."""
        return self._stepping

    @stepping.setter
    def stepping(self, stepping: bool) -> None:
        self._anchor = (time.monotonic(), self.now)
        self._stepping, self._permits = stepping, 0
        self.wake()

    def step(self, count: int = 1) -> None:
        """Release ``count`` frames."""
        if self._stepping:
            self._permits += count
            self.wake()

    @property
    def is_untimed(self) -> bool:
        """True while stepping or at infinite speed: the clock does not run then."""
        return self._stepping or math.isinf(self._speed)

    @property
    def now(self) -> float:
        """Recorded seconds since the clock was made."""
        real, ours = self._anchor
        return ours if self.is_untimed else ours + (time.monotonic() - real) * self._speed

    async def wait_until(self, due: float, is_disconnected: Callable[[], bool], *, step: bool = False) -> bool:
        """Wait until ``due`` on this clock; with ``step``, while stepping, wait for a step instead.

        Return False as soon as ``is_disconnected`` returns true.
        """
        while not is_disconnected():
            if self._stepping:
                if not step:
                    return True
                if self._permits:
                    self._permits -= 1
                    return True
                delay = _CHECK_INTERVAL
            elif math.isinf(self._speed):
                return True
            else:
                delay = min((due - self.now) / self._speed, _CHECK_INTERVAL)
                if delay <= 0:
                    return True
            changed = self._changed
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(delay):
                    await changed.wait()
        return False

    def wake(self) -> None:
        """Make all waits check their conditions again."""
        self._changed.set()
        self._changed = asyncio.Event()


def _checked(speed: float) -> float:
    if not speed > 0:
        raise ValueError("The speed must be more than 0.")
    return speed


MAX_REQUEST_SIZE: Final = 256 * 1024 * 1024  # bytes of a body
REQUEST_TIMEOUT: Final = 60  # seconds for a body to arrive
#: Headers about one connection, or about a body as it was transferred; the server writes its own.
_CONNECTION_HEADERS: Final = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding", "upgrade", "trailer"}
)
#: Permissions that the recorded gateway gave to web pages; this server gives its own.
_PAGE_HEADERS: Final = ("access-control-", "timing-allow-origin", "cross-origin-")
_HEADER_NAME: Final = re.compile(rb"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
_HEADER_VALUE: Final = re.compile(rb"([^\x00\s]+([ \t]+[^\x00\s]+)*)?")

Log = Callable[[str], None]
RawHeaders = list[tuple[bytes, bytes]]


class Piece(NamedTuple):
    """Bytes of an answer that were read together and belong to one frame; ``first`` if the frame begins with them.

    ``due`` is in seconds since the start of the exchange.
    """

    due: float
    data: bytes
    first: bool


class ResponseMatcher:
    """Chooses the recorded exchange that answers a request."""

    def __init__(self, exchanges: tuple[Exchange, ...]) -> None:
        self._exchanges = exchanges
        self._bodies = [_body_key(exchange.request_body) for exchange in exchanges]
        self._replays: Counter[int] = Counter()

    @property
    def models(self) -> list[str]:
        """The names of the models in the recorded requests, each once."""
        names = []
        for exchange in self._exchanges:
            with contextlib.suppress(ValueError, RecursionError):
                body = loads(exchange.request_body or b"null")
                if isinstance(body, dict) and isinstance(body.get("model"), str):
                    names.append(body["model"])
        return list(dict.fromkeys(names))

    def choose(self, path: str, body: bytes) -> tuple[int, bool] | None:
        """Return the index of an exchange and whether its body is the same; None for a path without exchanges.

        Of several exchanges, the one that was replayed least, and of those the first.
        """
        protocol = next((name for name in PROTOCOLS if path.endswith(get_protocol(name).endpoint)), None)
        indexes = [index for index, exchange in enumerate(self._exchanges) if exchange.protocol == protocol]
        if protocol is None or not indexes:
            return None
        key = _body_key(body)
        same = [index for index in indexes if self._bodies[index] == key]
        index = min(same or indexes, key=lambda index: (self._replays[index], index))
        self._replays[index] += 1
        return index, bool(same)


class ReplayServer:
    """A gateway that replays ``cassette``. ``start`` and ``aclose`` it on the same event loop.

    ``log`` receives one line for each request. Loopback names and ``hosts`` are accepted as host. Web pages of the
    origins ``pages`` ("*" for all) may read answers.
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
        self.base_url = ""
        self._hosts = frozenset(hosts)
        self._pages = frozenset(pages)
        self._exchanges = cassette.exchanges
        self._matcher = ResponseMatcher(cassette.exchanges)
        self._log = log or (lambda _: None)
        self._server = LoopbackServer(self._answer, port)

    async def start(self) -> str:
        """Listen, and return the base address to enter into a client. Raises OSError in words."""
        host, port = await self._server.start()
        self.base_url = f"http://{host}:{port}/v1"
        return self.base_url

    async def aclose(self) -> None:
        """Close the server and all connections, also in the middle of an answer."""
        self._server.abort()
        self.clock.wake()
        await self._server.aclose()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; this is the ASGI application."""
        request = Request(scope, receive)
        method, path = request.method, scope["raw_path"].decode("ascii").rstrip("/")
        if message := ambiguous_length(request.headers.keys(), scope["http_version"]):
            await _error(400, message, {"Connection": "close"})(scope, receive, send)
            return
        try:
            body = await _read_body(request)
        except (ClientDisconnect, TimeoutError, ValueError):
            await self._hang_up(scope, receive)
            return
        page_headers = self._page_headers(request)
        response: JSONResponse | None = None
        if refusal := self._refusal(request, path, has_body=bool(body)):
            self._log(f"{method} {path}: refused. {refusal[1]}")
            response = _error(*refusal, page_headers)
        elif method == "OPTIONS" and page_headers:
            response = JSONResponse({}, headers=page_headers)
        elif method == "GET" and path.endswith("/models"):
            models: list[JSON] = [{"id": name, "object": "model"} for name in self._matcher.models]
            response = JSONResponse({"object": "list", "data": models}, headers=page_headers)
        choice = self._matcher.choose(path, body) if method == "POST" and response is None else None
        if response is None and choice is None:
            self._log(f"{method} {path}: nothing recorded")
            response = _error(404, f"Nothing is recorded for {method} {path}.", page_headers)
        if response is not None:
            await response(scope, receive, send)
        elif choice is not None:
            exchange = self._select(choice, method, path, body)
            headers: RawHeaders = [(name.encode(), value.encode("latin-1")) for name, value in page_headers.items()]
            if not await self._play(exchange, headers, receive, send):
                await self._hang_up(scope, receive)

    def _select(self, choice: tuple[int, bool], method: str, path: str, body: bytes) -> Exchange:
        """Return the chosen exchange, its stream merged into one body if the request asks for none, and log it."""
        index, same = choice
        reason = "the same body" if same else "another body, taken in order"
        exchange = self._exchanges[index]
        if _wants_one_body(body) and (merged := merge_stream(exchange)) is not None:
            exchange, reason = merged, f"{reason}; the stream as one body"
        self._log(f"{method} {path}: exchange {index + 1} of {len(self._exchanges)} ({reason})")
        return exchange

    def _refusal(self, request: Request, path: str, *, has_body: bool) -> tuple[int, str] | None:
        """Return status and message for a request that a web page may have sent; None for an acceptable one."""
        headers = request.headers
        if not path.startswith("/") and path not in ("", "*"):  # the host of an absolute target overrides the header
            return 421, "The request is for a proxy; this server answers for itself alone."
        if message := wrong_host(headers.getlist("host"), self._hosts, "replay"):
            return 421, message
        if (has_body or request.method == "POST") and (message := no_json(headers.getlist("content-type"))):
            return 415, message
        if "access-control-request-method" in headers and not self._page_headers(request):
            origin = headers.get("origin", "")[:100]
            remedy = f" If it is yours: playground replay --cors {origin}" if is_origin(origin) else ""
            return 403, f"A web page requested the answers; web pages have no access.{remedy}"
        return None

    def _page_headers(self, request: Request) -> dict[str, str]:
        """Return the headers that let the requesting page read the answer; none unless its origin was named."""
        origin = request.headers.get("origin")
        if origin is None or not ({"*", origin} & self._pages):
            return {}
        requested = ", ".join(request.headers.getlist("access-control-request-headers"))
        return {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": "GET, POST",
            **({"Access-Control-Allow-Headers": requested} if requested else {}),
            "Access-Control-Expose-Headers": "*",
            "Vary": "Origin",
        }

    async def _play(self, exchange: Exchange, headers: RawHeaders, receive: Receive, send: Send) -> bool:
        """Send a recorded answer. Return False if it broke off, so that the connection has to be closed."""
        async with asyncio.TaskGroup() as group:
            disconnected = group.create_task(wait_for_disconnect(receive))
            is_complete = await self._send_recorded(exchange, headers, disconnected.done, send)
            disconnected.cancel()
        return is_complete

    async def _send_recorded(
        self, exchange: Exchange, headers: RawHeaders, is_disconnected: Callable[[], bool], send: Send
    ) -> bool:
        clock = self.clock
        # The time that the recorded request took to be sent is not waited for again.
        start = clock.now - next((time for time in (exchange.sent, exchange.connected) if time is not None), 0.0)
        ended = exchange.ended or 0.0
        answered = exchange.answered if exchange.answered is not None else ended
        if not await clock.wait_until(start + answered, is_disconnected):
            return False
        if exchange.status is None or exchange.status < 200:
            return False
        headers = [*headers, *_recorded_headers(exchange)]
        await send({"type": "http.response.start", "status": exchange.status, "headers": headers})
        for piece in split_at_frames(exchange):
            if not await clock.wait_until(start + piece.due, is_disconnected, step=piece.first):
                return False
            if clock.is_untimed:
                start = clock.now - piece.due  # so that the rest is timed from this piece when the clock runs again
            await send({"type": "http.response.body", "body": piece.data, "more_body": True})
        if not await clock.wait_until(start + ended, is_disconnected) or not exchange.complete:
            return False
        await send({"type": "http.response.body", "body": b""})
        return True

    async def _hang_up(self, scope: Scope, receive: Receive) -> None:
        """Close the connection of a request without ending its answer."""
        self._server.hang_up(scope["client"])
        await wait_for_disconnect(receive)


def merge_stream(exchange: Exchange) -> Exchange | None:
    """Return a recorded stream as the exchange it would have been without streaming; None if it is no stream.

    A stream that broke off or failed gives None as well.
    """
    is_stream = (exchange.content_type or "").partition(";")[0].strip().lower() == "text/event-stream"
    if not is_stream or not exchange.protocol or not exchange.complete:
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
    end = exchange.reads[-1].time if exchange.reads else exchange.ended or 0.0
    return replace(
        exchange,
        response_headers=(("Content-Type", "application/json"), *headers),
        reads=[Read(end, body.encode("utf-8", "replace"))],
        answered=end,  # without streaming, the headers come when the answer is complete
    )


def split_at_frames(exchange: Exchange) -> Iterator[Piece]:
    """Yield the reads of an answer, split where frames end."""
    index = FrameIndex(exchange)
    index.extend()
    ends = sorted({index.end_of(number) for number in range(len(index))} - {0})
    position, frame, first = 0, 0, True
    for read in exchange.reads:
        rest = read.data
        while rest:
            length = ends[frame] - position if frame < len(ends) else len(rest)
            piece, rest = rest[:length], rest[length:]
            yield Piece(read.time, piece, first)
            position += len(piece)
            first = len(piece) == length
            frame += first


def _error(status: int, message: str, headers: dict[str, str]) -> JSONResponse:
    return JSONResponse({"code": status, "message": message, "data": None}, status, headers)


async def _read_body(request: Request) -> bytes:
    """Return the body. Raises ClientDisconnect, TimeoutError, and ValueError for a body that is too large."""
    body = bytearray()
    async with asyncio.timeout(REQUEST_TIMEOUT):
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_REQUEST_SIZE:
                raise ValueError
    return bytes(body)


def _recorded_headers(exchange: Exchange) -> RawHeaders:
    """Return the recorded headers, without those of the connection, masked ones, and permissions of web pages."""
    headers: RawHeaders = []
    for name, value in exchange.response_headers:
        if name.lower() in _CONNECTION_HEADERS or name.lower().startswith(_PAGE_HEADERS) or MASK in value:
            continue
        with contextlib.suppress(UnicodeError):
            pair = (name.encode("ascii"), value.encode("latin-1"))
            if _HEADER_NAME.fullmatch(pair[0]) and _HEADER_VALUE.fullmatch(pair[1]):
                headers.append(pair)
    return headers


def _wants_one_body(body: bytes) -> bool:
    """Return whether a request is readable and asks for no stream."""
    try:
        request = loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(request, dict) and request.get("stream") is not True


def _body_key(body: bytes) -> str:
    """Return a text that is equal for bodies with the same JSON."""
    try:
        return json.dumps(loads(body), sort_keys=True)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")
