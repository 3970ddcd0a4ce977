"""The native messages protocol: streams, whole bodies, and what goes wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.domain.errors import FailureKind
from playground.domain.parts import Reasoning, Text, ToolCall, Unknown
from playground.protocols.messages.decode import MessagesDecoder
from tests.protocols.streams import DONE, calls, chunk, data, failure, messages, messages_events, outcome, text
from tests.support.each_case import each_case

USAGE = {"input_tokens": 10, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 1}


def event(kind: str, **fields: Any) -> bytes:
    return data({"type": kind, **fields}, event=kind)


def start(**fields: Any) -> bytes:
    message = {"id": "m-1", "type": "message", "role": "assistant", "model": "c-1", "content": [], "usage": USAGE}
    return event("message_start", message={**message, **fields})


def block(index: int, value: dict[str, Any], *deltas: dict[str, Any]) -> bytes:
    return b"".join(
        [
            event("content_block_start", index=index, content_block=value),
            *(event("content_block_delta", index=index, delta=delta) for delta in deltas),
            event("content_block_stop", index=index),
        ]
    )


def text_block(*pieces: str, index: int = 0) -> bytes:
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": piece} for piece in pieces))


def thought(piece: str, signature: str, index: int = 0) -> bytes:
    return block(
        index,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": piece},
        {"type": "signature_delta", "signature": signature},
    )


def used(*pieces: str, index: int = 0, id: str = "a", name: str = "f") -> bytes:
    value = {"type": "tool_use", "id": id, "name": name, "input": {}}
    return block(index, value, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


def stop(reason: str | None = "end_turn", **usage: Any) -> bytes:
    return event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 9, **usage}) + event(
        "message_stop"
    )


def test_stream_as_the_protocol_has_it() -> None:
    answer = messages(
        start(),
        event("ping"),
        thought("hm", "SIG"),
        text_block("Hel", "lo", index=1),
        used('{"x"', ": 1}", index=2),
        stop("tool_use"),
    )
    assert answer.choices[0].freeze() == (
        Reasoning(text="hm", field="thinking", signature="SIG"),
        Text(text="Hello"),
        ToolCall(id="a", name="f", arguments='{"x": 1}'),
    )
    assert (answer.id, answer.model, answer.choices[0].finish_reason) == ("m-1", "c-1", "tool_use")
    assert answer.complete
    assert answer.deviations == {}


def test_counts_are_merged_over_the_stream() -> None:
    usage = messages(start(), text_block("a"), stop(cache_read_input_tokens=None)).usage
    assert usage is not None
    assert (usage.prompt, usage.completion, usage.total, usage.cached) == (15, 9, 24, 3)
    assert usage.raw == {**USAGE, "output_tokens": 9}


@pytest.mark.parametrize("before", [USAGE, {**USAGE, "pad": "x" * 10_000}])
def test_number_too_large_in_a_later_usage_report_is_noted(before: Any) -> None:
    later = event("message_delta", delta={}, usage={"cost": "ODD"}).replace(b'"ODD"', b"1e999")
    answer = messages(start(usage=before), text_block("a"), later, stop())
    assert answer.usage is not None
    assert (answer.usage.raw or {})["cost"] == "Infinity"
    assert list(answer.deviations) == ["number_too_large"]
    assert "1e999" in answer.deviations["number_too_large"]


def test_whole_body_gives_the_same_events() -> None:
    body = {
        "id": "m-1", "type": "message", "role": "assistant", "model": "c-1",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "SIG"},
            {"type": "redacted_thinking", "data": "XX"},
            {"type": "text", "text": "Hello"},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
            {"type": "web_search_tool_result", "content": []},
        ],
        "stop_reason": "tool_use", "usage": {**USAGE, "output_tokens": 9},
    }  # fmt: skip
    stream = b"".join(
        [
            start(usage=None), thought("hm", "SIG"), block(1, {"type": "redacted_thinking", "data": "XX"}),
            text_block("Hello", index=2), used('{"x"', ": 1}", index=3),
            block(4, {"type": "web_search_tool_result", "content": []}),
            stop("tool_use", **USAGE | {"output_tokens": 9}),
        ]
    )  # fmt: skip
    assert outcome(messages_events(json.dumps(body).encode())) == outcome(messages_events(stream))


def test_blocks_of_one_kind_stay_apart() -> None:
    redacted = block(1, {"type": "redacted_thinking", "data": "XX"})
    answer = messages(
        start(),
        thought("a", "S1"),
        redacted,
        thought("b", "S2", 2),
        text_block("c", index=3),
        text_block("d", index=4),
        stop(),
    )
    assert answer.choices[0].freeze() == (
        Reasoning(text="a", field="thinking", signature="S1"),
        Reasoning(text="", field="redacted_thinking", redacted="XX"),
        Reasoning(text="b", field="thinking", signature="S2"),
        Text(text="c"),
        Text(text="d"),
    )


def whole(content: Any, reason: str = "end_turn") -> bytes:
    return json.dumps({"type": "message", "content": content, "stop_reason": reason}).encode()


OPEN_TEXT = event("content_block_start", index=0, content_block={"type": "text", "text": ""})
TEXT = event("content_block_delta", index=0, delta={"type": "text_delta", "text": "a"})


@each_case(
    ("body", "deviations"),
    [
        ([start(), text_block("a"), DONE], ["no_finish_reason"]),  # the end marker of another protocol
        (
            [start(), text_block("a"), event("message_delta", delta={"stop_reason": "end_turn"}, usage={})],
            ["no_end_marker"],
        ),
        *(
            ([start(), text_block("a"), stop(reason)], [])
            for reason in ("max_tokens", "stop_sequence", "pause_turn", "model_context_window_exceeded")
        ),
        ([start(), text_block("a"), stop("melted")], ["finish_reason_unknown"]),
        ([start(content="a"), stop()], None),
        ([whole("a")], None),
        ([start(), OPEN_TEXT, text_block("a"), stop()], ["block_start_repeated"]),
        ([start(), TEXT, stop()], ["block_start_missing"]),
        ([start(), start(usage={"input_tokens": 99}), text_block("a"), stop()], ["message_start_repeated"]),
        (
            [
                start(), event("telemetry", x=1), OPEN_TEXT,
                *(
                    event("content_block_delta", index=0, delta={"type": kind})
                    for kind in ("glow_delta", "citations_delta")
                ),
                TEXT, event("content_block_stop", index=0), stop(),
            ],
            ["unknown_event", "unknown_delta"],
        ),
        (
            [  # the type in the name of the event alone
                data({"message": {"id": "m"}}, "message_start"),
                data({"index": 0, "content_block": {"type": "text", "text": "a"}}, "content_block_start"),
                data({"delta": {"stop_reason": "end_turn"}}, "message_delta"), data({}, "message_stop"),
            ],
            None,
        ),
    ],
)  # fmt: skip
def test_odd_but_whole_answers_are_complete_with_a_note(body: list[bytes], deviations: list[str] | None) -> None:
    answer = messages(*body)
    assert text(answer) == "a"
    assert answer.complete
    assert deviations is None or list(answer.deviations) == deviations


@each_case(
    ("body", "kind"),
    [
        ([b""], FailureKind.NO_BODY),
        ([b"\r\n"], FailureKind.NO_BODY),
        ([start(), text_block("half")], FailureKind.CUT_OFF),
        ([start(), stop()], FailureKind.EMPTY),
        ([start(), stop("refusal")], None),
    ],
)
def test_answer_without_an_end_or_content_fails(body: list[bytes], kind: FailureKind | None) -> None:
    assert failure(messages(*body)) is kind


@each_case(
    ("lost", "code"),
    [
        ([b"data: {broken\n\n"], "not_json"),
        ([b'data: "lost"\n\n'], "not_object"),
        ([event("content_block_delta", index=0, delta="lost")], "delta_missing"),
        ([event("content_block_delta", index=0, delta={"type": "text_delta", "text": ["lost"]})], "block_shape"),
        ([event("content_block_start", index=1, content_block="lost")], "block_shape"),
    ],
)
def test_event_that_cannot_be_read_leaves_a_hole(lost: list[bytes], code: str) -> None:
    answer = messages(start(), OPEN_TEXT, TEXT, *lost, event("content_block_stop", index=0), stop())
    assert (text(answer), list(answer.holes), answer.failure, answer.complete) == ("a", [code], None, False)


@each_case("content", [["lost", 7], {"text": "lost"}])
def test_content_of_another_shape_leaves_a_hole(content: Any) -> None:
    assert list(messages(whole(content)).holes) == ["block_shape"]


TOOL_USE = {"type": "tool_use", "id": "a", "name": "f", "input": {}}


@each_case(
    ("body", "expected"),
    [
        ([start(), used(), stop("tool_use")], [("a", "f", "")]),
        ([start(), used(""), stop("tool_use")], [("a", "f", "")]),
        ([whole([TOOL_USE], "tool_use")], [("a", "f", "{}")]),
        ([start(), block(0, {**TOOL_USE, "input": {"x": 1}}), stop("tool_use")], [("a", "f", '{"x": 1}')]),
        (
            [start(content=[{**TOOL_USE, "input": {"x": 1}}], stop_reason="tool_use"), event("message_stop")],
            [("a", "f", '{"x": 1}')],
        ),
        (
            [start(), block(0, TOOL_USE, {"type": "input_json_delta", "partial_json": {"x": 1}}), stop("tool_use")],
            [("a", "f", '{"x": 1}')],
        ),
        (
            [start(), used("{}"), used('{"y":2}', id="b", name="g"), stop("tool_use")],  # one index
            [("a", "f", "{}"), ("b", "g", '{"y":2}')],
        ),
        ([start(), block(0, {"type": "tool_use", "name": "f", "input": {}}), stop()], [("made_1", "f", "")]),
    ],
)
def test_calls_of_a_stream_are_read(body: list[bytes], expected: list[tuple[str, str, str]]) -> None:
    answer = messages(*body)
    assert calls(answer) == expected
    assert answer.choices[0].calls[0].id_is_ours is expected[0][0].startswith("made_")
    assert not answer.holes


@each_case(
    ("given", "pieces", "expected", "noted"),
    [
        ({}, ["{}"], "{}", None),
        ({}, ["{}", '{"x"', ":1}"], '{"x":1}', "tool_arguments_placeholder"),
        ({}, ["{}", '{"x":1}'], '{"x":1}', "tool_arguments_placeholder"),
        ({}, ["", "{}", "{}"], "{}", "tool_call_repeated"),
        ({"x": 1}, ["{}"], '{"x": 1}', "tool_arguments_placeholder"),
        ({"x": 1}, ['{"x"', ":1}"], '{"x":1}', "tool_call_repeated"),
        ({"x": 2}, ['{"x"', ":1}"], '{"x":1}{"x": 2}', "tool_arguments_twice"),
        ('{"x": 1}', [], '{"x": 1}', None),
    ],
)
def test_input_that_comes_more_than_once(given: object, pieces: list[str], expected: str, noted: str | None) -> None:
    value = {"type": "tool_use", "id": "a", "name": "f", "input": given}
    answer = messages(
        start(),
        block(0, value, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces)),
        stop("tool_use"),
    )
    assert calls(answer) == [("a", "f", expected)]
    assert list(answer.deviations) == ([noted] if noted else [])


def test_unknown_blocks_are_kept_whole_with_their_input() -> None:
    value = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    answer = messages(
        start(),
        block(0, value, {"type": "input_json_delta", "partial_json": '{"query":"x"}'}),
        text_block("a", index=1),
        stop(),
    )
    assert answer.choices[0].freeze() == (Unknown(value={**value, "input": {"query": "x"}}), Text(text="a"))


def test_error_in_a_stream_keeps_the_text() -> None:
    open_text = event("content_block_start", index=0, content_block={"type": "text", "text": "half"})
    error = {"type": "overloaded_error", "message": "Overloaded"}
    answer = messages(start(), open_text, data({"type": "error", "error": error, "request_id": "r"}, event="error"))
    assert text(answer) == "half"
    assert answer.failure is not None
    failed = answer.failure
    assert (failed.kind, failed.message, failed.type) == (FailureKind.STREAM, "Overloaded", "overloaded_error")
    assert failed.request_id == "r"


def test_finished_at_message_stop_and_not_before() -> None:
    decoder = MessagesDecoder()
    decoder.decode_bytes(start() + text_block("a") + stop()[:-60])
    assert not decoder.finished
    whole = MessagesDecoder()
    whole.decode_bytes(start() + text_block("a") + stop())
    assert whole.finished


@pytest.mark.parametrize(
    "body",
    [
        b'{"choices":[]}',
        chunk({"role": "assistant"}) + chunk({"content": "a"}) + chunk({}, "stop") + DONE,
        chunk({"content": "a"}) + chunk({}, "stop", usage={"total_tokens": 1}),
        chunk({"content": "a"}) + chunk({"content": "b"})[:-4],
    ],
)
def test_chat_answer_is_named(body: bytes) -> None:
    answer = messages(body)
    assert answer.failure is not None
    assert answer.failure.kind is FailureKind.OTHER_PROTOCOL
    assert answer.failure.message == (
        "This is an answer of Chat completions, and it was read as one of the Messages protocol."
    )
    assert "other_protocol" in answer.deviations
    assert not answer.complete


def _tool(index: int, id_: str = "a", name: str = "f", given: object = None) -> bytes:
    value = {"type": "tool_use", "id": id_, "name": name, "input": {} if given is None else given}
    return event("content_block_start", index=index, content_block=value)


def _json(index: int, text: str) -> bytes:
    return event("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": text})


def _end(index: int) -> bytes:
    return event("content_block_stop", index=index)


_X = [("a", "f", '{"x":1}')]


@each_case(
    ("events", "expected", "code"),
    [
        ([_tool(0), _end(0), _json(0, '{"x"'), _json(0, ":1}")], _X, "tool_arguments_late"),
        ([_tool(0), _end(0), _json(0, "{}"), _json(0, '{"x":1}')], _X, "tool_arguments_late"),
        ([_tool(0), _json(0, '{"x":1}'), _end(0), _json(0, "{}")], _X, "tool_arguments_empty"),
        ([_tool(1), _end(1), _json(2, '{"x"'), _json(2, ":1}"), _end(2)], _X, "tool_arguments_elsewhere"),
        ([_tool(1), _json(0, '{"x"'), _json(0, ":1}"), _end(1)], _X, "tool_arguments_elsewhere"),
        ([_json(0, '{"x"'), _tool(0), _json(0, ":1}"), _end(0)], _X, "tool_arguments_elsewhere"),
        ([_tool(0, given="{}"), _json(0, '{"x"'), _json(0, ":1}"), _end(0)], _X, None),
        ([_tool(0, given="{}"), _end(0), _json(0, '{"x":1}')], _X, "tool_arguments_late"),
        ([_tool(0, given={"x": 1}), _json(0, '{"x"'), _json(0, ":1}"), _end(0)], _X, "tool_call_repeated"),
        ([_tool(0, given={"x": 1}), _end(0), _json(3, '{"x"'), _json(3, ":1}")], _X, "tool_call_repeated"),
        ([_tool(0), _json(0, '{"x":1}'), _end(0), _json(1, '{"x": 1}')], _X, "tool_call_repeated"),
        (
            [_tool(0), _tool(1, "b", "g"), _end(0), _end(1), _json(2, '{"x":1}'), _json(3, '{"y":1}')],
            [*_X, ("b", "g", '{"y":1}')],
            "tool_arguments_elsewhere",
        ),
        ([_tool(0), _json(0, '{"x":1}'), _end(0), _json(4, '{"y":1}')], _X, "tool_arguments_homeless"),  # fit no call
    ],
)
def test_arguments_apart_from_their_block_belong_to_one_call(
    events: list[bytes], expected: list[tuple[str, str, str]], code: str | None
) -> None:
    answer = messages(start(), *events, stop("tool_use"))
    assert calls(answer) == expected
    assert answer.complete is (code != "tool_arguments_homeless")
    assert code is None or code in answer.deviations or code in answer.holes
