"""Pictures between Qt and the values of the engine: what a paste or drop offers, pixels to show, smaller copies.

Functions that read or decode may take long and run in a thread. Their input is hostile: only the four formats that are
sent are decoded, each by its own reader and never guessed, and none beyond ``MOST_PIXELS``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QSize, Qt, QUrl
from PySide6.QtGui import QImage, QImageIOHandler, QImageReader, QImageWriter, QTransform

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
_CACHE_SIZE: Final = 64
_ENDINGS: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_UNSUPPORTED: Final = {b"BM": b"bmp", b"II*\x00": b"tiff", b"MM\x00*": b"tiff", b"\x00\x00\x01\x00": b"ico"}
_Turn: TypeAlias = QImageIOHandler.Transformation
#: Transformations by EXIF orientation, for the formats whose EXIF data Qt does not read.
_TURNS: Final = {
    1: _Turn.TransformationNone,
    2: _Turn.TransformationMirror,
    3: _Turn.TransformationRotate180,
    4: _Turn.TransformationFlip,
    5: _Turn.TransformationFlipAndRotate90,
    6: _Turn.TransformationRotate90,
    7: _Turn.TransformationMirrorAndRotate90,
    8: _Turn.TransformationRotate270,
}
_decoded: OrderedDict[tuple[int, int, int, int], QImage] = OrderedDict()


# What is offered


def sources_of(mime: QMimeData) -> list[Source]:
    """Return the images in a paste or drop, in order; none if it must be inserted as text.

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
        return addresses or [_bytes_of_picture(mime)]  # unreadable bytes are returned, so that the error is reported
    return addresses


def offers_images(mime: QMimeData) -> bool:
    """Return whether a drop holds images, without copying them. Files that the window opens are none."""
    if documents(mime):
        return False
    if mime.hasUrls():
        return any(url.isLocalFile() or _is_picture_address(url) for url in mime.urls()) or _has_picture(mime)
    return (_has_picture(mime) and not mime.text().strip()) or (mime.hasText() and images.is_data_url(mime.text()))


def _has_picture(mime: QMimeData) -> bool:
    """Return whether the data claims to hold a picture; it may be unreadable."""
    return mime.hasImage() or any(kind.startswith("image/") for kind in mime.formats())


def _bytes_of_picture(mime: QMimeData) -> bytes:
    """Return the unchanged bytes of the first picture; empty if only Qt's own format is offered."""
    kinds = (kind for kind in mime.formats() if kind.startswith("image/"))
    return next((data for kind in kinds if (data := bytes(mime.data(kind).data()))), b"")


def _is_picture_address(url: QUrl) -> bool:
    return url.scheme().lower() in ("http", "https") and url.path().lower().endswith(_ENDINGS)


def read_source(source: Source) -> Image:
    """Return the image part of a source. Raises ImageError with a message; blocks."""
    if isinstance(source, QImage):
        return images.image_from(_encoded(source, "PNG"), "pasted.png")
    if isinstance(source, bytes):
        return _image_from(source, None)
    if isinstance(source, str):
        return images.from_data_url(source) if images.is_data_url(source) else images.from_address(source)
    return _image_from(images.read_file(source), source.name)


def _image_from(data: bytes, name: str | None) -> Image:
    """Return an image part; formats that only Qt reads are converted to PNG. Raises ImageError."""
    kind = next((kind for head, kind in _UNSUPPORTED.items() if data.startswith(head)), None)
    if kind is None or images.measure(data) is not None:
        return images.image_from(data, name)
    return images.image_from(_encoded(_read(data, kind, None), "PNG"), f"{Path(name).stem}.png" if name else None)


# Pixels


def decode(image: Image, box: QSize) -> QImage:
    """Return the picture scaled down to fit ``box``, turned upright. Raises ImageError with a message; blocks."""
    key = (len(image.url), hash(image.url), box.width(), box.height())
    picture = _decoded.get(key)
    if picture is None:
        data = images.data_of(image.url)
        measure = images.measure(data) if data is not None else None
        if data is None or measure is None:
            raise ImageError("Unsupported image format.")
        picture = _read(data, measure.media_type.removeprefix("image/").encode(), box)
        _decoded[key] = picture
        while len(_decoded) > _CACHE_SIZE:
            _decoded.popitem(last=False)
    return picture


def decode_and_check(image: Image, box: QSize) -> tuple[QImage, bool]:
    """Return the picture as `decode` does, and whether the end of its file is missing. Raises ImageError; blocks."""
    picture = decode(image, box)
    data = images.data_of(image.url)
    return picture, data is not None and images.is_cut_off(data)


def is_quick(image: Image) -> bool:
    """Return whether a picture is decoded too fast for a thread to be worth it."""
    about = images.facts(image)
    pixels = about.measure.width * about.measure.height if about.measure else 0
    return about.size < 200_000 and pixels < 1_000_000


