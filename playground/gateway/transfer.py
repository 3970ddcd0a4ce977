"""One HTTP exchange: sends one request, gives the decoded and redacted body read by read, and fills the tape.

It knows no protocol. Every error is a ``TransferError`` with a failure in words; a cancellation closes the socket at
once and passes through.
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

from playground.domain.errors import Failure, FailureCause, FailureKind, cause_of
from playground.domain.transcript import new_id
from playground.gateway.body_decoding import Inflater, Transcoder
from playground.gateway.clock import Clock, Expired, Stage
from playground.gateway.connection import Connection
from playground.gateway.prepared_request import PreparedRequest
from playground.gateway.proxy import proxy_for
from playground.gateway.redact import Redactor
from playground.gateway.redact_stream import Piece, StreamRedactor
from playground.gateway.tape import Exchange, Headers, Read

if TYPE_CHECKING:
    import httpx

    from playground.gateway.network import Stream
    from playground.gateway.transport import Transport

#: Steps of httpcore after which the next read may be the gateway's own.
_CONNECTED = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})

BANNER = 200  # bytes that are quoted of an answer that is not HTTP
#: The bytes that may follow the last data of a chunked body: the last chunk, trailers and an empty line.
_CHUNKED_END = re.compile(rb"(\r\n)?(0+[^\r\n]*\r\n)?([^\s:]+:[^\r\n]*\r\n)*(\r?\n)?")
LATE = 2**20  # bytes that are decoded after the end of reading: a compressed read may hold very many
MOST_WAITING = 2**18  # bytes that are read ahead of ``read_piece``
#: Limits of reading on after the protocol's end marker for the end of the body, in seconds and bytes.
END_S = 0.005
END_BYTES = 4096
_LONGEST_MESSAGE = 600  # characters


class TransferError(Exception):
    """A transfer failed; ``failure`` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def new_exchange(redactor: Redactor, request: PreparedRequest | None = None) -> Exchange:
    """Return an exchange that has not begun; without a request (it could not be made) it is empty."""
    exchange = Exchange(id=new_id(), method="", url="", request_headers=(), request_body=b"", started_at=time.time())
    if request is not None:
        record_request(exchange, redactor, request)
    return exchange


def record_request(exchange: Exchange, redactor: Redactor, request: PreparedRequest) -> None:
    """Put a request on the tape, except for its headers, which are complete when it is sent."""
    exchange.method, exchange.url = request.method, redactor.text(request.url)
    exchange.request_body = redactor.data(request.body)


