"""Images of files and data URLs: format and size from the first bytes, without decoding and without Qt.

PNG, JPEG, GIF and WebP are sent byte for byte, as data URLs (specification, section 2.1). An http(s) address is sent
as it is and never fetched.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote_to_bytes, urlsplit

from playground.domain.parts import Image
from playground.domain.sizes import size_words as size_words
from playground.system.named_file import read_named

DETAILS: Final = ("auto", "low", "high")
LARGE_BYTES: Final = 5_000_000
LARGE_SIDE: Final = 8_000
#: Above either an image is offered smaller: no model that is known looks at more than 2,048 pixels a side.
OFFER_SIDE: Final = 2_048
OFFER_BYTES: Final = 3_000_000
#: Pixels a side of a smaller copy: as many as the strictest of the common models looks at.
SHRINK_SIDE: Final = 1_568
CAP_BYTES: Final = 100 * 1024 * 1024
FORMATS: Final = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}
WANTED: Final = "PNG, JPEG, GIF or WebP"
_BRANDS: Final = {
    "an AVIF image": (b"avif", b"avis"),
    "a HEIC image": (b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"),
}
#: First bytes of formats that gateways refuse, and the names of these formats.
_SIGNATURES: Final = (
    (b"%pdf", "a PDF document"),
    (b"\x00\x00\x00\x0cjp  ", "a JPEG 2000 image"),
    (b"\xff\x4f\xff\x51", "a JPEG 2000 image"),
    (b"\x00\x00\x00\x0cjxl ", "a JPEG XL image"),
    (b"\xff\x0a", "a JPEG XL image"),
    (b"8bps", "a Photoshop document"),
    (b"ii*\x00", "a TIFF image"),
    (b"mm\x00*", "a TIFF image"),
    (b"ii+\x00", "a BigTIFF image"),
    (b"mm\x00+", "a BigTIFF image"),
    (b"bm", "a BMP image"),
    (b"\x00\x00\x01\x00", "an icon file"),
    (b"icns", "an icon file"),
    (b"qoif", "a QOI image"),
    (b"\x1f\x8b", "a compressed file"),
    (b"pk\x03\x04", "a ZIP archive or an Office document"),
)
_HEAD: Final = 65_536  # base64 letters in which a header is looked for first
_DATA_URL: Final = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?P<rest>(?:;[^;,]*)*),", re.IGNORECASE)


class ImageError(ValueError):
    """An image cannot be attached; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Media type, and width and height in pixels, from the first bytes of an image."""

    media_type: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about an image part. ``size`` is in bytes, 0 for an address; ``measure`` is None for an unreadable image.

    ``address`` is the http(s) address of an image that is not in the part, else empty.
    """

    size: int = 0
    measure: Measure | None = None
    address: str = ""


def measure(data: bytes) -> Measure | None:
    """Return media type and pixels from the header; None for an unsupported format."""
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


def image_from(data: bytes, name: str | None = None) -> Image:
    """Return an image part with ``data`` unchanged. Raises ImageError for an unsupported format."""
    label = f"“{name}”" if name else "This"
    if not data:
        raise ImageError(f"{label} is empty.")
    size = measure(data)
    if size is None:
        kind = _kind_of(data)
        if kind:
            raise ImageError(f"{label} is {kind}, which gateways do not take. Save it as JPEG or PNG and attach that.")
        raise ImageError(f"{label} is not an image in {WANTED} format. Save it as PNG and attach that.")
    return Image(url=f"data:{size.media_type};base64,{base64.b64encode(data).decode('ascii')}", name=name)


def is_large(image_facts: Facts) -> bool:
    """Return whether a smaller copy is offered; false if the size is unknown."""
    if image_facts.measure is None:
        return False
    return image_facts.size > OFFER_BYTES or max(image_facts.measure.width, image_facts.measure.height) > OFFER_SIDE


def read_file(path: Path) -> bytes:
    """Return the bytes of a file; blocks. Raises ImageError for an unreadable file and above ``CAP_BYTES``."""
    try:
        return read_named(path, CAP_BYTES)
    except OSError as error:
        raise ImageError(f"“{path.name}” could not be read: {error.strerror or error}.") from None


def from_data_url(text: str) -> Image:
    """Return an image part of a ``data:`` URL, with the media type of its bytes. Raises ImageError."""
    data = data_of(text.strip())
    if data is None:
        raise ImageError("The data URL is broken: after the comma there must be base64. Copy it again, whole.")
    return image_from(data)


