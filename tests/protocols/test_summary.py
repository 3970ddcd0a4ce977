from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.protocols.summary import summarise
from tests.protocols.responses.events import response
from tests.protocols.streams import DONE, chunk, data, fragment
from tests.support.each_case import each_case

USAGE = {"prompt_tokens": 1, "x": None}


def test_whole_answer() -> None:
    body = b"".join(
        [
            chunk({"content": "<think>a</think>b"}),
            chunk({"tool_calls": [fragment('{"x"', index=0, name="f")]}),
            chunk({"tool_calls": [fragment(": 1}", index=0)]}),
            chunk({"content": "other"}, "length", index=1),
            chunk({}, "tool_calls", usage=USAGE),
            DONE,
        ]
    )
    result = summarise("chat", body)
    assert list(result) == ["choices", "usage", "complete", "error", "deviations"]
    assert result["choices"] == [
        {
            "index": 0,
            "content": "b",
            "reasoning": "a",
            "tool_calls": [{"id": "call_1", "name": "f", "arguments": '{"x": 1}'}],
            "finish_reason": "tool_calls",
        },
        {"index": 1, "content": "other", "reasoning": "", "tool_calls": [], "finish_reason": "length"},
    ]
    assert (result["usage"], result["complete"], result["error"]) == (USAGE, True, None)
    assert [d["code"] for d in result["deviations"]] == ["inline_think", "tool_id_missing"]
    assert all(d["note"] for d in result["deviations"])


def test_refusal_and_items_that_the_gateway_ran_are_listed() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    refusal = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot help."}]}
    (choice,) = summarise("responses", json.dumps(response("completed", [search, refusal])).encode())["choices"]
    assert (choice["content"], choice["refusal"], choice["unknown"]) == ("", "I cannot help.", [search])
    (choice,) = summarise("chat", chunk({"refusal": "No."}, "stop") + DONE)["choices"]
    assert choice["refusal"] == "No."
    assert "unknown" not in choice


@each_case(
    ("body", "complete", "code"),
    [
        (chunk({"content": "a"}), False, "cut_off"),
        (chunk({"content": ""}, "stop") + DONE, True, "empty"),
        (chunk({"content": "a"}) + b"data: {broken\n\n" + chunk({}, "stop") + DONE, False, "not_json"),
    ],
)
def test_verdict_of_the_decoder_is_a_deviation_and_no_error(body: bytes, complete: bool, code: str) -> None:
    summary = summarise("chat", body)
    assert (summary["complete"], summary["error"]) == (complete, None)
    assert [deviation["code"] for deviation in summary["deviations"]] == [code]


@pytest.mark.parametrize("code", [429, "429", None, "x"])
def test_error_with_its_code_as_received(code: object) -> None:
    result = summarise(
        "chat", chunk({"content": "a"}, "stop") + data({"error": {"message": "m", "type": "t", "code": code}})
    )
    assert result["complete"] is False
    assert result["error"]["message"] == "m"
    assert result["error"]["type"] == "t"
    assert result["error"]["code"] == code
    assert result["error"]["status"] == (429 if code in (429, "429") else None)


@each_case("protocol", ["chat", "messages"])
@each_case("body", [b"", b"\n", b": alive\n\n", b"{", b"data: {", b"data: [DONE]\n\n"])
def test_body_that_is_no_answer_says_why_in_an_error_or_a_deviation(protocol: str, body: bytes) -> None:
    result = summarise(protocol, body)
    assert result["complete"] is (body == b"data: [DONE]\n\n")
    assert result["error"] or result["deviations"]


@each_case("odd", ["NaN", "-Infinity", "1e999", "-1e400"])
@each_case(
    "place",
    [
        '{"choices":[],"usage":{"cost":ODD}}',
        '{"choices":[],"usage":ODD}',
        '{"error":{"message":"m","code":ODD}}',
        '{"error":{"message":ODD,"code":{"a":[ODD]}}}',
        '{"choices":[{"index":ODD,"delta":{"content":[{"type":"chart","at":ODD}]},"finish_reason":ODD}]}',
        '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":ODD,"function":{"name":"f","arguments":{"x":ODD}}}]}}]}',
        '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":{"x":ODD}}}',
        '{"type":"content_block_start","index":0,"content_block":{"type":"chart","at":ODD}}',
        '{"type":"message_delta","delta":{"stop_reason":ODD},"usage":{"output_tokens":ODD}}',
        "ODD",
    ],
)
def test_summary_is_json_for_any_number(place: str, odd: str) -> None:
    text = place.replace("ODD", odd)
    for protocol in ("chat", "messages"):
        for body in (text.encode(), f"data: {text}\n\n".encode()):
            json.dumps(summarise(protocol, body), allow_nan=False)


def test_messages_answer_is_summarised() -> None:
    body = {
        "type": "message",
        "content": [{"type": "text", "text": "a"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1},
    }
    result = summarise("messages", json.dumps(body).encode())
    assert result["choices"][0]["content"] == "a"
    assert (result["usage"], result["complete"]) == ({"input_tokens": 1}, True)


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(["chat", "messages"]),
    st.binary(max_size=200) | st.text(alphabet='{}[]":,\\ud8\n data:<>e', max_size=80).map(str.encode),
)
def test_any_bytes_give_a_summary(protocol: str, body: bytes) -> None:
    json.dumps(summarise(protocol, body), ensure_ascii=False, allow_nan=False).encode()
    json.dumps(summarise(protocol, b"data: " + body + b"\n\n"), ensure_ascii=False, allow_nan=False).encode()
