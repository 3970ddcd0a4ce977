"""The sockets below httpx: httpcore's own, with what their users are told besides the bytes.

That is when the last read came, how the first one on a connection began (what is no HTTP is quoted), and in words why
a SOCKS proxy refuses.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from typing import Any, Final

import httpcore

from playground.gateway.socks import Handshake

#: Bytes of the first read on a connection that are kept.
BANNER: Final = 1024


class Stream(httpcore.AsyncNetworkStream):
    """A connection of httpcore's.

    ``at`` is when the last read ended, in seconds by the event loop's clock, and ``last`` what it gave; ``banner`` is
    how the first one began. While there is a ``handshake``, it answers the reads. A connection that is ``spoiled`` is
    not used for another request.
    """

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self.at = 0.0
        self.last = b""
        self.banner = b""
        self.spoiled = False
        self.handshake: Handshake | None = None
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """The next bytes, ``max_bytes`` at most; b"" at the end. Raises httpcore.ReadError and SocksError."""
        if self.handshake is not None:
            return await self.handshake.read_reply()
        data = await self._stream.read(max_bytes, timeout)
        self.at, self.last = asyncio.get_running_loop().time(), data
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
        """The connection with TLS. Raises httpcore.ConnectError, and has closed it then."""
        return Stream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """What httpcore asks about the socket: one that is readable before a request is not used for it."""
        if info == "is_readable" and self.spoiled:
            return True
        return self._stream.get_extra_info(info)

    def begin_socks(self) -> None:
        """Read the replies of a SOCKS proxy from now on, until ``handshake`` is None again."""
        self.handshake = Handshake(self._stream)

    def expect_login(self, offered: bool) -> None:
        """Say whether the SOCKS proxy is offered a user name and a password."""
        if self.handshake is not None:
            self.handshake.expect(login=offered)


class Backend(httpcore.AsyncNetworkBackend):
    """Makes connections as httpcore does, until it is ``closed``."""

    def __init__(self) -> None:
        self.closed = False
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> Stream:
        """A connection to the first address of ``host`` that answers. Raises httpcore.ConnectError."""
        stream = await self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        if self.closed:
            await stream.aclose()
            raise httpcore.ConnectError("The client was closed while it connected.")
        return Stream(stream)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await self._backend.sleep(seconds)
