"""Chunks, bodies, ends and errors of chat completions; framing, tool calls and reasoning have their own files."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from playground.domain.errors import FailureKind
from playground.domain.events import Failed, StreamEnd, TextDelta
from playground.domain.parts import Refusal, Text, Unknown
from playground.domain.usage import Usage
from playground.protocols.chat.decode import ChatDecoder, read_usage
from playground.protocols.messages.decode import read_usage as read_messages_usage
from tests.protocols.streams import (
    DONE,
    chat,
    chat_events,
    chunk,
    codes,
    data,
    failure,
    fold,
    fragment,
    outcome,
    text,
)
from tests.support.each_case import each_case

USAGE = {
    "prompt_tokens": 10,
    "completion_tokens": 20,
    "total_tokens": 30,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def test_stream_as_specified_gives_text_finish_usage_and_end_without_deviation() -> None:
    answer = chat(
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "Hel"}),
        chunk({"content": "lo"}),
        chunk({}, "stop"),
        data({"id": "c-1", "model": "m-1", "choices": [], "usage": USAGE}),
        DONE,
    )
    assert (answer.id, answer.model, text(answer)) == ("c-1", "m-1", "Hello")
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage == Usage(prompt=10, completion=20, total=30, cached=4, reasoning=5, raw=USAGE)
    assert answer.complete
    assert answer.ended
    assert answer.deviations == {}


def test_whole_body_gives_the_same_events_as_the_stream() -> None:
    message = {"role": "assistant", "reasoning_content": "hm", "content": "Hello"}
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    body = {
        "id": "c-1",
        "object": "chat.completion",
        "model": "m-1",
        "choices": [{"index": 0, "message": {**message, "tool_calls": [call]}, "finish_reason": "tool_calls"}],
        "usage": USAGE,
    }
    stream = b"".join(
        [
            chunk({"reasoning_content": "h"}),
            chunk({"reasoning_content": "m"}),
            chunk({"content": "Hello"}),
            chunk({"tool_calls": [fragment("", index=0, id="a", name="f")]}),
            chunk({"tool_calls": [fragment('{"x":1}', index=0)]}),
            chunk({}, "tool_calls", usage=USAGE),
            DONE,
        ]
    )
    assert outcome(chat_events(json.dumps(body, indent=2).encode())) == outcome(chat_events(stream))


WHOLE = chunk({"content": "a"}, "stop")
MESSAGE = data({"choices": [{"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}]})


@each_case(
    ("body", "content", "reason", "deviations"),
    [
        # the end marker
        *(([WHOLE, b"data:" + marker + b"\n\n"], "a", "stop", []) for marker in (b"[DONE]", b"  [DONE] ", b'"[DONE]"')),
        ([WHOLE, b"[DONE]\n\n"], "a", "stop", []),
        ([WHOLE, DONE, DONE], "a", "stop", ["end_twice"]),
        ([WHOLE], "a", "stop", ["no_end_marker"]),
        ([WHOLE, DONE, chunk({"content": "b"})], "a", "stop", ["data_after_end"]),
        ([WHOLE, DONE, b"data: {broken\n\n", b"data: 7\n\n"], "a", "stop", ["data_after_end"]),
        # the finish reason
        ([chunk({"content": ""}, "length"), DONE], "", "length", []),
        ([chunk({"content": ""}, "content_filter"), DONE], "", "content_filter", []),
        ([chunk({"content": "a"}), DONE], "a", None, ["no_finish_reason"]),
        ([chunk({"content": "a"}, "eos"), DONE], "a", "eos", ["finish_reason_unknown"]),
        ([chunk({"content": "a"}, ""), chunk({}, "stop"), DONE], "a", "stop", ["finish_reason_blank"]),
        *(
            ([chunk({"content": "a"}, null), chunk({"content": "b"}, null), chunk({}, "stop"), DONE], "ab", "stop",
             ["finish_reason_blank"])
            for null in ("null", "None", " ", "undefined")
        ),
        ([chunk({"content": "a"}, "tool_calls"), chunk({}, "stop"), DONE], "a", "stop", ["finish_twice"]),
        ([WHOLE, chunk({"content": "b"}), DONE], "ab", "stop", ["content_after_finish"]),
        # reasoning
        ([chunk({"reasoning_content": "hm"}), chunk({}, "stop"), DONE], "", "stop", ["reasoning_only"]),
        ([*[chunk({"reasoning": "a"})] * 3, WHOLE, DONE], "a", "stop", ["reasoning_name"]),  # noted once
        (
            [*(chunk({"content": piece}) for piece in ("<think>x</think>", "\n\n", "a", "b")), chunk({}, "stop"), DONE],
            "\n\nab", "stop", ["inline_think"],
        ),
        # whole messages and lists in a stream
        ([chunk({"content": "Hel"}), chunk({"content": "lo"}), MESSAGE, DONE], "Hello", "stop", ["message_repeated"]),
        ([MESSAGE, DONE], "Hello", "stop", ["message_in_stream"]),
        (
            [b'[{"choices":[{"delta":{"content":"a"}}]},{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}]'],
            "ab", "stop", ["list_of_objects", "choice_index_missing"],
        ),
        # noise
        *(
            ([chunk({"content": "a"}), noise, chunk({"content": "b"}, "stop"), DONE], "ab", "stop", notes)
            for noise, notes in (
                (b"noise\n\n", ["stray_text", "not_json"]),
                (b"data: null\n\n", ["not_object"]),
                (b'data: ""\n\n', ["not_object"]),
                (b"data: []\n\n", ["not_object"]),
                (b'data: {"a":1}\n\n', ["unknown_object"]),
            )
        ),
    ],
)  # fmt: skip
def test_odd_but_whole_answers_are_complete_with_a_note(
    body: list[bytes], content: str, reason: str | None, deviations: list[str]
) -> None:
    answer = chat(*body)
    assert (text(answer), answer.choices[0].finish_reason, list(answer.deviations)) == (content, reason, deviations)
    assert codes(chat_events(b"".join(body))) == deviations
    assert answer.complete


@each_case(
    ("body", "content", "kind", "words"),
    [
        ([b""], None, FailureKind.NO_BODY, ""),
        ([b"\n\n \r\n"], None, FailureKind.NO_BODY, ""),
        ([b": keep-alive\n\n" * 3], None, FailureKind.CUT_OFF, ""),
        (
            [chunk({"content": "half"})], "half", FailureKind.CUT_OFF,
            "The stream stopped after 1 event: neither a finish reason nor [DONE] came.",
        ),
        ([chunk({"content": "half"}), chunk({"content": "lost"})[:-20]], "half", FailureKind.CUT_OFF, ""),
        ([chunk({"content": "a"}, "")], "a", FailureKind.CUT_OFF, ""),
        ([WHOLE, chunk({"content": "b"}, index=1)], "a", FailureKind.CUT_OFF, ""),
        (
            [chunk({"role": "assistant", "content": ""}), chunk({}, "stop"), DONE], "", FailureKind.EMPTY,
            "The answer ended with “stop”, with neither text nor a call.",
        ),
        ([chunk({"content": "a"}), data({"message": "going down"})], "a", FailureKind.CUT_OFF, "going down"),
        ([b'{"hello": 1}'], None, FailureKind.DECODE, ""),
        ([b"upstream connect error"], None, FailureKind.DECODE, "upstream connect error"),
        ([b"data: {broken\n\n", chunk({}, "stop"), DONE], "", FailureKind.DECODE, ""),
        ([b"data: upstream gave up\n\n", DONE], None, FailureKind.DECODE, "upstream gave up"),
        ([b"<html><head><title>502 Bad</title></head><h1>nope</h1></html>"], None, FailureKind.DECODE, "502 Bad"),
        ([WHOLE, DONE, data({"error": {"message": "late"}})], "a", FailureKind.STREAM, "late"),
        ([WHOLE, b"event: error\ndata: out of memory\n\n"], "a", FailureKind.STREAM, "out of memory"),
        ([data({"error": {"message": word}}) for word in ("one", "two")], None, FailureKind.STREAM, "one"),
        ([b'{"code":20012,"message":"no such model","data":null}'], None, FailureKind.STREAM, "no such model"),
        (
            [b'{"choices":null,"base_resp":{"status_code":1004,"status_msg":"login fail"}}'], None, FailureKind.STREAM,
            "login fail",
        ),
    ],
)  # fmt: skip
def test_answer_that_is_not_whole_fails_and_keeps_the_text(
    body: list[bytes], content: str | None, kind: FailureKind, words: str
) -> None:
    answer = chat(*body)
    assert (text(answer) if answer.choices else None) == content
    assert answer.failure is not None
    assert answer.failure.kind is kind
    assert words in answer.failure.message
    assert not answer.complete


def test_decoder_is_finished_at_the_end_marker() -> None:
    decoder = ChatDecoder()
    decoder.decode_bytes(WHOLE)
    assert not decoder.finished
    assert decoder.decode_bytes(b"data: [DONE]\n") == [StreamEnd()]
    assert decoder.finished


@each_case(
    "body",
    [
        [chunk({"content": "a"}, "stop", usage=USAGE)],
        [data({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop", "usage": USAGE}]})],
        [chunk({"content": "a"}, "stop", x_groq={"usage": USAGE})],
        [WHOLE, data({"usage": USAGE})],
        [chunk({"content": "a"}, usage={"total_tokens": 1}), chunk({}, "stop", usage=USAGE)],  # it is never added
    ],
)
def test_usage_is_read_at_each_of_its_places(body: list[bytes]) -> None:
    answer = chat(*body, DONE)
    assert answer.usage is not None
    assert answer.usage.raw == USAGE


def test_counts_that_are_no_numbers_are_left_out() -> None:
    usage = read_usage({"prompt_tokens": "x", "completion_tokens": 3.0, "total_tokens": True})
    assert (usage.prompt, usage.completion, usage.total) == (None, 3, None)


@each_case("reported", [0.00125, 1, 0, None, "0.1", True, -1, float("nan"), float("inf"), 10**400, {"total": 1}])
@each_case("read", [read_usage, read_messages_usage])
def test_reported_cost_is_an_amount_of_money(read: Callable[[dict[str, Any]], Usage], reported: Any) -> None:
    expected = reported if reported in (0.00125, 1, 0) and reported is not True else None
    assert read({"cost": reported}).cost == expected


def test_choices_interleave_by_index() -> None:
    answer = chat(
        chunk({"content": "a"}),
        chunk({"content": "x"}, index=1),
        chunk({"content": "b"}),
        chunk({"content": "y"}, index=1),
        chunk({}, "stop", index=1),
        chunk({}, "length"),
        DONE,
    )
    assert [(text(answer, i), answer.choices[i].finish_reason) for i in (0, 1)] == [("ab", "length"), ("xy", "stop")]


@each_case(
    "odd",
    [
        {"choices": []},
        {"choices": None},
        {"object": "chat.completion.chunk"},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": 0}]},
        {"choices": [{"delta": {"role": "", "content": None}}]},
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {"content": "", "tool_calls": None, "refusal": ""}}]},
        {"choices": [], "error": None, "usage": None, "obfuscation": "xx", "x_groq": {"id": "r"}, "citations": []},
        {"choices": [None, "", []]},
    ],
)
def test_empty_chunks_change_nothing(odd: Any) -> None:
    answer = chat(chunk({"content": "a"}), data(odd), chunk({"content": "b"}, "stop"), DONE)
    assert text(answer) == "ab"
    assert answer.complete


@each_case("first", [{"content": ""}, {"reasoning_content": "hm"}, {"content": "<thi"}])
@each_case("reason", ["stop", "eos", "tool_calls", "length"])
def test_reason_before_any_content_does_not_end_the_answer(first: dict[str, str], reason: str) -> None:
    rest = "nk>x</think>a" if first.get("content") else "a"
    answer = chat(chunk(first, reason), chunk({"content": rest}), chunk({"content": "b"}), chunk({}, "stop"), DONE)
    assert (text(answer), answer.choices[0].finish_reason) == ("ab", "stop")
    assert "finish_reason_early" in answer.deviations
    assert not {"finish_twice", "content_after_finish"} & answer.deviations.keys()
    cut = chat(chunk(first, reason), chunk({"content": rest}))
    assert failure(cut) is FailureKind.CUT_OFF


PROGRESS = [
    {"status": "processing", "message": "Queue position 3"},
    {"message": "warming up"},
    {"status": 200, "message": "ok"},
    {"code": 0, "msg": "success"},
    {"type": "progress", "title": "Loading", "description": "12 %"},
]


@each_case("progress", PROGRESS)
def test_progress_message_does_not_fail_a_stream(progress: dict[str, Any]) -> None:
    event = data(progress)
    answer = chat(event, chunk({"content": "a"}), event, chunk({"content": "b"}, "stop"), event, DONE, event)
    assert text(answer) == "ab"
    assert answer.complete
    assert "remark" in answer.deviations
    assert failure(chat(event)) is FailureKind.STREAM, "no answer follows"


@each_case(
    "error",
    [
        {"status": "error", "message": "boom"},
        {"status": 500, "message": "boom"},
        {"code": "1210", "message": "boom"},
        {"code": 20012, "message": "boom", "data": None},
        {"type": "server_error", "message": "boom"},
        {"status": "FAILED", "message": "boom"},
        {"detail": "boom"},
        {"success": False, "message": "boom"},
    ],
)
def test_error_message_fails_a_stream_at_once(error: dict[str, Any]) -> None:
    decoder = ChatDecoder()
    events = decoder.decode_bytes(chunk({"content": "a"}) + data(error))
    (failed,) = [event for event in events if isinstance(event, Failed)]
    assert failed.failure.message == "boom"


def test_content_parts_images_and_refusals_are_parts() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    answer = chat(
        chunk({"content": [{"type": "text", "text": "a"}, {"type": "chart", "id": 1}]}),
        chunk({"content": {"type": "text", "text": "b"}, "images": [image]}),
        chunk({"refusal": "I can"}),
        chunk({"refusal": "not"}, "stop"),
        DONE,
    )
    assert answer.choices[0].freeze() == (
        Text(text="a"),
        Unknown(value={"type": "chart", "id": 1}),
        Text(text="b"),
        Unknown(value=image),
        Refusal(text="I cannot"),
    )


# -- what the body is ---------------------------------------------------------------------------------------------


def test_body_decides_where_the_content_type_is_wrong() -> None:
    complete = json.dumps({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}).encode()
    assert text(fold(chat_events(complete, content_type="text/event-stream"))) == "a"
    assert "json_body" in codes(chat_events(complete, content_type="text/event-stream; charset=utf-8"))
    stream = chunk({"content": "a"}, "stop") + DONE
    answer = fold(chat_events(stream, content_type="application/json"))
    assert text(answer) == "a"
    assert list(answer.deviations) == ["content_type"]


def test_blank_lines_and_a_byte_order_mark_may_come_before_a_json_body() -> None:
    complete = b'\xef\xbb\xbf\n\n \n{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}\n'
    for size in (1, 2, 1000):
        answer = fold(chat_events(complete, [size] * len(complete)))
        assert text(answer) == "a"
        assert answer.complete


def test_lines_of_json_without_framing_are_a_stream() -> None:
    lines: list[Any] = [{"choices": [{"delta": {"content": c}}]} for c in "ab"]
    lines.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    decoder = ChatDecoder("application/x-ndjson")
    events = [e for line in lines for e in decoder.decode_bytes(json.dumps(line).encode() + b"\n")]
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["a", "b"]
    answer = fold(events + decoder.close())
    assert answer.complete
    assert "stray_text" in answer.deviations


def test_answer_of_the_native_protocol_is_named() -> None:
    message = {"type": "message", "content": [{"type": "text", "text": "a"}], "usage": {"output_tokens": 1}}
    complete = chat(json.dumps(message).encode())
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    stream = b"".join(data(event, event=str(event["type"])) for event in events)
    decoder = ChatDecoder()
    decoder.decode_bytes(stream)
    assert decoder.finished, "an open socket is not waited for"
    for answer in (complete, chat(stream), chat(stream[: len(stream) // 2])):
        assert answer.failure is not None
        assert answer.failure.kind is FailureKind.OTHER_PROTOCOL
        assert answer.failure.message == (
            "This is an answer of the Messages protocol, and it was read as one of Chat completions."
        )
        assert answer.deviations.keys() <= {"other_protocol", "broken_event"}
        assert not answer.complete
    mixed = chat(chunk({"content": "a"}), stream)
    assert (failure(mixed), text(mixed), list(mixed.holes)) == (None, "a", ["other_protocol"])


@each_case(
    ("body", "kind"),
    [
        (b'{"choices":[{"message":{"content":"a', FailureKind.CUT_OFF),
        (b'{"choices":[{"message":{"content":"a"}', FailureKind.CUT_OFF),  # a bracket at its end is no sign
        (b'{"choices":[{"message":{"content":"\\ud83d', FailureKind.CUT_OFF),
        (b'\xef\xbb\xbf{"choices":[{"message":{"content":nul', FailureKind.CUT_OFF),
        (b'{"choices":[', FailureKind.CUT_OFF),
        (b"{", FailureKind.CUT_OFF),
        (b'{"choices": [{]}, "object": "chat.completion"', FailureKind.DECODE),  # nor is there being none
        (b'{"choices":[{"message":{"content":"a"}}],} trailing', FailureKind.DECODE),
        (b"{malformed json: <<<SHORT", FailureKind.DECODE),
        (b"{'choices': []", FailureKind.DECODE),
        (b'{"choices":[]}}', FailureKind.DECODE),
        (b"[" * 500, FailureKind.DECODE),
    ],
)
def test_json_body_is_cut_off_or_malformed_by_where_it_stops_being_json(body: bytes, kind: FailureKind) -> None:
    answer = chat(body)
    assert answer.failure is not None
    assert answer.failure.kind is kind
    assert list(answer.deviations) == (["cut_off"] if kind is FailureKind.CUT_OFF else [])
    assert ("breaks off" in answer.failure.message) is (kind is FailureKind.CUT_OFF)


@each_case(
    ("odd", "expected", "code"),
    [
        ("NaN", "NaN", "number_not_json"),
        ("-Infinity", "-Infinity", "number_not_json"),
        ("1e999", "Infinity", "number_too_large"),
        ("-1.5E+400", "-Infinity", "number_too_large"),
        ("9" * 400 + ".0", "Infinity", "number_too_large"),
    ],
)
def test_number_that_json_cannot_hold_is_kept_as_text_with_a_note(odd: str, expected: str, code: str) -> None:
    usage = data({"choices": [], "usage": {"total_tokens": 3, "cost": "ODD"}}).replace(b'"ODD"', odd.encode())
    answer = chat(chunk({"content": "a"}, "stop"), usage, DONE)
    assert answer.usage is not None
    assert (answer.usage.total, answer.usage.raw) == (3, {"total_tokens": 3, "cost": expected})
    assert list(answer.deviations) == [code]
    assert odd[:40] in answer.deviations[code]
    assert answer.complete
    body = b'{"choices": [{"index": 0, "message": {"content": "a", "k": ODD}, "finish_reason": "stop"}]}'
    for complete in (body, b"[" + body + b"]"):
        assert code in chat(complete.replace(b"ODD", odd.encode())).deviations
    assert not chat(chunk({"content": odd}, "stop"), DONE).deviations, "in a text it is a word"


@each_case("usual", ["1e300", '"1e999"', "9" * 400, '"say \\"1e999\\""'])
def test_large_number_that_can_be_kept_is_not_noted(usual: str) -> None:
    usage = data({"choices": [], "usage": {"k": "ODD"}}).replace(b'"ODD"', usual.encode())
    assert not chat(chunk({"content": "a"}, "stop"), usage, DONE).deviations


def test_event_above_the_cap_is_a_clear_failure_and_keeps_the_text() -> None:
    decoder = ChatDecoder(cap=400)
    events = decoder.decode_bytes(chunk({"content": "a"})) + decoder.decode_bytes(b"data: " + b"x" * 500)
    assert decoder.finished
    answer = fold(events + decoder.decode_bytes(b"more") + decoder.close())
    assert text(answer) == "a"
    assert failure(answer) is FailureKind.TOO_LARGE
    body = ChatDecoder(cap=100)
    assert (
        failure(fold(body.decode_bytes(b"{" + b" " * 200) + body.decode_bytes(b"x" * 200) + body.close()))
        is FailureKind.TOO_LARGE
    )


# -- errors -------------------------------------------------------------------------------------------------------


@each_case(
    "error",
    [
        data({"error": {"message": "boom", "type": "server_error", "code": "x"}}),
        chunk({"content": ""}, "error", error={"message": "boom", "type": "server_error", "code": "x"}),
        data({"message": "boom", "type": "server_error", "code": "x"}),
        data({"error": {"message": "boom", "type": "server_error", "code": "x"}}, event="error"),
        data({"message": "boom", "type": "server_error", "code": "x"}, event="error"),
        b'{"error":{"message":"boom","type":"server_error","code":"x"}}\n',
        b'{\n "error": {\n  "message": "boom", "type": "server_error", "code": "x"\n }\n}\n',
        data(
            {"choices": [{"index": 0, "delta": {}, "error": {"message": "boom", "type": "server_error", "code": "x"}}]}
        ),
    ],
)
def test_error_inside_a_stream_keeps_the_text(error: bytes) -> None:
    for reason in (None, "stop"):
        answer = chat(chunk({"content": "half"}, reason), error)
        assert text(answer) == "half"
        assert answer.failure is not None
        result = answer.failure
        assert (result.kind, result.message, result.type, result.code) == (
            FailureKind.STREAM,
            "boom",
            "server_error",
            "x",
        )
        assert not answer.complete


@each_case(
    ("chunk_lost", "code"),
    [
        (b"data: hello\n\n", "not_json"),
        (b"data: {\n\n", "not_json"),
        (b"data: {malformed json: <<<\n\n", "not_json"),
        (chunk({"content": "lost"})[:-8] + b"\n\n", "not_json"),
        (chunk({"content": "lost"})[2:], "not_json"),  # “ta: {…”: its beginning is lost
        (chunk({"content": "lost"}).replace(b"lost", b"lo\nst"), "not_json"),
        (b"data: 7\n\n", "not_object"),
        (b'data: ["lost", {"choices": []}]\n\n', "not_object"),
        (data({"choices": ["lost"]}), "choice_shape"),
        (data({"choices": {"delta": {"content": "lost"}}}), "choices_missing"),
        (data({"choices": "lost"}), "choices_missing"),
        (data({"choices": [{"index": 0, "delta": "lost"}]}), "delta_missing"),
        (chunk({"content": 7}), "content_shape"),
        (chunk({"content": [7]}), "content_shape"),
        (chunk({"refusal": ["lost"]}), "refusal_shape"),
    ],
)
def test_unreadable_event_leaves_a_hole(chunk_lost: bytes, code: str) -> None:
    answer = chat(chunk({"content": "a"}), chunk_lost, chunk({"content": "b"}, "stop"), DONE)
    assert text(answer) == "ab"
    assert list(answer.holes) == [code]
    assert answer.ending_seen
    assert answer.failure is None
    assert not answer.complete


def test_whole_message_at_the_end_brings_what_did_not_come_before() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    message = {"reasoning_content": "hm", "content": "Hello", "tool_calls": [call]}
    last = data({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    thought = chat(chunk({"reasoning_content": "hm"}), last, DONE)
    assert (text(thought, kind="reasoning"), text(thought)) == ("hm", "Hello")
    content = chat(chunk({"content": "Hello"}), last, DONE)
    assert (text(content, kind="reasoning"), text(content)) == ("hm", "Hello")
    for answer in (thought, content):
        assert [call.text for call in answer.choices[0].calls.values()] == ['{"x":1}']
    assert answer.deviations


# -- hostile values -----------------------------------------------------------------------------------------------


def test_halves_of_a_surrogate_pair_in_two_chunks_are_one_character() -> None:
    answer = chat(
        b'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"\\ude00b"}}]}\n\n',
        chunk({"reasoning_content": "x"}),
        b'data: {"choices":[{"delta":{"content":"\\ud83d"},"finish_reason":"stop"}]}\n\n',
        DONE,
    )
    assert text(answer) == "a\U0001f600b\ufffd"
    answer.choices[0].freeze()


def test_lone_halves_anywhere_can_be_kept() -> None:
    odd = "\\ud800"
    answer = chat(
        f'data: {{"id":"{odd}","model":"{odd}","choices":[{{"delta":{{'
        f'"reasoning":"{odd}x","content":[{{"type":"{odd}"}}],'
        f'"refusal":"{odd}","tool_calls":[{{"id":"{odd}","function":{{"name":"{odd}","arguments":"{odd}y"}}}}]}},'
        f'"finish_reason":"{odd}"}}],"usage":{{"{odd}":1}},"error":{{"message":"{odd}","code":"{odd}"}}}}\n\n'.encode()
    )
    for part in answer.choices[0].freeze():
        part.model_dump_json()
    assert answer.usage is not None
    answer.usage.model_dump_json()
    assert answer.failure is not None
    answer.failure.model_dump_json()
    (answer.id + answer.model + (answer.choices[0].finish_reason or "")).encode()
    json.dumps(list(answer.deviations.items()), ensure_ascii=False).encode()


def test_deep_nesting_and_long_numbers_do_not_break_the_stream() -> None:
    deep = b'data: {"choices":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n\n"
    long = b'data: {"created":' + b"9" * 5000 + b',"choices":[{"delta":{"content":"b"}}]}\n\n'
    nested = data({"choices": [{"index": 0, "delta": {"content": [{"type": "deep", "x": _nested(300)}]}}]})
    answer = chat(chunk({"content": "a"}), deep, long, nested, chunk({"content": "c"}, "stop"), DONE)
    assert text(answer) == "abc"
    for part in answer.choices[0].freeze():
        part.model_dump_json()


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value
