"""The result of an import of tools: tools with legal names, notes for people, or the problem."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from playground.domain.tool_servers import Hints
from playground.domain.tools import NAME_RULE, ToolDefinition
from playground.jsonkit.values import JSON, JSONObject

_MEMBERS: Final = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}


def read_hints(annotations: JSON, title: JSON = None) -> tuple[Hints | None, list[str]]:
    """Return the hints in the ``annotations`` of an MCP tool with its title, or None; and the unknown members."""
    members = annotations if isinstance(annotations, dict) else {}
    snake = {"_".join((name, "hint")): name for name in _MEMBERS.values()}
    titles = [text for text in (members.get("title"), title) if isinstance(text, str) and text]
    fields = {
        name: value
        for member, value in members.items()
        if (name := _MEMBERS.get(member) or snake.get(member)) and isinstance(value, bool)
    }
    rest = [
        member for member in members if member != "title" and (_MEMBERS.get(member) or snake.get(member)) not in fields
    ]
    return (Hints(title=titles[0] if titles else "", **fields) if titles or fields else None), rest


Kind: TypeAlias = Literal["definitions", "python", "openapi", "nothing"]

#: The kinds in words for people.
KIND_WORDS: Final[dict[Kind, str]] = {
    "definitions": "tool definitions",
    "python": "Python",
    "openapi": "an OpenAPI document",
    "nothing": "nothing",
}
MAX_NAME: Final = 64  # characters
MAX_LISTED: Final = 12  # names in one note
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Imported:
    """Tools in the order of the text. ``notes``: changes and omissions. ``problem``: why there are no tools."""

    kind: Kind
    tools: tuple[ToolDefinition, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""


@dataclass(slots=True)
class ToolCollector:
    """Collects tools and notes while a text is read; equal notes are kept once."""

    tools: list[ToolDefinition] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Add a note for people."""
        if text not in self.notes:
            self.notes.append(text)

    def named(self, used_names: Iterable[str]) -> tuple[ToolDefinition, ...]:
        """Return the tools under legal names, without duplicates among them and ``used_names``."""
        names = set(used_names)
        tools: list[ToolDefinition] = []
        for tool in self.tools:
            name = unique_name(legal_name(tool.name), names)
            if name != tool.name:
                self.note(f"“{tool.name[:80]}” is called “{name}” here")
            names.add(name)
            tools.append(tool if name == tool.name else tool.model_copy(update={"name": name}))
        return tuple(tools)


def legal_name(text: str) -> str:
    """Return ``text`` in letters, digits, _ and -, at most 64; ``tool`` if nothing remains."""
    if NAME_RULE.match(text):
        return text
    return _ILLEGAL.sub("_", text).strip("_")[:MAX_NAME] or "tool"


def unique_name(name: str, used_names: set[str]) -> str:
    """Return ``name``, with a number if it is used."""
    number, candidate = 1, name
    while candidate in used_names:
        number += 1
        end = f"_{number}"
        candidate = name[: MAX_NAME - len(end)] + end
    return candidate


def list_names(names: Sequence[str]) -> str:
    """Return the first ``MAX_LISTED`` names, and the number of the others, for a note."""
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(names[:MAX_LISTED]) + more


def object_schema(properties: JSONObject, required: Sequence[str]) -> JSONObject:
    """Return the JSON Schema of an object."""
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}
