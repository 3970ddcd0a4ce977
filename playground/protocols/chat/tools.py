"""Tool definitions as chat completions spell them (specification, section 2.3)."""

from __future__ import annotations

from playground.domain.tools import ToolDefinition
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.reading import tool_from


def read_tool(value: JSON) -> ToolDefinition:
    """A definition in the shape of section 2.3, or its inner ``function`` object alone.

    Raises ValueError saying what is wrong.
    """
    if not isinstance(value, dict):
        raise ValueError("a tool definition is a JSON object")
    if value.get("type", "function") != "function":
        raise ValueError(f"“type” must be “function”, not {value['type']!r}")
    function = value.get("function", value)
    if not isinstance(function, dict):
        raise ValueError("“function” must be an object")
    return tool_from(function, "parameters")


def write_tool(tool: ToolDefinition) -> JSONObject:
    """The definition for the body; what is not set is not in it."""
    function: JSONObject = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    if tool.parameters is not None:
        function["parameters"] = tool.parameters
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}
