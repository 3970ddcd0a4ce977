"""Each rule of the review against answers that break it, and against correct answers."""

from __future__ import annotations

import json
from typing import Any

from playground.engine.inspect.lint import report
from playground.engine.inspect.lint.review import RULES
from playground.protocols import PROTOCOLS
from tests.engine.exchanges import indexed
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
    text_block,
    whole,
)
from tests.protocols.responses.events import USAGE as ITEM_USAGE
from tests.protocols.responses.events import begin, end, items_of, message, response, stream
from tests.protocols.responses.events import call as item_call
from tests.protocols.responses.events import event as item_event
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


TEXT = {"type": "text", "text": "Hi"}
WHOLE, NATIVE_WHOLE, NATIVE_ASKED = asked(stream=None), asked("messages", stream=None), asked("messages")
USED, TEXT_ANSWER = begun() + block(USE) + ended("tool_use"), begun() + text_block() + ended()
NAMED_F, NAMED_G = ({"type": "function", "function": {"name": name}} for name in "fg")
NATIVE_ERROR = b'{"type": "error", "error": {"type": "rate_limit_error", "message": "RPM"}}'
NOT_PARALLEL = {"type": "auto", "disable_parallel_tool_use": True}
TWO_USES = begun() + block(USE) + block({**USE, "id": "toolu_2"}, index=1) + ended("tool_use")
BOTH_STOP = good({}, "stop") + good({}, "stop", index=1) + DONE
MANY_TOKENS = asked(max_completion_tokens=4000, stream_options=OPTIONS)
TWO_CALLS = calling() + good({"tool_calls": [{"index": 1, **CALL, "id": "call_2"}]}) + CALLS
NO_TYPE, NO_JSON = {**CALL, "type": None}, {**CALL, "function": {"name": "f", "arguments": "{city: Rome}"}}
BROKEN_USE = block(USE, {"type": "input_json_delta", "partial_json": "{city"})


def tools(**fields: Any) -> dict[str, Any]:
    return asked(tools=[TOOL], **fields)


def native_tools(choice: Any = None) -> dict[str, Any]:
    return asked("messages", tools=[NATIVE_TOOL], tool_choice=choice)


def used(**fields: Any) -> bytes:
    """A completion object with another usage."""
    return whole(choice(), usage={**USAGE, **fields})


def head(*pairs: tuple[str, str], kind: str = "text/event-stream") -> dict[str, Any]:
    return {"response_headers": (("Content-Type", kind), *pairs)}


def failed(status: int, kind: str = JSON) -> dict[str, Any]:
    return {"status": status, "content_type": kind}


