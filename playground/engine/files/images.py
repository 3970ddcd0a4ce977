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
from typing import Final
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
_HEIC: Final = (b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1")
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
    """What bytes are that are no image for a gateway; empty where that is not known."""
    if data[4:8] == b"ftyp":
        return {b"avif": "an AVIF image", b"avis": "an AVIF image"}.get(
            data[8:12], "a HEIC image" if data[8:12] in _HEIC else "a video"
        )
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith(b"%pdf"):
        return "a PDF document"
    if head.startswith((b"<svg", b"<?xml", b"<!doctype svg")) and b"<svg" in head:
        return "an SVG drawing"
    return ""


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
