"""Decoding of bodies in pieces of any size: gzip and deflate, then UTF-16 and UTF-32."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from playground.gateway.body_decoding import Inflater, Transcoder
from tests.support.each_case import each_case

BODY = '{"a": "Grüße \U0001f600"}'
SPELLINGS = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-16", "utf-32"]


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP", "deflate", "raw", "", "identity"])
@given(body=st.binary(max_size=3000), size=st.integers(1, 400))
def test_any_chunking_gives_the_body(encoding: str, body: bytes, size: int) -> None:
    packed = {
        "deflate": zlib.compress,
        "raw": lambda data: zlib.compress(data)[2:-4],
        "": bytes,
        "identity": bytes,
    }.get(encoding, gzip.compress)(body)
    inflater = Inflater("deflate" if encoding == "raw" else encoding)
    pieces = [packed[index : index + size] for index in range(0, len(packed), size)]
    assume(encoding not in ("", "identity") or not body.startswith(b"\x1f"))  # taken for gzip: see below
    assert b"".join(out for piece in pieces for out in inflater.inflate(piece)) == body
    assert not pieces or inflater.active is (encoding not in ("", "identity"))


def test_several_members() -> None:
    assert b"".join(Inflater("gzip").inflate(gzip.compress(b"one ") + gzip.compress(b"two"))) == b"one two"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "gzip, br", "compress"])
def test_unknown_encodings(encoding: str) -> None:
    with pytest.raises(ValueError, match="requested"):
        Inflater(encoding)


@each_case("size", [1, 2, 5, 100])
@each_case("body", [b'{"plain": true}', b"data: {}\n\n", b": alive\n\n", b"<html></html>", b"event: x\n"])
def test_plain_bytes_that_say_gzip_are_taken_as_they_are(body: bytes, size: int) -> None:
    inflater = Inflater("gzip")
    pieces = [body[index : index + size] for index in range(0, len(body), size)]
    assert b"".join(out for piece in pieces for out in inflater.inflate(piece)) + inflater.rest() == body
    assert inflater.mismatch == "the answer says that it is compressed, and it is not"
    assert not inflater.active


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_gzip_that_does_not_say_so_is_undone(size: int) -> None:
    inflater, packed = Inflater(""), gzip.compress(b"data: {}\n\n")
    pieces = [packed[index : index + size] for index in range(0, len(packed), size)]
    assert b"".join(out for piece in pieces for out in inflater.inflate(piece)) == b"data: {}\n\n"
    assert inflater.mismatch == "the answer is compressed as gzip, and does not say so"


def test_body_of_one_byte_is_not_lost() -> None:
    inflater = Inflater("")
    assert [*inflater.inflate(b"\x1f"), inflater.rest()] == [b"\x1f"]


def test_damaged_bytes_that_say_gzip() -> None:
    with pytest.raises(ValueError, match="damaged or plain"):
        list(Inflater("gzip").inflate(b"\x00\x01\x02\x03\x04\x05\x06"))


def transcoded(data: bytes, size: int) -> tuple[bytes, str]:
    transcoder = Transcoder()
    pieces = [data[index : index + size] for index in range(0, len(data), size)]
    out = b"".join(map(transcoder.transcode, pieces)) + transcoder.close()
    return out, transcoder.encoding


@each_case("spelling", SPELLINGS)
@each_case("size", [2, 3, 7, 1000])
def test_any_chunking_gives_utf_8(spelling: str, size: int) -> None:
    out, result = transcoded(BODY.encode(spelling), size)
    assert out == BODY.encode()
    assert result.startswith(spelling)


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
    out, result = transcoded(short, 1)
    assert out == (b"" if result else short)
