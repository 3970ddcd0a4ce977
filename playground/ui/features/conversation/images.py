"""Pictures between Qt and the values of the engine: what a paste or drop offers, pixels to show, smaller copies.

Everything that reads or decodes here may take long and runs in a thread; what it is given is hostile. Only the four
formats that are sent are decoded, each by its own reader and never guessed, and none beyond ``MOST_PIXELS``.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Final, TypeAlias

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QSize, Qt, QUrl
from PySide6.QtGui import QImage, QImageIOHandler, QImageReader, QImageWriter

from playground.domain.parts import Image
from playground.engine.files import images
from playground.engine.files.images import FORMATS, ImageError
from playground.ui.features.conversation.documents import documents

#: Something that may become an image: a file, a bitmap, the bytes of one, a data URL or an http(s) address.
Source: TypeAlias = Path | QImage | bytes | str

LIMIT_MB: Final = 256  # what one decoded picture may take
MOST_PIXELS: Final = 64_000_000
MOST_JPEG_PIXELS: Final = 128_000_000  # scaled while it is read, so that more of them fit
JPEG_QUALITY: Final = 85
_DRAWN: Final = 1.5  # times what it would be as JPEG: a screenshot stays sharp for that, a photograph takes far more
_KEPT: Final = 64
_ENDINGS: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_OTHER: Final = {b"BM": b"bmp", b"II*\x00": b"tiff", b"MM\x00*": b"tiff", b"\x00\x00\x01\x00": b"ico"}
_shown: OrderedDict[tuple[int, int, int, int], QImage] = OrderedDict()


# What is offered


def sources_of(mime: QMimeData) -> list[Source]:
    """The images in a paste or drop, in order; empty when it is to be taken as text.

    Text wins over a bitmap that comes with it: a spreadsheet offers both and means the text.
    """
    urls = mime.urls() if mime.hasUrls() else []
    files = [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
    if files:
        return list(files)
    text = mime.text() if mime.hasText() else ""
    if images.is_data_url(text):
        return [text]
    addresses: list[Source] = [url.toString() for url in urls if _is_picture_address(url)]
    if _has_picture(mime) and (not text.strip() or images.is_address(text.strip()) or urls):
        bitmap = mime.imageData()
        if isinstance(bitmap, QImage) and not bitmap.isNull():
            return [bitmap.copy()]
        return addresses or [_bytes_of_picture(mime)]  # for what is wrong with them to be said
    return addresses


def offers_images(mime: QMimeData) -> bool:
    """Whether a drop holds images, judged without copying them. Files that the window opens are none."""
    if documents(mime):
        return False
    if mime.hasUrls():
        return any(url.isLocalFile() or _is_picture_address(url) for url in mime.urls()) or _has_picture(mime)
    return (_has_picture(mime) and not mime.text().strip()) or (mime.hasText() and images.is_data_url(mime.text()))


def _has_picture(mime: QMimeData) -> bool:
    """Whether there is said to be one; whether it can be read is another matter."""
    return mime.hasImage() or any(kind.startswith("image/") for kind in mime.formats())


def _bytes_of_picture(mime: QMimeData) -> bytes:
    """The bytes of the first picture as they are; empty where only Qt's own form of one is offered."""
    kinds = (kind for kind in mime.formats() if kind.startswith("image/"))
    return next((data for kind in kinds if (data := bytes(mime.data(kind).data()))), b"")


def _is_picture_address(url: QUrl) -> bool:
    return url.scheme().lower() in ("http", "https") and url.path().lower().endswith(_ENDINGS)


def read_source(source: Source) -> Image:
    """The image part of a source. Raises ImageError in words; blocks."""
    if isinstance(source, QImage):
        return images.image_from(_encoded(source, "PNG"), "pasted.png")
    if isinstance(source, bytes):
        return images.image_from(source)
    if isinstance(source, str):
        return images.from_data_url(source) if images.is_data_url(source) else images.from_address(source)
    data = images.read_file(source)
    kind = next((kind for head, kind in _OTHER.items() if data.startswith(head)), None)
    if kind is not None and images.measure(data) is None:
        return images.image_from(_encoded(_read(data, kind, None), "PNG"), f"{source.stem}.png")
    return images.image_from(data, source.name)


# Pixels