#: Code, request, answer, other parts of the exchange, the frame that shows it.
CHAT: list[tuple[str, dict[str, Any], bytes, dict[str, Any], int | None]] = [
    ("status_undocumented", asked(), ERROR, failed(422), None),
    ("status_undocumented", asked(), PLAIN, {"status": 201}, None),
    ("content_encoding", asked(), PLAIN, {"mended": {"content_encoding": "the answer is compressed"}}, None),
    ("charset", asked(), PLAIN, {"mended": {"charset": "the answer is encoded as UTF-16"}}, None),
    ("id_changed", asked(), first() + good({}, "stop", id="c-2") + DONE, {}, 1),
    ("tool_id_known", tools(messages=HAD_CALL), calling() + CALLS, {}, 0),
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
    ("streamed_unasked", WHOLE, PLAIN, {}, 0),
    ("stream_type", asked(), PLAIN, {"content_type": "text/plain"}, 0),
    ("stream_type", asked(), PLAIN, {"response_headers": ()}, 0),
    ("id_missing", asked(), PLAIN.replace(b'"id": "c-1", ', b""), {}, 0),
    ("id_missing", WHOLE, whole(choice(), id=""), {}, 0),
    ("object_other", asked(), first() + STOP.replace(b".chunk", b""), {}, 1),
    ("object_other", WHOLE, whole(choice(), object="text_completion"), {}, 0),
    ("created_missing", asked(), first() + good({"content": "a"}, created=1.5) + STOP, {}, 1),
    ("created_missing", WHOLE, whole(choice(), created=None), {}, 0),
    ("model_missing", asked(), PLAIN.replace(b'"model": "m-1", ', b""), {}, 0),
    ("role_missing", asked(), good({"content": "Hi"}) + STOP, {}, 0),
    ("role_missing", asked(n=2), first() + good({"content": "Hi"}, index=1) + BOTH_STOP, {}, 1),
    ("role_missing", WHOLE, whole({**choice(), "message": {"content": "Hi"}}), {}, 0),
    ("finish_missing", asked(), first() + first().replace(b', "finish_reason": null', b"") + STOP, {}, 1),
    ("tool_type_missing", tools(), calling(NO_TYPE) + CALLS, {}, 0),
    ("tool_type_missing", tools(stream=None), whole(choice(None, "tool_calls", tool_calls=[NO_TYPE])), {}, 0),
    ("choices_count", asked(n=2), PLAIN, {}, 2),
    ("choices_count", asked(), first() + first(index=1) + good({}, "stop", index=1) + STOP, {}, 4),
    ("choices_count", asked(n=3, stream=None), whole(choice()), {}, 0),
    ("model_other", asked(model="llama-3.3-70b"), PLAIN, {}, 0),
    ("finish_with_calls", tools(), calling() + STOP, {}, 1),
    ("finish_without_calls", tools(), first() + CALLS, {}, 1),
    ("limit_exceeded", asked(max_completion_tokens=2, stream=None), whole(choice()), {}, 0),
    ("limit_exceeded", asked(n=2, max_tokens=1, stream=None), whole(choice(), choice(index=1)), {}, 0),
    ("length_early", MANY_TOKENS, first() + good({}, "length") + counted() + DONE, {}, 1),
    ("usage_missing", asked(stream_options=OPTIONS), PLAIN, {}, 2),
    ("usage_missing", WHOLE, whole(choice(), usage=None), {}, 0),
    ("usage_unasked", asked(), first() + good({}, "stop") + counted() + DONE, {}, 2),
    ("usage_unasked", asked(stream_options={"include_usage": False}), first() + counted() + STOP, {}, 1),
    ("usage_counts", WHOLE, whole(choice(), usage={"prompt_tokens": 5, "total_tokens": -1}), {}, 0),
    ("usage_sum", WHOLE, used(total_tokens=9), {}, 0),
    ("usage_parts", WHOLE, used(prompt_tokens_details={"cached_tokens": 6}), {}, 0),
    ("usage_parts", WHOLE, used(completion_tokens_details={"reasoning_tokens": 4}), {}, 0),
    ("usage_zero", WHOLE, used(completion_tokens=0), {}, 0),
    ("tool_not_offered", asked(), calling() + CALLS, {}, 0),
    ("tool_not_offered", asked(tools=[{"type": "function", "function": {"name": "g"}}]), calling() + CALLS, {}, 0),
    ("tool_choice_none", tools(tool_choice="none"), calling() + CALLS, {}, 0),
    ("tool_choice_unmet", tools(tool_choice="required"), PLAIN, {}, 1),
    ("tool_choice_unmet", tools(tool_choice=NAMED_F), PLAIN, {}, 1),
    ("tool_choice_other", tools(tool_choice=NAMED_G), calling() + CALLS, {}, 0),
    ("tool_calls_parallel", tools(parallel_tool_calls=False), TWO_CALLS, {}, 1),
    ("tool_name_later", tools(), calling(UNNAMED) + NAMED_LATER + CALLS, {}, 1),
    ("tool_name_missing", tools(), calling(UNNAMED) + CALLS, {}, 0),
    ("tool_arguments_not_json", tools(), calling(NO_JSON) + CALLS, {}, 0),
    ("content_not_json", asked(**WANTS_JSON), first("Here it is: {}") + STOP, {}, 1),
    ("content_not_json", asked(**WANTS_JSON), first("```json\n{}\n```") + STOP, {}, 1),
    ("stop_ignored", asked(stop=["END", "x"]), first("one END two") + STOP, {}, 1),
    ("stop_ignored", asked(stop="\n"), first("one\ntwo") + STOP, {}, 1),
    ("limit_ignored", asked(stop=list("abcde")), first() + STOP, {}, 0),
    ("limit_ignored", asked(temperature=2.1), PLAIN, {}, 0),
    ("limit_ignored", asked(presence_penalty=-(10**400)), PLAIN, {}, 0),
]
NATIVE: list[tuple[str, dict[str, Any], bytes, dict[str, Any], int | None]] = [
    ("status_undocumented", NATIVE_ASKED, ERROR, failed(529), None),
    ("error_shape", NATIVE_ASKED, b'{"detail": "no"}', failed(400), 0),
    ("no_body", NATIVE_ASKED, b"", {}, None),
    ("unreadable", NATIVE_ASKED, b"{}", {}, 0),
    ("not_streamed", NATIVE_ASKED, native(TEXT), {}, 0),
    ("streamed_unasked", NATIVE_WHOLE, TEXT_ANSWER, {}, 0),
    ("id_missing", NATIVE_ASKED, begun(id=None) + text_block() + ended(), {}, 0),
    ("id_missing", NATIVE_WHOLE, native(TEXT, id=None), {}, 0),
    ("model_missing", NATIVE_ASKED, begun(model="") + text_block() + ended(), {}, 0),
    ("event_name", NATIVE_ASKED, TEXT_ANSWER.replace(b"event: message_stop\n", b""), {}, 5),
    (
        "event_name",
        NATIVE_ASKED,
        begun() + text_block().replace(b"event: content_block_stop", b"event: x") + ended(),
        {},
        3,
    ),
    ("model_other", asked("messages", model="llama"), TEXT_ANSWER, {}, 0),
    ("finish_with_calls", native_tools(), begun() + block(USE) + ended(), {}, 3),
    ("finish_without_calls", NATIVE_ASKED, begun() + text_block() + ended("tool_use"), {}, 4),
    ("limit_exceeded", asked("messages", max_tokens=2), TEXT_ANSWER, {}, 4),
    ("length_early", NATIVE_ASKED, begun() + text_block() + ended("max_tokens"), {}, 4),
    ("usage_missing", NATIVE_WHOLE, native(TEXT, usage=None), {}, 0),
    ("usage_counts", NATIVE_WHOLE, native(TEXT, usage={"input_tokens": 1}), {}, 0),
    ("usage_zero", NATIVE_WHOLE, native(TEXT, usage={**NATIVE_USAGE, "output_tokens": 0}), {}, 0),
    ("tool_not_offered", NATIVE_ASKED, USED, {}, 1),
    ("tool_choice_none", native_tools({"type": "none"}), USED, {}, 1),
    ("tool_choice_unmet", native_tools({"type": "any"}), TEXT_ANSWER, {}, 4),
    ("tool_choice_other", native_tools({"type": "tool", "name": "g"}), USED, {}, 1),
    ("tool_calls_parallel", native_tools(NOT_PARALLEL), TWO_USES, {}, 3),
    ("tool_arguments_not_json", native_tools(), begun() + BROKEN_USE + ended("tool_use"), {}, 1),
    ("content_not_json", asked("messages", **NATIVE_JSON), begun() + text_block("no") + ended(), {}, 4),
    ("stop_ignored", asked("messages", stop_sequences=["i"]), begun() + text_block("Him") + ended(), {}, 4),
]
#: Items of the Responses protocol, and requests for them.
ITEMS, CALL_ITEM = message(), item_call()
ITEM_STREAM = stream(begin(), ITEMS, end(items_of(ITEMS)))
ITEM_CALLS = stream(begin(), CALL_ITEM, end(items_of(CALL_ITEM)))
NO_JSON_CALL = item_call(arguments="{no")
ITEM_ASKED: dict[str, Any] = {"model": "m-1", "stream": True, "input": "Hello"}
ITEM_WHOLE: dict[str, Any] = {"model": "m-1", "input": "Hello"}
ITEM_TOOL = {"type": "function", "name": "f"}
ITEM_TOOLS: dict[str, Any] = {**ITEM_ASKED, "tools": [ITEM_TOOL, {**ITEM_TOOL, "name": "g"}]}
ITEM_JSON = {**ITEM_ASKED, "text": {"format": {"type": "json_object"}}}
AT_LIMIT = {"incomplete_details": {"reason": "max_output_tokens"}, "usage": ITEM_USAGE}
CUT = item_event("incomplete", response=response("incomplete", items_of(ITEMS), **AT_LIMIT))


