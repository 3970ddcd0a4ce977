"""Undoes gzip and deflate piece by piece, never giving more than a fixed amount at once.

httpx inflates without bound, so a small body could fill the memory; here the caller counts what it gets and
stops when it is too much. Other encodings are not asked for and not understood. A header that is wrong does no harm: a
body is looked at before it is believed to be compressed, or not.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any

#: What we ask for, in a header.
ACCEPTED = "gzip, deflate"

#: The most bytes that one step gives; as much as one read from a socket, so that both take about as long to decode.
STEP = 64 * 1024

_GZIP_OR_ZLIB = 47  # 32 + 15: zlib finds out by itself
_BARE = -15  # "deflate" without the zlib header, as some servers send it
_GZIP = b"\x1f\x8b\x08"
#: How JSON, a page and an event stream begin; no gzip header does.
_PLAIN = (b"{", b"[", b"<", b":", b'"', b"\r", b"\n", b" ", b"\xef\xbb\xbf", b"data:", b"event:", b"id:", b"retry:")
_LONGEST = max(map(len, _PLAIN))


class Inflater:
    """Decodes one body. ``odd`` is what the header said wrongly of it, in words, once that is known; else empty."""

    def __init__(self, encoding: str) -> None:
        """``encoding`` is the Content-Encoding header. Raises ValueError, in words, for one we do not know."""
        names = [name for name in encoding.lower().replace(",", " ").split() if name != "identity"]
        if len(names) > 1 or any(name not in ("gzip", "x-gzip", "deflate") for name in names):
            raise ValueError(f"The answer is compressed as “{encoding[:80]}”; only {ACCEPTED} were asked for.")
        self.active = True  # whether there is anything to undo; it may turn out that there is not
        self.odd = ""
        self._named = bool(names)
        self._settled = False
        self._deflate = names == ["deflate"]
        self._kind = _GZIP_OR_ZLIB
        self._head = b""  # of a deflate body: its first two bytes say which kind it is
        self._started = False

    @cached_property
    def _engine(self) -> Any:
        """Made when there is something to undo, which is seldom."""
        return zlib.decompressobj(self._kind)

    def rest(self) -> bytes:
        """The end of the body: its first bytes, if they were so few that it could not be told what they are."""
        held, self._head = (b"", self._head) if self._settled else (self._head, b"")
        return held

    def _settle(self, data: bytes) -> bytes:
        """Find out by its first bytes whether the body is compressed; gives it back, or nothing of too little."""
        data = self._head + data
        packed = data.startswith(_GZIP)
        if not self._named and not packed and len(data) < len(_GZIP) and _GZIP.startswith(data):
            self._head = data
            return b""
        plain = not packed and not self._deflate and data.startswith(_PLAIN)
        begins = len(data) < _LONGEST and any(start.startswith(data) for start in _PLAIN)
        if self._named and not self._deflate and not plain and begins:
            self._head = data
            return b""
        self._head, self._settled = b"", True
        if self._named and plain:
            self.active, self.odd = False, "the answer says that it is compressed, and it is not"
        elif not self._named:
            self.active = packed
            self.odd = "the answer is compressed as gzip, and does not say so" if packed else ""
        return data

    def inflate(self, data: bytes) -> Iterator[bytes]:
        """The decoded pieces of ``data``, at most ``STEP`` bytes each. Raises ValueError for a damaged body."""
        if not self._settled and not (data := self._settle(data)):
            return
        if not self.active:
            yield data
            return
        if self._deflate and not self._started:
            data = self._head = self._head + data
            if len(data) < 2:
                return
            if not _is_zlib(data):
                self._kind = _BARE
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
                del self._engine  # the next member of a gzip body
            elif not data and len(piece) < STEP:
                return


def _is_zlib(head: bytes) -> bool:
    """Whether two bytes are a zlib header (RFC 1950, section 2.2)."""
    return head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