def from_address(text: str) -> Image:
    """Return an image part with an http(s) address, which is not fetched. Raises ImageError for other texts."""
    address = text.strip()
    if not is_address(address):
        raise ImageError("An image address begins with https:// or http://, followed by a host.")
    return Image(url=address)


def is_data_url(text: str) -> bool:
    """Return whether ``text`` looks like an image in a data URL."""
    return text.lstrip()[:11].lower() == "data:image/"


def is_address(text: str) -> bool:
    """Return whether ``text`` is one http(s) address without spaces."""
    try:
        parts = urlsplit(text)
        return parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and not re.search(r"\s", text)
    except ValueError:
        return False


def data_of(url: str) -> bytes | None:
    """Return the bytes in a data URL; None for an address and for invalid base64."""
    match = _DATA_URL.match(url)
    if match is None:
        return None
    if not match["rest"].lower().endswith(";base64"):
        return unquote_to_bytes(url[match.end() :])
    try:
        return binascii.a2b_base64(url[match.end() :], strict_mode=True)
    except (binascii.Error, ValueError):  # with line breaks in it, or none
        pass
    try:
        letters = re.sub(r"\s+|%0[ad]", "", url[match.end() :], flags=re.IGNORECASE)
        return binascii.a2b_base64(letters, strict_mode=True)
    except (binascii.Error, ValueError):
        return None


def facts(image: Image) -> Facts:
    """Return size and pixels of an image part; only the header is decoded."""
    url = image.url
    match = _DATA_URL.match(url)
    if match is None:
        return Facts(address=url)
    if not match["rest"].lower().endswith(";base64"):
        data = unquote_to_bytes(url[match.end() :])
        return Facts(len(data), measure(data))
    begin, end = match.end(), len(url)
    size = (end - begin) * 3 // 4 - (url.endswith("=") + url.endswith("=="))
    for letters in (_HEAD, 16 * _HEAD, end - begin):  # metadata before the header is mostly short
        try:
            measured = measure(base64.b64decode(url[begin : min(begin + letters, end)]))
        except (binascii.Error, ValueError):
            break
        if measured is not None:
            return Facts(size, measured)
    return Facts(size)


def warning(image_facts: Facts) -> str:
    """Return a warning about sending an image unchanged; empty without one."""
    if image_facts.address:
        return ""
    if image_facts.measure is None:
        return f"Not readable as {WANTED}; sent unchanged"
    large = []
    if image_facts.size > LARGE_BYTES:
        large.append(f"over {size_words(LARGE_BYTES)}")
    if max(image_facts.measure.width, image_facts.measure.height) > LARGE_SIDE:
        large.append(f"over {LARGE_SIDE:,} px a side")
    return f"Large: {' and '.join(large)}" if large else ""


def _kind_of(data: bytes) -> str:
    """Return the name of a format that gateways refuse, or an empty string for an unknown format."""
    if data[4:8] == b"ftyp":
        size = min(int.from_bytes(data[:4], "big"), 256)
        brands = [data[8:12], *(data[position : position + 4] for position in range(16, size, 4))]
        return next((name for name, kinds in _BRANDS.items() if any(brand in kinds for brand in brands)), "a video")
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<svg", b"<?xml", b"<!doctype svg", b"<!--")) and b"<svg" in head:
        return "an SVG drawing"
    head = data[:16].lower()
    return next((name for signature, name in _SIGNATURES if head.startswith(signature)), "")


