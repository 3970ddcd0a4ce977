"""The sockets below httpx: asyncio's own, with nothing between them and who reads.

httpcore brings its own way, through anyio, which opens a scope and passes a checkpoint at every read; where tokens come
one at a time that is half of what a read costs. Here a read that finds something costs a future. Cancelled at any
await, nothing is lost that has come. No time-outs but the one that a SOCKS proxy is read with: the clocks are ours.

What trickles in is stamped as it comes, and taken together by who agreed to that: to wake all that is behind a read,
and let it sleep again, takes ten times what it has to do for a token.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import zip_longest
from typing import Any, Final

import httpcore

from playground.gateway.stream import SMALL, Stream

READ: Final = 64 * 1024  # bytes at once
WAITING: Final = 2  # reads that nobody has taken: then no more are made
#: Seconds between two times that what trickles in is taken. The window draws as often: nobody sees it later for that.
TOGETHER_S: Final = 0.04
_LAST: Final = b"0\r\n\r\n"  # how a chunked body ends
#: Seconds between two addresses of a name that are tried (RFC 8305).
APART: Final = 0.25

Address = tuple[socket.AddressFamily, tuple[Any, ...]]


class Backend(httpcore.AsyncNetworkBackend):
    """Makes connections. Errors are httpcore's, with the system's own as their cause."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[tuple[Any, ...]] | None = None,
    ) -> Stream:
        """A connection to the first address of ``host`` that answers. Raises httpcore.ConnectError, UnicodeError."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM)
            sock = await _first([(family, address) for family, _, _, _, address in found])
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        for option in socket_options or ():
            sock.setsockopt(*option)
        _, stream = await loop.create_connection(_Tcp, sock=sock)
        return stream


async def _first(addresses: list[Address]) -> socket.socket:
    """A socket connected to the address that answers first, each tried a moment after the one before it.

    Raises OSError with the reasons of all when none does.
    """
    if len(addresses) == 1:
        return await _reach(addresses[0])
    reached: list[socket.socket] = []
    reasons: list[OSError] = []
    tries: list[asyncio.Task[None]] = []

    async def one(address: Address, over: asyncio.Event) -> None:
        try:
            sock = await _reach(address)
        except OSError as error:
            reasons.append(error)
        else:
            reached.append(sock)
            for other in tries:
                if other is not asyncio.current_task():
                    other.cancel()
        over.set()

    try:
        async with asyncio.TaskGroup() as group:
            for address in _in_turn(addresses):
                over = asyncio.Event()
                tries.append(group.create_task(one(address, over)))
                with suppress(TimeoutError):
                    async with asyncio.timeout(APART):  # not ``wait_for``, which may swallow a cancellation
                        await over.wait()
                if reached:
                    break
    except BaseException:
        for sock in reached:
            sock.close()
        raise
    if not reached:
        raise OSError("All connection attempts failed") from ExceptionGroup("of all addresses", reasons)
    for spare in reached[1:]:
        spare.close()
    return reached[0]


def _in_turn(addresses: list[Address]) -> list[Address]:
    """The first one's family and the others by turns, each in its order."""
    first = addresses[0][0]
    here = [one for one in addresses if one[0] == first]
    other = [one for one in addresses if one[0] != first]
    return [one for pair in zip_longest(here, other) for one in pair if one is not None]


async def _reach(address: Address) -> socket.socket:
    family, place = address
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, place)
    except BaseException:
        sock.close()
        raise
    return sock


