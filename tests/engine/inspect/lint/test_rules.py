"""Each rule sees what it is for, and nothing in an answer that is as it should be."""

from __future__ import annotations

import json
from typing import Any

from playground.engine.inspect.lint.rules import RULES
from playground.protocols import PROTOCOLS
from tests.engine.inspect.lint.answers import (
    CALL,
    JSON,
    NATIVE_TOOL,
    NATIVE_USAGE,
    TOOL,
    USAGE,
    USE,
    answer,
    asked,
    begun,
    block,
    calling,
    choice,
    codes,
    counted,
    ended,
    event,
    first,
    good,
    native,
    reviewed,
    said,
    whole,
)
from tests.protocols.streams import DONE
from tests.support.each_case import each_case

STOP = good({}, "stop") + DONE
CALLS = good({}, "tool_calls") + DONE
LENGTH = good({}, "length") + DONE
PLAIN = first() + STOP
OPTIONS = {"include_usage": True}
UNNAMED = {"id": "call_1", "type": "function", "function": None}
NAMED_LATER = good({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]})
ERROR = b'{"code": 42901, "message": "Rate limit exceeded: RPM.", "data": null}'
ODD_ERROR = b'{"error": {"message": "TPM reached", "type": "tokens"}}'
WANTS_JSON: dict[str, Any] = {"response_format": {"type": "json_object"}}
NATIVE_JSON: dict[str, Any] = {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}
RESET = "X-RateLimit-Reset"
HAD_CALL = [{"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "call_1", "content": "4"}]


def head(*pairs: tuple[str, str], kind: str = "text/event-stream") -> dict[str, Any]:
    return {"response_headers": (("Content-Type", kind), *pairs)}


def failed(status: int, kind: str = JSON) -> dict[str, Any]:
    return {"status": status, "content_type": kind}


#: Code, what was asked, what came, what else there is to the exchange, the frame that shows it.
CHAT: list[tuple[str, dict[str, Any], bytes, dict[str, Any], int | None]] = [
    ("status_undocumented", asked(), ERROR, failed(422), None),
    ("status_undocumented", asked(), PLAIN, {"status": 201}, None),
    ("content_encoding", asked(), PLAIN, {"mended": {"content_encoding": "the answer is compressed"}}, None),
    ("charset", asked(), PLAIN, {"mended": {"charset": "the answer came as UTF-16"}}, None),
    ("id_changed", asked(), first() + good({}, "stop", id="c-2") + DONE, {}, 1),
    ("tool_id_known", asked(tools=[TOOL], messages=HAD_CALL), calling() + CALLS, {}, 0),
    ("limit_value", asked(), PLAIN, head(("x-ratelimit-remaining", "12 requests")), None),
    ("limit_reset", asked(), PLAIN, head((RESET, "6m0s")), None),
    ("limit_reset", asked(), PLAIN, head((RESET, "1700000000000")), None),
    ("limit_reset", asked(), ERROR, {**failed(429), **head((RESET, "30"), kind=JSON)}, None),
    ("error_shape", asked(), ODD_ERROR, failed(400), 0),
    ("error_shape", asked(), ODD_ERROR, failed(429), 0),
    ("error_shape", asked(), b'{"code": "x", "message": "TPM", "data": null}', failed(429), 0),
    ("error_shape", asked(), b'{"code": 1, "message": "no", "data": {}}', failed(401), 0),
    ("error_shape", asked(), b"<html>", failed(503, "text/html"), 0),
    ("error_shape", asked(), b"[]", failed(400), 0),
    ("error_shape", asked(), b"", failed(500), None),
    ("error_type", asked(), ERROR, failed(429, "text/plain"), None),
    ("error_dimension", asked(), b'{"code": 1, "message": "Slow down.", "data": null}', failed(429), 0),
    ("error_inside", asked(), first() + b'data: {"error": {"message": "overloaded"}}\n\n', {}, 1),
    ("error_inside", asked(), ERROR, {}, 0),
    ("no_body", asked(), b"", {}, None),
    ("unreadable", asked(), b'{"type": "thing"}', {}, 0),
    ("unreadable", asked(), b"[]", {}, 0),
    ("not_streamed", asked(), whole(choice()), {}, 0),
    ("streamed_unasked", asked(stream=False), PLAIN, {}, 0),
    ("streamed_unasked", asked(stream=None), PLAIN, {}, 0),
    ("stream_type", asked(), PLAIN, {"content_type": "text/plain"}, 0),
    ("stream_type", asked(), PLAIN, {"response_headers": ()}, 0),
    ("id_missing", asked(), PLAIN.replace(b'"id": "c-1", ', b""), {}, 0),
    ("id_missing", asked(stream=None), whole(choice(), id=""), {}, 0),
    ("object_other", asked(), first() + STOP.replace(b".chunk", b""), {}, 1),
    ("object_other", asked(stream=None), whole(choice(), object="text_completion"), {}, 0),
    ("created_missing", asked(), first() + good({"content": "a"}, created=1.5) + STOP, {}, 1),
    ("created_missing", asked(stream=None), whole(choice(), created=None), {}, 0),
    ("model_missing", asked(), PLAIN.replace(b'"model": "m-1", ', b""), {}, 0),
    ("role_missing", asked(), good({"content": "Hi"}) + STOP, {}, 0),
    (
        "role_missing",
        asked(n=2),
        first() + good({"content": "Hi"}, index=1) + good({}, "stop") + good({}, "stop", index=1) + DONE,
        {},
        1,
    ),
    ("role_missing", asked(stream=None), whole({**choice(), "message": {"content": "Hi"}}), {}, 0),
    ("finish_missing", asked(), first() + first().replace(b', "finish_reason": null', b"") + STOP, {}, 1),
    ("tool_type_missing", asked(tools=[TOOL]), calling({**CALL, "type": None}) + CALLS, {}, 0),
    (
        "tool_type_missing",
        asked(tools=[TOOL], stream=None),
        whole(choice(None, "tool_calls", tool_calls=[{**CALL, "type": None}])),
        {},
        0,
    ),
    ("choices_count", asked(n=2), PLAIN, {}, 2),
    ("choices_count", asked(), first() + first(index=1) + good({}, "stop", index=1) + STOP, {}, 4),
    ("choices_count", asked(n=3, stream=None), whole(choice()), {}, 0),
    ("model_other", asked(model="llama-3.3-70b"), PLAIN, {}, 0),
    ("finish_with_calls", asked(tools=[TOOL]), calling() + STOP, {}, 1),
    ("finish_without_calls", asked(tools=[TOOL]), first() + CALLS, {}, 1),
    ("limit_exceeded", asked(max_completion_tokens=2, stream=None), whole(choice()), {}, 0),
    ("limit_exceeded", asked(n=2, max_tokens=1, stream=None), whole(choice(), choice(index=1)), {}, 0),
    (
        "length_early",
        asked(max_completion_tokens=4000, stream_options=OPTIONS),
        first() + good({}, "length") + counted() + DONE,
        {},
        1,
    ),
    ("usage_missing", asked(stream_options=OPTIONS), PLAIN, {}, 2),
    ("usage_missing", asked(stream=None), whole(choice(), usage=None), {}, 0),
    ("usage_unasked", asked(), first() + good({}, "stop") + counted() + DONE, {}, 2),
    ("usage_unasked", asked(stream_options={"include_usage": False}), first() + counted() + STOP, {}, 1),
    ("usage_counts", asked(stream=None), whole(choice(), usage={"prompt_tokens": 5, "total_tokens": -1}), {}, 0),
    ("usage_sum", asked(stream=None), whole(choice(), usage={**USAGE, "total_tokens": 9}), {}, 0),
    (
        "usage_parts",
        asked(stream=None),
        whole(choice(), usage={**USAGE, "prompt_tokens_details": {"cached_tokens": 6}}),
        {},
        0,
    ),
    (
        "usage_parts",
        asked(stream=None),
        whole(choice(), usage={**USAGE, "completion_tokens_details": {"reasoning_tokens": 4}}),
        {},
        0,
    ),
    ("usage_zero", asked(stream=None), whole(choice(), usage={**USAGE, "completion_tokens": 0}), {}, 0),
    ("tool_not_offered", asked(), calling() + CALLS, {}, 0),
    ("tool_not_offered", asked(tools=[{"type": "function", "function": {"name": "g"}}]), calling() + CALLS, {}, 0),
    ("tool_choice_none", asked(tools=[TOOL], tool_choice="none"), calling() + CALLS, {}, 0),
    ("tool_choice_unmet", asked(tools=[TOOL], tool_choice="required"), PLAIN, {}, 1),
    (
        "tool_choice_unmet",
        asked(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "f"}}),
        PLAIN,
        {},
        1,
    ),
    (
        "tool_choice_other",
        asked(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "g"}}),
        calling() + CALLS,
        {},
        0,
    ),
    (
        "tool_calls_parallel",
        asked(tools=[TOOL], parallel_tool_calls=False),
        calling() + good({"tool_calls": [{"index": 1, **CALL, "id": "call_2"}]}) + CALLS,
        {},
        1,
    ),
    ("tool_name_later", asked(tools=[TOOL]), calling(UNNAMED) + NAMED_LATER + CALLS, {}, 1),
    ("tool_name_missing", asked(tools=[TOOL]), calling(UNNAMED) + CALLS, {}, 0),
    (
        "tool_arguments_not_json",
        asked(tools=[TOOL]),
        calling({**CALL, "function": {"name": "f", "arguments": "{city: Rome}"}}) + CALLS,
        {},
        0,
    ),
    ("content_not_json", asked(**WANTS_JSON), first("Here it is: {}") + STOP, {}, 1),
    ("content_not_json", asked(**WANTS_JSON), first("```json\n{}\n```") + STOP, {}, 1),
    ("stop_ignored", asked(stop=["END", "x"]), first("one END two") + STOP, {}, 1),
    ("stop_ignored", asked(stop="\n"), first("one\ntwo") + STOP, {}, 1),
    ("limit_ignored", asked(stop=list("abcde")), first() + STOP, {}, 0),
    ("limit_ignored", asked(temperature=2.1), PLAIN, {}, 0),
    ("limit_ignored", asked(presence_penalty=-(10**400)), PLAIN, {}, 0),
]
NATIVE: list[tuple[str, dict[str, Any], bytes, dict[str, Any], int | None]] = [
    ("status_undocumented", asked("messages"), ERROR, failed(529), None),
    ("error_shape", asked("messages"), b'{"detail": "no"}', failed(400), 0),
    ("no_body", asked("messages"), b"", {}, None),
    ("unreadable", asked("messages"), b"{}", {}, 0),
    ("not_streamed", asked("messages"), native({"type": "text", "text": "Hi"}), {}, 0),
    ("streamed_unasked", asked("messages", stream=None), begun() + said() + ended(), {}, 0),
    ("id_missing", asked("messages"), begun(id=None) + said() + ended(), {}, 0),
    ("id_missing", asked("messages", stream=None), native({"type": "text", "text": "Hi"}, id=None), {}, 0),
    ("model_missing", asked("messages"), begun(model="") + said() + ended(), {}, 0),
    ("event_name", asked("messages"), begun() + said() + ended().replace(b"event: message_stop\n", b""), {}, 5),
    (
        "event_name",
        asked("messages"),
        begun() + said().replace(b"event: content_block_stop", b"event: x") + ended(),
        {},
        3,
    ),
    ("model_other", asked("messages", model="llama"), begun() + said() + ended(), {}, 0),
    ("finish_with_calls", asked("messages", tools=[NATIVE_TOOL]), begun() + block(USE) + ended(), {}, 3),
    ("finish_without_calls", asked("messages"), begun() + said() + ended("tool_use"), {}, 4),
    ("limit_exceeded", asked("messages", max_tokens=2), begun() + said() + ended(), {}, 4),
    ("length_early", asked("messages"), begun() + said() + ended("max_tokens"), {}, 4),
    ("usage_missing", asked("messages", stream=None), native({"type": "text", "text": "Hi"}, usage=None), {}, 0),
    (
        "usage_counts",
        asked("messages", stream=None),
        native({"type": "text", "text": "Hi"}, usage={"input_tokens": 1}),
        {},
        0,
    ),
    (
        "usage_zero",
        asked("messages", stream=None),
        native({"type": "text", "text": "Hi"}, usage={**NATIVE_USAGE, "output_tokens": 0}),
        {},
        0,
    ),
    ("tool_not_offered", asked("messages"), begun() + block(USE) + ended("tool_use"), {}, 1),
    (
        "tool_choice_none",
        asked("messages", tools=[NATIVE_TOOL], tool_choice={"type": "none"}),
        begun() + block(USE) + ended("tool_use"),
        {},
        1,
    ),
    (
        "tool_choice_unmet",
        asked("messages", tools=[NATIVE_TOOL], tool_choice={"type": "any"}),
        begun() + said() + ended(),
        {},
        4,
    ),
    (
        "tool_choice_other",
        asked("messages", tools=[NATIVE_TOOL], tool_choice={"type": "tool", "name": "g"}),
        begun() + block(USE) + ended("tool_use"),
        {},
        1,
    ),
    (
        "tool_calls_parallel",
        asked("messages", tools=[NATIVE_TOOL], tool_choice={"type": "auto", "disable_parallel_tool_use": True}),
        begun() + block(USE) + block({**USE, "id": "toolu_2"}, index=1) + ended("tool_use"),
        {},
        3,
    ),
    (
        "tool_arguments_not_json",
        asked("messages", tools=[NATIVE_TOOL]),
        begun() + block(USE, {"type": "input_json_delta", "partial_json": "{city"}) + ended("tool_use"),
        {},
        1,
    ),
    ("content_not_json", asked("messages", **NATIVE_JSON), begun() + said("no") + ended(), {}, 4),
    ("stop_ignored", asked("messages", stop_sequences=["i"]), begun() + said("Him") + ended(), {}, 4),
]
#: What was asked, what came: as it should be, at the edges of the rules.
GOOD: list[tuple[str, dict[str, Any], bytes, dict[str, Any]]] = [
    ("chat", asked(), PLAIN, {}),
    ("chat", asked(), b": keep-alive\n\n" + PLAIN, {}),
    ("chat", asked(stream=None), whole(choice()), {}),
    ("chat", asked(stream_options=OPTIONS), first() + good({}, "stop") + counted() + DONE, {}),
    ("chat", asked(n=2), first() + first(index=1) + good({}, "stop") + good({}, "stop", index=1) + DONE, {}),
    ("chat", asked(tools=[TOOL], tool_choice="required"), calling() + CALLS, {}),
    ("chat", asked(tools=[TOOL], tool_choice="required"), first() + LENGTH, {}),
    ("chat", asked(tools=[{"type": "web_search"}]), calling() + CALLS, {}),
    ("chat", asked(tools=[TOOL]), calling({**CALL, "function": {"name": "f", "arguments": ""}}) + CALLS, {}),
    ("chat", asked(tools=[TOOL]), calling({**CALL, "function": {"name": "f", "arguments": '{"a'}}) + LENGTH, {}),
    ("chat", asked(model="vendor/m"), PLAIN, {}),
    ("chat", asked(model="m-1-latest"), PLAIN, {}),
    ("chat", asked(model="gpt-4o"), PLAIN.replace(b"m-1", b"gpt-4o-2024-08-06"), {}),
    ("chat", asked(model="claude-sonnet-4-0"), PLAIN.replace(b"m-1", b"anthropic/claude-sonnet-4-20250514"), {}),
    ("chat", asked(max_completion_tokens=3, stream=None), whole(choice(finish="length")), {}),
    (
        "chat",
        asked(max_tokens=1, stream=None),
        whole(choice(), usage={**USAGE, "completion_tokens_details": {"reasoning_tokens": 2}}),
        {},
    ),
    ("chat", asked(stop=["END"]), first("one END") + STOP, {}),
    ("chat", asked(stop=["END"]), first("one END two") + LENGTH, {}),
    ("chat", asked(**WANTS_JSON), first('{"a": 1}') + STOP, {}),
    ("chat", asked(**WANTS_JSON), first('{"a": 1') + LENGTH, {}),
    ("chat", asked(stop=list("abcd"), temperature=2, top_p=0), PLAIN, {}),
    (
        "chat",
        asked(),
        PLAIN,
        head((RESET, "1732176000"), ("X-RateLimit-Limit", "60"), ("x-ratelimit-reset-requests", "6m")),
    ),
    ("chat", asked(), ERROR, failed(429)),
    ("chat", asked(), b'{"code": 1, "message": "no", "data": null, "error": {"message": "no"}}', failed(400)),
    ("messages", asked("messages"), begun() + said() + ended(), {}),
    ("messages", asked("messages"), begun() + event("ping") + said() + ended(), {}),
    ("messages", asked("messages", stream=None), native({"type": "text", "text": "Hi"}), {}),
    ("messages", asked("messages", tools=[NATIVE_TOOL]), begun() + block(USE) + ended("tool_use"), {}),
    ("messages", asked("messages", stop_sequences=["x"]), begun() + said() + ended("stop_sequence"), {}),
    ("messages", asked("messages", **NATIVE_JSON), begun() + said("{}") + ended(), {}),
    (
        "messages",
        asked("messages"),
        b'{"type": "error", "error": {"type": "rate_limit_error", "message": "RPM"}}',
        failed(429),
    ),
]


