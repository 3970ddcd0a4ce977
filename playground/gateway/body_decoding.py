"""Decodes a response body piece by piece: gzip or deflate to bytes, then UTF-16 or UTF-32 to UTF-8.

A wrong header does no harm: the first bytes of a body decide whether it is compressed and how it is encoded.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

from playground.domain.errors import CausedError, FailureCause

#: The encodings that requests accept.
ACCEPTED: Final = "gzip, deflate"

#: The most bytes that one step gives; as much as one read from a socket, so that both take about as long to decode.
STEP: Final = 64 * 1024

_GZIP_OR_ZLIB: Final = 47  # 32 + 15: zlib recognises the kind itself
_BARE: Final = -15  # "deflate" without the zlib header, as some servers send it
_GZIP: Final = b"\x1f\x8b\x08"
#: Beginnings of JSON, a page and an event stream; no gzip header has one of them.
_PLAIN: Final = (
    *(b"{", b"[", b"<", b":", b'"', b"\r", b"\n", b" ", b"\xef\xbb\xbf"),
    *(b"data:", b"event:", b"id:", b"retry:"),
)
_LONGEST: Final = max(map(len, _PLAIN))

_MARKS: Final = (  # the longer ones first: that of UTF-16 is the beginning of that of UTF-32
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: The encoding by which of the first eight bytes are zero, when the first characters are ASCII.
_ZEROS: Final[dict[tuple[int, ...], str]] = {
    (0, 1, 1, 1, 0, 1, 1, 1): "utf-32-le",
    (1, 1, 1, 0, 1, 1, 1, 0): "utf-32-be",
    (0, 1, 0, 1, 0, 1, 0, 1): "utf-16-le",
    (1, 0, 1, 0, 1, 0, 1, 0): "utf-16-be",
}
_PROBED: Final = 8  # bytes


class Inflater:
    """Undoes gzip and deflate of one body, in steps of bounded size, so that the caller can stop a zip bomb.

    ``active`` is False once the body turned out to be plain. ``mismatch`` says in words how body and header differ; it
    is "" until that is known, and where they agree.
    """

    def __init__(self, encoding: str) -> None:
        """``encoding`` is the Content-Encoding header. Raises ValueError, in words, for an unknown one."""
        names = [name for name in encoding.lower().replace(",", " ").split() if name != "identity"]
        if len(names) > 1 or any(name not in ("gzip", "x-gzip", "deflate") for name in names):
            raise CausedError(
                FailureCause.COMPRESSED,
                f"The answer is compressed as “{encoding[:80]}”; only {ACCEPTED} were requested.",
            )
        self.active = True
        self.mismatch = ""
        self._declared = bool(names)
        self._settled = False
        self._deflate = names == ["deflate"]
        self._kind = _GZIP_OR_ZLIB
        self._head = b""  # first bytes, too few to recognise the kind by
        self._started = False

    @cached_property
    def _engine(self) -> Any:
        return zlib.decompressobj(self._kind)

    def rest(self) -> bytes:
        """Return the whole body when it was too short for its kind to be recognised, else b""; call at its end."""
        head, self._head = (b"", self._head) if self._settled else (self._head, b"")
        return head

    def _settle(self, data: bytes) -> bytes:
        """Recognise by its first bytes whether the body is compressed; return them, or b"" when they are too few."""
        data = self._head + data
        packed = data.startswith(_GZIP)
        if not self._declared and not packed and len(data) < len(_GZIP) and _GZIP.startswith(data):
            self._head = data
            return b""
        plain = not packed and not self._deflate and data.startswith(_PLAIN)
        may_be_plain = len(data) < _LONGEST and any(start.startswith(data) for start in _PLAIN)
        if self._declared and not self._deflate and not plain and may_be_plain:
            self._head = data
            return b""
        self._head, self._settled = b"", True
        if self._declared and plain:
            self.active, self.mismatch = False, "the answer says that it is compressed, and it is not"
        elif not self._declared:
            self.active = packed
            self.mismatch = "the answer is compressed as gzip, and does not say so" if packed else ""
        return data

    def inflate(self, data: bytes) -> Iterator[bytes]:
        """Yield the decoded pieces of ``data``, at most ``STEP`` bytes each. Raises ValueError for a damaged body."""
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
                raise CausedError(
                    FailureCause.COMPRESSED, "The answer says it is compressed, but it is damaged or plain."
                ) from None
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


class Transcoder:
    """Turns one body in UTF-16 or UTF-32 into UTF-8.

    ``active`` is False once the body turned out to be neither; ``encoding`` is the one recognised, else "".
    """

    def __init__(self) -> None:
        self.active = True
        self.encoding = ""
        self._head = b""
        self._decoder: codecs.IncrementalDecoder | None = None

    def transcode(self, data: bytes) -> bytes:
        """Return the whole characters of ``data`` in UTF-8; a lone surrogate becomes U+FFFD."""
        if self._decoder is None:
            if not self.active:
                return data
            data = self._head + data
            suspicious = data[:1] in (b"\xff", b"\xfe") or b"\0" in data[:_PROBED]
            if len(data) < _PROBED and suspicious:
                self._head = data
                return b""
            return self._begin(data)
        return self._decoder.decode(data).encode("utf-8", "replace")

    def close(self) -> bytes:
        """Return the bytes still held at the end of the body."""
        data = self._begin(self._head) if self._head else b""
        last = self._decoder.decode(b"", final=True) if self._decoder is not None else ""
        return data + last.encode("utf-8", "replace")

    def _begin(self, data: bytes) -> bytes:
        self._head, self.active = b"", False
        mark, name = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", ""))
        name = name or _ZEROS.get(tuple(int(not byte) for byte in data[:_PROBED]), "")
        if not name:
            return data
        self.active, self.encoding = True, name
        self._decoder = codecs.getincrementaldecoder(name)("replace")
        return self._decoder.decode(data[len(mark) :]).encode("utf-8", "replace")


def _is_zlib(head: bytes) -> bool:
    """Return whether two bytes are a zlib header (RFC 1950, section 2.2)."""
    return head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