class _Tcp(Stream, asyncio.BufferedProtocol):
    """A socket."""

    def __init__(self) -> None:
        super().__init__()
        self._room = memoryview(bytearray(READ))
        self._came: list[tuple[float, bytes]] = []
        self._ended = False  # no more comes
        self._lost = False  # nothing goes, either
        self._error: Exception | None = None
        self._paused = False
        self._full = False  # what is written does not go for now
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._together = False  # who waits may do so a little longer
        self._taken_at = 0.0  # when who does was last woken
        self._timer: asyncio.TimerHandle | None = None  # until that is due

    # What asyncio tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - of a socket it is
        self._transport = transport
        transport.set_write_buffer_limits(0)  # what is written has gone

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        now = self._loop.time()
        data = bytes(self._room[:nbytes])
        self._came.append((now, data))
        if self._reader is None or self._reader.done():
            if len(self._came) >= WAITING:
                self._paused = True
                self._transport.pause_reading()
        elif not self._together or nbytes > SMALL or data.endswith(_LAST):
            self._give()
        elif self._timer is None:
            due = self._taken_at + TOGETHER_S
            if due <= now:
                self._give()
            else:
                self._timer = self._loop.call_at(due, self._give)

    def _give(self) -> None:
        """Wake who waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._together:
            self._taken_at = self._loop.time()
        _wake(self._reader)

    def eof_received(self) -> bool:
        self._ended = True
        self._give()
        return True  # what is being written may still go

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is None and not self._ended:
            exc = ConnectionAbortedError("closed here")  # which is not the end of what comes
        self._ended = self._lost = True
        self._error = exc
        self._give()
        _wake(self._writer)

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        _wake(self._writer)

    # What is asked of it

    async def _more(self, *, together: bool = False) -> bytes:
        if self._came:
            await asyncio.sleep(0)  # who reads on and on lets others have their turn
        elif not self._ended:
            self._together = together
            self._reader = self._loop.create_future()
            await self._reader
        data = self._at_hand()
        if not data and self._error is not None:
            raise _failed(httpcore.ReadError, self._error)
        return data

    def _at_hand(self, most: int = READ) -> bytes:
        if not self._came or len(self._came[0][1]) > most:
            return b""
        self.at, data = self._came.pop(0)
        if self._paused and not self._came and not self._ended:
            self._paused = False
            self._transport.resume_reading()
        return data

    async def _send(self, data: bytes) -> None:
        if not self._lost:
            self._transport.write(data)
        while self._full and not self._lost:
            self._writer = self._loop.create_future()
            await self._writer
        if self._lost:
            raise _failed(httpcore.WriteError, self._error)

    async def aclose(self) -> None:
        """Close the socket, now."""
        self._transport.abort()
        await asyncio.sleep(0)  # in which that is done

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> Stream:
        """The same with TLS. Raises httpcore.ConnectError, and has closed it then."""
        return await _with_tls(self, ssl_context, server_hostname)

    def get_extra_info(self, info: str) -> Any:
        """What httpcore asks: whether something came, or the end, that nobody waited for."""
        if info == "is_readable":
            return bool(self._have or self._owed or self._came or self._ended or _readable(self._transport))
        return self._transport.get_extra_info(info)


def _failed(kind: type[httpcore.NetworkError], why: Exception | None) -> httpcore.NetworkError:
    """An error to be raised. ``why`` is its context: httpcore raises it again without the cause."""
    error = kind()
    error.__context__ = why
    return error


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)


def _readable(transport: asyncio.Transport) -> bool:
    """Whether something came that the loop has not come to yet."""
    number = transport.get_extra_info("socket").fileno()
    if number < 0:
        return True
    if not hasattr(select, "poll"):
        return bool(select.select([number], [], [], 0)[0])
    look = select.poll()
    look.register(number, select.POLLIN)
    return bool(look.poll(0))


async def _with_tls(below: Stream, context: ssl.SSLContext, host: str | None) -> Stream:
    try:
        stream = _Tls(below, context, host)
        await stream.shake_hands()
    except BaseException as error:
        await below.aclose()
        if isinstance(error, ssl.SSLError | httpcore.NetworkError):
            raise httpcore.ConnectError(str(error)) from error
        raise
    return stream


class _Tls(Stream):
    """TLS over another connection, which may itself be one."""

    def __init__(self, below: Stream, context: ssl.SSLContext, host: str | None) -> None:
        super().__init__()
        self._below = below
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._ssl = context.wrap_bio(self._in, self._out, server_hostname=host)
        self._ended = False
        self._error: ssl.SSLError | None = None

    async def shake_hands(self) -> None:
        """Raises ssl.SSLError, or what the connection below raises."""
        await self._do(self._ssl.do_handshake)

    async def _do(self, step: Callable[[], Any], *, together: bool = False) -> Any:
        """What ``step`` gives once the connection below has brought what it needs."""
        while True:
            try:
                done, wants = step(), False
            except ssl.SSLWantReadError:
                done, wants = None, True  # read below: an error from there must not look like one of TLS
            await self._flush()
            if not wants:
                return done
            data = await self._below._read_any(together=together)
            if data:
                self._in.write(data)
            else:
                self._in.write_eof()

    async def _flush(self) -> None:
        if self._out.pending:
            await self._below._send(self._out.read())

    async def _more(self, *, together: bool = False) -> bytes:
        if self._error is None and not self._ended:
            try:
                data: bytes = await self._do(lambda: self._ssl.read(READ), together=together)
                self.at = self._below.at
            except ssl.SSLEOFError:
                data = b""  # many servers just close
            except ssl.SSLError as error:
                self._error = error
            else:
                self._ended = not data
                return data
        if self._error is not None:
            raise _failed(httpcore.ReadError, self._error)
        self._ended = True
        return b""

    def _at_hand(self, most: int = READ) -> bytes:
        said = b""
        while not said and self._error is None and (data := self._below._at_hand(most)):
            self._in.write(data)
            try:
                while more := self._ssl.read(READ):
                    said += more
            except (ssl.SSLWantReadError, ssl.SSLEOFError):
                pass  # the end is come upon again
            except ssl.SSLError as error:
                self._error = error
            self.at = self._below.at
        return said

    async def _send(self, data: bytes) -> None:
        try:
            await self._do(lambda: self._ssl.write(data))
        except ssl.SSLError as error:
            raise httpcore.WriteError from error

    async def aclose(self) -> None:
        """Close the socket, now."""
        await self._below.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> Stream:
        """TLS within TLS, through a proxy of that kind. Raises httpcore.ConnectError, and has closed it then."""
        return await _with_tls(self, ssl_context, server_hostname)

    def get_extra_info(self, info: str) -> Any:
        """The ``ssl_object``; else what the connection below knows."""
        if info == "ssl_object":
            return self._ssl
        if info == "is_readable" and (self._have or self._owed or self._in.pending or self._ended or self._error):
            return True
        return self._below.get_extra_info(info)
