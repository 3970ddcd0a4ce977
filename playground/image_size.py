"""What the first bytes of a picture say: its format and its size in pixels. The pixels themselves are never decoded.

PNG, JPEG, GIF and WebP are read by hand, so that nobody needs an imaging library for it. The standard library and no
part of the program is used here: the demo gateway uses it, and knows none of us.
"""

from __future__ import annotations

import struct
from typing import NamedTuple


class Measure(NamedTuple):
    """What the first bytes say: the media type, and width and height in pixels."""

    media_type: str
    width: int
    height: int


def measure(data: bytes) -> Measure | None:
    """Media type and size in pixels from the header; None when the bytes are of no format known here."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            return Measure("image/png", *struct.unpack(">II", data[16:24]))
        if data[:6] in (b"GIF87a", b"GIF89a"):
            return Measure("image/gif", *struct.unpack("<HH", data[6:10]))
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp(data)
        if data[:2] == b"\xff\xd8":
            return _jpeg(data)
    except (struct.error, IndexError):
        return None
    return None


def _webp(data: bytes) -> Measure | None:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
        return Measure("image/webp", width, height)
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = struct.unpack("<I", data[21:25])[0]
        return Measure("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack("<HH", data[26:30])
        return Measure("image/webp", width & 0x3FFF, height & 0x3FFF)
    return None


def _jpeg(data: bytes) -> Measure | None:
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # padding before a marker
            at += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD9:  # markers without a length
            at += 2
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # a start of frame
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return Measure("image/jpeg", width, height)
        else:
            at += 2 + max(struct.unpack(">H", data[at + 2 : at + 4])[0], 2)
    return None
