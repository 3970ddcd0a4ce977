"""The application's icon in the formats of three systems, drawn as the packages draw it."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PNG = b"\x89PNG\r\n\x1a\n"


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(PNG)
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_every_format_holds_pictures_of_the_sizes_it_says(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "packaging" / "icons.py"), str(ROOT / "resources" / "icons" / "app.svg")]
    subprocess.run([*command, str(tmp_path)], check=True, timeout=60)
    for path in tmp_path.glob("*.png"):
        assert size_of(path.read_bytes()) == (int(path.stem), int(path.stem))

    ico = (tmp_path / "app.ico").read_bytes()
    _, kind, count = struct.unpack("<HHH", ico[:6])
    assert (kind, count) == (1, 6)
    for start in range(6, 6 + 16 * count, 16):
        width, _, _, _, _, bits, length, place = struct.unpack("<BBBBHHII", ico[start : start + 16])
        assert size_of(ico[place : place + length])[0] == (width or 256)
        assert bits == 32

    icns = (tmp_path / "app.icns").read_bytes()
    assert struct.unpack(">I", icns[4:8])[0] == len(icns)
    start, sizes = 8, []
    while start < len(icns):
        length = struct.unpack(">I", icns[start + 4 : start + 8])[0]
        sizes.append(size_of(icns[start + 8 : start + length])[0])
        start += length
    assert sizes == [16, 32, 64, 128, 256, 512, 1024]
