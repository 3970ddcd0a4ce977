"""A network backend for httpcore: records when each read ended, and connects through SOCKS 5 proxies.

httpcore does not check whether a SOCKS proxy's reply is whole, or is SOCKS at all. So the handshake (RFC 1928 and 1929)
is made here, and each refusal has words.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import httpcore
from socksio.socks5 import (
    SOCKS5AuthMethod,
    SOCKS5AuthMethodsRequest,
    SOCKS5Command,
    SOCKS5CommandRequest,
    SOCKS5UsernamePasswordRequest,
)

from playground.domain.errors import FailureCause

#: Bytes of the first read on a connection that are recorded.
BANNER: Final = 1024

SOCKS_PORT: Final = 1080  # where an address names none

_VERSION: Final = 5
_LOGIN_VERSION: Final = 1
_DOMAIN_NAME: Final = 3
_ADDRESS_LENGTHS: Final = {1: 4, 4: 16}  # bytes of an address, by its type
_QUOTED: Final = 200  # bytes of an invalid reply

_NOT_SOCKS: Final = "is no SOCKS 5 proxy"
_WRONG_LOGIN: Final = "does not let in the user name and the password in its address"
_LOGIN_WANTED: Final = "requires a user name and a password. Put them into the proxy's address, before the host: socks5://name:password@host"
#: Reasons for a refusal, by the reply's number.
_REASONS: Final = {
    1: "it gives no reason; it may not know the name",
    2: "its rules do not allow it",
    3: "it has no way to that network",
    4: "it cannot reach that host, or does not know the name",
    5: "nothing answers there",
    6: "it took too long",
    7: "it makes no connections for others",
    8: "it accepts no address of that kind",
}


class SocksError(httpcore.ProxyError):
    """A SOCKS proxy made no connection.

    ``words`` continue a sentence that begins with the proxy's name; ``{target}`` in them is for the gateway's host.
    ``received`` is the beginning of an invalid reply.
    """

    def __init__(self, cause: FailureCause | None, words: str, received: bytes = b"") -> None:
        super().__init__(words)
        self.cause = cause
        self.words = words
        self.received = received


class SocksProxy(NamedTuple):
    """Address of a SOCKS 5 proxy, and its user name and password as bytes."""

    host: str
    port: int
    login: tuple[bytes, bytes] | None = None


class Stream(httpcore.AsyncNetworkStream):
    """A connection of httpcore with a record of its reads.

    ``read_at`` is when the last read ended, in seconds by the event loop's clock, and ``last_read`` its bytes.
    ``banner`` is the beginning of the first read. A connection with ``has_surplus`` is not used for another request.
    """

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self.read_at = 0.0
        self.last_read = b""
        self.banner = b""
        self.has_surplus = False
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the next bytes, ``max_bytes`` at most, b"" at the end. Raises httpcore.ReadError."""
        data = await self._stream.read(max_bytes, timeout)
        self.read_at, self.last_read = asyncio.get_running_loop().time(), data
        if not self.banner:
            self.banner = data[:BANNER]
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of ``buffer``. Raises httpcore.WriteError."""
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the socket."""
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> Stream:
        """Return the connection with TLS. Raises httpcore.ConnectError, after closing the socket."""
        return Stream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """Return a property of the socket. httpcore reuses no idle connection with ``is_readable``."""
        if info == "is_readable" and self.has_surplus:
            return True
        return self._stream.get_extra_info(info)


class Backend(httpcore.AsyncNetworkBackend):
    """Makes connections, through ``proxy`` if there is one, until it is ``closed``."""

    def __init__(self, proxy: SocksProxy | None = None) -> None:
        self.closed = False
        self._proxy = proxy
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> Stream:
        """Connect to the first address of ``host`` that answers. Raises httpcore.NetworkError and SocksError."""
        proxy = self._proxy
        address = (host, port) if proxy is None else (proxy.host, proxy.port)
        stream = await self._backend.connect_tcp(*address, timeout, local_address, socket_options)
        try:
            if proxy is not None:
                await _open_tunnel(stream, host, port, proxy.login)
            if self.closed:
                raise httpcore.ConnectError("The client was closed while it connected.")
        except BaseException:
            await stream.aclose()
            raise
        return Stream(stream)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await self._backend.sleep(seconds)


