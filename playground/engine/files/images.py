"""Pictures as values: what a file or a data URL holds, read from its first bytes and never decoded. No Qt here.

PNG, JPEG, GIF and WebP go to the gateway byte for byte, as data URLs (specification, section 2.1). An http(s) address
stays an address: nothing here fetches it.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote_to_bytes, urlsplit

from playground.domain.parts import Image
from playground.domain.sizes import size_words as size_words
from playground.named_file import read_named

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
_STEP: Final = 3 * 4 * 16_384  # bytes or letters of base64 that are written or read at once
_PAUSE_S: Final = 0.000_5  # after each of them: who only waits for the interpreter gets it late, and never for long
_HEAD: Final = 65_536  # base64 letters in which a header is looked for first
_DATA_URL: Final = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?P<rest>(?:;[^;,]*)*),", re.IGNORECASE)


class ImageError(ValueError):
    """A picture could not be taken in; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What the first bytes say: the media type, and width and height in pixels."""

    media_type: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an image part. ``size`` is in bytes, 0 for an address; ``measure`` None where it is unreadable.

    ``address`` is the http(s) address of a picture that is not here, else empty.
    """

    size: int = 0
    measure: Measure | None = None
    address: str = ""


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


def image_from(data: bytes, name: str | None = None) -> Image:
    """An image part that holds ``data`` unchanged. Raises ImageError when it is of no format a gateway takes."""
    label = f"“{name}”" if name else "This"
    if not data:
        raise ImageError(f"{label} is empty.")
    found = measure(data)
    if found is None:
        kind = _kind_of(data)
        if kind:
            raise ImageError(f"{label} is {kind}, which gateways do not take. Save it as JPEG or PNG and attach that.")
        raise ImageError(f"{label} is not an image in {WANTED} format. Save it as PNG and attach that.")
    pieces = [f"data:{found.media_type};base64,"]
    for at in _steps(0, len(data)):
        pieces.append(base64.b64encode(data[at : at + _STEP]).decode("ascii"))
    return Image(url="".join(pieces), name=name)


def is_large(known: Facts) -> bool:
    """Whether a smaller copy would likely do as well; not where the size is unknown."""
    if known.measure is None:
        return False
    return known.size > OFFER_BYTES or max(known.measure.width, known.measure.height) > OFFER_SIDE


def read_file(path: Path) -> bytes:
    """The bytes of a file. Raises ImageError for one that cannot be read or is larger than ``CAP_BYTES``; blocks."""
    try:
        return read_named(path, CAP_BYTES)
    except OSError as error:
        raise ImageError(f"“{path.name}” could not be read: {error.strerror or error}.") from None


def from_data_url(text: str, name: str | None = None) -> Image:
    """An image part of a ``data:`` URL, spelled as base64 with the media type its bytes have. Raises ImageError."""
    data = data_of(text.strip())
    if data is None:
        raise ImageError("The data URL is broken: after the comma there must be base64. Copy it again, whole.")
    return image_from(data, name)


def from_address(text: str) -> Image:
    """An image part that is only an http(s) address; nothing is fetched. Raises ImageError for anything else."""
    address = text.strip()
    if not is_address(address):
        raise ImageError("An image address begins with https:// or http://, followed by a host.")
    return Image(url=address)


def is_data_url(text: str) -> bool:
    """Whether ``text`` looks like a picture in a data URL."""
    return text.lstrip()[:11].lower() == "data:image/"


def is_address(text: str) -> bool:
    """Whether ``text`` is one http(s) address without spaces."""
    try:
        parts = urlsplit(text)
        return parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and not re.search(r"\s", text)
    except ValueError:
        return False


def data_of(url: str) -> bytes | None:
    """The bytes in a data URL; None for an address and for base64 that is broken."""
    found = _DATA_URL.match(url)
    if found is None:
        return None
    if not found["rest"].lower().endswith(";base64"):
        return unquote_to_bytes(url[found.end() :])
    try:
        return _decoded(url, found.end())
    except (binascii.Error, ValueError):  # with line breaks in it, or none
        pass
    try:
        return _decoded(re.sub(r"\s+|%0[ad]", "", url[found.end() :], flags=re.IGNORECASE))
    except (binascii.Error, ValueError):
        return None


def _decoded(letters: str, begin: int = 0) -> bytes:
    """The bytes of base64 from ``begin`` on. Raises ValueError for anything else."""
    steps = _steps(begin, len(letters))
    return b"".join([binascii.a2b_base64(letters[at : at + _STEP], strict_mode=True) for at in steps])


def _steps(begin: int, end: int) -> Iterator[int]:
    """Where the pieces begin, with a pause between two in which other threads go on."""
    for at in range(begin, end, _STEP):
        if at > begin:
            time.sleep(_PAUSE_S)
        yield at


