"""Format and size in pixels of an image, from its first bytes.

PNG, JPEG, GIF and WebP are read by hand, so that the gateway needs no imaging library. The pixels themselves are
never decoded.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class Picture:
    """An image of a request: either ``data`` with its declared ``media_type``, or an ``address`` to fetch."""

    media_type: str = ""
    data: bytes = b""
    address: str = ""
    detail: str = "auto"

    def tokens(self) -> int:
        """Prompt tokens the picture costs: few for low detail, by size otherwise."""
        if self.detail == "low":
            return 85
        size = measure(self.data)
        if size is None:
            return 765
        tiles = -(-min(size[1], 2048) // 512) * -(-min(size[2], 2048) // 512)
        return 85 + 170 * max(tiles, 1)


def measure(data: bytes) -> tuple[str, int, int] | None:
    """``(media type, width, height)`` in pixels from the header, or None when the bytes are not understood."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            return ("image/png", *struct.unpack(">II", data[16:24]))
        if data[:6] in (b"GIF87a", b"GIF89a"):
            return ("image/gif", *struct.unpack("<HH", data[6:10]))
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp(data)
        if data[:2] == b"\xff\xd8":
            return _jpeg(data)
    except (struct.error, IndexError):
        return None
    return None


def _webp(data: bytes) -> tuple[str, int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = (int.from_bytes(data[start : start + 3], "little") + 1 for start in (24, 27))
        return ("image/webp", width, height) if len(data) >= 30 else None
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = struct.unpack("<I", data[21:25])[0]
        return ("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack("<HH", data[26:30])
        return ("image/webp", width & 0x3FFF, height & 0x3FFF)
    return None


def _jpeg(data: bytes) -> tuple[str, int, int] | None:
    position = 2
    while position + 4 <= len(data):
        if data[position] != 0xFF:
            return None
        marker = data[position + 1]
        if marker == 0xFF:  # padding before a marker
            position += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD9:  # markers without a length
            position += 2
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # a start of frame
            height, width = struct.unpack(">HH", data[position + 5 : position + 9])
            return ("image/jpeg", width, height)
        else:
            position += 2 + struct.unpack(">H", data[position + 2 : position + 4])[0]
    return None
