"""Pictures read from their first bytes: formats, sizes, data URLs, addresses, and the errors of the rest."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.domain.parts import Image
from playground.engine.files import images
from playground.engine.files.images import Facts, ImageError, Measure
from tests.support.each_case import each_case


def png(width: int, height: int, padding: int = 0) -> bytes:
    """A whole grey PNG; ``padding`` bytes of a text chunk make it larger."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\x00" + b"\x80" * width for _ in range(height)))
    text = chunk(b"tEXt", b"Comment\x00" + b"x" * padding) if padding else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + text + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def jpeg_head(width: int, height: int, before: int) -> bytes:
    """A JPEG header whose start of frame follows ``before`` bytes of application data."""
    segments, rest = b"", before
    while rest > 0:
        size = min(rest, 65_000)
        segments += b"\xff\xe1" + struct.pack(">H", size + 2) + b"\x00" * size
        rest -= size
    return b"\xff\xd8" + segments + b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, height, width, 3) + b"\x00" * 20


SAMPLES = {
    "image/png": (png(7, 5), 7, 5),
    "image/gif": (b"GIF89a" + struct.pack("<HH", 640, 480) + b"\x00" * 8, 640, 480),
    "image/jpeg": (jpeg_head(300, 200, 500), 300, 200),
    "image/webp": (b"RIFF\x00\x00\x00\x00WEBPVP8X" + b"\x00" * 8 + b"\x3f\x01\x00" + b"\xef\x00\x00", 320, 240),
}


@each_case("kind", SAMPLES)
def test_image_format_and_size_are_read(kind: str) -> None:
    data, width, height = SAMPLES[kind]
    assert images.measure(data) == Measure(kind, width, height)
    image = images.image_from(data, "a")
    assert image.url.startswith(f"data:{kind};base64,")
    assert images.data_of(image.url) == data
    assert images.facts(image) == Facts(len(data), images.measure(data))


@given(st.binary(max_size=200), st.sampled_from([b"", *(sample[0][:30] for sample in SAMPLES.values())]))
def test_measure_of_any_bytes_is_a_measure_or_none(tail: bytes, head: bytes) -> None:
    image = images.measure(head + tail)
    assert image is None or image.media_type in images.FORMATS


def test_size_behind_much_metadata_is_read() -> None:
    image = images.image_from(jpeg_head(4000, 3000, 300_000))
    assert images.facts(image).measure == Measure("image/jpeg", 4000, 3000)


@given(st.binary(min_size=1, max_size=400))
def test_byte_size_is_exact_without_decoding(data: bytes) -> None:
    url = "data:image/png;base64," + base64.b64encode(data).decode()
    assert images.facts(Image(url=url)).size == len(data)


def test_unreadable_image_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"“gone.png” could not be read: No such file"):
        images.read_file(tmp_path / "gone.png")
    with pytest.raises(ImageError, match="not a file"):
        images.read_file(tmp_path)
    with pytest.raises(ImageError, match=r"“notes.txt” is not an image in PNG, JPEG, GIF or WebP format"):
        images.image_from(b"Just words.", "notes.txt")
    with pytest.raises(ImageError, match="is empty"):
        images.image_from(b"", "empty.png")


def test_file_above_the_cap_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.png"
    with path.open("wb") as file:
        file.truncate(images.CAP_BYTES + 1)
    with pytest.raises(ImageError, match="it is larger than 100 MiB"):
        images.read_file(path)


def test_data_url_gets_the_type_of_its_bytes() -> None:
    data = png(2, 2)
    encoded = base64.b64encode(data).decode()
    spaced = f" data:image/jpg;name=a.png;base64,{encoded[:20]}\n{encoded[20:]}\n"
    assert images.from_data_url(spaced) == images.image_from(data)
    with pytest.raises(ImageError, match="data URL is broken"):
        images.from_data_url("data:image/png;base64,@@@")


def test_image_address_is_not_fetched() -> None:
    image = images.from_address(" https://example.org/a.png ")
    assert image == Image(url="https://example.org/a.png")
    assert images.facts(image) == Facts(address="https://example.org/a.png")
    for wrong in ("example.org/a.png", "file:///etc/passwd", "javascript:alert(1)", "https://", "http://[", "a b"):
        with pytest.raises(ImageError, match="begins with https://"):
            images.from_address(wrong)


def test_warning_is_for_large_images() -> None:
    fine = Measure("image/png", 8_000, 10)
    assert images.warning(Facts(5_000_000, fine)) == ""
    assert images.warning(Facts(5_000_001, fine)) == "Large: over 5 MB"
    both = images.warning(Facts(6_000_000, Measure("image/png", 10, 8_001)))
    assert both == "Large: over 5 MB and over 8,000 px a side"
    assert "Not readable" in images.warning(Facts(10, None))
    assert images.warning(Facts(address="https://example.org")) == ""


@each_case(
    ("size", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1 KB"),
        (412_300, "412 KB"),
        (999_600, "1 MB"),
        (5_240_000, "5.2 MB"),
    ],
)
def test_sizes_in_words(size: int, words: str) -> None:
    assert images.size_words(size) == words
