"""The ``annotations`` of an MCP tool: what it says of itself."""

from __future__ import annotations

from typing import Final

from playground.domain.tool_servers import Hints
from playground.jsonkit.values import JSON

_MEMBERS: Final = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}


def read_hints(annotations: JSON, title: JSON = None) -> tuple[Hints | None, list[str]]:
    """The hints in ``annotations`` with the title of the tool, None for none; and the members that are no hints."""
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
