"""Definitions in JSON as vendors, libraries and MCP servers write them: each member is kept or named."""

from __future__ import annotations

import json
from typing import Any

from playground.domain.tools import check_schema
from playground.engine.files.tool_import import import_tools
from playground.engine.files.tool_import.collector import Imported
from tests.support.each_case import each_case

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"q": {"type": "string"}}}


def imported(value: Any) -> Imported:
    result = import_tools(value if isinstance(value, str) else json.dumps(value))
    assert result.problem == ""
    for tool in result.tools:
        if tool.parameters is not None:
            assert [it for it in check_schema(tool.parameters) if it.severity == "error"] == []
    return result


@each_case(
    "value",
    [
        {"tools": [{"functionDeclarations": [{"name": "t", "parametersJsonSchema": SCHEMA}]}]},
        {"tools": [{"function_declarations": [{"name": "t", "parameters_json_schema": SCHEMA}]}]},
        {"toolConfig": {"tools": [{"toolSpec": {"name": "t", "inputSchema": {"json": SCHEMA}}}]}},
        {"t": {"description": "d", "inputSchema": SCHEMA}},
        [json.dumps({"type": "function", "name": "t", "inputSchema": SCHEMA})],
        {"type": "function", "name": "t", "parameters": json.dumps(SCHEMA)},
        {"name": "t", "type": "object", "properties": SCHEMA["properties"]},
        [{"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "t", "parameters": SCHEMA}]}],
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "t", "inputSchema": SCHEMA}]}},
        "event: message\ndata: " + json.dumps({"result": {"tools": [{"name": "t", "inputSchema": SCHEMA}]}}) + "\n\n",
        '[\n  // JSON with comments\n  {"name": "t", "parameters": ' + json.dumps(SCHEMA) + ",},\n]",
        "tools:\n  - name: t\n    input_schema: {type: object, properties: {q: {type: string}}}\n",
    ],
)
def test_definition_is_read_in_every_form(value: Any) -> None:
    (tool,) = imported(value).tools
    assert (tool.name, tool.parameters) == ("t", SCHEMA)


def test_schema_of_gemini_becomes_json_schema() -> None:
    parameters = {
        "type": "OBJECT",
        "properties": {
            "city": {"type": "STRING", "nullable": True, "minLength": "2", "example": "Paris"},
            "unit": {"type": "STRING", "enum": ["STRING", "c"]},
            "days": {"type": "ARRAY", "items": {"type": "INTEGER"}, "max_items": "7"},
            "type": {"type": "TYPE_UNSPECIFIED", "description": "Any"},
        },
        "required": ["city"],
        "propertyOrdering": ["unit", "city"],
    }
    declaration = {"name": "w", "parameters": parameters, "response": {"type": "STRING"}, "behavior": "BLOCKING"}
    result = imported({"tools": [{"functionDeclarations": [declaration]}, {"googleSearch": {}}]})
    (tool,) = result.tools
    properties = (tool.parameters or {})["properties"]
    assert list(properties) == ["unit", "city", "days", "type"]
    assert properties["city"] == {"type": ["string", "null"], "minLength": 2, "examples": ["Paris"]}
    assert properties["unit"]["enum"] == ["STRING", "c"]
    assert properties["days"] == {"type": "array", "items": {"type": "integer"}, "maxItems": 7}
    assert properties["type"] == {"description": "Any"}
    assert tool.output == {"type": "string"}
    notes = "\n".join(result.notes)
    assert "“behavior”" in notes
    assert "googleSearch" in notes


def test_tool_of_an_mcp_server_keeps_its_title_hints_and_output() -> None:
    listed = {
        "name": "browse",
        "title": "Browse",
        "inputSchema": SCHEMA,
        "outputSchema": SCHEMA,
        "annotations": {"readOnlyHint": True, "openWorldHint": False, "odd": 1},
        "_meta": {"a": 1},
        "icons": [{"src": "x"}],
        "execution": {"taskSupport": "optional"},
    }
    result = imported({"result": {"tools": [listed], "nextCursor": "abc"}})
    (tool,) = result.tools
    assert tool.output == SCHEMA
    assert tool.hints is not None
    assert (tool.hints.title, tool.hints.read_only, tool.hints.open_world) == ("Browse", True, False)
    assert "“browse”: left out “_meta”, “icons”, “execution”, “annotations.odd”" in result.notes
    assert any("nextCursor" in note for note in result.notes)


@each_case(
    "tool",
    [
        {"type": "custom", "name": "patch", "description": "d",
         "format": {"type": "grammar", "syntax": "lark"}},
        {"type": "custom", "custom": {"name": "patch", "description": "d",
                                      "format": {"type": "grammar", "grammar": {"syntax": "lark"}}}},
    ],
)  # fmt: skip
@each_case("in_list", [True, False])
def test_custom_tool_keeps_its_grammar(tool: Any, in_list: bool) -> None:
    result = imported([tool] if in_list else tool)
    assert (result.tools[0].name, result.tools[0].description) == ("patch", "d")
    assert result.tools[0].custom == {"format": {"type": "grammar", "grammar": {"syntax": "lark"}}}
    assert result.notes == ()


@each_case(
    ("entry", "word"),
    [
        ({"type": "web_search_20250305", "name": "web_search"}, "web_search_20250305"),
        ({"type": "mcp", "server_label": "x", "server_url": "https://x"}, "'mcp'"),
        ({"cachePoint": {"type": "default"}}, "cachePoint"),
        ({"type": "provider-defined", "id": "openai.web_search", "name": "x", "args": {}}, "provider-defined"),
        ({"name": "t", "parameters": SCHEMA, "cache_control": {}}, "“cache_control”"),
        ({"type": "function", "strict": True, "note": "x", "function": {"name": "t"}}, "“note”"),
        ({"name": "t", "schema": SCHEMA}, "“schema”"),
    ],
)
def test_omitted_member_is_named(entry: Any, word: str) -> None:
    result = imported([entry, {"name": "other", "parameters": SCHEMA}])
    assert any(word in note for note in result.notes)


def test_parameters_of_cohere_become_json_schema() -> None:
    definitions = {"q": {"description": "Q", "type": "str", "required": True}, "n": {"type": "List[int]"}}
    (tool,) = imported([{"name": "t", "description": "d", "parameter_definitions": definitions}]).tools
    assert tool.parameters == {
        "type": "object",
        "properties": {"q": {"description": "Q", "type": "string"}, "n": {"type": "array"}},
        "required": ["q"],
    }


def test_definitions_as_lines_may_have_unicode_separators() -> None:
    tools = [{"name": name, "description": "a\u2028b", "parameters": SCHEMA} for name in ("f", "g")]
    result = import_tools("\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools))
    assert [(tool.name, tool.description) for tool in result.tools] == [("f", "a\u2028b"), ("g", "a\u2028b")]
