"""Pictures and sound that the demo's tool server answers with, made without any library of either."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence

_COLOURS = ((66, 133, 244), (219, 68, 55), (244, 180, 0), (15, 157, 88), (171, 71, 188), (0, 172, 193))
_PAPER = (250, 250, 250)
_LINE = (120, 120, 120)


def bar_chart(values: Sequence[float], width: int = 320, height: int = 180) -> bytes:
    """A PNG with a bar for each value, none of them below 0, on a line."""
    top = max(values, default=0) or 1
    room, margin = width - 20, 10
    rows = []
    for y in range(height):
        row = bytearray()
        for x in range(width):
            colour = _PAPER
            column = (x - margin) * len(values) / room
            if y >= height - margin:
                colour = _LINE if y == height - margin and margin <= x < width - margin else _PAPER
            elif 0 <= column < len(values) and 0.12 < column % 1 < 0.88:
                index = int(column)
                if height - margin - y <= (height - 2 * margin) * values[index] / top:
                    colour = _COLOURS[index % len(_COLOURS)]
            row += bytes(colour)
        rows.append(b"\0" + row)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(b"".join(rows))) + _chunk(b"IEND")
    )


def tone(hertz: float, seconds: float, rate: int = 8000) -> bytes:
    """A WAV with a tone that fades out, one channel of 8 bits."""
    count = int(rate * seconds)
    wave = bytes(128 + round(100 * (1 - n / count) * math.sin(2 * math.pi * hertz * n / rate)) for n in range(count))
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate, 1, 8)
    data = struct.pack("<4sI", b"data", len(wave)) + wave
    return struct.pack("<4sI4s", b"RIFF", 4 + len(form) + len(data), b"WAVE") + form + data


def _chunk(kind: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
