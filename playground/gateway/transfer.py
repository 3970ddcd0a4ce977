"""One HTTP exchange: sends one request, gives the decoded and redacted body read by read, and fills the tape.

It knows no protocol. All that goes wrong comes as ``TransferError`` with a failure in words; a cancellation
closes the socket at once and passes through. The caller calls ``aclose`` in the end, whatever happened.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from playground.domain.errors import Failure, FailureKind
from playground.domain.transcript import new_id
from playground.gateway.charset import Transcoder
from playground.gateway.clock import Clock, Expired, Stage
from playground.gateway.connection import Connection
from playground.gateway.inflate import Inflater
from playground.gateway.outgoing import Outgoing
from playground.gateway.proxy import proxy_for
from playground.gateway.redact import Redactor
from playground.gateway.redact_stream import Piece, StreamRedactor
from playground.gateway.tape import Exchange, Read

if TYPE_CHECKING:
    import httpx

    from playground.gateway.network import Stream

#: Steps of httpcore after which the next read may be the gateway's own.
_CONNECTED = frozenset(
    f"{by}.complete"
    for by in (
        "connection.connect_tcp",
        "connection.start_tls",
        "socks.setup_socks5_connection",
        "socks.start_tls",
    )
)

BANNER = 200  # bytes that are quoted of what is no HTTP
#: What may follow the last data of a chunked body: the last chunk, trailers and an empty line.
_CHUNKED_END = re.compile(rb"(\r\n)?(0+[^\r\n]*\r\n)?([^\s:]+:[^\r\n]*\r\n)*(\r?\n)?")
LATE = 2**20  # bytes that are taken in one go when nobody reads any more: a read may inflate to very much
MOST_WAITING = 2**18  # bytes that are read before any of them is taken
#: What is read behind the end of an answer for that of its body, in seconds and bytes.
END_S = 0.005
END_BYTES = 4096
_LONGEST_MESSAGE = 600  # characters


class TransferError(Exception):
    """What went wrong, as a value."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def blank_exchange(redactor: Redactor, request: Outgoing | None = None) -> Exchange:
    """An exchange that has not begun. Without a request (it could not be made) it is empty."""
    exchange = Exchange(id=new_id(), method="", url="", request_headers=(), request_body=b"", started_at=time.time())
    if request is not None:
        note_request(exchange, redactor, request)
    return exchange


def note_request(exchange: Exchange, redactor: Redactor, request: Outgoing) -> None:
    """Put on the tape what is to be sent, but for the headers: what those are is known when it goes."""
    exchange.method, exchange.url = request.method, redactor.text(request.url)
    exchange.request_body = redactor.data(request.body)


