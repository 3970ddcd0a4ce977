"""Images between Qt and our values, with real pictures and damaged ones."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QSize, QUrl
from PySide6.QtGui import QColor, QImage, QImageReader, QPainter
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from playground.domain.parts import Image
from playground.engine.files.images import ImageError, cut_off_words, data_of, facts, from_address, image_from
from playground.ui.features.conversation.image_view import ImageBox, ImageStrip
from playground.ui.features.conversation.images import decode, offers_images, read_source, shrunk, sources_of
from tests.support.each_case import each_case

pytestmark = pytest.mark.usefixtures("qapp")


def picture(width: int = 40, height: int = 30, colour: str = "#2F5BEA", *, alpha: bool = False) -> QImage:
    created = QImage(width, height, QImage.Format.Format_ARGB32 if alpha else QImage.Format.Format_RGB32)
    created.fill(QColor(0, 0, 0, 0) if alpha else QColor(colour))
    return created


def save_picture(folder: Path, name: str, created: QImage | None = None) -> Path:
    path = folder / name
    assert (created or picture()).save(str(path))
    return path


def noise(width: int, height: int) -> QImage:
    """A picture that does not compress: the bytes of a generator with a fixed seed."""
    data = random.Random(7).randbytes(width * height * 4)
    return QImage(data, width, height, QImage.Format.Format_RGB32).copy()


def bomb(width: int, height: int) -> bytes:
    """A small PNG file that says it is huge."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + chunk(b"IEND", b"")
    )


# What is offered


@each_case("data", [b"no picture at all", b""])
def test_broken_picture_is_offered_and_refused_when_read(data: bytes) -> None:
    mime = QMimeData()
    mime.setData("image/png", data)
    assert offers_images(mime)
    (source,) = sources_of(mime)
    with pytest.raises(ImageError):
        read_source(source)

    mime.setUrls([QUrl("https://example.org/a.png")])
    assert sources_of(mime) == ["https://example.org/a.png"], "its address is as good"

    mime = QMimeData()
    mime.setData("image/png", data)
    mime.setText("A1\tB1")
    assert not offers_images(mime)
    assert sources_of(mime) == []


# Reading


# Showing


