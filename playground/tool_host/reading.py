"""Reads what a server sends as our values: of any shape, cut to size, with a note about everything that is cut.

Lenient on purpose: one tool in a thousand that breaks the protocol must not hide the others. Nothing here raises an
error because of a server's data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from playground.domain.tool_servers import (
    LONGEST_ANSWER,
    LONGEST_TEXT,
    LONGEST_WORDS,
    Block,
    DataBlock,
    Hints,
    LinkBlock,
    Message,
    OtherBlock,
    PromptArgument,
    ResourceBlock,
    ServerAnswer,
    ServerPrompt,
    ServerResource,
    ServerTool,
    TextBlock,
)
from playground.jsonkit.foreign import keepable, whole
from playground.jsonkit.values import JSON, JSONObject
from playground.tool_host.limits import LONGEST_DEFINITION, LONGEST_NAME, LONGEST_STRUCTURED, MOST_BLOCKS

_MOST_ARGUMENTS: Final = 200  # of one prompt


def text(value: JSON, max_chars: int = LONGEST_WORDS) -> str:
    """Return a text, cut; empty for any other value."""
    return whole(value[:max_chars]) if isinstance(value, str) else ""


def name(value: JSON) -> str:
    """Return a short text, cut; empty for any other value."""
    return text(value, LONGEST_NAME)


def members(value: JSON) -> JSONObject:
    """Return an object; an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def entries(value: JSON) -> list[JSON]:
    """Return a list; an empty one for any other value."""
    return value if isinstance(value, list) else []


def encoded(value: JSON) -> str | None:
    """Return a value as JSON; None if it cannot be saved: nested too deeply, or with NaN or infinity."""
    wrapped = {"": value}
    try:
        return json.dumps(value) if keepable(wrapped) is wrapped else None
    except (ValueError, RecursionError, TypeError):
        return None


def tool(value: JSON) -> ServerTool | None:
    """Return a tool of a list; None if it has no name or is too large."""
    raw = members(value)
    tool_name = name(raw.get("name"))
    if not tool_name:
        return None
    parameters, output = members(raw.get("inputSchema")), raw.get("outputSchema")
    for schema in (parameters, output):
        definition = encoded(schema)
        if definition is None or len(definition) > LONGEST_DEFINITION:
            return None
    annotations = members(raw.get("annotations"))
    hints = Hints(
        title=name(annotations.get("title")),
        read_only=_flag(annotations.get("readOnlyHint")),
        destructive=_flag(annotations.get("destructiveHint")),
        idempotent=_flag(annotations.get("idempotentHint")),
        open_world=_flag(annotations.get("openWorldHint")),
    )
    return ServerTool(
        name=tool_name,
        title=name(raw.get("title")),
        description=text(raw.get("description")),
        parameters=parameters,
        output=output if isinstance(output, dict) else None,
        hints=hints,
    )


def prompt(value: JSON) -> ServerPrompt | None:
    """Return a prompt of a list; None if it has no name."""
    raw = members(value)
    prompt_name = name(raw.get("name"))
    if not prompt_name:
        return None
    arguments = tuple(
        PromptArgument(
            name=name(item.get("name")),
            description=text(item.get("description")),
            required=item.get("required") is True,
        )
        for item in map(members, entries(raw.get("arguments"))[:_MOST_ARGUMENTS])
        if name(item.get("name"))
    )
    return ServerPrompt(
        name=prompt_name, title=name(raw.get("title")), description=text(raw.get("description")), arguments=arguments
    )


def resource(value: JSON) -> ServerResource | None:
    """Return a resource of a list; None if it has no address."""
    return _resource(members(value), "uri")


def template(value: JSON) -> ServerResource | None:
    """Return a resource template of a list; None if it has no address."""
    return _resource(members(value), "uriTemplate")


def _resource(raw: JSONObject, address: str) -> ServerResource | None:
    uri = name(raw.get(address))
    if not uri:
        return None
    return ServerResource(
        uri=uri,
        name=name(raw.get("name")),
        title=name(raw.get("title")),
        description=text(raw.get("description")),
        mime=name(raw.get("mimeType")),
        size=_size(raw.get("size")),
        template=address == "uriTemplate",
    )