async def _open_tunnel(
    stream: httpcore.AsyncNetworkStream, host: str, port: int, login: tuple[bytes, bytes] | None
) -> None:
    """Make the SOCKS proxy at the other end of ``stream`` connect to a host, which may be a name.

    Raises SocksError and httpcore.NetworkError.
    """
    method = SOCKS5AuthMethod.NO_AUTH_REQUIRED if login is None else SOCKS5AuthMethod.USERNAME_PASSWORD
    await stream.write(SOCKS5AuthMethodsRequest([method]).dumps())
    reply = await _read_exactly(stream, 2)
    if reply[0] != _VERSION:
        raise SocksError(FailureCause.NOT_SOCKS, _NOT_SOCKS, reply + await _read_more(stream))
    if reply[1:] == SOCKS5AuthMethod.NO_ACCEPTABLE_METHODS:
        if login is None:
            raise SocksError(FailureCause.PROXY_PASSWORD, _LOGIN_WANTED)
        raise SocksError(FailureCause.PROXY_LOGIN, _WRONG_LOGIN)
    if reply[1:] != method:
        raise SocksError(FailureCause.PROXY_LOGIN, "requires another sign-in method")
    if login is not None:
        await stream.write(SOCKS5UsernamePasswordRequest(*login).dumps())
        reply = await _read_exactly(stream, 2)
        if reply[0] not in (_LOGIN_VERSION, _VERSION):
            raise SocksError(FailureCause.NOT_SOCKS, _NOT_SOCKS, reply)
        if reply[1]:
            raise SocksError(FailureCause.PROXY_LOGIN, _WRONG_LOGIN)
    target = (host.encode("ascii"), port)
    await stream.write(SOCKS5CommandRequest.from_address(SOCKS5Command.CONNECT, target).dumps())
    await _read_command_reply(stream)


async def _read_command_reply(stream: httpcore.AsyncNetworkStream) -> None:
    """Read the whole reply to a request to connect. Raises SocksError for a refusal."""
    reply = await _read_exactly(stream, 2)
    if reply[0] != _VERSION:
        raise SocksError(FailureCause.NOT_SOCKS, _NOT_SOCKS, reply)
    if reply[1]:
        reason = _REASONS.get(reply[1], f"it gives the reason {reply[1]}, which SOCKS does not have")
        raise SocksError(FailureCause.PROXY_ROUTE, f"does not lead to {{target}}: {reason}")
    _, kind = await _read_exactly(stream, 2)
    length = (await _read_exactly(stream, 1))[0] if kind == _DOMAIN_NAME else _ADDRESS_LENGTHS.get(kind)
    if length is None:
        raise SocksError(FailureCause.NOT_SOCKS, _NOT_SOCKS, reply + bytes((0, kind)))
    await _read_exactly(stream, length + 2)  # the address and port that the proxy connects from


async def _read_exactly(stream: httpcore.AsyncNetworkStream, count: int) -> bytes:
    received = b""
    while len(received) < count:
        data = await stream.read(count - len(received))
        if not data and received:
            raise SocksError(FailureCause.NOT_SOCKS, _NOT_SOCKS, received)
        if not data:
            raise SocksError(None, "closed the connection instead of leading to {target}")
        received += data
    return received


async def _read_more(stream: httpcore.AsyncNetworkStream) -> bytes:
    """Read the rest of an invalid reply, to quote it."""
    try:
        return await stream.read(_QUOTED, timeout=0.2)
    except (httpcore.NetworkError, httpcore.TimeoutException):
        return b""
