"""Answers as the specification describes them, and the means to spoil them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from playground.engine.inspect.lint import Finding, Review
from playground.gateway.tape import Exchange
from tests.engine.exchanges import exchange, indexed
from tests.protocols.streams import data

JSON = "application/json"
HEAD = {"id": "c-1", "created": 1_700_000_000, "model": "m-1"}
USAGE = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
NATIVE_USAGE = {"input_tokens": 5, "output_tokens": 3}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
USE = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
NATIVE_TOOL = {"name": "f", "input_schema": {"type": "object"}}


def good(delta: Any = None, finish: Any = None, *, index: int = 0, **more: Any) -> bytes:
    choice = {"index": index, "delta": {} if delta is None else delta, "finish_reason": finish}
    return data({**HEAD, "object": "chat.completion.chunk", "choices": [choice], **more})


def first(text: str = "Hi", *, index: int = 0) -> bytes:
    return good({"role": "assistant", "content": text}, index=index)


def calling(call: Any = CALL, *, index: int = 0) -> bytes:
    return good({"role": "assistant", "tool_calls": [{"index": 0, **call}]}, index=index)


def counted(usage: Any = USAGE) -> bytes:
    return data({**HEAD, "object": "chat.completion.chunk", "choices": [], "usage": usage})


def whole(*choices: Any, usage: Any = USAGE, **more: Any) -> bytes:
    body = {**HEAD, "object": "chat.completion", "choices": list(choices), "usage": usage, **more}
    return data({k: v for k, v in body.items() if v is not None}).removeprefix(b"data: ")


def choice(content: Any = "Hi", finish: Any = "stop", *, index: int = 0, **more: Any) -> Any:
    return {"index": index, "message": {"role": "assistant", "content": content, **more}, "finish_reason": finish}


def event(kind: str, **fields: Any) -> bytes:
    return data({"type": kind, **fields}, kind)


def begun(**more: Any) -> bytes:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": []}
    return event("message_start", message={**message, "usage": {"input_tokens": 5, "output_tokens": 1}, **more})


def block(value: Any, *deltas: Any, index: int = 0) -> bytes:
    parts = [event("content_block_delta", index=index, delta=delta) for delta in deltas]
    start = event("content_block_start", index=index, content_block=value)
    return b"".join((start, *parts, event("content_block_stop", index=index)))


def text_block(text: str = "Hi") -> bytes:
    return block({"type": "text", "text": ""}, {"type": "text_delta", "text": text})


def ended(reason: str = "end_turn", usage: Any = NATIVE_USAGE) -> bytes:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return event("message_delta", delta=delta, usage=usage) + event("message_stop")


def native(*content: Any, reason: str = "end_turn", usage: Any = NATIVE_USAGE, **more: Any) -> bytes:
    body: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1"}
    body |= {"content": list(content)}
    body |= {"stop_reason": reason, "stop_sequence": None, "usage": usage, **more}
    return data({k: v for k, v in body.items() if v is not None}).removeprefix(b"data: ")


def asked(protocol: str = "chat", **fields: Any) -> dict[str, Any]:
    """A request that a stream answers, unless ``fields`` say otherwise."""
    base: dict[str, Any] = {"model": "m-1", "stream": True, "messages": [{"role": "user", "content": "Hello"}]}
    if protocol == "messages":
        base["max_tokens"] = 100
    return {name: value for name, value in {**base, **fields}.items() if value is not None}


def answer(body: bytes, request: Any, protocol: str = "chat", **more: Any) -> Exchange:
    """An exchange of one read, streamed unless the body is JSON."""
    reads = [(0.1, body)] if body else []
    named = {"content_type": JSON if body.startswith(b"{") else "text/event-stream"}
    return exchange(reads, protocol=protocol, asked=request, **{**named, **more})


def reviewed(tape: Exchange) -> Review:
    review = Review(indexed(tape))
    review.read_findings()
    return review


def codes(expected: Iterable[Finding]) -> list[str]:
    return [item.code for item in expected]