def shrunk(image: Image) -> Image:
    """Return a smaller, upright copy: PNG if it is transparent or a drawing, else JPEG; at most ``SHRINK_SIDE`` a side.

    Raises ImageError when it cannot be read, is animated or cut off, or would not become smaller; blocks.
    """
    side = images.SHRINK_SIDE
    data = images.data_of(image.url)
    measure = images.measure(data) if data is not None else None
    label = f"“{image.name}”" if image.name else "This image"
    if data is None or measure is None:
        raise ImageError(f"{label} cannot be resized: unsupported image format.")
    form = measure.media_type.removeprefix("image/")
    if _is_animated(data, form):
        raise ImageError(f"{label} is animated. Animated images can't be resized.")
    if images.is_cut_off(data):
        raise ImageError(f"{label} cannot be resized: it is cut off. Download or export it again.")
    picture = _read(data, form.encode(), QSize(side, side))
    clear = picture.hasAlphaChannel() and _is_clear(picture)
    # Convert to 8 bits a channel in RGB: gateways use no more of deeper or CMYK images.
    picture = picture.convertToFormat(QImage.Format.Format_ARGB32 if clear else QImage.Format.Format_RGB32)
    kind, smaller = ("PNG", _encoded(picture, "PNG")) if clear else ("JPEG", _encoded(picture, "JPEG"))
    if not clear and form == "png" and len(drawn := _encoded(picture, "PNG")) <= len(smaller) * _DRAWN:
        kind, smaller = "PNG", drawn
    if len(smaller) >= len(data):
        raise ImageError(f"{label} would not become smaller. Save it in another format and attach that.")
    name = Path(image.name).stem + FORMATS[f"image/{kind.lower()}"] if image.name else None
    return images.image_from(smaller, name).model_copy(update={"detail": image.detail})


@contextmanager
def _image_reader(data: bytes, kind: bytes) -> Iterator[QImageReader]:
    """Open a reader for exactly one format.

    The decoder is deleted before its buffer: libtiff still reads the device when the decoder is deleted.
    """
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    QImageReader.setAllocationLimit(LIMIT_MB)
    reader = QImageReader(buffer, QByteArray(kind))
    reader.setAutoDetectImageFormat(False)
    try:
        yield reader
    finally:
        reader.setDevice(None)  # type: ignore[arg-type]  # the stubs lack that Qt accepts null


def _is_animated(data: bytes, kind: str) -> bool:
    if kind == "png":
        return images.is_animated_png(data)
    if kind not in ("gif", "webp"):
        return False
    with _image_reader(data, kind.encode()) as reader:
        return reader.imageCount() > 1


def _is_clear(picture: QImage) -> bool:
    """Return whether a pixel is transparent."""
    opacity = picture.convertToFormat(QImage.Format.Format_Alpha8)
    bits, line, width = bytes(opacity.constBits()), opacity.bytesPerLine(), opacity.width()
    return any(bits[start : start + width].count(255) < width for start in range(0, len(bits), line))


def _read(data: bytes, kind: bytes, box: QSize | None) -> QImage:
    """Decode an image, upright and scaled down to fit `box`. Raises ImageError."""
    with _image_reader(data, kind) as reader:
        reader.setAutoTransform(True)
        size = reader.size()
        if not size.isValid() or size.isEmpty():
            raise ImageError("This cannot be shown: its header is damaged.")
        most = MOST_JPEG_PIXELS if kind == b"jpeg" else MOST_PIXELS
        if size.width() * size.height() > most:
            million = f"{size.width() * size.height() / 1_000_000:.0f}"
            raise ImageError(f"Too large to show: {million} million pixels. It can still be sent.")
        turn = reader.transformation()
        exif_turn = _TURNS[images.orientation(data)] if turn == _Turn.TransformationNone else _Turn.TransformationNone
        if box is not None:
            room = box.transposed() if (turn | exif_turn) & _Turn.TransformationRotate90 else box
            if size.width() > room.width() or size.height() > room.height():
                scaled = size.scaled(room, Qt.AspectRatioMode.KeepAspectRatio)
                reader.setScaledSize(scaled.expandedTo(QSize(1, 1)))
        picture = reader.read()
        if picture.isNull():
            raise ImageError("This cannot be shown: it is damaged or cut off.")
    return _turned(picture, exif_turn)


def _turned(picture: QImage, turn: QImageIOHandler.Transformation) -> QImage:
    """Apply a transformation as Qt's readers do: mirror, flip, then a quarter turn clockwise."""
    if turn == _Turn.TransformationNone:
        return picture
    matrix = QTransform()
    if turn & _Turn.TransformationRotate90:
        matrix.rotate(90)
    matrix.scale(
        -1 if turn & _Turn.TransformationMirror else 1,
        -1 if turn & _Turn.TransformationFlip else 1,
    )
    return picture.transformed(matrix)


def _encoded(picture: QImage, kind: str) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(kind.encode()))
    if kind == "JPEG":
        writer.setQuality(JPEG_QUALITY)
    if not writer.write(picture):
        raise ImageError("The picture could not be written.")
    return bytes(buffer.data().data())