class Transfer:
    """One request on its way, filling ``exchange``. Use: ``start``, then ``read_piece`` until None, then ``aclose``."""

    def __init__(
        self, http: httpx.AsyncClient, connection: Connection, redactor: Redactor, request: Outgoing, exchange: Exchange
    ) -> None:
        self.exchange = exchange
        self.clock = Clock(connection.timeouts)
        self._http = http
        self._connection = connection
        self._redactor = redactor
        self._request = request
        self._filter = StreamRedactor(redactor)
        self._inflater = Inflater("")
        self._transcoder = Transcoder()
        self._response: httpx.Response | None = None
        self._reader: asyncio.Task[None] | None = None
        self._arrived: deque[Read] = deque()  # what was read and not taken yet, as it came
        self._waiting = 0  # bytes of it
        self._news = asyncio.Event()  # more has arrived, or the body has ended
        self._room = asyncio.Event()  # little enough waits to be taken
        self._at = 0.0  # when what was taken last had arrived, in seconds since the start
        self._stream: Stream | None = None  # below httpx, once there is a connection
        self._pieces: Iterator[bytes] | None = None  # of the last read, where it is inflated
        self._answered = 0.0
        self._size = 0
        self._tunnels = False  # the headers sent last asked a proxy for a tunnel
        self._unreadable: Failure | None = None  # why no read can succeed
        self._broken: tuple[type[Exception], ...] = (OSError,)  # what a read may raise
        exchange.started_at = time.time()

    async def start(self) -> None:
        """Send the request and wait for status and headers. Raises TransferError."""
        import httpx

        from playground.gateway.transport import BROKEN, read_url

        self.clock.wait_for(Stage.CONNECT)
        self._broken = BROKEN
        try:
            url, sent = read_url(self._request.url), self._request
            request = httpx.Request(
                sent.method,
                url,
                headers=_framed(sent, url.netloc.decode("ascii")),
                stream=httpx.ByteStream(sent.body),
                extensions={"timeout": {}, "trace": self._trace},
            )
            self.exchange.request_headers = self._redactor.headers(_pairs(request.headers.raw))
            async with self.clock.watch():
                response = await self._http.send(request, stream=True, auth=httpx.Auth())
        except Expired as expired:
            raise TransferError(self._too_late(expired.stage)) from None
        except BROKEN as error:
            raise TransferError(self._explain(error)) from None
        finally:
            if self._stream is not None and self._stream.handshake is not None:
                await self._stream.aclose()  # which nobody else does while a SOCKS proxy has not made the way
        self._response = response
        stream: Stream = response.extensions["network_stream"]
        self._stream = stream
        told = _pairs(response.headers.raw)
        headers = _by_name(told)
        exchange = self.exchange
        self._answered = exchange.answered = self.clock.now
        exchange.status, exchange.reason = response.status_code, self._redactor.text(response.reason_phrase)
        exchange.http_version = response.http_version
        exchange.response_headers = self._redactor.headers(told)
        try:
            self._inflater = Inflater(self._redactor.text(headers.get("content-encoding", "")))
        except ValueError as error:
            # Told by the first read: the status is worth more than a body that cannot be read.
            self._unreadable = Failure(kind=FailureKind.DECODE, message=str(error), status=exchange.status)
        self._reader = asyncio.get_running_loop().create_task(self._read_body(response, stream), name="read an answer")

    async def _read_body(self, response: httpx.Response, stream: Stream) -> None:
        """Read the body. A read of the socket may hold hundreds of chunks, which arrive one by one at the same time."""
        data = b""
        try:
            async for data in response.aiter_raw():
                self._arrived.append(Read(stream.at, data))
                self._waiting += len(data)
                self._news.set()
                if self._waiting > MOST_WAITING:
                    self._room.clear()
                    await self._room.wait()
            stream.spoiled = _has_surplus(response, stream.last, data)
        finally:
            self._news.set()

    async def read_piece(self) -> bytes | None:
        """The next piece of the body, as put on the tape; None at its end. Raises TransferError."""
        assert self._reader is not None, "start comes first"  # noqa: S101 - a call in the wrong order is our own fault
        if self._unreadable is not None:
            raise TransferError(self._unreadable)
        try:
            while True:
                if self._pieces is not None:
                    async with self.clock.watch():  # a read may inflate to very much: clocks and Stop get their turn,
                        await asyncio.sleep(0)  # before a piece is taken, which would be lost
                    for piece in self._pieces:
                        return self._keep(piece)
                    self._pieces = None
                if not self._arrived and not self._reader.done():
                    self._news.clear()
                    async with self.clock.watch():
                        await self._news.wait()
                elif self._arrived:
                    data = self._take()
                    if not self._inflater.active:
                        return self._keep(data)
                    self._pieces = self._inflater.inflate(data)
                else:
                    self._reader.result()
                    return self._last()
        except Expired as expired:
            raise TransferError(self._too_late(expired.stage)) from None
        except self._broken as error:
            raise TransferError(self._explain(error)) from None
        except ValueError as error:
            raise TransferError(Failure(kind=FailureKind.DECODE, message=str(error))) from None

    def _take(self) -> bytes:
        """What has arrived with one read of the socket."""
        at, data = self._arrived.popleft()
        if self._arrived and self._arrived[0].at == at:
            pieces = [data]
            while self._arrived and self._arrived[0].at == at:
                pieces.append(self._arrived.popleft().data)
            data = b"".join(pieces)
        self._waiting -= len(data)
        self._room.set()
        self._at = max(at - self.clock.started, self._answered)  # what came with the head came no earlier
        self.exchange.wire_bytes += len(data)
        return data

    @property
    def holding(self) -> bool:
        """Whether something came that is held back until it is known that it begins no secret."""
        return self._filter.holding

    def late(self) -> bytes:
        """What is left of the last read, and what is held back, put on the tape: no more is to be read."""
        read = []
        left = LATE
        with suppress(TransferError, ValueError):
            for piece in self._untaken():
                read.append(self._keep(piece))
                left -= len(piece)
                if left <= 0:
                    break
        return b"".join(read) + self.rest()

    def _untaken(self) -> Iterator[bytes]:
        yield from self._pieces or ()
        while self._arrived:
            data = self._take()
            yield from self._inflater.inflate(data) if self._inflater.active else (data,)

    def rest(self) -> bytes:
        """What is held back, put on the tape: no more is to be read."""
        return self._put(self._filter.close(self.clock.now))

    async def finish(self) -> None:
        """All that was asked for has come: look for the end of the body behind it, so that the connection serves again.

        Only what is there, or comes within ``END_S``; anything that goes wrong is left to ``aclose``.
        """
        self.rest()
        self.exchange.ended = self.clock.now
        left = END_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(END_S):
                while left > 0 and self._reader is not None and not self._reader.done():
                    while self._arrived:
                        left -= len(self._take())
                    self._news.clear()
                    await self._news.wait()

    async def aclose(self) -> None:
        """Close the socket unless the body was read to its end. Safe to call twice."""
        self.rest()
        if self.exchange.ended is None:
            self.exchange.ended = self.clock.now
        reader, response, self._response = self._reader, self._response, None
        try:
            if reader is not None:
                reader.cancel()
                await asyncio.wait([reader])
                if not reader.cancelled():
                    reader.exception()  # which was told, or is of no interest any more
        finally:
            if response is not None:
                await response.aclose()

    def _keep(self, data: bytes) -> bytes:
        if self._inflater.odd:
            self.exchange.mended["content_encoding"] = self._inflater.odd
        if self._transcoder.active:
            data = self._transcoder.transcode(data)
            if self._transcoder.spelling:
                words = f"the answer came as {self._transcoder.spelling.upper()} instead of UTF-8"
                self.exchange.mended["charset"] = words
        self._size += len(data)
        if self._size > self._connection.max_body_bytes:
            cap = _bytes_in_words(self._connection.max_body_bytes)
            message = f"The answer is larger than the limit of {cap}; the rest was not read."
            raise TransferError(Failure(kind=FailureKind.TOO_LARGE, message=message))
        return self._put(self._filter.redact_bytes(data, self._at))

    def _put(self, pieces: list[Piece]) -> bytes:
        """Put on the tape what may be kept; gives all of it."""
        self.exchange.reads += [Read(at, data) for at, data in pieces]
        return pieces[0].data if len(pieces) == 1 else b"".join(data for _, data in pieces)

    def _last(self) -> bytes | None:
        """What the redactor still held at the end of the body; None when that was nothing."""
        late = self._transcoder.transcode(self._inflater.rest()) + self._transcoder.close()
        held = (self._keep(late) if late else b"") + self.rest()
        if not held:
            self.exchange.complete = True
            return None
        return held  # httpx's generator is at its end and stays there: the next read comes back here

    async def _trace(self, name: str, info: Mapping[str, Any]) -> None:
        """Called by httpcore at each step of a request; the steps that matter start a clock or leave a mark."""
        if name in _CONNECTED:
            self.exchange.connected = self.clock.now
            self._stream = info["return_value"]
            self._stream.handshake = None
        elif name == "socks.connect_tcp.complete":
            self._stream = info["return_value"]
            self._stream.begin_socks()
        elif name == "socks.setup_socks5_connection.started" and self._stream is not None:
            self._stream.expect_login(info.get("auth") is not None)
        elif name == "http11.send_request_headers.started":
            self._tunnels = info["request"].method == b"CONNECT"  # a proxy is asked for the way: still connecting
            if not self._tunnels:
                self.clock.wait_for(Stage.FIRST)
        elif name == "http11.send_request_body.complete" and not self._tunnels:
            self.exchange.sent = self.clock.now
            self.clock.wait_for(Stage.FIRST)

    @property
    def _banner(self) -> bytes:
        """How the first read on a new connection began, without secrets."""
        return self._redactor.data(self._stream.banner)[:BANNER] if self._stream is not None else b""

    def _explain(self, error: Exception) -> Failure:
        from playground.gateway.transport import explain

        answering = self.exchange.answered is not None
        kept = self.exchange.connected is None and self.clock.stage is not Stage.CONNECT
        given = self._connection.proxy
        failure = explain(error, self._request.url, answering=answering, banner=self._banner, given=given, kept=kept)
        message = self._redactor.front(failure.message, _LONGEST_MESSAGE)
        message += "…" if len(failure.message) > _LONGEST_MESSAGE else ""
        return failure.model_copy(update={"message": message})

    def _too_late(self, stage: Stage) -> Failure:
        times = self._connection.timeouts
        host = urlsplit(self._request.url).netloc
        if self._banner and not b"HTTP/".startswith(self._banner[:5]):
            return self._explain(TimeoutError())  # it went on talking, and never in HTTP
        alive = " Signs of life came, but no content." if self.exchange.reads else ""
        if stage is Stage.CONNECT:
            kind = FailureKind.TIMEOUT_CONNECT
            proxy = proxy_for(self._request.url, self._connection.proxy)
            way = f" through the proxy {proxy}" if proxy else ""
            words = f"No connection to {host}{way} within {times.connect:g} s."
        elif stage is Stage.FIRST:
            kind = FailureKind.TIMEOUT_FIRST
            words = f"Connected, but no content within {times.first:g} s.{alive}"
        elif stage is Stage.TOTAL:
            kind = FailureKind.TIMEOUT_TOTAL
            words = f"Not finished within {times.total:g} s, the time set for a whole answer."
        else:
            kind = FailureKind.TIMEOUT_IDLE
            waited = times.settle if stage is Stage.SETTLE else times.idle
            words = f"Nothing new for {waited:g} s in the middle of the answer."
        return Failure(kind=kind, message=words)


