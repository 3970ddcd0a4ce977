"""Picture headers and their description by demo-vision."""

from __future__ import annotations

import base64
import struct

from playground.demo.images import measure
from tests.demo.conftest import DemoClient, message
from tests.support.each_case import each_case

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", 640, 480) + b"\x08\x02\0\0\0"
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0" + b"\0" * 9 + b"\xff\xc4\0\4\0\0\xff"
JPEG += b"\xff\xc2" + struct.pack(">HBHH", 11, 8, 300, 400) + b"\1\1\x11\0"
GIF = b"GIF89a" + struct.pack("<HH", 12, 34)
VP8 = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 55, 66)
VP8L = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", (99 - 1) | (77 - 1) << 14)
VP8X = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0" + (1000 - 1).to_bytes(3, "little") + (2000 - 1).to_bytes(3, "little")


@each_case(
    ("data", "size"),
    [
        (PNG, ("image/png", 640, 480)),
        (JPEG, ("image/jpeg", 400, 300)),
        (GIF, ("image/gif", 12, 34)),
        (VP8, ("image/webp", 55, 66)),
        (VP8L, ("image/webp", 99, 77)),
        (VP8X, ("image/webp", 1000, 2000)),
        (b"", None),
        (b"hello", None),
        (b"\xff\xd8nonsense", None),
    ],
)
def test_size_is_read_from_a_complete_header_only(data: bytes, size: tuple[str, int, int] | None) -> None:
    assert measure(data) == size
    for end in range(len(data)):
        assert measure(data[:end]) in (None, size)


def test_vision_model_describes_each_picture(client: DemoClient) -> None:
    def part(url: str, detail: str = "auto") -> dict[str, object]:
        return {"type": "image_url", "image_url": {"url": url, "detail": detail}}

    def data_url(kind: str, data: bytes) -> str:
        return f"data:{kind};base64," + base64.b64encode(data).decode()

    content = [
        {"type": "text", "text": "What are these?"},
        part(data_url("image/png", PNG), "high"),
        part(data_url("image/png", GIF)),
        part(data_url("image/bmp", b"BM....")),
        part("https://example.org/cat.png", "low"),
    ]
    text = message(client.chat(messages=[{"role": "user", "content": content}], model="demo-vision"))["content"]
    assert "4 images" in text
    assert f"**{len(PNG)} bytes**, declared as `image/png`: **640 × 480 pixels** (detail: *high*)" in text
    assert "though its bytes say `image/gif`: **12 × 34 pixels**" in text
    assert "none that I know" in text
    assert "does not fetch" in text
    assert "attach" in message(client.chat("Look", model="demo-vision"))["content"]