class Transfer:
    """One request and its response, filling ``exchange``.

    Call ``start``, then ``read_piece`` until it returns None, and in every case ``aclose``. A proxy calls ``read_raw``
    and ``record`` instead of ``read_piece``; ``not_decoded`` then says why the body, or its rest, is not on the tape.
    """

    def __init__(
        self,
        transport: Transport,
        connection: Connection,
        redactor: Redactor,
        request: PreparedRequest,
        exchange: Exchange,
    ) -> None:
        self.exchange = exchange
        self.clock = Clock(connection.timeouts)
        self._transport = transport
        self._connection = connection
        self._redactor = redactor
        self._request = request
        self._filter = StreamRedactor(redactor)
        self._inflater = Inflater("")
        self._transcoder = Transcoder()
        self._response: httpx.Response | None = None
        self._reader: asyncio.Task[None] | None = None
        self._queue: deque[Read] = deque()  # encoded reads, at the time of the event loop's clock
        self._queued = 0  # bytes in the queue
        self._changed = asyncio.Event()  # a read was queued, or the body has ended
        self._has_room = asyncio.Event()  # the queue is short enough to read on
        self._read_at = 0.0  # arrival of the read that was last taken, in seconds since the start
        self._stream: Stream | None = None  # below httpcore, once there is a connection
        self._pieces: Iterator[bytes] = iter(())  # of the read that was last taken
        self._answered = 0.0
        self._size = 0
        self._is_tunnel = False  # the last headers sent asked a proxy for a tunnel
        self._unreadable: Failure | None = None  # for every read, if the body's encoding is unknown
        self.not_decoded = ""
        self.received_headers: Headers = ()  # of the response, with secrets
        exchange.started_at = time.time()

    async def start(self) -> None:
        """Send the request and wait for status and headers. Raises TransferError."""
        exchange = self.exchange
        self.clock.wait_for(Stage.CONNECT)
        try:
            headers = self._transport.headers(self._request)
            exchange.request_headers = self._redactor.headers(headers)
            async with self.clock.watch():
                response = await self._transport.send(self._request, headers, self._trace)
        except Expired as expired:
            raise TransferError(self._timeout_failure(expired.stage)) from None
        except self._transport.ERRORS as error:
            raise TransferError(self._explain(error)) from None
        self._response = response
        stream: Stream = response.extensions["network_stream"]
        self._stream = stream
        received = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw)
        self.received_headers = received
        self._answered = exchange.answered = self.clock.now
        exchange.status = response.status_code
        exchange.reason = self._redactor.text(response.extensions["reason_phrase"].decode("ascii", "ignore"))
        exchange.http_version = response.extensions["http_version"].decode("ascii", "ignore")
        exchange.response_headers = self._redactor.headers(received)
        try:
            self._inflater = Inflater(self._redactor.text(_header(received, "content-encoding")))
        except ValueError as error:
            # Raised by the first read: the status is worth more than a body that cannot be read.
            self._unreadable = Failure(
                kind=FailureKind.DECODE, message=str(error), status=exchange.status, cause=cause_of(error)
            )
        is_chunked = "chunked" in _header(received, "transfer-encoding").lower()
        body = self._read_body(response, stream, is_chunked=is_chunked)
        self._reader = asyncio.get_running_loop().create_task(body, name="read an answer")

    async def _read_body(self, response: httpx.Response, stream: Stream, *, is_chunked: bool) -> None:
        """Read the body into the queue. A read of the socket may hold hundreds of chunks, all with its time."""
        data = b""
        try:
            async for data in response.aiter_raw():
                self._queue.append(Read(stream.read_at, data))
                self._queued += len(data)
                self._changed.set()
                if self._queued > MOST_WAITING:
                    self._has_room.clear()
                    await self._has_room.wait()
            stream.has_surplus = _has_surplus(stream.last_read, data, is_chunked=is_chunked)
        finally:
            self._changed.set()

    async def read_piece(self) -> bytes | None:
        """Return the next piece of the body, as put on the tape; None at its end. Raises TransferError."""
        assert self._reader is not None, "start comes first"  # noqa: S101 - a call in the wrong order is our own fault
        if self._unreadable is not None:
            raise TransferError(self._unreadable)
        try:
            while True:
                if self._inflater.active:  # a read may inflate to very much: let clocks and Stop interrupt
                    async with self.clock.watch():
                        await asyncio.sleep(0)
                for piece in self._pieces:
                    return self._record(piece)
                data = await self._next_read(self._reader)
                if data is None:
                    return self._read_end()
                self._pieces = self._inflater.inflate(data)
        except Expired as expired:
            raise TransferError(self._timeout_failure(expired.stage)) from None
        except self._transport.ERRORS as error:
            raise TransferError(self._explain(error)) from None
        except ValueError as error:
            raise TransferError(Failure(kind=FailureKind.DECODE, message=str(error), cause=cause_of(error))) from None

    async def read_raw(self) -> bytes | None:
        """Return the next read of the body as received; None at its end. Raises TransferError."""
        assert self._reader is not None, "start comes first"  # noqa: S101 - a call in the wrong order is our own fault
        try:
            data = await self._next_read(self._reader)
        except Expired as expired:
            raise TransferError(self._timeout_failure(expired.stage)) from None
        except self._transport.ERRORS as error:
            raise TransferError(self._explain(error)) from None
        if data is None:
            with suppress(TransferError, ValueError):
                while self._read_end() is not None:
                    pass
            self.exchange.complete = True
        return data

    async def record(self, data: bytes) -> None:
        """Put a read that ``read_raw`` returned on the tape, decoded and without secrets.

        Secrets cannot be searched for in bytes that cannot be decoded, so those are left out.
        """
        if self._unreadable is not None:
            self.not_decoded = self._unreadable.message
        if self.not_decoded:
            return
        try:
            for piece in self._inflater.inflate(data):
                self._record(piece)
                if self._inflater.active:
                    await asyncio.sleep(0)  # a read may inflate to very much
        except TransferError as error:
            self.not_decoded = error.failure.message
        except ValueError as error:
            self.not_decoded = str(error)

    async def _next_read(self, reader: asyncio.Task[None]) -> bytes | None:
        """Return the next read of the socket; None at the end. Raises Expired and the errors of the transport."""
        while not self._queue:
            if reader.done():
                reader.result()
                return None
            self._changed.clear()
            async with self.clock.watch():
                await self._changed.wait()
        return self._take()

    def _take(self) -> bytes:
        """Return all chunks of the next read of the socket."""
        time_read = self._queue[0].time
        chunks = []
        while self._queue and self._queue[0].time == time_read:
            chunks.append(self._queue.popleft().data)
        data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        self._queued -= len(data)
        self._has_room.set()
        self._read_at = max(time_read - self.clock.started, self._answered)  # a read with the headers ends after them
        self.exchange.wire_bytes += len(data)
        return data

    @property
    def is_holding(self) -> bool:
        """Return whether text is held back until it cannot be the beginning of a secret."""
        return self._filter.holding

    def take_rest(self) -> bytes:
        """End the reading: put everything received on the tape, up to ``LATE`` bytes, and return what is new of it."""
        pieces = []
        room = LATE
        with suppress(TransferError, ValueError):
            for piece in self._untaken():
                pieces.append(self._record(piece))
                room -= len(piece)
                if room <= 0:
                    break
        return b"".join(pieces) + self.release()

    def _untaken(self) -> Iterator[bytes]:
        yield from self._pieces
        while self._queue:
            yield from self._inflater.inflate(self._take())

    def release(self) -> bytes:
        """End the reading: put the text that is held back on the tape, and return it."""
        return self._put(self._filter.close(self.clock.now))

    async def finish(self) -> None:
        """Read on to the end of the body behind the protocol's end marker, so that the connection can be used again.

        Waits ``END_S`` at most. Errors are left to ``aclose``.
        """
        self.release()
        self.exchange.ended = self.clock.now
        room = END_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(END_S):
                while room > 0 and self._reader is not None and not self._reader.done():
                    while self._queue:
                        room -= len(self._take())
                    self._changed.clear()
                    await self._changed.wait()

    async def aclose(self) -> None:
        """Close the socket unless the body was read to its end. Safe to call twice."""
        self.release()
        if self.exchange.ended is None:
            self.exchange.ended = self.clock.now
        reader, response, self._response = self._reader, self._response, None
        try:
            if reader is not None:
                reader.cancel()
                await asyncio.wait([reader])
                if not reader.cancelled():
                    reader.exception()  # marks it as retrieved
        finally:
            if response is not None:
                await response.aclose()

    def _record(self, data: bytes) -> bytes:
        """Decode characters, check the size, put the result on the tape and return it."""
        if self._inflater.mismatch:
            self.exchange.mended["content_encoding"] = self._inflater.mismatch
        if self._transcoder.active:
            data = self._transcoder.transcode(data)
            if self._transcoder.encoding:
                words = f"the answer is encoded as {self._transcoder.encoding.upper()} instead of UTF-8"
                self.exchange.mended["charset"] = words
        self._size += len(data)
        if self._size > self._connection.max_body_bytes:
            cap = _bytes_in_words(self._connection.max_body_bytes)
            message = f"The answer is larger than the limit of {cap}; the rest was not read."
            raise TransferError(Failure(kind=FailureKind.TOO_LARGE, message=message))
        return self._put(self._filter.redact_bytes(data, self._read_at))

    def _put(self, pieces: list[Piece]) -> bytes:
        """Put redacted pieces on the tape; return all of them."""
        self.exchange.reads += [Read(seconds, data) for seconds, data in pieces]
        return pieces[0].data if len(pieces) == 1 else b"".join(data for _, data in pieces)

    def _read_end(self) -> bytes | None:
        """Return the bytes that decoders and redactor still hold at the end of the body; None when there are none."""
        last = self._transcoder.transcode(self._inflater.rest()) + self._transcoder.close()
        data = (self._record(last) if last else b"") + self.release()
        if not data:
            self.exchange.complete = True
            return None
        return data

    async def _trace(self, name: str, info: Mapping[str, Any]) -> None:
        """Note the steps of a request that start a clock or belong on the tape; httpcore calls it at each step."""
        if name in _CONNECTED:
            self.exchange.connected = self.clock.now
            self._stream = info["return_value"]
        elif name == "http11.send_request_headers.started":
            self._is_tunnel = info["request"].method == b"CONNECT"  # to a proxy: still connecting
            if not self._is_tunnel:
                self.clock.wait_for(Stage.FIRST)
        elif name == "http11.send_request_body.complete" and not self._is_tunnel:
            self.exchange.sent = self.clock.now
            self.clock.wait_for(Stage.FIRST)

    @property
    def _banner(self) -> bytes:
        """Return the beginning of the first read on a new connection, without secrets."""
        return self._redactor.data(self._stream.banner)[:BANNER] if self._stream is not None else b""

    def _explain(self, error: Exception) -> Failure:
        answering = self.exchange.answered is not None
        reused = self.exchange.connected is None and self.clock.stage is not Stage.CONNECT
        failure = self._transport.explain(
            error, self._request.url, answering=answering, banner=self._banner, reused=reused
        )
        message = self._redactor.front(failure.message, _LONGEST_MESSAGE)
        message += "…" if len(failure.message) > _LONGEST_MESSAGE else ""
        return failure.model_copy(update={"message": message})

    def _timeout_failure(self, stage: Stage) -> Failure:
        times = self._connection.timeouts
        host = urlsplit(self._request.url).netloc
        if self._banner and not b"HTTP/".startswith(self._banner[:5]):
            return self._explain(TimeoutError())  # the other end sends data that is not HTTP
        alive = " Keep-alives were received, but no content." if self.exchange.reads else ""
        cause = None
        if stage is Stage.CONNECT:
            kind = FailureKind.TIMEOUT_CONNECT
            proxy = proxy_for(self._request.url, self._connection.proxy)
            way = f" through the proxy {proxy}" if proxy else ""
            cause = FailureCause.PROXY_UNREACHABLE if proxy else None
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
        return Failure(kind=kind, message=words, cause=cause)


def _has_surplus(last_read: bytes, data: bytes, *, is_chunked: bool) -> bool:
    """Return whether bytes followed the response, which would be taken for the response to the next request.

    ``last_read`` is the last read of the socket, ``data`` the last of the body; empty for a response without one.
    """
    if not data and not is_chunked:
        return not last_read.endswith(b"\r\n\r\n")
    end = last_read.rfind(data) + len(data) if data and data in last_read else 0
    if is_chunked:
        return _CHUNKED_END.fullmatch(last_read, end) is None
    return 0 < end < len(last_read)


def _header(headers: Headers, name: str) -> str:
    """Return the values of all headers of one name, in lower case, joined by commas."""
    return ", ".join(value for key, value in headers if key.lower() == name)


def _bytes_in_words(count: int) -> str:
    if count >= 1024 * 1024:
        return f"{count / 1024 / 1024:g} MiB"
    return f"{count / 1024:g} KiB" if count >= 1024 else f"{count} bytes"
