"""Streams that a hostile, or only a careless, gateway sends: each of any length, all of one kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Make = Callable[[int], bytes]


def event(value: object) -> bytes:
    """One event of a stream."""
    return b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"


def delta(inner: dict[str, Any], index: int = 0, finish: str | None = None, **top_level: Any) -> bytes:
    """One chunk of a chat completion."""
    return event({"id": "x", "choices": [{"index": index, "delta": inner, "finish_reason": finish}], **top_level})


def piece(arguments: str, index: int = 0, id_: str = "", name: str = "", **top_level: Any) -> dict[str, Any]:
    """One entry of ``tool_calls``."""
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return {"index": index, "function": function, **({"id": id_} if id_ else {}), **top_level}


def pieces(*entries: dict[str, Any], **top_level: Any) -> bytes:
    """One chunk with pieces of calls."""
    return delta({"tool_calls": list(entries)}, **top_level)


def named(kind: str, **members: Any) -> bytes:
    """One event of the native messages protocol."""
    return f"event: {kind}\n".encode() + event({"type": kind, **members})


def block(index: int, **content: Any) -> bytes:
    """The start of a content block."""
    return named("content_block_start", index=index, content_block=content)


def grown(inner: dict[str, Any], index: int | None = 0) -> bytes:
    """Deltas of a content block."""
    return named("content_block_delta", **({} if index is None else {"index": index}), delta=inner)


BEGIN = named("message_start", message={"id": "m", "model": "x", "content": [], "usage": {"input_tokens": 1}})


def each(make: Callable[[int], bytes], *, before: bytes = b"") -> Make:
    """Every event made from its number."""
    return lambda count: before + b"".join(make(number) for number in range(count))


def same(unit: bytes, times: int = 1, *, before: bytes = b"") -> Make:
    """Repeat the bytes of one event."""
    return lambda count: before + unit * (count * times)


def call_with(arguments: str, name: str = "tool", id_: str = "c", size: int = 4096) -> bytes:
    """A whole streamed answer that is one call; its arguments come in pieces of so many characters."""
    index = range(0, len(arguments), size)
    rest = b"".join(pieces(piece(arguments[start : start + size])) for start in index)
    return pieces(piece("", 0, id_, name)) + rest + delta({}, finish="tool_calls") + b"data: [DONE]\n\n"


def answer_with(text: str, **top_level: Any) -> bytes:
    """A whole streamed answer of text; its last chunk has what is beside."""
    index = range(0, len(text), 4096)
    rest = b"".join(delta({"content": text[start : start + 4096]}) for start in index)
    return rest + delta({}, finish="stop", **top_level) + b"data: [DONE]\n\n"
