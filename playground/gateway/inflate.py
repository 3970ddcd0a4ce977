"""Undoes gzip and deflate piece by piece, never giving more than a fixed amount at once.

httpx inflates without bound, so a small body could fill the memory; here the caller counts what it gets and
stops when it is too much. Other encodings are not asked for and not understood.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

#: What we ask for, in a header.
ACCEPTED = "gzip, deflate"

#: The most bytes that one step gives; as much as one read from a socket, so that both take about as long to decode.
STEP = 64 * 1024

_GZIP_OR_ZLIB = 47  # 32 + 15: zlib finds out by itself
_BARE = -15  # "deflate" without the zlib header, as some servers send it


class Inflater:
    """Decodes one body."""

    def __init__(self, encoding: str) -> None:
        """``encoding`` is the Content-Encoding header. Raises ValueError, in words, for one we do not know."""
        names = [name for name in encoding.lower().replace(",", " ").split() if name != "identity"]
        if len(names) > 1 or any(name not in ("gzip", "x-gzip", "deflate") for name in names):
            raise ValueError(f"The answer is compressed as “{encoding[:80]}”; only {ACCEPTED} were asked for.")
        self.active = bool(names)  # whether there is anything to undo
        self._deflate = names == ["deflate"]
        self._engine = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._head = b""  # of a deflate body: its first two bytes say which kind it is
        self._started = False

    def inflate(self, data: bytes) -> Iterator[bytes]:
        """The decoded pieces of ``data``, at most ``STEP`` bytes each. Raises ValueError for a damaged body."""
        if not self.active:
            yield data
            return
        if self._deflate and not self._started:
            data = self._head = self._head + data
            if len(data) < 2:
                return
            if not _is_zlib(data):
                self._engine = zlib.decompressobj(_BARE)
        self._started = True
        while True:
            try:
                piece = self._engine.decompress(data, STEP)
            except zlib.error:
                raise ValueError("The answer says it is compressed, but it is damaged or plain.") from None
            if piece:
                yield piece
            data = self._engine.unconsumed_tail
            if self._engine.eof:
                data = self._engine.unused_data.lstrip(b"\0")
                if not data or self._deflate:
                    return
                self._engine = zlib.decompressobj(_GZIP_OR_ZLIB)  # the next member of a gzip body
            elif not data and len(piece) < STEP:
                return


def _is_zlib(head: bytes) -> bool:
    """Whether two bytes are a zlib header (RFC 1950, section 2.2)."""
    return head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