def one_response(**more: Any) -> bytes:
    """A response that is not streamed."""
    return json.dumps(response("completed", items_of(ITEMS), **more)).encode()


ITEM_ROWS: list[tuple[str, dict[str, Any], bytes, dict[str, Any], int | None]] = [
    ("status_undocumented", ITEM_ASKED, ERROR, failed(529), None),
    ("error_shape", ITEM_ASKED, b'{"detail": "no"}', failed(400), 0),
    ("not_streamed", ITEM_ASKED, one_response(), {}, 0),
    ("streamed_unasked", ITEM_WHOLE, ITEM_STREAM, {}, 0),
    ("id_missing", ITEM_WHOLE, one_response(id=""), {}, 0),
    ("model_missing", ITEM_WHOLE, one_response(model=""), {}, 0),
    ("members_missing", ITEM_WHOLE, one_response().replace(b'"tools": [], ', b""), {}, 0),
    ("event_name", ITEM_ASKED, stream(begin(), ITEMS, end(items_of(ITEMS)), named=False), {}, 0),
    ("sequence_number", ITEM_ASKED, stream(begin(), ITEMS, end(items_of(ITEMS)), numbered=False), {}, 0),
    ("event_order", ITEM_ASKED, stream(ITEMS, end(items_of(ITEMS))), {}, 0),
    (
        "item_status",
        ITEM_ASKED,
        ITEM_STREAM.replace(b'"status": "completed", "content"', b'"status": "in_progress", "content"', 1),
        {},
        7,
    ),
    ("output_differs", ITEM_ASKED, stream(begin(), ITEMS, end(items_of(CALL_ITEM))), {}, 8),
    ("limit_exceeded", {**ITEM_ASKED, "max_output_tokens": 2}, ITEM_STREAM, {}, 8),
    ("length_early", {**ITEM_ASKED, "max_output_tokens": 1000}, stream(begin(), ITEMS, CUT), {}, 8),
    ("usage_missing", ITEM_WHOLE, one_response(usage=None), {}, 0),
    ("usage_counts", ITEM_WHOLE, one_response(usage={"input_tokens": 1}), {}, 0),
    ("usage_sum", ITEM_WHOLE, one_response(usage={**ITEM_USAGE, "total_tokens": 5}), {}, 0),
    ("tool_not_offered", ITEM_ASKED, ITEM_CALLS, {}, 1),
    ("tool_choice_none", {**ITEM_TOOLS, "tool_choice": "none"}, ITEM_CALLS, {}, 1),
    ("tool_choice_unmet", {**ITEM_TOOLS, "tool_choice": "required"}, ITEM_STREAM, {}, 8),
    (
        "tool_choice_other",
        {**ITEM_TOOLS, "tool_choice": {"type": "function", "name": "g"}},
        ITEM_CALLS,
        {},
        1,
    ),
    (
        "tool_arguments_not_json",
        ITEM_TOOLS,
        stream(begin(), NO_JSON_CALL, end(items_of(NO_JSON_CALL))),
        {},
        1,
    ),
    ("content_not_json", ITEM_JSON, ITEM_STREAM, {}, 8),
]
#: Request and answer: correct ones, at the edges of the rules.
GOOD: list[tuple[str, dict[str, Any], bytes, dict[str, Any]]] = [
    ("chat", asked(), PLAIN, {}),
    ("chat", asked(), b": keep-alive\n\n" + PLAIN, {}),
    ("chat", WHOLE, whole(choice()), {}),
    ("chat", asked(stream_options=OPTIONS), first() + good({}, "stop") + counted() + DONE, {}),
    ("chat", asked(n=2), first() + first(index=1) + good({}, "stop") + good({}, "stop", index=1) + DONE, {}),
    ("chat", tools(tool_choice="required"), calling() + CALLS, {}),
    ("chat", tools(tool_choice="required"), first() + LENGTH, {}),
    ("chat", asked(tools=[{"type": "web_search"}]), calling() + CALLS, {}),
    ("chat", tools(), calling({**CALL, "function": {"name": "f", "arguments": ""}}) + CALLS, {}),
    ("chat", tools(), calling({**CALL, "function": {"name": "f", "arguments": '{"a'}}) + LENGTH, {}),
    ("chat", asked(model="vendor/m"), PLAIN, {}),
    ("chat", asked(model="m-1-latest"), PLAIN, {}),
    ("chat", asked(model="gpt-4o"), PLAIN.replace(b"m-1", b"gpt-4o-2024-08-06"), {}),
    ("chat", asked(model="claude-sonnet-4-0"), PLAIN.replace(b"m-1", b"anthropic/claude-sonnet-4-20250514"), {}),
    ("chat", asked(max_completion_tokens=3, stream=None), whole(choice(finish="length")), {}),
    ("chat", asked(max_tokens=1, stream=None), used(completion_tokens_details={"reasoning_tokens": 2}), {}),
    ("chat", asked(stop=["END"]), first("one END") + STOP, {}),
    ("chat", asked(stop=["END"]), first("one END two") + LENGTH, {}),
    ("chat", asked(**WANTS_JSON), first('{"a": 1}') + STOP, {}),
    ("chat", asked(**WANTS_JSON), first('{"a": 1') + LENGTH, {}),
    ("chat", asked(stop=list("abcd"), temperature=2, top_p=0), PLAIN, {}),
    ("chat", asked(), PLAIN, head((RESET, "1732176000"), ("X-RateLimit-Limit", "60"), (f"{RESET}-Requests", "6m"))),
    ("chat", asked(), ERROR, failed(429)),
    ("chat", asked(), b'{"code": 1, "message": "no", "data": null, "error": {"message": "no"}}', failed(400)),
    ("messages", NATIVE_ASKED, TEXT_ANSWER, {}),
    ("messages", NATIVE_ASKED, begun() + event("ping") + text_block() + ended(), {}),
    ("messages", NATIVE_WHOLE, native(TEXT), {}),
    ("messages", native_tools(), USED, {}),
    ("messages", asked("messages", stop_sequences=["x"]), begun() + text_block() + ended("stop_sequence"), {}),
    ("messages", asked("messages", **NATIVE_JSON), begun() + text_block("{}") + ended(), {}),
    ("messages", NATIVE_ASKED, NATIVE_ERROR, failed(429)),
    ("responses", ITEM_ASKED, ITEM_STREAM, {}),
    ("responses", ITEM_WHOLE, one_response(), {}),
    ("responses", {**ITEM_TOOLS, "tool_choice": "required"}, ITEM_CALLS, {}),
]


