"""Conversion between a tool's schema and the text in the editor; the user's formatting is preserved.

Pure functions without Qt.
"""

from __future__ import annotations

from typing import Any

from playground.domain.tools import ToolDefinition
from playground.jsonkit.reading import read_typed
from playground.jsonkit.values import JSON, JSONObject, same
from playground.ui.widgets.json_text import pretty_value

LAID_OUT_AT_MOST = 50_000  # characters up to which a text is compared with the default layout
MOST_VALUES = 2_000  # values of a schema that are formatted in the main thread


def schema_text(tool: ToolDefinition) -> str:
    """Return the text of a tool's parameters: as typed, or in the default layout; empty without parameters."""
    if tool.source is not None:
        return tool.source
    if tool.text is not None and same(_value(tool.text), tool.parameters):
        return tool.text
    return own_layout(tool.parameters)


def is_large(tool: ToolDefinition) -> bool:
    """Return whether ``schema_text`` may block the main thread too long."""
    if tool.source is not None:
        return False
    values: list[JSON] = [tool.parameters]
    for count, value in enumerate(values):
        if count > MOST_VALUES:
            return True
        if isinstance(value, dict | list):
            values += value.values() if isinstance(value, dict) else value
    return len(tool.text or "") > LAID_OUT_AT_MOST


def own_layout(parameters: JSONObject | None) -> str:
    """Return a schema in the default layout."""
    return "" if parameters is None else pretty_value(parameters)


def read_schema(text: str) -> dict[str, Any]:
    """Return the fields of a definition for a text: ``parameters``, ``text`` and ``source``.

    A text that is not a JSON object becomes ``source``, and the last valid parameters stay.
    """
    if not text.strip():
        return {"parameters": None, "source": None, "text": None}
    try:
        value = read_typed(text)
    except ValueError:
        return {"source": text}
    if not isinstance(value, dict):
        return {"source": text}
    is_default = len(text) <= LAID_OUT_AT_MOST and text == own_layout(value)
    return {"parameters": value, "source": None, "text": None if is_default else text}


def whole_definition(value: JSON) -> ToolDefinition | None:
    """Return the tool that a pasted definition of either protocol describes; None if it is not a definition."""
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
    """Return the range of ``old`` to replace (start, end), and the text that turns it into ``new``."""
    start = _common_prefix_length(old, new)
    end = _common_prefix_length(old[start:][::-1], new[start:][::-1])
    return start, len(old) - end, new[start : len(new) - end]


def _common_prefix_length(first: str, second: str) -> int:
    """Return the length of the common prefix."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _value(text: str) -> JSON:
    try:
        return read_typed(text)
    except ValueError:
        return None
