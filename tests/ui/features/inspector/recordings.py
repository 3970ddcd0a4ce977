"""Exchanges with known frames, made by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable

from playground.gateway.tape import Exchange, Read

Timed = tuple[float, bytes]


def chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
    """One frame of a streamed chat completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def exchange(reads: Iterable[Timed], *, name: str = "x", ended: float | None = None, body: bytes = b"{}") -> Exchange:
    """A stream of these reads; it ends with the last of them unless ``ended`` is negative."""
    tape_reads = [Read(position, data) for position, data in reads]
    last = tape_reads[-1].at if tape_reads else 0.0
    return Exchange(
        name,
        "POST",
        "http://127.0.0.1:1/v1/chat/completions",
        (),
        body,
        1_700_000_000.0,
        status=200,
        response_headers=(("content-type", "text/event-stream"),),
        reads=tape_reads,
        sent=0.01,
        answered=0.2,
        ended=None if ended is not None and ended < 0 else (last if ended is None else ended),
        complete=True,
        protocol="chat",
    )


def weather() -> Exchange:
    """Reasoning, content with Markdown and a stall, one call in pieces, the end."""
    reads: list[Timed] = [(0.25, chunk({"role": "assistant", "content": ""}))]
    index = 0.25
    for word in ("The ", "user ", "asks ", "for ", "the ", "weather."):
        index += 0.05
        reads.append((index, chunk({"reasoning_content": word})))
    for word in ("I'll ", "look ", "**Lis", "bon** ", "up ", "now."):
        index += 1.0 if word == "up " else 0.05
        reads.append((index, chunk({"content": word})))
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
    reads.append((index + 0.05, chunk({"tool_calls": [call]})))
    for piece in ('{"city"', ': "Lis', 'bon"}'):
        index += 0.05
        reads.append((index + 0.05, chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})))
    reads.append((index + 0.1, chunk({}, "tool_calls")))
    reads.append((index + 0.1, b"data: [DONE]\n\n"))
    return exchange(reads)
