"""Turns a body that came as UTF-16 or UTF-32 into UTF-8, piece by piece, so that all that follows reads one spelling.

JSON and event streams are UTF-8, and no header is asked: only what the first bytes show is believed. It stands before
the redactor, which looks for secrets as UTF-8.
"""

from __future__ import annotations

import codecs
from typing import Final

_MARKS: Final = (  # the longer ones first: that of UTF-16 begins that of UTF-32
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: Which of the first eight bytes are zero, where both or all four characters are of ASCII.
_ZEROS: Final[dict[tuple[int, ...], str]] = {
    (0, 1, 1, 1, 0, 1, 1, 1): "utf-32-le",
    (1, 1, 1, 0, 1, 1, 1, 0): "utf-32-be",
    (0, 1, 0, 1, 0, 1, 0, 1): "utf-16-le",
    (1, 0, 1, 0, 1, 0, 1, 0): "utf-16-be",
}
_LOOKED_AT: Final = 8


class Transcoder:
    """Serves one body. ``active`` is False once there is nothing to do; ``spelling`` is what was found, else empty."""

    def __init__(self) -> None:
        self.active = True
        self.spelling = ""
        self._head = b""
        self._decoder: codecs.IncrementalDecoder | None = None

    def transcode(self, data: bytes) -> bytes:
        """``data`` in UTF-8, as far as whole characters of it are there; halves of pairs become U+FFFD."""
        if self._decoder is None:
            if not self.active:
                return data
            data = self._head + data
            suspicious = data[:1] in (b"\xff", b"\xfe") or b"\0" in data[:_LOOKED_AT]
            if len(data) < _LOOKED_AT and suspicious:
                self._head = data
                return b""
            return self._begin(data)
        return self._decoder.decode(data).encode("utf-8", "replace")

    def close(self) -> bytes:
        """The end of the body: what was held back."""
        data = self._begin(self._head) if self._head else b""
        last = self._decoder.decode(b"", final=True) if self._decoder is not None else ""
        return data + last.encode("utf-8", "replace")

    def _begin(self, data: bytes) -> bytes:
        self._head, self.active = b"", False
        mark, name = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", ""))
        name = name or _ZEROS.get(tuple(int(not byte) for byte in data[:_LOOKED_AT]), "")
        if not name:
            return data
        self.active, self.spelling = True, name
        self._decoder = codecs.getincrementaldecoder(name)("replace")
        return self._decoder.decode(data[len(mark) :]).encode("utf-8", "replace")
