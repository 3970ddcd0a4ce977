"""Refusals by status and by shape of body, errors inside streams, and how long a gateway asks to wait."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from http import HTTPStatus
from itertools import cycle
from typing import Any

import pytest

from playground.domain.errors import Failure, FailureCause, FailureKind, Sent
from playground.domain.events import Failed
from playground.domain.request import Request
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Timeouts
from playground.protocols.errors import read_error
from playground.protocols.protocol import get_protocol
from tests.gateway.conftest import MakeClient, ask, collect, failure_of, run, text_of
from tests.support.each_case import each_case
from tests.support.fault_server import FaultServer, head, hold, keep, send, sse, text_chunk, whole

QUICK = Timeouts(connect=30, first=30, idle=0.2, settle=0.2)
STATUSES = (400, 401, 402, 403, 404, 408, 429, 500, 502, 503, 504, 529)

#: A message that a careless reader would change: quotes, two scripts, spaces inside and a line break.
WORDS = 'Zu viele  Anfragen — “x”\n数量 "quoted" <b>&amp;</b>'


@dataclass(frozen=True)
class Shape:
    """A body and its expected message. ``message`` None means a sentence of ours."""

    body: bytes
    message: str | None = WORDS
    code: str | None = None
    type: str | None = None
    param: str | None = None
    request_id: str | None = None
    content_type: str | None = "application/json"
    encoding: str = ""


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


SHAPES = {
    "the service's own": Shape(as_json({"code": 20012, "message": WORDS, "data": None}), code="20012"),
    "code as text": Shape(as_json({"code": "E_20012", "message": WORDS, "data": None}), code="E_20012"),
    "error object": Shape(
        as_json({"error": {"message": WORDS, "type": "bad_thing", "param": "n", "code": "x1"}}),
        WORDS,
        "x1",
        "bad_thing",
        "n",
    ),
    "error object, code a number": Shape(
        as_json({"error": {"message": WORDS, "type": None, "param": None, "code": 17}}), WORDS, "17"
    ),
    "native": Shape(
        as_json({"type": "error", "error": {"type": "api_error", "message": WORDS}, "request_id": "req_7"}),
        type="api_error",
        request_id="req_7",
    ),
    "error text": Shape(as_json({"error": WORDS})),
    "detail": Shape(as_json({"detail": WORDS})),
    "detail list": Shape(
        as_json({"detail": [{"loc": ["body", "n"], "msg": "too small", "type": "value_error"}]}), "body.n: too small"
    ),
    "listed": Shape(as_json([{"error": {"message": WORDS, "code": 418, "status": "ODD"}}]), code="418", type="ODD"),
    "at the top": Shape(as_json({"message": WORDS, "type": "odd", "code": "c"}), code="c", type="odd"),
    "object error": Shape(
        as_json({"object": "error", "message": WORDS, "type": "OddError", "code": 40}), WORDS, "40", "OddError"
    ),
    "page": Shape(
        b"<!doctype html><html><head><title>Bad &amp; worse</title></head><body><h1>nginx</h1></body></html>",
        "Bad & worse – nginx",
        content_type="text/html",
    ),
    "plain text": Shape(b"upstream connect error", "upstream connect error", content_type="text/plain"),
    "empty": Shape(b"", None, content_type=None),
    "gzip": Shape(gzip.compress(as_json({"code": 1, "message": WORDS, "data": None})), code="1", encoding="gzip"),
    "an encoding that was not requested": Shape(b"\x1b\x00\x01", None, encoding="br"),
}


def request_for(protocol: str, *, streamed: bool) -> Request:
    return ask(stream=streamed).model_copy(update={"protocol": protocol})


async def refused(client: GatewayClient, protocol: str, *, streamed: bool) -> Failure:
    call = client.open(get_protocol(protocol), request_for(protocol, streamed=streamed))
    return failure_of(await collect(call))


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
async def test_refusals_of_each_shape_and_status_are_read(
    server: FaultServer, make_client: MakeClient, streamed: bool
) -> None:
    client = make_client()
    statuses, protocols = cycle(STATUSES), cycle(["chat", "messages"])
    for name, shape in [*SHAPES.items(), *[("error object", SHAPES["error object"])] * len(STATUSES)]:
        status, protocol = next(statuses), next(protocols)
        headers = [f"Content-Encoding: {shape.encoding}"] if shape.encoding else []
        plain = gzip.decompress(shape.body) if shape.encoding == "gzip" else shape.body
        server.play(send(whole(status, shape.content_type, shape.body, *headers)), keep())
        failure = await refused(client, protocol, streamed=streamed)
        phrase = f" {HTTPStatus(status).phrase}" if status in HTTPStatus._value2member_map_ else ""
        expected = Failure(
            kind=FailureKind.HTTP,
            status=status,
            message=f"HTTP {status}{phrase}, with an empty body" if shape.message is None else shape.message,
            code=shape.code,
            type=shape.type,
            param=shape.param,
            request_id=shape.request_id,
            body="" if shape.encoding == "br" else plain.decode(),
            sent=Sent(endpoint=protocol, keyed=True, streamed=streamed),
            cause=FailureCause.NO_MESSAGE if shape.message is None else None,
        )
        assert failure == expected, (name, status, protocol)


async def test_wait_named_by_headers_of_a_429_is_read(server: FaultServer, make_client: MakeClient) -> None:
    client = make_client()
    for headers, seconds in (
        (["Retry-After: 7"], 7),
        (["Retry-After: Tue, 14 Nov 2023 22:13:50 GMT", "Date: Tue, 14 Nov 2023 22:13:20 GMT"], 30),
        (["retry-after-ms: 1500", "Retry-After: 60"], 1.5),
        (["Retry-After: 7", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 90"], 7),
        (["X-RateLimit-Limit: 60", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 9"], 9),
        (["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1700000012", "Date: Tue, 14 Nov 2023 22:13:20 GMT"], 12),
        (["Retry-After: soon"], None),
    ):
        server.play(send(whole(429, "application/json", b'{"message":"slow down"}', *headers)), keep())
        _, events = await run(client)
        assert failure_of(events).retry_after == (None if seconds is None else pytest.approx(seconds, abs=0.5)), headers


async def test_window_of_another_status_than_429_gives_no_wait(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(whole(503, None, b"", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 9")))
    _, events = await run(make_client())
    assert failure_of(events).retry_after is None


# ---- errors inside a stream that began with 200

CHAT_TEXT = sse(text_chunk("Hel"))
ERROR = {"error": {"message": WORDS, "type": "server_error", "code": "x1"}}
NATIVE = {"type": "error", "error": {"type": "overloaded_error", "message": WORDS}, "request_id": "r"}
BEGUN = b"".join(
    b"event: %s\ndata: %s\n\n" % (str(value["type"]).encode(), as_json(value))
    for value in (
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
    )
)

MIDSTREAM = {
    "error object": ("chat", CHAT_TEXT + sse(json.dumps(ERROR)), "server_error", "x1"),
    "next to choices": ("chat", CHAT_TEXT + sse(json.dumps({"choices": [], **ERROR})), "server_error", "x1"),
    "after a reason": ("chat", CHAT_TEXT + sse(text_chunk("", "stop"), json.dumps(ERROR)), "server_error", "x1"),
    "after the end": ("chat", CHAT_TEXT + sse("[DONE]", json.dumps(ERROR)), "server_error", "x1"),
    "error event": ("chat", CHAT_TEXT + b"event: error\n" + sse(json.dumps(ERROR)), "server_error", "x1"),
    "bare line": ("chat", CHAT_TEXT + json.dumps(ERROR).encode() + b"\n\n", "server_error", "x1"),
    "error text": ("chat", CHAT_TEXT + sse(json.dumps({"error": WORDS})), None, None),
    "the service's own": ("chat", CHAT_TEXT + sse(json.dumps({"code": 5, "message": WORDS, "data": None})), None, "5"),
    "native event": ("messages", BEGUN + b"event: error\n" + sse(json.dumps(NATIVE)), "overloaded_error", None),
    "native without a name": ("messages", BEGUN + sse(json.dumps(NATIVE)), "overloaded_error", None),
    "native bare line": ("messages", BEGUN + json.dumps(NATIVE).encode() + b"\n\n", "overloaded_error", None),
}


@pytest.mark.parametrize("stays_open", [False, True], ids=["closed", "left open"])
async def test_error_inside_a_stream_keeps_the_text(
    server: FaultServer, make_client: MakeClient, stays_open: bool
) -> None:
    client = make_client(timeouts=QUICK)
    for name in [*MIDSTREAM][:: 4 if stays_open else 1]:
        protocol, body, kind, code = MIDSTREAM[name]
        server.play(send(head()), send(body), *([hold()] if stays_open else []))
        call = client.open(get_protocol(protocol), request_for(protocol, streamed=True))
        events = await collect(call)
        failures = [event.failure for event in events if isinstance(event, Failed)]
        expected = [(FailureKind.STREAM, WORDS, kind, code)]
        assert [(failure.kind, failure.message, failure.type, failure.code) for failure in failures] == expected, name
        assert text_of(events) == "Hel", name
        assert call.exchange.failure == failures[0], name


GOOGLE = {
    "error": {
        "code": 429,
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "quotaValue": "10"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.2s"},
        ],
    }
}


@each_case(
    ("body", "seconds"),
    [
        (GOOGLE, 3.2),
        ([GOOGLE], 3.2),
        ({"error": {"message": f"VertexAIException - {json.dumps(GOOGLE)}"}}, 3.2),
        ({"error": {"message": "x", "details": [{"retryDelay": {"seconds": "5", "nanos": 1}}]}}, 5),
        ({"error": {"message": "Please retry in 3.2s"}}, 3.2),
        ({"error": {"message": "Quota exceeded, limit: 0. Please retry in 58.217843437s."}}, 58.217843437),
        ({"error": {"message": "Your quota will reset after 2h7m23s."}}, 7643),
        ({"error": {"message": "x", "details": [{"metadata": {"quotaResetDelay": "1m2.5s"}}]}}, 62.5),
        ({"error": {"message": "Limit 3, Used 3. Please try again in 1m2.5s. Visit https://x.example"}}, 62.5),
        ({"error": {"message": "Please try again in 450ms."}}, 0.45),
        ({"error": {"message": "Too many tokens. Please retry after 26 seconds."}}, 26),
        ({"message": "slow down", "retry_after_ms": 1500}, 1.5),
        ({"error": "Model is loading", "estimated_time": 20.5}, 20.5),
        ({"error": {"message": "Rate limit of 50 per 86400s exceeded. Please wait 40000 seconds."}}, 40000),
        ({"error": {"message": "Please try again in 1 day and 2 hours."}}, 93600),
        ({"error": {"message": "x", "retryDelay": "-5s"}}, None),
        ({"error": {"message": "Try again in 3 apples, or retry after some time"}}, None),
    ],
)
def test_wait_named_in_a_body_is_read(body: Any, seconds: float | None) -> None:
    for status in (429, 503):
        assert read_error(as_json(body), status).retry_after == seconds


async def test_header_with_a_wait_outweighs_the_body(server: FaultServer, make_client: MakeClient) -> None:
    client = make_client()
    for headers, seconds in (([], 3.2), (["Retry-After: 7"], 7)):
        server.play(send(whole(429, "application/json", as_json(GOOGLE), *headers)), keep())
        _, events = await run(client)
        assert failure_of(events).retry_after == seconds
