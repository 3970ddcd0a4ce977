"""Secrets go by value, in every spelling, and by header name."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.gateway.redact import MASK, Redactor, is_secret_header
from playground.gateway.redact_stream import StreamRedactor
from tests.support.each_case import each_case

SECRET = 'sk-Ab+/9"&\\ z<end>'
PLAIN = "sk-0123456789abcdef"


@pytest.mark.parametrize("before", ["", "u", "us", "usr", "user:"])
def test_base64_at_any_offset(before: str) -> None:
    encoded = base64.b64encode(f"{before}{PLAIN}:after".encode()).decode()
    left_part, right = Redactor([PLAIN]).text(encoded).split(MASK)
    blanked = (
        left_part + "A" * (len(encoded) - len(left_part) - len(right)) + right
    )  # the same length keeps the alignment
    displayed = base64.b64decode(blanked)
    assert displayed.startswith(before.encode())
    assert displayed.endswith(b":after")
    assert not any(PLAIN[index : index + 2].encode() in displayed for index in range(len(PLAIN) - 1))


def test_short_values_are_no_secrets() -> None:
    assert Redactor(["none", "", "ollama"]).text("none of ollama") == "none of ollama"


def test_repr_shows_nothing() -> None:
    redactor = Redactor([PLAIN])
    assert "0123" not in repr(redactor)
    assert "0123" not in str(redactor)


def test_headers_lose_secrets_by_value_and_by_name() -> None:
    secret = {"authorization": "another-secret", "X-API-Key": "x", "Set-Cookie": "a=b", "X-Auth-Token": "abc"}
    secret["Ocp-Apim-Subscription-Key"] = "abc"
    redactor = Redactor([PLAIN])
    pairs = [("Date", "today"), ("Authorization", f"Bearer {PLAIN}"), *secret.items()]
    pairs += [("X-Echo", f"got {PLAIN}"), (f"X-{PLAIN}", "v"), ("X-RateLimit-Remaining-Tokens", "12")]
    assert redactor.headers(pairs) == (
        ("Date", "today"),
        ("Authorization", f"Bearer {MASK}"),
        *((name, MASK) for name in secret),
        ("X-Echo", f"got {MASK}"),
        (f"X-{MASK}", "v"),
        ("X-RateLimit-Remaining-Tokens", "12"),
    )
    assert redactor.headers(pairs[:2]) == (("Date", "today"), ("Authorization", f"Bearer {MASK}"))
    assert not is_secret_header("anthropic-ratelimit-tokens-remaining")


@given(st.binary(max_size=60), st.binary(max_size=60), st.lists(st.integers(0, 200), max_size=12))
def test_stream_cut_anywhere_gives_the_same(before: bytes, after: bytes, cuts: list[int]) -> None:
    redactor = Redactor([PLAIN])
    complete = before + PLAIN.encode() + b"\n" + PLAIN.encode() + after
    marks = sorted({min(cut, len(complete)) for cut in cuts} | {0, len(complete)})
    stream = StreamRedactor(redactor)
    pieces = [piece for a, b in pairwise(marks) for piece in stream.redact_bytes(complete[a:b])]
    out = b"".join(piece.data for piece in (*pieces, *stream.close()))
    assert PLAIN.encode() not in out
    assert out == redactor.data(complete)


def fed(stream: StreamRedactor, data: bytes) -> bytes:
    return b"".join(piece.data for piece in stream.redact_bytes(data))


def test_nothing_is_held_back_without_a_secret_in_sight() -> None:
    stream = StreamRedactor(Redactor([PLAIN]))
    frame = b'data: {"id":"sk-","model":"s","choices":[{"delta":{"role":"s","content":"sk- "}}]}\n\n'
    assert fed(stream, frame) == frame
    assert fed(stream, b"ends like sk-01") == b"ends like "
    assert fed(stream, b" but is none\n") == b"sk-01 but is none\n"
    assert fed(stream, b"s") == b""
    assert b"".join(piece.data for piece in stream.close()) == b"s"
    assert fed(StreamRedactor(Redactor([])), b"s") == b"s"


KEY = "sk-Zq7/Kw+2x_V.b=Lm%4&q"
WAYS = (
    lambda c: c,
    lambda c: f"\\u{ord(c):04x}",
    lambda c: f"\\u{ord(c):04X}",
    lambda c: f"\\\\u{ord(c):04x}",
    lambda c: f"\\x{ord(c):02x}",
    lambda c: f"%{ord(c):02X}",
    lambda c: f"%25{ord(c):02x}",
    lambda c: f"%2525{ord(c):02x}",
    lambda c: f"&#{ord(c)};",
    lambda c: f"&#x{ord(c):X};",
    lambda c: f"&amp;#{ord(c):04};",
    lambda c: f"\\u0026#x{ord(c):x};",
    lambda c: {"/": "\\/", "&": "&amp;", "+": "&plus;", "_": "\\_", "=": "&equals;", "%": "&percnt;"}.get(c, c),
)
spelled_anyhow = st.lists(st.sampled_from(WAYS), min_size=len(KEY), max_size=len(KEY)).map(
    lambda ways: "".join(way(char) for way, char in zip(ways, KEY, strict=True))
)


@each_case("way", WAYS)
def test_every_character_may_be_in_a_code(way: Callable[[str], str]) -> None:
    spelled = "".join(map(way, KEY))
    redactor = Redactor([KEY])
    assert redactor.text(f"50% <{spelled}> & “more” %41 &lt; \\u00e9") == f"50% <{MASK}> & “more” %41 &lt; \\u00e9"
    assert redactor.data(f"é {spelled} é".encode()) == f"é {MASK} é".encode()


@each_case("secret", [r"pass\+word+A/9", r"a\\b%41&amp;c/def", r"C:\x41\keys\u0041", "a%2Bb%2Fc&#65;de"])
@each_case("way", WAYS)
def test_secret_that_looks_like_a_code_is_one_secret(secret: str, way: Callable[[str], str]) -> None:
    redactor = Redactor([secret])
    spelled = "".join(map(way, secret))
    for text in (spelled, json.dumps(spelled)[1:-1], html.escape(spelled), quote(spelled)):
        assert redactor.text(f"<{text}>") == f"<{MASK}>"
        assert redactor.data(f"<{text}>".encode()) == f"<{MASK}>".encode()
        stream = StreamRedactor(redactor)
        assert fed(stream, f"<{text}>\n".encode()) == f"<{MASK}>\n".encode()


@given(st.text(max_size=20), spelled_anyhow, st.text(max_size=20), st.lists(st.integers(0, 400), max_size=12))
def test_codes_mixed_and_cut_anywhere(before: str, spelled: str, after: str, cuts: list[int]) -> None:
    redactor = Redactor([KEY])
    assert MASK in redactor.text(f"{before}\n{spelled}\n{after}")
    complete = f"{before}\n{spelled}\n{after}\n".encode()
    marks = sorted({min(cut, len(complete)) for cut in cuts} | {0, len(complete)})
    stream = StreamRedactor(redactor)
    pieces = [piece for a, b in pairwise(marks) for piece in stream.redact_bytes(complete[a:b])]
    result = b"".join(piece.data for piece in (*pieces, *stream.close()))
    semicolon = MASK.encode() + b";"  # of a key's last character, in HTML with or without it: a read may end before it
    assert result.replace(semicolon, MASK.encode()) == redactor.data(complete).replace(semicolon, MASK.encode())


@pytest.mark.parametrize("kind", [lambda key: key, lambda key: f"user:{key}", lambda key: f"{key}:"])
def test_hex_and_base64(kind: Callable[[str], str]) -> None:
    redactor = Redactor([KEY])
    plain = kind(KEY).encode()
    for spelled in (plain.hex(), plain.hex().upper(), base64.b64encode(plain).decode()):
        displayed = redactor.text(f"<{spelled}>")
        assert MASK in displayed
        assert len(displayed) <= len(MASK) + 2 + 2 * len("user:")


@given(st.text("\\u0%25&#x;amp73sk-", max_size=80))
def test_text_without_a_secret_stays(text: str) -> None:
    redactor = Redactor([KEY])
    assert redactor.text(text) == text
    stream = StreamRedactor(redactor)
    data = text.encode()
    pieces = [piece.data for index in range(len(data)) for piece in stream.redact_bytes(data[index : index + 1])]
    pending = stream.close()
    assert b"".join((*pieces, *(piece.data for piece in pending))) in (data, b"".join(pieces) + MASK.encode())


@each_case("unit", ["\\", "%25", "&amp;", "&#0000", "\\u0073", "sk-", "%", "%2525", KEY[:9], KEY])
def test_long_text_of_one_unit_is_searched_in_linear_time(unit: str) -> None:
    """A search that takes quadratic time runs into the time limit of a test."""
    text = unit * (100_000 // len(unit))
    redactor = Redactor([KEY])
    assert redactor.data(text.encode()) == redactor.text(text).encode()