def decode(image: Image, box: QSize) -> QImage:
    """The picture scaled down to fit ``box``, turned upright. Raises ImageError in words; blocks."""
    key = (len(image.url), hash(image.url), box.width(), box.height())
    found = _shown.get(key)
    if found is None:
        data = images.data_of(image.url)
        known = images.measure(data) if data is not None else None
        if data is None or known is None:
            raise ImageError("This cannot be shown: its bytes are of no format known here.")
        found = _read(data, known.media_type.removeprefix("image/").encode(), box)
        _shown[key] = found
        while len(_shown) > _KEPT:
            _shown.popitem(last=False)
    return found


def is_quick(image: Image) -> bool:
    """Whether a picture is decoded so fast that no thread is worth it."""
    known = images.facts(image)
    pixels = known.measure.width * known.measure.height if known.measure else 0
    return known.size < 200_000 and pixels < 1_000_000


def shrunk(image: Image) -> Image:
    """A smaller copy, at most ``SHRINK_SIDE`` pixels a side, upright: PNG where it is transparent or drawn, else JPEG.

    Raises ImageError when it cannot be read, moves, or would not become smaller; blocks.
    """
    side = images.SHRINK_SIDE
    data = images.data_of(image.url)
    known = images.measure(data) if data is not None else None
    if data is None or known is None:
        raise ImageError("This cannot be made smaller: its bytes are of no format known here.")
    form = known.media_type.removeprefix("image/")
    if form in ("gif", "webp") and _moves(data, form.encode()):
        raise ImageError("This cannot be made smaller: it moves, and only one of its pictures would be left.")
    picture = _read(data, form.encode(), QSize(side, side))
    clear = picture.hasAlphaChannel() and _is_clear(picture)
    # Eight bits a colour, and no inks: what is read of other kinds is more than any gateway looks at.
    picture = picture.convertToFormat(QImage.Format.Format_ARGB32 if clear else QImage.Format.Format_RGB32)
    kind, smaller = ("PNG", _encoded(picture, "PNG")) if clear else ("JPEG", _encoded(picture, "JPEG"))
    if not clear and form == "png" and len(drawn := _encoded(picture, "PNG")) <= len(smaller) * _DRAWN:
        kind, smaller = "PNG", drawn
    if len(smaller) >= len(data):
        raise ImageError("It would not become smaller. Save it in another format and attach that.")
    name = Path(image.name).stem + FORMATS[f"image/{kind.lower()}"] if image.name else None
    return images.image_from(smaller, name).model_copy(update={"detail": image.detail})


def _moves(data: bytes, kind: bytes) -> bool:
    """Whether there is more than one picture in it."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    return QImageReader(buffer, QByteArray(kind)).imageCount() > 1


def _is_clear(picture: QImage) -> bool:
    """Whether anything shows through."""
    opacity = picture.convertToFormat(QImage.Format.Format_Alpha8)
    bits, line, width = bytes(opacity.constBits()), opacity.bytesPerLine(), opacity.width()
    return any(bits[at : at + width].count(255) < width for at in range(0, len(bits), line))


def _read(data: bytes, kind: bytes, box: QSize | None) -> QImage:
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    QImageReader.setAllocationLimit(LIMIT_MB)
    reader = QImageReader(buffer, QByteArray(kind))
    reader.setAutoDetectImageFormat(False)
    reader.setAutoTransform(True)
    size = reader.size()
    if not size.isValid() or size.isEmpty():
        raise ImageError("This cannot be shown: its header is damaged.")
    most = MOST_JPEG_PIXELS if kind == b"jpeg" else MOST_PIXELS
    if size.width() * size.height() > most:
        million = f"{size.width() * size.height() / 1_000_000:.0f}"
        raise ImageError(f"Too large to show here: {million} million pixels. It can be sent all the same.")
    if box is not None:
        turned = bool(reader.transformation() & QImageIOHandler.Transformation.TransformationRotate90)
        room = box.transposed() if turned else box
        if size.width() > room.width() or size.height() > room.height():
            scaled = size.scaled(room, Qt.AspectRatioMode.KeepAspectRatio)
            reader.setScaledSize(scaled.expandedTo(QSize(1, 1)))
    picture = reader.read()
    if picture.isNull():
        raise ImageError("This cannot be shown: it is damaged or cut off.")
    return picture


def _encoded(picture: QImage, kind: str) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(kind.encode()))
    if kind == "JPEG":
        writer.setQuality(JPEG_QUALITY)
    if not writer.write(picture):
        raise ImageError("The picture could not be written.")
    return bytes(buffer.data().data())
