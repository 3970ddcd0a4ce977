"""The summary of a frame in a few words."""

from __future__ import annotations

import json

from playground.engine.inspect.frame_summary import summarize_frame
from tests.engine.exchanges import exchange, indexed
from tests.support.each_case import each_case


def gists(protocol: str, *frames: bytes, content_type: str = "text/event-stream") -> list[str]:
    reads = [(number / 10, frame) for number, frame in enumerate(frames)]
    index = indexed(exchange(reads, protocol=protocol, content_type=content_type))
    return [summarize_frame(index, index.row(number)) for number in range(len(index))]


def chat(delta: object, finish: str | None = None, index: int = 0, **more: object) -> bytes:
    choices = [{"index": index, "delta": delta, "finish_reason": finish}]
    return b"data: " + json.dumps({"choices": choices, **more}).encode() + b"\n\n"


def messages(kind: str, **more: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


@each_case(
    ("frame", "words"),
    [
        (chat({"content": 'say "hi"\n'}), '"say \\"hi\\"\\n"'),
        (chat({"reasoning_content": " so"}), '" so"'),
        (chat({}, "length"), "length"),
        (chat({"content": "x"}, "stop"), '"x" · stop'),
        (b'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n', "3 in, 4 out"),
        (b": keep-alive\n\n", ": keep-alive"),
        (b"data: [DONE]\n\n", "[DONE]"),
        (b"data: not json\n\n", "not json"),
        (b'data: {"error":{"message":"over\\nloaded"}}\n\n', "over loaded"),
    ],
)
def test_summary_of_frames_of_chat(frame: bytes, words: str) -> None:
    assert gists("chat", chat({"content": "first"}), frame)[1] == words


def test_summary_of_calls_has_their_number_and_raw_arguments() -> None:
    def call(index: int, **more: object) -> bytes:
        return chat({"tool_calls": [{"index": index, **more}]})

    item = gists(
        "chat",
        call(0, id="call_a", type="function", function={"name": "look", "arguments": ""}),
        call(0, function={"arguments": '{"a"'}),
        call(1, id="call_b", type="function", function={"name": "see", "arguments": " "}),
    )
    assert item[:3] == ["call 1 · look · id call_a", 'call 1 · {"a"', 'call 2 · see · id call_b · " "']
    assert gists("chat", chat({"content": "a"}), chat({"content": "b"}, index=1))[1] == 'choice 1 · "b"'


def test_summary_of_frames_of_messages() -> None:
    message = gists(
        "messages",
        messages("message_start", message={"id": "msg_1", "model": "m", "usage": {"input_tokens": 9}}),
        messages("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        messages("content_block_delta", index=0, delta={"type": "text_delta", "text": "Hi"}),
        messages("content_block_start", index=1, content_block={"type": "tool_use", "id": "toolu_1", "name": "look"}),
        messages("content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": '{"a"'}),
        messages("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 5}),
        messages("message_stop"),
    )
    assert message[0] == "9 in"
    assert message[2:5] == ['"Hi"', "look · id toolu_1", '{"a"']
    assert message[5] == "tool_use · 5 out"


def test_summary_of_any_bytes_is_a_line() -> None:
    body = json.dumps({"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]}).encode()
    (line,) = gists("chat", body, content_type="application/json")
    assert line.startswith('{"choices"')
    for frame in (b"data: \xff\xfe\n\n", b"data: " + b"[" * 50_000 + b"\n\n", b"data: " + b"x" * 200_000 + b"\n\n"):
        assert all("\n" not in line and len(line) < 1_000 for line in gists("chat", frame))
