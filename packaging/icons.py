"""Draws the application's icon in the sizes and file formats that systems want: PNG, Windows' .ico, macOS' .icns.

Usage: icons.py SVG OUT. Writes OUT/SIZE.png, OUT/app.ico and OUT/app.icns. Needs PySide6 and no screen.
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QGuiApplication, QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgRenderer

SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
ICO = (16, 24, 32, 48, 64, 256)
ICNS = {"icp4": 16, "icp5": 32, "icp6": 64, "ic07": 128, "ic08": 256, "ic09": 512, "ic10": 1024}


def main(source: Path, out: Path) -> int:
    """Write all of them."""
    application = QGuiApplication([])
    renderer = QSvgRenderer(str(source))
    if not renderer.isValid():
        print(f"{source} cannot be drawn", file=sys.stderr)
        return 1
    out.mkdir(parents=True, exist_ok=True)
    pictures = {size: draw(renderer, size) for size in sorted({*SIZES, *ICO, *ICNS.values()})}
    for size in SIZES:
        (out / f"{size}.png").write_bytes(pictures[size])
    (out / "app.ico").write_bytes(ico([(size, pictures[size]) for size in ICO]))
    (out / "app.icns").write_bytes(icns([(kind, pictures[size]) for kind, size in ICNS.items()]))
    application.quit()
    return 0


def draw(renderer: QSvgRenderer, size: int) -> bytes:
    """The picture as PNG, ``size`` pixels wide and high."""
    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"PNG")).write(image)
    return bytes(buffer.data().data())


def ico(pictures: list[tuple[int, bytes]]) -> bytes:
    """Windows' format: a directory, then the pictures; 256 is written as 0."""
    head = struct.pack("<HHH", 0, 1, len(pictures))
    place = len(head) + 16 * len(pictures)
    for size, data in pictures:
        head += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(data), place)
        place += len(data)
    return head + b"".join(data for _, data in pictures)


def icns(pictures: list[tuple[str, bytes]]) -> bytes:
    """macOS' format: pieces of a four-letter kind, each with its length."""
    body = b"".join(kind.encode() + struct.pack(">I", len(data) + 8) + data for kind, data in pictures)
    return b"icns" + struct.pack(">I", len(body) + 8) + body


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
