from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.protocols.summary import summarise
from tests.protocols.streams import DONE, chunk, data, fragment

USAGE = {"prompt_tokens": 1, "x": None}


def test_a_whole_answer() -> None:
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
    found = summarise("chat", body)
    assert list(found) == ["choices", "usage", "complete", "error", "deviations"]
    assert found["choices"] == [
        {
            "index": 0,
            "content": "b",
            "reasoning": "a",
            "tool_calls": [{"id": "call_1", "name": "f", "arguments": '{"x": 1}'}],
            "finish_reason": "tool_calls",
        },
        {"index": 1, "content": "other", "reasoning": "", "tool_calls": [], "finish_reason": "length"},
    ]
    assert (found["usage"], found["complete"], found["error"]) == (USAGE, True, None)
    assert [d["code"] for d in found["deviations"]] == ["inline_think", "tool_id_missing"]
    assert all(d["note"] for d in found["deviations"])


def test_cut_off_is_incomplete_and_no_error() -> None:
    found = summarise("chat", chunk({"content": "half"}))
    assert (found["complete"], found["error"]) == (False, None)
    assert found["choices"][0]["content"] == "half"
    assert [d["code"] for d in found["deviations"]] == ["cut_off"]


def test_empty_is_complete_and_no_error() -> None:
    found = summarise("chat", chunk({}, "stop") + DONE)
    assert (found["complete"], found["error"]) == (True, None)
    assert [d["code"] for d in found["deviations"]] == ["empty"]


@pytest.mark.parametrize("code", [429, "429", None, "x"])
def test_an_error_with_its_code_as_received(code: object) -> None:
    found = summarise(
        "chat", chunk({"content": "a"}, "stop") + data({"error": {"message": "m", "type": "t", "code": code}})
    )
    assert found["complete"] is False
    assert found["error"]["message"] == "m"
    assert found["error"]["type"] == "t"
    assert found["error"]["code"] == code
    assert found["error"]["status"] == (429 if code in (429, "429") else None)


def test_messages() -> None:
    body = {
        "type": "message",
        "content": [{"type": "text", "text": "a"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1},
    }
    found = summarise("messages", json.dumps(body).encode())
    assert found["choices"][0]["content"] == "a"
    assert (found["usage"], found["complete"]) == ({"input_tokens": 1}, True)


def test_an_unknown_protocol_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown protocol"):
        summarise("telnet", b"")


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["chat", "messages"]),
    st.binary(max_size=200) | st.text(alphabet='{}[]":,\\ud8\n data:<>e', max_size=80).map(str.encode),
)
def test_any_bytes_give_a_summary(protocol: str, body: bytes) -> None:
    json.dumps(summarise(protocol, body), ensure_ascii=False).encode()
    json.dumps(summarise(protocol, b"data: " + body + b"\n\n"), ensure_ascii=False).encode()