def facts(image: Image) -> Facts:
    """Size and pixels of an image part, cheaply: only as much is decoded as the header needs."""
    url = image.url
    found = _DATA_URL.match(url)
    if found is None:
        return Facts(address=url)
    if not found["rest"].lower().endswith(";base64"):
        data = unquote_to_bytes(url[found.end() :])
        return Facts(len(data), measure(data))
    begin, end = found.end(), len(url)
    size = (end - begin) * 3 // 4 - (url.endswith("=") + url.endswith("=="))
    for letters in (_HEAD, 16 * _HEAD, end - begin):  # what cameras put before the header is mostly short
        try:
            measured = measure(base64.b64decode(url[begin : min(begin + letters, end)]))
        except (binascii.Error, ValueError):
            break
        if measured is not None:
            return Facts(size, measured)
    return Facts(size)


def warning(known: Facts) -> str:
    """What speaks against sending it as it is, for people; empty when nothing does. It can be sent all the same."""
    if known.address:
        return ""
    if known.measure is None:
        return f"Not readable as {WANTED}; sent as it is"
    large = []
    if known.size > LARGE_BYTES:
        large.append(f"over {size_words(LARGE_BYTES)}")
    if max(known.measure.width, known.measure.height) > LARGE_SIDE:
        large.append(f"over {LARGE_SIDE:,} px a side")
    return f"Large: {' and '.join(large)}" if large else ""


def _kind_of(data: bytes) -> str:
    """Return the name of a format that gateways refuse, or an empty string for an unknown format."""
    if data[4:8] == b"ftyp":
        size = min(int.from_bytes(data[:4], "big"), 256)
        brands = [data[8:12], *(data[at : at + 4] for at in range(16, size, 4))]
        return next((name for name, kinds in _BRANDS.items() if any(brand in kinds for brand in brands)), "a video")
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<svg", b"<?xml", b"<!doctype svg", b"<!--")) and b"<svg" in head:
        return "an SVG drawing"
    head = data[:16].lower()
    return next((name for signature, name in _SIGNATURES if head.startswith(signature)), "")


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


# Blocks of the file


def orientation(data: bytes) -> int:
    """Return the EXIF orientation of a JPEG, PNG or WebP image: 1 (upright) to 8."""
    kind, blocks = _exif_blocks(data)
    for name, begin, end in blocks:
        if name == kind and (found := _exif_orientation(data[begin:end].removeprefix(b"Exif\0\0"))):
            return found
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
    known = measure(data)
    check = _END_CHECKS.get(known.media_type) if known is not None else None
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
    at = 8
    while at + 8 <= len(data):
        end = at + 8 + int.from_bytes(data[at : at + 4], "big")
        yield data[at + 4 : at + 8], at + 8, end
        at = end + 4


def _riff_chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    at = 12
    while at + 8 <= len(data):
        end = at + 8 + int.from_bytes(data[at + 4 : at + 8], "little")
        yield data[at : at + 4], at + 8, end
        at = end + (end & 1)


def _jpeg_segments(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield the segments of a JPEG file up to its end marker, which is a segment of no bytes."""
    at = 2
    while (marker := _JPEG_MARKER.search(data, at)) is not None:
        kind, at = marker[0][-1:], marker.end()
        if kind == _JPEG_END:
            yield kind, at, at
            return
        if kind not in (b"\x01", b"\xd8"):  # these two have no length
            end = at + max(int.from_bytes(data[at : at + 2], "big"), 2)
            yield kind, at + 2, end
            at = end


def _exif_orientation(tiff: bytes) -> int:
    """Return the orientation in the first directory of an EXIF block; 0 where there is none."""
    if tiff[:4] not in (b"II*\0", b"MM\0*"):
        return 0
    order: Literal["little", "big"] = "little" if tiff[:2] == b"II" else "big"
    directory = int.from_bytes(tiff[4:8], order)
    entries = int.from_bytes(tiff[directory : directory + 2], order)
    for at in range(directory + 2, min(directory + 2 + 12 * entries, len(tiff)), 12):
        if int.from_bytes(tiff[at : at + 2], order) == _ORIENTATION_TAG:
            value = int.from_bytes(tiff[at + 8 : at + 10], order)
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
    at = 13 + _gif_table(data, 10)
    while at < len(data) and data[at] != 0x3B:
        if data[at] == 0x2C:
            at += 11 + _gif_table(data, at + 9)
        elif data[at] == 0x21:
            at += 2
        else:
            return True  # damaged or followed by other data, but not cut off here
        while at < len(data) and data[at]:
            at += 1 + data[at]
        at += 1
    return at <= len(data)


def _gif_table(data: bytes, at: int) -> int:
    """Return the size in bytes of the colour table that the flags at `at` announce."""
    flags = data[at] if at < len(data) else 0
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
