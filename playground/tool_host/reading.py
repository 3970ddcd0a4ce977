"""What a server sent as values of ours: whatever shape it has, cut to size, and with no word lost about what was cut.

Lenient on purpose: one tool of a thousand that breaks the protocol must not take the others with it. Nothing here
raises for what a server sends.
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


def words(value: JSON, most: int = LONGEST_WORDS) -> str:
    """A text, cut; empty for what is none."""
    return whole(value[:most]) if isinstance(value, str) else ""


def name(value: JSON) -> str:
    """A short text, cut."""
    return words(value, LONGEST_NAME)


def members(value: JSON) -> JSONObject:
    """An object; an empty one for what is none."""
    return value if isinstance(value, dict) else {}


def entries(value: JSON) -> list[JSON]:
    """A list; an empty one for what is none."""
    return value if isinstance(value, list) else []


def spelled(value: JSON) -> str | None:
    """A value as JSON; None where it could not be saved: too deep, or with what is no number."""
    wrapped = {"": value}
    try:
        return json.dumps(value) if keepable(wrapped) is wrapped else None
    except (ValueError, RecursionError, TypeError):
        return None


def tool(value: JSON) -> ServerTool | None:
    """A tool of a list; None for what has no name, or is too large to be kept."""
    raw = members(value)
    called = name(raw.get("name"))
    if not called:
        return None
    parameters, output = members(raw.get("inputSchema")), raw.get("outputSchema")
    for schema in (parameters, output):
        text = spelled(schema)
        if text is None or len(text) > LONGEST_DEFINITION:
            return None
    said = members(raw.get("annotations"))
    title = name(raw.get("title"))
    hints = Hints(
        title=name(said.get("title")),
        read_only=_flag(said.get("readOnlyHint")),
        destructive=_flag(said.get("destructiveHint")),
        idempotent=_flag(said.get("idempotentHint")),
        open_world=_flag(said.get("openWorldHint")),
    )
    return ServerTool(
        name=called,
        title=title,
        description=words(raw.get("description")),
        parameters=parameters,
        output=output if isinstance(output, dict) else None,
        hints=hints,
    )


def prompt(value: JSON) -> ServerPrompt | None:
    """A prompt of a list; None for what has no name."""
    raw = members(value)
    called = name(raw.get("name"))
    if not called:
        return None
    arguments = tuple(
        PromptArgument(
            name=name(one.get("name")), description=words(one.get("description")), required=one.get("required") is True
        )
        for one in map(members, entries(raw.get("arguments"))[:_MOST_ARGUMENTS])
        if name(one.get("name"))
    )
    return ServerPrompt(
        name=called, title=name(raw.get("title")), description=words(raw.get("description")), arguments=arguments
    )


def resource(value: JSON, *, template: bool = False) -> ServerResource | None:
    """A resource or a template of a list; None for what has no address."""
    raw = members(value)
    uri = name(raw.get("uriTemplate" if template else "uri"))
    if not uri:
        return None
    return ServerResource(
        uri=uri,
        name=name(raw.get("name")),
        title=name(raw.get("title")),
        description=words(raw.get("description")),
        mime=name(raw.get("mimeType")),
        size=_size(raw.get("size")),
        template=template,
    )


class Room:
    """How many characters of one answer may still be kept, and what was not."""

    def __init__(self) -> None:
        self.left = LONGEST_ANSWER
        self.lost: list[str] = []

    def text(self, value: JSON, what: str) -> tuple[str, int]:
        """As much of a text as there is room for, and how long it was where that is not all of it."""
        text = whole(value) if isinstance(value, str) else ""
        kept = text[: min(LONGEST_TEXT, self.left)]
        self.left -= len(kept)
        if len(kept) == len(text):
            return kept, 0
        self.lost.append(f"{what}: {len(text):,} characters, of which the first {len(kept):,} are kept")
        return kept, len(text)

    def data(self, value: JSON, what: str) -> tuple[str, int]:
        """Base64 if there is room for all of it; else nothing, and how many bytes it had."""
        text = value if isinstance(value, str) else ""
        if len(text) <= self.left:
            self.left -= len(text)
            return text, 0
        size = len(text) * 3 // 4
        self.lost.append(f"{what}: {size:,} bytes, more than is kept of one answer")
        return "", size


def block(value: JSON, room: Room) -> Block:
    """One block of an answer."""
    raw = members(value)
    kind, mime = raw.get("type"), name(raw.get("mimeType"))
    if kind == "text":
        text, cut = room.text(raw.get("text"), "a text")
        return TextBlock(text=text, cut=cut)
    if kind in ("image", "audio"):
        data, cut = room.data(raw.get("data"), f"{'a picture' if kind == 'image' else 'sound'} ({mime or 'no type'})")
        return DataBlock(kind=kind, data=data, mime=mime, cut=cut)
    if kind == "resource" and isinstance(raw.get("resource"), dict):
        return content(raw["resource"], room)
    if kind == "resource_link":
        return LinkBlock(
            uri=name(raw.get("uri")),
            name=name(raw.get("name")),
            title=name(raw.get("title")),
            description=words(raw.get("description")),
            mime=mime,
            size=_size(raw.get("size")),
        )
    text_of = spelled(value)
    if text_of is None or len(text_of) > min(room.left, LONGEST_STRUCTURED):
        room.lost.append("a block of a kind that is not known, too large to be kept")
        return OtherBlock(value=None)
    room.left -= len(text_of)
    return OtherBlock(value=value)


def content(value: JSON, room: Room) -> Block:
    """What a resource holds: text, or bytes."""
    raw = members(value)
    uri, mime = name(raw.get("uri")), name(raw.get("mimeType"))
    if isinstance(raw.get("blob"), str):
        data, cut = room.data(raw["blob"], f"the resource {uri}")
        return DataBlock(kind="blob", data=data, mime=mime, uri=uri, cut=cut)
    text, cut = room.text(raw.get("text"), f"the resource {uri}")
    return ResourceBlock(uri=uri, text=text, mime=mime, cut=cut)


def blocks(values: Iterable[JSON], room: Room) -> tuple[Block, ...]:
    """The blocks of an answer, as many as are kept."""
    found: list[Block] = []
    more = 0
    for value in values:
        if len(found) < MOST_BLOCKS and room.left > 0:
            found.append(block(value, room))
        else:
            more += 1
    if more:
        room.lost.append(f"{more:,} more blocks")
    return tuple(found)


def answer(raw: JSONObject, server: str, called: str, seconds: float) -> ServerAnswer:
    """What a server answered to a call."""
    room = Room()
    structured = raw.get("structuredContent")
    text = spelled(structured)
    if text is None or len(text) > LONGEST_STRUCTURED:
        size = f"{len(text):,} characters" if text is not None else "nested too deeply"
        room.lost.append(f"the structured content: {size}, at most {LONGEST_STRUCTURED:,} characters are kept")
        structured = None
    found = raw.get("content")
    made = blocks(entries(found), room)
    problems = () if isinstance(found, list) else ("The answer has no list of content.",)
    return ServerAnswer(
        server=server,
        tool=called,
        blocks=made,
        structured=structured,
        is_error=raw.get("isError") is True,
        seconds=seconds,
        problems=problems,
        lost=tuple(room.lost),
    )


def message(value: JSON, room: Room) -> Message:
    """One message of a prompt or of a request for sampling; its content is one block or several."""
    raw = members(value)
    inside = raw.get("content")
    return Message(
        role=name(raw.get("role")) or "user", blocks=blocks(inside if isinstance(inside, list) else [inside], room)
    )


def _flag(value: JSON) -> bool | None:
    return value if isinstance(value, bool) else None


def _size(value: JSON) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63 else None