class Budget:
    """The number of characters of one answer that may still be stored, and notes about what was cut."""

    def __init__(self) -> None:
        self.left = LONGEST_ANSWER
        self.lost: list[str] = []

    def text(self, value: JSON, label: str) -> tuple[str, int]:
        """Return the beginning of a text that fits, and the length of a text that was cut, else 0."""
        full = whole(value) if isinstance(value, str) else ""
        part = full[: min(LONGEST_TEXT, self.left)]
        self.left -= len(part)
        if len(part) == len(full):
            return part, 0
        self.lost.append(f"{label}: {len(full):,} characters, of which the first {len(part):,} are kept")
        return part, len(full)

    def data(self, value: JSON, label: str) -> tuple[str, int]:
        """Return base64 that fits as a whole and 0, or nothing and the number of bytes it has."""
        encoded_data = value if isinstance(value, str) else ""
        if len(encoded_data) <= self.left:
            self.left -= len(encoded_data)
            return encoded_data, 0
        size = len(encoded_data) * 3 // 4
        self.lost.append(f"{label}: {size:,} bytes, more than is stored of one answer")
        return "", size


def block(value: JSON, budget: Budget) -> Block:
    """Return one block of an answer."""
    raw = members(value)
    kind, mime = raw.get("type"), name(raw.get("mimeType"))
    if kind == "text":
        part, cut = budget.text(raw.get("text"), "a text")
        return TextBlock(text=part, cut=cut)
    if kind in ("image", "audio"):
        data, cut = budget.data(raw.get("data"), f"{'a picture' if kind == 'image' else 'sound'} ({mime or 'no type'})")
        return DataBlock(kind=kind, data=data, mime=mime, cut=cut)
    if kind == "resource" and isinstance(raw.get("resource"), dict):
        return content(raw["resource"], budget)
    if kind == "resource_link":
        return LinkBlock(
            uri=name(raw.get("uri")),
            name=name(raw.get("name")),
            title=name(raw.get("title")),
            description=text(raw.get("description")),
            mime=mime,
            size=_size(raw.get("size")),
        )
    unknown = encoded(value)
    if unknown is None or len(unknown) > min(budget.left, LONGEST_STRUCTURED):
        budget.lost.append("a block of an unknown kind, too large to store")
        return OtherBlock(value=None)
    budget.left -= len(unknown)
    return OtherBlock(value=value)


def content(value: JSON, budget: Budget) -> Block:
    """Return the contents of a resource: text or bytes."""
    raw = members(value)
    uri, mime = name(raw.get("uri")), name(raw.get("mimeType"))
    if isinstance(raw.get("blob"), str):
        data, cut = budget.data(raw["blob"], f"the resource {uri}")
        return DataBlock(kind="blob", data=data, mime=mime, uri=uri, cut=cut)
    part, cut = budget.text(raw.get("text"), f"the resource {uri}")
    return ResourceBlock(uri=uri, text=part, mime=mime, cut=cut)


def blocks(values: Iterable[JSON], budget: Budget) -> tuple[Block, ...]:
    """Return the blocks of an answer that fit."""
    result: list[Block] = []
    left_out = 0
    for value in values:
        if len(result) < MOST_BLOCKS and budget.left > 0:
            result.append(block(value, budget))
        else:
            left_out += 1
    if left_out:
        budget.lost.append(f"{left_out:,} more blocks")
    return tuple(result)


def answer(raw: JSONObject, server: str, tool: str, seconds: float) -> ServerAnswer:
    """Return the answer of a server to a tool call that took ``seconds``."""
    budget = Budget()
    structured = raw.get("structuredContent")
    encoded_content = encoded(structured)
    if encoded_content is None or len(encoded_content) > LONGEST_STRUCTURED:
        size = f"{len(encoded_content):,} characters" if encoded_content is not None else "nested too deeply"
        budget.lost.append(f"the structured content: {size}, at most {LONGEST_STRUCTURED:,} characters are kept")
        structured = None
    values = raw.get("content")
    return ServerAnswer(
        server=server,
        tool=tool,
        blocks=blocks(entries(values), budget),
        structured=structured,
        is_error=raw.get("isError") is True,
        seconds=seconds,
        problems=() if isinstance(values, list) else ("The answer has no list of content.",),
        lost=tuple(budget.lost),
    )


def message(value: JSON, budget: Budget) -> Message:
    """Return a message of a prompt or of a request for sampling; its content is one block or a list of them."""
    raw = members(value)
    values = raw.get("content")
    return Message(
        role=name(raw.get("role")) or "user", blocks=blocks(values if isinstance(values, list) else [values], budget)
    )


def _flag(value: JSON) -> bool | None:
    return value if isinstance(value, bool) else None


def _size(value: JSON) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63 else None
