"""Pasted texts: tool definitions in every wrapper, and texts without any."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.domain.tools import NAME_RULE, ToolDefinition
from playground.engine.files.tool_import import export_tools, import_tools
from playground.engine.files.tool_import.collector import Imported
from tests.support.each_case import each_case

CHAT = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "d",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        "strict": True,
    },
}
NATIVE = {"name": "search", "description": "d", "input_schema": {"type": "object", "properties": {}}}


def names(value: Any, **options: Any) -> list[str]:
    result = import_tools(value if isinstance(value, str) else json.dumps(value), **options)
    assert result.problem == ""
    assert result.kind == "definitions"
    return [tool.name for tool in result.tools]


@each_case(
    "value",
    [
        CHAT,
        CHAT["function"],
        [CHAT],
        {"tools": [CHAT]},
        {"model": "m", "messages": [], "tools": [CHAT], "tool_choice": "auto"},
        {"result": {"tools": [CHAT]}},
        {"type": "function", "name": "get_weather", "parameters": {"type": "object", "properties": {}}},
        "```json\n" + json.dumps([CHAT], indent=2) + "\n```",
        "\ufeff  " + json.dumps(CHAT) + "\n\n",
        "tools = " + repr([CHAT]),
    ],
)
def test_definitions_are_read_in_every_wrapper(value: Any) -> None:
    assert names(value) == ["get_weather"]


def test_names_are_legal_and_unique() -> None:
    tools = [{**NATIVE, "name": name} for name in ("get weather!", "get_weather", "ä", "x" * 80, "x" * 80)]
    result = import_tools(json.dumps(tools), used_names=["get_weather"])
    assert [tool.name for tool in result.tools] == ["get_weather_2", "get_weather_3", "tool", "x" * 64, "x" * 62 + "_2"]
    assert all(NAME_RULE.match(tool.name) for tool in result.tools)
    assert result.notes[0] == "“get weather!” is called “get_weather_2” here"


def test_omission_is_named() -> None:
    result = import_tools(json.dumps([{**NATIVE, "cache_control": {"type": "ephemeral"}}, {"name": 5}, "x"]))
    assert [tool.name for tool in result.tools] == ["search"]
    assert result.notes[0] == "“search”: left out “cache_control”"
    assert result.notes[1].startswith("definition 2 is left out: “name” is missing")
    assert result.notes[2].startswith("definition 3 is left out")
    vendor = import_tools('[{"type": "web_search_20250305", "name": "web_search"}]')
    assert vendor.tools == ()
    assert "runs at the vendor" in vendor.problem


@each_case(
    ("text", "words"),
    [
        ("", "nothing to import"),
        ("hello", "neither JSON"),
        ('{"a": ', "not JSON"),
        ("5", "no tool definitions"),
        ('{"a": 1}', "no tool definitions"),
        ("openapi: 3.0.0\npaths: {}\n", "has no paths"),
        ("# api\nswagger: '1.2'\n", "not 1.2"),
        ("openapi: 3.0.0\npaths: [\n", "an OpenAPI document in YAML, but line 3"),
        ("def f(:\n", "not valid Python, line 1"),
        ("[" * 100_000, "not JSON"),
        ("def f(x=" + "(" * 100_000, "Python"),
    ],
)
def test_text_without_tools_has_a_problem(text: str, words: str) -> None:
    result = import_tools(text)
    assert result.kind == "nothing"
    assert result.tools == ()
    assert words in result.problem


@each_case(
    "text",
    [
        "def f(a: " + "list[" * 2000 + "int" + "]" * 2000 + "): ...",
        "def f(a: " + ".".join("a" * 50_000) + "): ...",
        'def f(a):\n    """' + ":param" + " " * 200_000 + '"""',
        'def f(a):\n    """Args:\n        a' + "(" * 100_000 + '"""',
        "def f(\ud800): ...",
        "```" + " " * 200_000,
        '{"tools": ' + '{"tools": ' * 900 + "[]" + "}" * 901,
        json.dumps({"openapi": "3.1.0", "paths": {"/a": {"get": {"parameters": [{"$ref": "#/paths/~1a/get"}]}}}}),
        '{"openapi": "3.0.0", "paths": {"/a": {"$ref": "#/paths/~1a"}}}',
    ],
)
def test_hostile_text_is_read_or_refused(text: str) -> None:
    assert isinstance(import_tools(text), Imported)


def test_nothing_is_run(tmp_path: Any) -> None:
    mark = tmp_path / "ran"
    source = f"open({str(mark)!r}, 'w')\n@open({str(mark)!r}, 'w').close\ndef f(a=open({str(mark)!r}, 'w')): ..."
    result = import_tools(source)
    assert [tool.name for tool in result.tools] == ["f"]
    assert not mark.exists()


@pytest.mark.parametrize("protocol", ["chat", "messages"])
def test_exported_tools_are_imported_again(protocol: str) -> None:
    tools = import_tools(json.dumps([CHAT, NATIVE])).tools
    text = export_tools(tools, protocol)
    assert import_tools(text).tools == tools
    assert ("input_schema" in text) is (protocol == "messages")
    assert export_tools([ToolDefinition(name="f", source="{")], protocol) == "[]"
    assert "\\ud800" in export_tools([ToolDefinition(name="f", description="\ud800")], protocol)
