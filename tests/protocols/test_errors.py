"""Every error body of the facts, and hostile ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.errors import FailureKind
from playground.protocols.errors import read_error
from tests.support.each_case import each_case

#: Bodies of refusals as services write them, with what is read of each.
BODIES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("error_bodies.json").read_text("utf-8"))


@each_case("case", BODIES)
def test_refusal_of_each_service_is_read(case: dict[str, Any]) -> None:
    body, expected = case["body"], case["failure"]
    for failure in (read_error(json.dumps(body).encode(), 400), read_error(body, 400)):
        assert (failure.kind, failure.status) == (FailureKind.HTTP, 400)
        assert {key: getattr(failure, key) for key in expected} == expected
        assert json.loads(failure.body) == body


@each_case(
    ("body", "message"),
    [
        (b"", "HTTP 503 Service Unavailable, with an empty body"),
        (b"  \n", "HTTP 503 Service Unavailable, with an empty body"),
        (b"upstream connect error", "upstream connect error"),
        (b'"just a string"', "just a string"),
        (b"{broken", "{broken"),
        (
            b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>nginx",
            "502 Bad Gateway",
        ),
        (b"<HTML><TITLE>A &amp; B</TITLE><style>x{}</style><h1>Blocked <b>here</b></h1>", "A & B – Blocked here"),
        (b'event: error\ndata: {"type":"error","error":{"message":"framed"}}\n\n', "framed"),
        (b': hi\n\ndata: {"choices":[]}\n\ndata: {"error":"late"}\n\ndata: [DONE]\n\n', "late"),
        (b'{"error":{"message":"first"}}\n{"error":{"message":"second"}}\n', "first"),
        ('{"error":{"message":"a\u2028b"}}\n{"error":{"message":"c"}}\n'.encode(), "a\u2028b"),
        (b'{"error":{"message":"cut off in the mid', "cut off in the mid"),
        (b'Bad Request: {"error":{"message":"no \\u4f59"}}', "Bad Request: no \u4f59"),
        (b'"{\\"error\\": {\\"message\\": \\"twice\\"}}"', "twice"),
        (b"<?xml version='1.0'?><E><Code>X</Code><Message>bad token</Message></E>", "bad token"),
        (b"<html><title>Error</title><body><pre>Cannot POST /v1/chat</pre>", "Error \u2013 Cannot POST /v1/chat"),
        (b"<div><script>x()</script>no <i>title</i></div>", "no title"),
        (b"<>", "HTTP 503 Service Unavailable"),
        (b'\xef\xbb\xbf{"message":"marked"}', "marked"),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_bodies_that_are_no_json_object(body: bytes, message: str) -> None:
    assert read_error(body, 503).message == message


def test_unknown_status_has_no_phrase() -> None:
    assert read_error(b"", 529).message == "HTTP 529, with an empty body"


def test_without_a_status_the_body_may_name_one() -> None:
    assert read_error({"error": {"message": "x", "code": 429}}).status == 429
    assert read_error({"error": {"message": "x", "code": "500"}}).status == 500
    assert read_error({"error": {"message": "x", "status_code": 400, "code": "c"}}).status == 400
    assert read_error({"error": {"message": "x", "code": 20012}}).status is None
    assert read_error({"error": {"message": "x", "code": 429}}, 503).status == 503
    assert read_error({"error": {"message": "x"}}).kind is FailureKind.STREAM


@each_case(
    ("message", "dimension"),
    [
        *((f"Rate limit reached ({name}). Retry later.", name) for name in ("RPM", "RPD", "TPM", "TPD", "IPM", "IPD")),
        ("limit: TPM=3", "TPM"),
        ("too many requests per minute", "RPM"),
        ("Limit on tokens per day reached", "TPD"),
        ("images per min", "IPM"),
        ("insufficient balance", None),
        ("XRPMX", None),
    ],
)
def test_dimension_of_a_rate_limit_is_read(message: str, dimension: str | None) -> None:
    assert read_error({"message": message}, 429).dimension == dimension


def test_excerpt_is_capped() -> None:
    assert len(read_error(b"x" * 1_000_000, 500).body) == 65536


def nested_texts(depth: int) -> bytes:
    """JSON in a text in JSON, and so on, until it is large."""
    text = "x"
    for _ in range(depth):
        text = json.dumps({"message": text, "metadata": {"raw": text}, "detail": text})
        if len(text) > 40_000:
            break
    return text.encode()


@each_case(
    "body",
    [
        b"[" * 40_000,
        b'{"error":' * 10_000,
        b'{"code":' + b"9" * 5000 + b',"message":"big"}',
        b'{"message":"\\ud800","code":"\\udfff","type":"\\ud83d"}',
        b'{"error":{"message":{"a":1},"code":{},"type":[],"param":{}}}',
        b'{"error":[[[[1]]]]}',
        b'{"message":null,"error":true}',
        b"<h1>" * 5_000,
        b'data: {"error":' * 5_000,
        b"data: [\n" * 5_000,
        b'x: {"error":' * 5_000,
        json.dumps({"error": {"metadata": {"raw": "{" * 10_000}}}).encode(),
        json.dumps([{f"k{n}": "{" + "[" * 50} for n in range(500)]).encode(),
        nested_texts(60),
        b"<title" * 5_000,
        b"<script>" * 5_000,
        b"<!--" * 5_000,
    ],
)
def test_hostile_bodies_are_read_in_linear_time(body: bytes) -> None:
    failure = read_error(body, 400)
    assert failure.message
    failure.model_dump_json()


KEYS = ["error", "message", "detail", "code", "type", "errors", "base_resp", "status", "msg", "loc"]


@settings(max_examples=30, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=12,
    )
)
def test_any_json_is_read(body: Any) -> None:
    read_error(body).model_dump_json()
    read_error(json.dumps(body).encode(), 500).model_dump_json()
