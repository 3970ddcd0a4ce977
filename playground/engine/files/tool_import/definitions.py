"""Tool definitions in JSON as they are found: any protocol's shape, MCP's, lists, whole request bodies."""

from __future__ import annotations

from typing import Final

from playground.domain.tools import ToolDefinition
from playground.engine.files.tool_import.found import ToolCollector
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT
from playground.protocols.protocol import get_protocol, protocol_of_tool, runs_at_vendor
from playground.protocols.reading import at_vendor

_LISTS: Final = "tools", "functions", "function_declarations", "functionDeclarations"
_KNOWN: Final = frozenset(("type", "function", "name", "description", "parameters", "input_schema", "strict"))
_MOST: Final = 2000


def read(value: JSON, found: ToolCollector) -> str:
    """Put the tools of a JSON value into ``found``; the words why there are none, or nothing."""
    entries = _entries(value)
    if entries is None:
        return "there are no tool definitions in this JSON"
    if len(entries) > _MOST:
        found.note(f"only the first {_MOST:,} of {len(entries):,} definitions are read")
    for number, entry in enumerate(entries[:_MOST]):
        try:
            found.tools.append(_tool(entry, found))
        except ValueError as error:
            found.note(f"definition {number + 1} is left out: {error}")
    if not found.tools and found.notes:
        return found.notes.pop(0) if len(found.notes) == 1 else "none of the definitions can be read"
    return ""


def _entries(value: JSON) -> list[JSON] | None:
    """The definitions inside of lists, request bodies and replies; None when there is no place for any."""
    if isinstance(value, list):
        out: list[JSON] = []
        for entry in value:
            inner = _entries(entry) if isinstance(entry, dict) and _list_of(entry) is not None else None
            out += [entry] if inner is None else inner
        return out
    if not isinstance(value, dict):
        return None
    listed = _list_of(value)
    if listed is not None:
        return _entries(listed)
    for wrapper in ("result", "body", "params", "request"):
        if isinstance(value.get(wrapper), dict) and _list_of(value[wrapper]) is not None:
            return _entries(value[wrapper])
    is_tool = any(word in value for word in ("function", "name", "input_schema", "inputSchema"))
    return [value] if is_tool or _is_schema(value) else None


def _list_of(value: JSONObject) -> list[JSON] | None:
    if "name" in value and ("parameters" in value or "input_schema" in value):
        return None  # a tool of its own
    return next((value[word] for word in _LISTS if isinstance(value.get(word), list)), None)


def _tool(entry: JSON, found: ToolCollector) -> ToolDefinition:
    """One definition. Raises ValueError saying what is wrong with it."""
    if isinstance(entry, dict) and _is_schema(entry) and "name" not in entry:
        title = entry.get("title")
        name = title if isinstance(title, str) and title else "tool"
        found.note(f"a schema without a definition around it is taken as the parameters of “{name}”")
        description = entry.get("description")
        return ToolDefinition(
            name=name, description=description if isinstance(description, str) else "", parameters=entry
        )
    if isinstance(entry, dict) and "inputSchema" in entry:  # as MCP servers list them
        entry = {
            "name": entry.get("name"),
            "description": entry.get("description"),
            "input_schema": entry["inputSchema"],
        }
    if runs_at_vendor(entry):
        raise at_vendor(entry["type"])
    tool = get_protocol(protocol_of_tool(entry) if isinstance(entry, dict) else DEFAULT).read_tool(entry)
    inner = entry.get("function", entry)
    left = [key for key in {**entry, **inner} if key not in _KNOWN]
    if left:
        found.note(f"“{tool.name[:80]}”: left out {', '.join(f'“{key}”' for key in left[:5])}")
    return tool


def _is_schema(value: JSONObject) -> bool:
    return value.get("type") == "object" and isinstance(value.get("properties"), dict)
