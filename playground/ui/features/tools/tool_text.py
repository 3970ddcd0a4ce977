"""A tool's schema as the text that stands in the editor, and back: what somebody spelled stays as they spelled it.

Pure functions; nothing of Qt.
"""

from __future__ import annotations

from typing import Any

from playground.domain.tools import ToolDefinition
from playground.jsonkit.reading import read_typed
from playground.jsonkit.values import JSON, JSONObject, same
from playground.ui.widgets.json_text import pretty_value

LAID_OUT_AT_MOST = 50_000  # characters that are compared with our own layout, at every key
MOST_VALUES = 2_000  # of a schema that are laid out while the window waits: a hundredth of a second


def schema_text(tool: ToolDefinition) -> str:
    """The text of a tool's parameters: as typed, as spelled, or laid out by us; empty where there are none."""
    if tool.source is not None:
        return tool.source
    if tool.text is not None and same(_value(tool.text), tool.parameters):
        return tool.text
    return own_layout(tool.parameters)


def is_large(tool: ToolDefinition) -> bool:
    """Whether ``schema_text`` may take longer than the window should wait."""
    if tool.source is not None:
        return False
    waiting: list[JSON] = [tool.parameters]
    for seen, value in enumerate(waiting):
        if seen > MOST_VALUES:
            return True
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
    return len(tool.text or "") > LAID_OUT_AT_MOST


def own_layout(parameters: JSONObject | None) -> str:
    """A schema laid out by us."""
    return "" if parameters is None else pretty_value(parameters)


def read_schema(text: str) -> dict[str, Any]:
    """The fields of a definition that a text stands for: ``parameters``, ``text`` and ``source``.

    A text that is no JSON object is kept as ``source``, and the last parameters that could be read stay.
    """
    if not text.strip():
        return {"parameters": None, "source": None, "text": None}
    try:
        value = read_typed(text)
    except ValueError:
        return {"source": text}
    if not isinstance(value, dict):
        return {"source": text}
    ours = len(text) <= LAID_OUT_AT_MOST and text == own_layout(value)
    return {"parameters": value, "source": None, "text": None if ours else text}


def whole_definition(value: JSON) -> ToolDefinition | None:
    """The tool that a pasted definition of either protocol describes; None when it is no definition."""
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    inner = inner if isinstance(inner, dict) else value
    schema = inner.get("parameters", inner.get("input_schema"))
    name = inner.get("name")
    if not isinstance(name, str) or not isinstance(schema, dict):
        return None
    description = inner.get("description")
    strict = inner.get("strict")
    return ToolDefinition(
        name=name,
        description=description if isinstance(description, str) else "",
        parameters=schema,
        strict=strict if isinstance(strict, bool) else None,
    )


def splice(old: str, new: str) -> tuple[int, int, str]:
    """The one stretch of ``old`` to be replaced (start, end) and what by, so that it becomes ``new``."""
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    return start, len(old) - end, new[start : len(new) - end]


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _value(text: str) -> JSON:
    try:
        return read_typed(text)
    except ValueError:
        return None
