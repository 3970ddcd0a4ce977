"""Builders of the events of a streamed response, by hand in the shapes that vendors send."""

from __future__ import annotations

import itertools
from typing import Any

from tests.protocols.streams import data

USAGE = {
    "input_tokens": 12,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 3},
    "total_tokens": 19,
}


def response(status: str = "completed", output: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    """A response object."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m-1",
        "status": status,
        "error": None,
        "incomplete_details": None,
        "tools": [],
        "tool_choice": "auto",
        "output": output or [],
        "usage": USAGE if status == "completed" else None,
        **more,
    }


def event(kind: str, **members: Any) -> dict[str, Any]:
    """An event of a kind; ``response.`` is put before it unless it is an error."""
    return {"type": kind if kind == "error" else f"response.{kind}", **members}


def begin() -> dict[str, Any]:
    """The first event."""
    return event("created", response=response("in_progress"))


def end(output: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    """The last event."""
    return event("completed", response=response("completed", output, **more))


def message(
    text: str = "Hello.", index: int = 0, id: str = "msg_1", pieces: int = 2, **more: Any
) -> list[dict[str, Any]]:
    """The events of a message with one text; ``more`` are members of its content part."""
    item = {"type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": []}
    part = {"type": "output_text", "text": text, "annotations": [], **more}
    place = {"item_id": id, "output_index": index}
    size = -(-len(text) // pieces)
    return [
        event("output_item.added", output_index=index, item=item),
        event("content_part.added", **place, content_index=0, part={**part, "text": ""}),
        *(
            event("output_text.delta", **place, content_index=0, delta=text[start : start + size])
            for start in range(0, len(text), size)
        ),
        event("output_text.done", **place, content_index=0, text=text),
        event("content_part.done", **place, content_index=0, part=part),
        event("output_item.done", output_index=index, item={**item, "status": "completed", "content": [part]}),
    ]


def call(index: int = 0, call_id: str = "call_1", name: str = "f", arguments: str = '{"x":1}') -> list[dict[str, Any]]:
    """The events of a call of a function."""
    item = {"type": "function_call", "id": f"fc_{index}", "call_id": call_id, "name": name, "arguments": ""}
    place = {"item_id": item["id"], "output_index": index}
    half = len(arguments) // 2
    return [
        event("output_item.added", output_index=index, item={**item, "status": "in_progress"}),
        event("function_call_arguments.delta", **place, delta=arguments[:half]),
        event("function_call_arguments.delta", **place, delta=arguments[half:]),
        event("function_call_arguments.done", **place, arguments=arguments),
        event("output_item.done", output_index=index, item={**item, "status": "completed", "arguments": arguments}),
    ]


def reasoning(*summary: str, index: int = 0, encrypted: str = "gAAA", text: str = "") -> list[dict[str, Any]]:
    """The events of reasoning with a summary of paragraphs, or with a raw text."""
    item: dict[str, Any] = {"type": "reasoning", "id": f"rs_{index}", "summary": []}
    place = {"item_id": item["id"], "output_index": index}
    out = [event("output_item.added", output_index=index, item={**item, "encrypted_content": "half"})]
    for number, paragraph in enumerate(summary):
        part_place = {**place, "summary_index": number}
        part = {"type": "summary_text", "text": paragraph}
        out += [
            event("reasoning_summary_part.added", **part_place, part={**part, "text": ""}),
            event("reasoning_summary_text.delta", **part_place, delta=paragraph),
            event("reasoning_summary_text.done", **part_place, text=paragraph),
            event("reasoning_summary_part.done", **part_place, part=part),
        ]
        item["summary"] = [*item["summary"], part]
    if text:
        out.append(event("reasoning_text.delta", **place, content_index=0, delta=text))
        item["content"] = [{"type": "reasoning_text", "text": text}]
    if encrypted:
        item["encrypted_content"] = encrypted
    return [*out, event("output_item.done", output_index=index, item=item)]


def items_of(events: list[dict[str, Any]]) -> list[Any]:
    """The items that the events say are done, in the order of their indexes."""
    done = [value for value in events if value["type"] == "response.output_item.done"]
    return [value["item"] for value in sorted(done, key=lambda value: value.get("output_index", 0))]


def stream(*parts: dict[str, Any] | list[dict[str, Any]], named: bool = True, numbered: bool = True) -> bytes:
    """The bytes of events, numbered from 0 and with ``event:`` lines."""
    numbers = itertools.count()
    events = [value for part in parts for value in (part if isinstance(part, list) else [part])]
    out = b""
    for value in events:
        number = {"sequence_number": next(numbers)} if numbered else {}
        out += data({**value, **number}, value["type"] if named else "")
    return out
