"""What comes over a connection, as httpcore reads it, and past httpcore the chunks of a body.

httpcore and h11 read heads, and all of a body that is odd or not chunked. Most gateways write each event as a chunk,
and to take one off the wire that way costs more than all that is done with it after. So nothing behind the end of a
head or of a body is given away, and of a chunked body whole, plain chunks are taken here, as many as have come. A chunk
that is cut by the end of a read goes to httpcore up to where the next one begins, the last one with all that belongs to
it, and from one that is odd (an extension, nonsense) on everything does. It judges what is wrong, and notices the end.

What is left over here when an answer is whole would be taken for the beginning of the next one: such a connection says
that it is readable, and is not used again.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from typing import Final

import httpcore

#: The end of a head, as h11 sees it.
_BLANK: Final = re.compile(rb"\n\r?\n")
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,8})\r\n")
_SIZE_BEGUN: Final = re.compile(rb"[0-9A-Fa-f]{0,8}\r?")
#: More bytes than any answer has.
_ALL: Final = 1 << 62
#: Bytes that are worth putting together: a head and a short body are one packet instead of two, and one call.
_HELD: Final = 1 << 16
#: Bytes of a read that is looked at with others before anything else has its turn.
SMALL: Final = 4096
#: Of these an answer has no body, whatever its headers say (RFC 9112, section 6.3).
_BODILESS: Final = frozenset({204, 304})


class Stream(httpcore.AsyncNetworkStream):
    """A connection. What it is made of says how bytes come (``_more``) and go (``_send``).

    A head is expected after anything was written, until ``begin_body``. ``at`` is when what was read last had come, by
    the loop's clock.
    """

    def __init__(self) -> None:
        self.at = 0.0
        self._have = b""  # has come, and was not given yet
        self._head = True
        self._given = b""  # the last bytes of the head, or of a chunk, that were
        self._chunked = False
        self._heard = True  # nothing was written since something was read
        self._held = b""  # the head of a request, until its body comes or somebody reads
        self._owed = 0  # bytes that are httpcore's before the next chunk begins, or the body is over

    async def _more(self, *, together: bool = False) -> bytes:
        """The next bytes, b"" at the end, again and again. Raises httpcore.ReadError.

        ``together``: what trickles in may be waited for a moment, to be taken at once; each is given by itself.
        """
        raise NotImplementedError

    def _at_hand(self, most: int = _ALL) -> bytes:
        """The next bytes that have come already, b"" where there are none, or more of them than ``most``."""
        raise NotImplementedError

    async def _send(self, data: bytes) -> None:
        """Returns when all of it has gone. Raises httpcore.WriteError."""
        raise NotImplementedError

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """As httpcore has it, but without a time-out: the clocks are ours."""
        self._head, self._given, self._chunked, self._owed = True, b"", False, 0
        begins, self._heard = self._heard, False
        if begins and len(buffer) < _HELD:
            self._held = buffer
            return
        await self._let_go(buffer)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """As httpcore has it: so many bytes at most, b"" at the end. Raises httpcore's ReadError and ReadTimeout."""
        self._heard = True
        if self._held:
            await self._let_go()
        if timeout is None:
            return await self._read(max_bytes)
        try:
            async with asyncio.timeout(timeout):
                return await self._read(max_bytes)
        except TimeoutError as error:
            raise httpcore.ReadTimeout from error

    async def _let_go(self, more: bytes = b"") -> None:
        """Send what is held, and more with it."""
        held, self._held = self._held, b""
        if held and len(more) >= _HELD:
            await self._send(held)
            held = b""
        if data := held + more if held else more:
            await self._send(data)

    async def _read(self, most: int) -> bytes:
        if not self._have:
            self._have = await self._more()
        if self._chunked and not self._owed:
            await self._begin_chunk()
        if self._head:
            most = min(most, self._head_size(self._have[:most]))
        else:
            most = min(most, self._owed)
            self._owed -= min(most, len(self._have))
        data, self._have = self._have[:most], self._have[most:]
        if self._chunked and data:
            ended, self._given = (self._given + data)[-2:], data[-1:] if self._owed else b""
            if not self._owed and ended != b"\r\n":
                self._owed = _ALL  # that chunk was odd: httpcore says so when it is asked for more
        return data

    async def _read_any(self, *, together: bool = False) -> bytes:
        """The next bytes, whatever they are."""
        data, self._have = self._have, b""
        return data or await self._more(together=together)

    def _head_size(self, data: bytes) -> int:
        """How much of it is the head's."""
        begun = self._given + data
        if blank := _BLANK.search(begun):
            size = blank.end() - len(self._given)
            self._given = b""
            return size
        self._given = begun[-2:]
        return len(data)

    async def _begin_chunk(self) -> None:
        """One more chunk is httpcore's, or all that comes."""
        while (size := _SIZE.match(self._have)) is None and _SIZE_BEGUN.fullmatch(self._have):
            if not (more := await self._more()):
                break
            self._have += more
        if size is None:
            self._owed = _ALL
        elif length := int(size[1], 16):
            self._owed = size.end() + length + 2
        else:
            self._head, self._chunked = True, False  # with what may follow the last one it ends as a head does

    def begin_body(self, status: int, headers: Mapping[str, str]) -> None:
        """The head has been read. Its names are in small letters; of a chunked body ``read_chunks`` is asked first."""
        self._head, self._owed = False, 0
        self._chunked = headers.get("transfer-encoding", "").strip().lower() == "chunked" and status not in _BODILESS
        if not self._chunked and status not in _BODILESS:
            self._owed = int(headers.get("content-length", _ALL))

    async def read_chunks(self, *, together: bool = False) -> bytes | None:
        """What the whole chunks hold that have come; waits for one. None where httpcore is to go on.

        ``together`` as for ``_more``.
        """
        while self._chunked and not self._owed:
            if body := self._take_chunks():
                return body
            if not _SIZE_BEGUN.fullmatch(self._have):
                break
            try:
                more = await self._more(together=together)
            except httpcore.NetworkError:
                break  # httpcore comes upon it too, and knows what to close
            if not more:
                break
            self._have += more
        return None

    def take_small(self) -> bytes:
        """What the next whole chunks hold, of small reads that have come already; b"" where there are none."""
        while self._chunked and not self._owed and _SIZE_BEGUN.fullmatch(self._have):
            if not (more := self._at_hand(SMALL)):
                break
            self._have += more
            if body := self._take_chunks():
                return body
        return b""

    def take_rest(self) -> Iterator[bytes]:
        """What is left in whole chunks when nobody will read any more, as it came (``at``)."""
        while self._chunked and not self._owed and (more := self._at_hand()):
            self._have += more
            if body := self._take_chunks():
                yield body

    def _take_chunks(self) -> bytes:
        """What the whole, plain chunks hold that are here."""
        data, at, found = self._have, 0, []
        while (size := _SIZE.match(data, at)) is not None:
            begin = size.end()
            end = begin + int(size[1], 16)
            if begin == end or data[end : end + 2] != b"\r\n":
                break
            found.append(data[begin:end])
            at = end + 2
        self._have = data[at:]
        return found[0] if len(found) == 1 else b"".join(found)