def _webp(data: bytes) -> Measure | None:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        width, height = (int.from_bytes(data[position : position + 3], "little") + 1 for position in (24, 27))
        return Measure("image/webp", width, height)
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = struct.unpack("<I", data[21:25])[0]
        return Measure("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack("<HH", data[26:30])
        return Measure("image/webp", width & 0x3FFF, height & 0x3FFF)
    return None


def _jpeg(data: bytes) -> Measure | None:
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
            return Measure("image/jpeg", width, height)
        else:
            position += 2 + max(struct.unpack(">H", data[position + 2 : position + 4])[0], 2)
    return None


# Blocks of the file


def orientation(data: bytes) -> int:
    """Return the EXIF orientation of a JPEG, PNG or WebP image: 1 (upright) to 8."""
    kind, blocks = _exif_blocks(data)
    for name, begin, end in blocks:
        if name == kind and (value := _exif_orientation(data[begin:end].removeprefix(b"Exif\0\0"))):
            return value
    return 1


def is_animated_png(data: bytes) -> bool:
    """Return whether a PNG image has more than one frame (APNG)."""
    for kind, begin, end in _png_chunks(data):
        if kind == b"IDAT":
            return False
        if kind == b"acTL":
            return int.from_bytes(data[begin : min(begin + 4, end)], "big") > 1
    return False


def is_cut_off(data: bytes) -> bool:
    """Return whether the end of a PNG, JPEG, GIF or WebP file is missing."""
    size = measure(data)
    check = _END_CHECKS.get(size.media_type) if size is not None else None
    return check is not None and not check(data)


def cut_off_words(image: Image) -> str:
    """Return the warning for an image whose file ends too early; empty for a complete one and for an address."""
    data = data_of(image.url)
    if data is None or not is_cut_off(data):
        return ""
    label = f"“{image.name}”" if image.name else "This image"
    return f"{label} is cut off: the end of the file is missing. Download or export it again."


def _exif_blocks(data: bytes) -> tuple[bytes, Iterator[tuple[bytes, int, int]]]:
    """Return the name of the blocks that hold EXIF data, and all blocks as (name, begin, end)."""
    if data.startswith(b"\x89PNG"):
        return b"eXIf", _png_chunks(data)
    if data.startswith(b"RIFF"):
        return b"EXIF", _riff_chunks(data)
    return b"\xe1", _jpeg_segments(data)


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    position = 8
    while position + 8 <= len(data):
        end = position + 8 + int.from_bytes(data[position : position + 4], "big")
        yield data[position + 4 : position + 8], position + 8, end
        position = end + 4


def _riff_chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    position = 12
    while position + 8 <= len(data):
        end = position + 8 + int.from_bytes(data[position + 4 : position + 8], "little")
        yield data[position : position + 4], position + 8, end
        position = end + (end & 1)


def _jpeg_segments(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield the segments of a JPEG file up to its end marker, which is a segment of no bytes."""
    position = 2
    while (marker := _JPEG_MARKER.search(data, position)) is not None:
        kind, position = marker[0][-1:], marker.end()
        if kind == _JPEG_END:
            yield kind, position, position
            return
        if kind not in (b"\x01", b"\xd8"):  # these two have no length
            end = position + max(int.from_bytes(data[position : position + 2], "big"), 2)
            yield kind, position + 2, end
            position = end


def _exif_orientation(tiff: bytes) -> int:
    """Return the orientation in the first directory of an EXIF block; 0 where there is none."""
    if tiff[:4] not in (b"II*\0", b"MM\0*"):
        return 0
    order: Literal["little", "big"] = "little" if tiff[:2] == b"II" else "big"
    directory = int.from_bytes(tiff[4:8], order)
    entries = int.from_bytes(tiff[directory : directory + 2], order)
    for entry in range(directory + 2, min(directory + 2 + 12 * entries, len(tiff)), 12):
        if int.from_bytes(tiff[entry : entry + 2], order) == _ORIENTATION_TAG:
            value = int.from_bytes(tiff[entry + 8 : entry + 10], order)
            return value if value in range(1, 9) else 0
    return 0


def _png_ends(data: bytes) -> bool:
    return any(kind == b"IEND" and end + 4 <= len(data) for kind, _, end in _png_chunks(data))


def _jpeg_ends(data: bytes) -> bool:
    return any(kind == _JPEG_END for kind, _, _ in _jpeg_segments(data))


def _webp_ends(data: bytes) -> bool:
    return int.from_bytes(data[4:8], "little") + 8 <= len(data)


def _gif_ends(data: bytes) -> bool:
    """Return whether all blocks of a GIF file are complete; the trailer itself may be missing."""
    position = 13 + _gif_table(data, 10)
    while position < len(data) and data[position] != 0x3B:
        if data[position] == 0x2C:
            position += 11 + _gif_table(data, position + 9)
        elif data[position] == 0x21:
            position += 2
        else:
            return True  # damaged or followed by other data, but not cut off here
        while position < len(data) and data[position]:
            position += 1 + data[position]
        position += 1
    return position <= len(data)


def _gif_table(data: bytes, position: int) -> int:
    """Return the size in bytes of the colour table that the flags at `at` announce."""
    flags = data[position] if position < len(data) else 0
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


_JPEG_END: Final = b"\xd9"
_JPEG_MARKER: Final = re.compile(rb"\xff+[^\x00\xff\xd0-\xd7]", re.DOTALL)
_ORIENTATION_TAG: Final = 0x0112
_END_CHECKS: Final = {
    "image/png": _png_ends,
    "image/jpeg": _jpeg_ends,
    "image/webp": _webp_ends,
    "image/gif": _gif_ends,
}