def name(row: Any) -> str:
    return row if isinstance(row, str) else ""


@each_case(("code", "request_", "body", "more", "frame"), CHAT)
def test_a_rule_of_chat_completions(
    code: str, request_: Any, body: bytes, more: dict[str, Any], frame: int | None
) -> None:
    check(code, frame, "chat", request_, body, more)


@each_case(("code", "request_", "body", "more", "frame"), NATIVE)
def test_a_rule_of_native_messages(
    code: str, request_: Any, body: bytes, more: dict[str, Any], frame: int | None
) -> None:
    check(code, frame, "messages", request_, body, more)


def check(code: str, frame: int | None, protocol: str, request: Any, body: bytes, more: dict[str, Any]) -> None:
    review = reviewed(answer(body, request, protocol, **more))
    found = [one for one in review.findings if one.code == code]
    assert [one.frame for one in found] == [frame], codes(review.findings)
    assert found[0].rule.endswith(".")


@each_case(("protocol", "request_", "body", "more"), GOOD)
def test_nothing_is_said_of_what_is_right(protocol: str, request_: Any, body: bytes, more: dict[str, Any]) -> None:
    review = reviewed(answer(body, request_, protocol, **more))
    assert codes(review.findings) == []
    assert review.unseen == ""


def test_every_rule_is_seen_at_work() -> None:
    seen = {("chat", row[0]) for row in CHAT} | {("messages", row[0]) for row in NATIVE}
    for rule in RULES:
        protocols = [protocol for protocol in PROTOCOLS if rule.says(protocol)]
        enough = any if rule.expected is not None else all  # words of its own are seen over each protocol
        assert protocols
        assert enough((protocol, rule.code) in seen for protocol in protocols), rule.code


