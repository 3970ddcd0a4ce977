"""Compatibility with answers of earlier versions: their digests stay valid and their files get the missing table."""

from __future__ import annotations

from typing import Any, Final

from pydantic.fields import FieldInfo

from playground.domain.encoding import not_empty
from playground.domain.tools import ToolDefinition
from playground.jsonkit.values import JSON

#: Fields added after the first version, with the value that leaves a digest as it was.
_LATER_FIELDS: Final[dict[str, object]] = {
    "before": False,
    "after": False,
    "images": (),
    "free_text": False,
    "anywhere": False,
}
#: Created in every file of answers: files of the first version lack it.
RECORDED_CALLS_TABLE: Final = """CREATE TABLE IF NOT EXISTS recorded (
    evaluation TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    answer BLOB NOT NULL,
    PRIMARY KEY (evaluation, server, tool, arguments)) WITHOUT ROWID"""


def is_in_digest(name: str, info: FieldInfo, item: Any) -> bool:
    """Return whether a field is part of a digest: it holds a value, and not the default of a later version."""
    return not_empty(name, info, item) and not (name in _LATER_FIELDS and item == _LATER_FIELDS[name])


def tool_offer(tool: ToolDefinition) -> list[JSON]:
    """Return the fields of a tool that are sent; without ``custom``, which came later, where it is not set."""
    return list(tool.offer if tool.custom is not None else tool.offer[:-1])
