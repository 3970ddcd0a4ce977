"""Bodies that are not UTF-8: what their first bytes show is believed, whatever pieces they come in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.gateway.body_decoding import Transcoder
from tests.support.each_case import each_case

BODY = '{"a": "Grüße \U0001f600"}'
SPELLINGS = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-16", "utf-32"]


def transcoded(data: bytes, size: int) -> tuple[bytes, str]:
    made = Transcoder()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    out = b"".join(map(made.transcode, pieces)) + made.close()
    return out, made.encoding


@each_case("spelling", SPELLINGS)
@each_case("size", [2, 3, 7, 1000])
def test_any_chunking_gives_utf_8(spelling: str, size: int) -> None:
    out, found = transcoded(BODY.encode(spelling), size)
    assert out == BODY.encode()
    assert found.startswith(spelling)


@given(body=st.text(max_size=50), size=st.integers(1, 9))
def test_utf_8_stays_as_it_is(body: str, size: int) -> None:
    data = b"data: " + body.encode("utf-8")
    assert transcoded(data, size) == (data, "")


@pytest.mark.parametrize("padding", [b"\0", b"\0\0\0", b"\0" * 20])
def test_zeros_before_a_body_are_no_spelling(padding: bytes) -> None:
    assert transcoded(padding + b'{"id": 1}', 4) == (padding + b'{"id": 1}', "")


def test_half_a_character_at_the_end_is_replaced() -> None:
    assert transcoded("{}".encode("utf-16") + b"\x3d", 4)[0].decode() == "{}\ufffd"


@pytest.mark.parametrize("short", [b"\xff", b"\xfe\xff", b"\0"])
def test_body_of_hardly_anything_is_not_lost(short: bytes) -> None:
    out, found = transcoded(short, 1)
    assert out == (b"" if found else short)