ROWS = [
    *(("chat", *row) for row in CHAT),
    *(("messages", *row) for row in NATIVE),
    *(("responses", *row) for row in ITEM_ROWS),
]


@each_case(("protocol", "code", "request_", "body", "more", "frame"), ROWS)
def test_rule_finds_its_deviation_at_the_frame(
    protocol: str, code: str, request_: Any, body: bytes, more: dict[str, Any], frame: int | None
) -> None:
    review = reviewed(answer(body, request_, protocol, **more))
    results = [finding for finding in review.findings if finding.code == code]
    assert [finding.frame for finding in results] == [frame], codes(review.findings)
    assert results[0].rule.endswith(".")


@each_case(("protocol", "request_", "body", "more"), GOOD)
def test_correct_answer_has_no_findings(protocol: str, request_: Any, body: bytes, more: dict[str, Any]) -> None:
    review = reviewed(answer(body, request_, protocol, **more))
    assert codes(review.findings) == []
    assert review.unseen == ""


def test_every_rule_has_a_case() -> None:
    seen = {(protocol, code) for protocol, code, *_ in ROWS}
    for rule in RULES:
        protocols = [protocol for protocol in PROTOCOLS if rule.says(protocol)]
        enough = any if rule.expected is not None else all  # words of its own are seen over each protocol
        assert protocols
        assert enough((protocol, rule.code) in seen for protocol in protocols), rule.code


def test_unreadable_request_is_not_compared() -> None:
    for body in (b"", b"{", b"[]", b"\xff\x00"):
        review = reviewed(answer(calling() + CALLS, {}, request_body=body))
        assert codes(review.findings) == []
        assert review.unseen == "The request cannot be read, so the answer is not compared with it."


def test_findings_have_the_order_of_their_frames() -> None:
    body = first("```") + b'data: "x"\n\n' + good({}, "stop")
    result = reviewed(answer(body, asked(n=2, **WANTS_JSON), **head((RESET, "soon")))).findings
    assert codes(result) == ["limit_reset", "not_object", "content_not_json", "no_end_marker", "choices_count"]
    assert [item.frame for item in result] == [None, 1, 2, 3, 3]


def test_findings_of_a_code_are_limited() -> None:
    many = [
        {"index": index, "id": f"c{index}", "type": "function", "function": {"name": f"t{index}"}}
        for index in range(500)
    ]
    body = b"".join(good({"role": "assistant", "tool_calls": [call]}) for call in many) + CALLS
    result = reviewed(answer(body, tools())).findings
    assert codes(result) == ["tool_not_offered"] * 100


def test_report_contains_no_text_of_the_request() -> None:
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