def _has_surplus(response: httpx.Response, last: bytes, data: bytes) -> bool:
    """Return whether more came than the answer: it would be taken for the answer to the next request.

    ``last`` is the last read of the socket, ``data`` the last of the body.
    """
    end = last.rfind(data) + len(data) if data and data in last else 0
    if "chunked" in response.headers.get("transfer-encoding", "").lower():
        return _CHUNKED_END.fullmatch(last, end) is None
    return 0 < end < len(last)


def _pairs(raw: list[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Headers as text, byte for byte, in their own case and order."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw]


def _framed(request: Outgoing, place: str) -> list[tuple[str, str]]:
    """Its headers with those that httpx would add: whom it is for, and how long its body is."""
    headers = list(request.headers)
    if all(name.lower() != "host" for name, _ in headers):
        headers.insert(0, ("Host", place))
    if request.body or request.method != "GET":
        headers.append(("Content-Length", str(len(request.body))))
    return headers


def _by_name(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Headers by their names in small letters; what was sent under one name again and again, joined by commas."""
    out: dict[str, str] = {}
    for name, value in pairs:
        small = name.lower()
        out[small] = f"{out[small]}, {value}" if small in out else value
    return out


def _bytes_in_words(count: int) -> str:
    if count >= 1024 * 1024:
        return f"{count / 1024 / 1024:g} MiB"
    return f"{count / 1024:g} KiB" if count >= 1024 else f"{count} bytes"
