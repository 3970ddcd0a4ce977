"""The text of a schema and its value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from playground.domain.tools import ToolDefinition
from playground.ui.features.tools.tool_text import own_layout, read_schema, schema_text, splice
from tests.support.each_case import each_case

ODD = '{ "type":"object",\n\t"properties" : {"a":{"minimum":1.0,"maximum":1e2}}, "x-note":"\\u00e9é" }'


def test_typed_layout_is_kept_and_standard_layout_is_not() -> None:
    fields = read_schema(ODD)
    tool = ToolDefinition(name="f", **fields)
    assert tool.text == ODD
    assert schema_text(tool) == ODD
    ours = own_layout(tool.parameters)
    assert read_schema(ours)["text"] is None
    assert schema_text(ToolDefinition(name="f", **read_schema(ours))) == ours


def test_outdated_text_is_replaced() -> None:
    tool = ToolDefinition(name="f", **read_schema(ODD))
    second = tool.model_copy(update={"parameters": {"type": "object"}})
    assert schema_text(second) == own_layout({"type": "object"})
    almost = tool.model_copy(update={"parameters": {"x-note": True}, "text": '{"x-note": 1}'})
    assert '"x-note": true' in schema_text(almost)


def test_unreadable_schema_is_source() -> None:
    assert read_schema("{") == {"source": "{"}
    assert read_schema("[1]") == {"source": "[1]"}
    assert read_schema(" ") == {"parameters": None, "source": None, "text": None}
    assert schema_text(ToolDefinition(name="f", source="{")) == "{"
    assert schema_text(ToolDefinition(name="f")) == ""


@given(st.text("ab\U0001f600", max_size=12), st.text("ab\U0001f600", max_size=12))
def test_splice_gives_the_new_text(old: str, new: str) -> None:
    start, end, piece = splice(old, new)
    assert old[:start] + piece + old[end:] == new


@each_case("old, new, piece", [("abcd", "abXd", "X"), ("aaa", "aaaa", "a"), ("ab", "ab", "")])
def test_splice_is_minimal(old: str, new: str, piece: str) -> None:
    assert splice(old, new)[2] == piece