def test_hostile_pictures_give_errors(qapp: QApplication) -> None:
    complete = data_of(read_source(noise(64, 64)).url)
    assert complete is not None
    cases = {
        "million pixels": bomb(60_000, 60_000),
        "damaged or cut off": complete[: len(complete) // 3],
        "its header is damaged": bomb(0, 7),
    }
    for words, data in cases.items():
        with pytest.raises(ImageError, match=words):
            decode(image_from(data, words), QSize(100, 100))
    assert QImageReader.allocationLimit() == 256


def test_shrinking_gives_a_smaller_copy_of_the_same_image() -> None:
    with pytest.raises(ImageError, match="would not become smaller"):
        shrunk(read_source(picture(4, 4)))
    data = data_of(read_source(noise(2_500, 200)).url)
    assert data is not None
    small = shrunk(image_from(data, "noise.png").model_copy(update={"detail": "low"}))
    measure = facts(small).measure
    assert measure is not None
    assert (measure.media_type, measure.width, measure.height) == ("image/jpeg", 1_568, 125)
    assert (small.name, small.detail) == ("noise.jpg", "low")


def test_shrunk_picture_stays_transparent() -> None:
    clear = noise(3_000, 200).convertToFormat(QImage.Format.Format_ARGB32)
    clear.setPixelColor(5, 5, QColor(0, 0, 0, 0))
    small = shrunk(read_source(clear))
    assert small.url.startswith("data:image/png")
    assert decode(small, QSize(100, 100)).hasAlphaChannel()


def jpeg(name: str, folder: Path, qimage: QImage) -> bytes:
    return save_picture(folder, name, qimage).read_bytes()


def png_with(data: bytes, kind: bytes, content: bytes) -> bytes:
    """A PNG file with one more chunk behind its header."""
    chunk = struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return data[:33] + chunk + data[33:]


def test_shrinking_of_animated_images_is_refused(tmp_path: Path) -> None:
    header = b"GIF89a" + struct.pack("<HH", 2, 1) + b"\x80\x00\x00" + b"\x00\x00\x00\xff\xff\xff"
    control = b"!\xf9\x04\x04\x0a\x00\x00\x00"
    gif = header + (control + b",\x00\x00\x00\x00\x02\x00\x01\x00\x00\x02\x03D\x02\x05\x00") * 3 + b";"
    png = png_with(save_picture(tmp_path, "still.png").read_bytes(), b"acTL", struct.pack(">II", 3, 0))
    frame = b"\0" * 6 + b"\x27\0\0\x1d\0\0" + b"\x64\0\0\0" + save_picture(tmp_path, "still.webp").read_bytes()[12:]
    chunks = ((b"VP8X", b"\x02\0\0\0\x27\0\0\x1d\0\0"), (b"ANIM", b"\0" * 6), (b"ANMF", frame), (b"ANMF", frame))
    content = b"".join(kind + struct.pack("<I", len(data)) + data for kind, data in chunks)
    webp = b"RIFF" + struct.pack("<I", len(content) + 4) + b"WEBP" + content
    for name, data in (("wave.gif", gif), ("wave.png", png), ("wave.webp", webp)):
        with pytest.raises(ImageError, match=f"“{name}” is animated"):
            shrunk(image_from(data, name))


def exif(orientation: int, order: str) -> bytes:
    head = b"II*\0" if order == "<" else b"MM\0*"
    return head + struct.pack(f"{order}IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)


def webp_with_exif(data: bytes, width: int, height: int, content: bytes) -> bytes:
    """A WebP file in the extended format, with EXIF data at its end."""
    size = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    content += b"\0" * (len(content) % 2)
    chunks = b"VP8X" + struct.pack("<I", 10) + b"\x08\0\0\0" + size + data[12:]
    chunks += b"EXIF" + struct.pack("<I", len(content)) + content
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WEBP" + chunks


@each_case(
    "kind, order, orientation",
    [*[("png", "<", number) for number in range(1, 9)], ("png", ">", 6), ("webp", "<", 6), ("webp", ">", 3)],
)
def test_png_and_webp_are_turned_by_their_exif_data(tmp_path: Path, kind: str, order: str, orientation: int) -> None:
    marked = picture(60, 40, "#000000")
    painter = QPainter(marked)
    painter.fillRect(0, 0, 30, 20, QColor("#FF0000"))
    painter.fillRect(30, 0, 30, 20, QColor("#00FF00"))
    painter.end()

    def corners(data: bytes) -> tuple[tuple[int, int], list[tuple[int, ...]]]:
        displayed = decode(image_from(data), QSize(100, 100))
        width, height = displayed.width(), displayed.height()
        spots = [(w, h) for w in (width // 4, 3 * width // 4) for h in (height // 4, 3 * height // 4)]
        colours = [displayed.pixelColor(*spot) for spot in spots]
        return (width, height), [(round(c.redF()), round(c.greenF()), round(c.blueF())) for c in colours]

    plain = jpeg("plain.jpg", tmp_path, marked)
    block = b"Exif\0\0" + exif(orientation, "<")
    as_jpeg = plain[:2] + b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block + plain[2:]
    data = save_picture(tmp_path, f"marked.{kind}", marked).read_bytes()
    if kind == "png":
        turned = png_with(data, b"eXIf", exif(orientation, order))
    else:
        prefix = b"Exif\0\0" if orientation % 2 else b""  # some programs write it, some do not
        turned = webp_with_exif(data, 60, 40, prefix + exif(orientation, order))
    assert corners(turned) == corners(as_jpeg)


@pytest.mark.qt_log_ignore("Corrupt JPEG data")
@each_case("name", ["a.jpg", "a.png", "a.webp"])
def test_cut_off_picture_is_reported_and_not_shrunk(tmp_path: Path, qtbot: QtBot, name: str) -> None:
    complete = save_picture(tmp_path, name, noise(2_200, 90)).read_bytes()
    assert cut_off_words(image_from(complete, name)) == ""
    cut = image_from(complete[: len(complete) * 2 // 3], name)
    assert f"“{name}” is cut off" in cut_off_words(cut)
    with pytest.raises(ImageError, match="cut off"):
        shrunk(cut)
    if name == "a.jpg":  # the first lines can be shown
        box = ImageBox(cut, large=True)
        qtbot.addWidget(box)
        assert any("Cut off" in label.text() for label in box.findChildren(QLabel))


#: Reads files in a process of its own, which a decoder may end.
READER = """
import sys
from pathlib import Path
from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication
from playground.engine.files.images import ImageError
from playground.ui.features.conversation.images import decode, read_source, shrunk
app = QGuiApplication([])
for path in sorted(Path(sys.argv[1]).iterdir()):
    print(path.name, end=" ", flush=True)
    try:
        image = read_source(path)
        decode(image, QSize(84, 84))
        print("decoded", end=" ")
        shrunk(image)
    except ImageError as error:
        print(error, end="")
    print(flush=True)
print("end")
"""


def read_in_a_process(folder: Path) -> dict[str, str]:
    ended = subprocess.run(
        [sys.executable, "-c", READER, str(folder)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
    )
    lines = ended.stdout.splitlines()
    assert (ended.returncode, lines[-1:]) == (0, ["end"]), ended.stdout[-200:] + ended.stderr[-500:]
    return {line.partition(" ")[0]: line.partition(" ")[2] for line in lines[:-1]}


def test_no_file_ends_the_process(tmp_path: Path) -> None:
    readable = ("tiff", "bmp", "webp", "png", "jpg")
    depths = (
        QImage.Format.Format_Grayscale8,
        QImage.Format.Format_Mono,
        QImage.Format.Format_RGBA64,
        QImage.Format.Format_Indexed8,
        QImage.Format.Format_ARGB32,
    )
    for depth in depths:
        for kind in (*readable, "ico", "ppm", "xpm", "icns"):
            picture(64, 64).convertToFormat(depth).save(str(tmp_path / f"{depth.name}.{kind}"))
    heads = {
        "a.jxl": b"\xff\x0a",
        "head.tiff": b"II*\0\x08\0\0\0",
        "huge.bmp": b"BM" + b"\0" * 12 + struct.pack("<IiiHHI", 40, 60_000, 60_000, 1, 32, 0) + b"\0" * 20,
    }
    for name, data in heads.items():
        (tmp_path / name).write_bytes(data + bytes(64))
    generator = random.Random(31)
    for kind in (*readable, "ico"):
        complete = save_picture(tmp_path, f"whole.{kind}", noise(24, 24)).read_bytes()
        for step in range(20):
            damaged = bytearray(complete[: generator.randrange(1, len(complete))] if step % 2 else complete)
            for _ in range(step % 5):
                damaged[generator.randrange(min(len(damaged), 400))] = generator.choice((0, 1, 127, 128, 255))
            (tmp_path / f"{step}.{kind}").write_bytes(damaged)
    read = read_in_a_process(tmp_path)
    names = [f"{depth.name}.{kind}" for depth in depths for kind in readable]
    assert [name for name in names if not read[name].startswith("decoded")] == []
    assert "cannot be shown" in read["huge.bmp"]


@each_case(
    "data, words",
    [
        (b"\0\0\0\x0cjP  \r\n\x87\n", "is a JPEG 2000 image, which gateways do not take"),
        (b"8BPS\0\1", "is a Photoshop document"),
        (b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic", "is a HEIC image, which gateways do not take"),
        (b"\x00\x00\x00\x18ftypavif\x00\x00\x00\x00avifmif1", "is an AVIF image"),
        (b"\x00\x00\x00\x18ftypisom\x00\x00\x00\x00isomavc1", "is a video"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg'/>", "is an SVG drawing"),
        (b"%PDF-1.7", "is a PDF document"),
        (b"", "is empty"),
        (b"hello", "is not an image in"),
    ],
)
def test_file_that_is_no_image_is_named_by_its_kind(data: bytes, words: str) -> None:
    with pytest.raises(ImageError, match=words):
        image_from(data, "holiday")


# The boxes


@pytest.fixture
def strip(qtbot: QtBot) -> ImageStrip:
    image_strip = ImageStrip(large=False)
    qtbot.addWidget(image_strip)
    image_strip.resize(700, 200)
    return image_strip


def test_image_address_is_never_loaded(qtbot: QtBot) -> None:
    box = ImageBox(from_address("http://127.0.0.1:1/pixel.png"), large=True)
    qtbot.addWidget(box)
    assert not box.thumb.loaded
    assert "address, not loaded" in box.accessibleName()
    box.copy_address.click()
    assert QApplication.clipboard().text() == "http://127.0.0.1:1/pixel.png"
    with qtbot.waitSignal(box.link_asked) as request:
        box.open_address.click()
    assert request.args == ["http://127.0.0.1:1/pixel.png"]


def test_image_that_cannot_be_shown_says_why(strip: ImageStrip) -> None:
    strip.show_images((image_from(bomb(0, 7), "bad.png"), Image(url="data:image/png;base64,AAAA")))
    assert "header is damaged" in strip.boxes[0].thumb.problem
    assert strip.boxes[1].thumb.problem == "Unsupported image format."
    assert "header is damaged" in strip.boxes[0].thumb.toolTip()
    strip.show_images(())
    assert strip.images == ()
