"""What an import found: tools, what a person should know about them, or why there are none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from playground.domain.tools import NAME_RULE, ToolDefinition

Kind: TypeAlias = Literal["definitions", "python", "openapi", "nothing"]

#: The kinds in words for people.
KIND_WORDS: Final[dict[Kind, str]] = {
    "definitions": "tool definitions",
    "python": "Python",
    "openapi": "an OpenAPI document",
    "nothing": "nothing",
}
LONGEST_NAME: Final = 64
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Imported:
    """The tools in the order of the text. ``notes``: what was changed or left out. ``problem``: why nothing came."""

    kind: Kind
    tools: tuple[ToolDefinition, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""


@dataclass(slots=True)
class ToolCollector:
    """Tools and notes while a text is being read; the same note is kept once."""

    tools: list[ToolDefinition] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Say something about the import."""
        if text not in self.notes:
            self.notes.append(text)

    def named(self, taken: Iterable[str]) -> tuple[ToolDefinition, ...]:
        """The tools under names that are legal, and that neither they nor ``taken`` have twice."""
        names = set(taken)
        out: list[ToolDefinition] = []
        for tool in self.tools:
            name = unique_name(legal_name(tool.name), names)
            if name != tool.name:
                self.note(f"“{tool.name[:80]}” is called “{name}” here")
            names.add(name)
            out.append(tool if name == tool.name else tool.model_copy(update={"name": name}))
        return tuple(out)


def legal_name(text: str) -> str:
    """``text`` in letters, digits, _ and -, at most 64 of them; ``tool`` where nothing is left."""
    if NAME_RULE.match(text):
        return text
    return _ILLEGAL.sub("_", text).strip("_")[:LONGEST_NAME] or "tool"


def unique_name(name: str, taken: set[str]) -> str:
    """``name``, or with the first number that is free."""
    number, found = 1, name
    while found in taken:
        number += 1
        end = f"_{number}"
        found = name[: LONGEST_NAME - len(end)] + end
    return found
