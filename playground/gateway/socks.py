"""The replies of a SOCKS proxy (RFC 1928 and 1929), as far as httpx leaves them unread.

httpx takes for granted that one read gives a whole reply, and that it is one of SOCKS. Here each reply is read to its
end, and what is wrong with it is said in words.
"""

from __future__ import annotations

from typing import Final

import httpcore

_VERSION: Final = 5
_LOGIN_VERSION: Final = 1
_NONE_ACCEPTED: Final = 0xFF
_WITH_LOGIN: Final = 2
_GRANTED: Final = b"\x05\x00\x00\x01" + bytes(6)
_NAME: Final = 3
_LENGTHS: Final = {1: 4, 4: 16}  # of an address, by its type
_QUOTED: Final = 200  # bytes of what is no reply

#: Why there is no way, by the reply's number.
_REASONS: Final = {
    1: "it gives no reason; it may not know the name",
    2: "its rules do not allow it",
    3: "it has no way to that network",
    4: "it cannot reach that host, or does not know the name",
    5: "nothing answers there",
    6: "it took too long",
    7: "it makes no connections for others",
    8: "it takes no address of that kind",
}


class SocksError(httpcore.ProxyError):
    """The proxy does not make the way. ``words`` go on after its name; ``found`` is what came instead of a reply."""

    def __init__(self, words: str, found: bytes = b"") -> None:
        super().__init__(words)
        self.words = words
        self.found = found


class Handshake:
    """Reads the replies of a SOCKS 5 proxy on a new connection to it."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._step = self._method
        self._login = False

    def expect(self, *, login: bool) -> None:
        """Say whether a user name and a password are offered."""
        self._login = login

    async def read_reply(self) -> bytes:
        """The next reply, whole. Raises SocksError where it refuses, and httpcore.ReadError."""
        return await self._step()

    async def _method(self) -> bytes:
        reply = await self._exactly(2)
        if reply[0] != _VERSION:
            raise SocksError("is no SOCKS 5 proxy", reply + await self._more())
        if reply[1] == _NONE_ACCEPTED:
            if self._login:
                raise SocksError("does not let in the user name and the password in its address")
            raise SocksError(
                "wants a user name and a password. They go into the proxy's address, before the host: "
                "socks5://name:password@host"
            )
        if reply[1] != (_WITH_LOGIN if self._login else 0):
            raise SocksError("wants another way to sign in than it was offered")
        self._step = self._let_in if self._login else self._way
        return reply

    async def _let_in(self) -> bytes:
        reply = await self._exactly(2)
        if reply[0] not in (_LOGIN_VERSION, _VERSION):
            raise SocksError("is no SOCKS 5 proxy", reply)
        if reply[1]:
            raise SocksError("does not let in the user name and the password in its address")
        self._step = self._way
        return bytes((_LOGIN_VERSION, 0))

    async def _way(self) -> bytes:
        reply = await self._exactly(2)
        if reply[0] != _VERSION:
            raise SocksError("is no SOCKS 5 proxy", reply)
        if reply[1]:
            reason = _REASONS.get(reply[1], f"it gives the reason {reply[1]}, which SOCKS does not have")
            raise SocksError(f"does not lead to {{target}}: {reason}")
        _, kind = await self._exactly(2)
        length = (await self._exactly(1))[0] if kind == _NAME else _LENGTHS.get(kind)
        if length is None:
            raise SocksError("is no SOCKS 5 proxy", reply + bytes((0, kind)))
        await self._exactly(length + 2)  # the address that it connects from: of no use here
        return _GRANTED

    async def _exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            data = await self._stream.read(count - len(found))
            if not data:
                if found:
                    raise SocksError("is no SOCKS 5 proxy", found)
                raise SocksError("closed the connection instead of leading to {target}")
            found += data
        return found

    async def _more(self) -> bytes:
        """What there is besides the beginning, to be quoted. It has come already, or the connection ends."""
        try:
            return await self._stream.read(_QUOTED, timeout=0.2)
        except (httpcore.NetworkError, httpcore.TimeoutException):
            return b""
