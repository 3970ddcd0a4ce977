"""Tool definitions as chat completions spell them (specification, section 2.3)."""

from __future__ import annotations

from playground.domain.tools import ToolDefinition
from playground.jsonkit.values import JSON, JSONObject


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


def tool_from(function: JSONObject, schema_key: str) -> ToolDefinition:
    """Name, description, schema and ``strict`` of an object. Raises ValueError for a value of a wrong type."""
    name, description = function.get("name"), function.get("description")
    schema, strict = function.get(schema_key), function.get("strict")
    if not isinstance(name, str) or not name:
        raise ValueError("“name” is missing or is not text")
    if description is not None and not isinstance(description, str):
        raise ValueError(f"“description” of {name} must be text")
    if schema is not None and not isinstance(schema, dict):
        raise ValueError(f"“{schema_key}” of {name} must be an object (a JSON Schema)")
    if strict is not None and not isinstance(strict, bool):
        raise ValueError(f"“strict” of {name} must be true or false")
    return ToolDefinition(name=name, description=description or "", parameters=schema, strict=strict)


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
