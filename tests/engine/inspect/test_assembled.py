"""Streams written as the body of a response that is not streamed."""

from __future__ import annotations

import json

from playground.engine.inspect.frame_summary import AssembledAnswer
from tests.engine.exchanges import exchange
from tests.protocols.responses.events import begin, end, items_of, message, stream

MESSAGES = (
    {"type": "message_start", "message": {"id": "m1", "model": "m", "role": "assistant", "usage": {"input_tokens": 3}}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
    },
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a": '}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "1}"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
)


def test_messages_stream_becomes_a_message() -> None:
    frames = [f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode() for value in MESSAGES]
    answer = AssembledAnswer(exchange([(0.1, frame) for frame in frames], protocol="messages"))
    answer.read()
    body = json.loads(answer.text())
    assert body["content"] == [{"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}]
    assert (body["id"], body["stop_reason"]) == ("m1", "tool_use")
    assert "created" not in body


def test_stream_without_content_is_empty() -> None:
    answer = AssembledAnswer(exchange([(0.1, b": keep-alive\n\n")]))
    answer.read()
    assert answer.text() == ""


def test_response_has_the_time_of_its_first_event() -> None:
    events = stream(begin(), message("Hello."), end(items_of(message("Hello."))))
    answer = AssembledAnswer(exchange([(0.1, events)], protocol="responses"))
    answer.read()
    body = json.loads(answer.text())
    assert (body["created_at"], body["output"][0]["content"][0]["text"]) == (1, "Hello.")