def test_a_request_that_cannot_be_read_is_not_compared_with() -> None:
    for body in (b"", b"{", b"[]", b"\xff\x00"):
        review = reviewed(answer(calling() + CALLS, {}, request_body=body))
        assert codes(review.findings) == []
        assert review.unseen == "The request cannot be read, so the answer is not compared with it."


def test_findings_stand_in_the_order_of_their_frames() -> None:
    body = first("```") + b'data: "x"\n\n' + good({}, "stop")
    found = reviewed(answer(body, asked(n=2, **WANTS_JSON), **head((RESET, "soon")))).findings
    assert codes(found) == ["limit_reset", "not_object", "content_not_json", "no_end_marker", "choices_count"]
    assert [one.frame for one in found] == [None, 1, 2, 3, 3]


def test_of_one_thing_that_goes_on_and_on_enough_is_told() -> None:
    many = [{"index": at, "id": f"c{at}", "type": "function", "function": {"name": f"t{at}"}} for at in range(500)]
    body = b"".join(good({"role": "assistant", "tool_calls": [call]}) for call in many) + CALLS
    found = reviewed(answer(body, asked(tools=[TOOL]))).findings
    assert codes(found) == ["tool_not_offered"] * 100


def test_the_report_says_nothing_of_the_request_but_its_numbers() -> None:
    from playground.engine.inspect.lint import report
    from tests.engine.exchanges import indexed

    secret = "PRIVATE-" + "x" * 8
    request = asked(
        stop=[secret],
        tools=[{"type": "function", "function": {"name": secret}}],
        tool_choice={"type": "function", "function": {"name": secret}},
    )
    tape = answer(calling() + CALLS, request)
    text = report(indexed(tape), reviewed(tape).findings)
    assert "tool_choice names another" in text
    assert secret not in text
    assert json.dumps(request).count(secret) == 3
