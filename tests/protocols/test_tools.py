"""Tool definitions in both protocols."""

from __future__ import annotations

from typing import Any

import pytest

from playground.domain.tools import ToolDefinition
from playground.protocols.protocol import get_protocol
from tests.support.each_case import each_case

SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
TOOL = ToolDefinition(name="f", description="d", parameters=SCHEMA, strict=True)
WIRE: dict[str, dict[str, Any]] = {
    "chat": {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True}},
    "messages": {"name": "f", "description": "d", "input_schema": SCHEMA, "strict": True},
}


@pytest.mark.parametrize("name", ["chat", "messages"])
def test_tools_are_written_and_read(name: str) -> None:
    protocol = get_protocol(name)
    assert protocol.write_tool(TOOL) == WIRE[name]
    assert protocol.read_tool(WIRE[name]) == TOOL


def test_inner_object_alone_is_read() -> None:
    assert get_protocol("chat").read_tool(WIRE["chat"]["function"]) == TOOL


def test_without_parameters() -> None:
    bare = ToolDefinition(name="f")
    assert get_protocol("chat").write_tool(bare) == {"type": "function", "function": {"name": "f"}}
    assert get_protocol("messages").write_tool(bare) == {"name": "f", "input_schema": {"type": "object"}}


@each_case("protocol", ["chat", "messages"])
@each_case(
    ("value", "words"),
    [
        ([], "a JSON object"),
        ({"type": "web_search", "name": "x"}, "web_search"),
        ({"description": "d"}, "“name” is missing"),
        ({"name": 5}, "“name” is missing"),
        ({"name": "f", "description": 5}, "“description” of f"),
        ({"name": "f", "parameters": [], "input_schema": []}, "must be an object"),
        ({"name": "f", "strict": "yes"}, "“strict” of f"),
    ],
)
def test_invalid_tools_are_named(protocol: str, value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        get_protocol(protocol).read_tool(value)


def test_unknown_protocol_is_named_with_those_known() -> None:
    with pytest.raises(ValueError, match=r"'telnet'.*chat, messages"):
        get_protocol("telnet")
