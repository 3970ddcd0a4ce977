"""Text of a file in an encoding that spreadsheets and editors write: UTF-8, UTF-16, UTF-32, with or without a mark."""

from __future__ import annotations

import codecs
from typing import Final

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins like that one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE: Final = 4_000  # bytes that are looked at where there is no mark


def decode_text(data: bytes) -> str:
    """Decode a file's content, without its byte order mark. Raises ValueError that names the line."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "") or _guess(data[:_SAMPLE])
    try:
        return data.decode(encoding).lstrip("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"The file is not UTF-8 text (line {line}). Save it as UTF-8.") from None


def _guess(sample: bytes) -> str:
    """Return the encoding of a text without a mark: every other byte of UTF-16 is zero in most languages."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > len(sample) // 6 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > len(sample) // 6 and not odd else "utf-8"
