"""The text of a schema: what somebody spelled stays byte for byte, and the value is always the text's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from playground.domain.tools import ToolDefinition
from playground.ui.features.tools.tool_text import own_layout, read_schema, schema_text, splice
from tests.support.each_case import each_case

ODD = '{ "type":"object",\n\t"properties" : {"a":{"minimum":1.0,"maximum":1e2}}, "x-note":"\\u00e9é" }'


def test_a_text_of_ones_own_is_kept_and_our_layout_is_not_stored() -> None:
    fields = read_schema(ODD)
    tool = ToolDefinition(name="f", **fields)
    assert tool.text == ODD
    assert schema_text(tool) == ODD
    ours = own_layout(tool.parameters)
    assert read_schema(ours)["text"] is None
    assert schema_text(ToolDefinition(name="f", **read_schema(ours))) == ours


def test_a_text_that_no_longer_stands_for_the_value_is_left() -> None:
    tool = ToolDefinition(name="f", **read_schema(ODD))
    other = tool.model_copy(update={"parameters": {"type": "object"}})
    assert schema_text(other) == own_layout({"type": "object"})
    almost = tool.model_copy(update={"parameters": {"x-note": True}, "text": '{"x-note": 1}'})
    assert '"x-note": true' in schema_text(almost)


def test_what_cannot_be_read_is_source_and_nothing_is_no_parameters() -> None:
    assert read_schema("{") == {"source": "{"}
    assert read_schema("[1]") == {"source": "[1]"}
    assert read_schema(" ") == {"parameters": None, "source": None, "text": None}
    assert schema_text(ToolDefinition(name="f", source="{")) == "{"
    assert schema_text(ToolDefinition(name="f")) == ""


@given(st.text("ab\U0001f600", max_size=12), st.text("ab\U0001f600", max_size=12))
def test_a_splice_makes_the_new_text(old: str, new: str) -> None:
    start, end, piece = splice(old, new)
    assert old[:start] + piece + old[end:] == new


@each_case("old, new, piece", [("abcd", "abXd", "X"), ("aaa", "aaaa", "a"), ("ab", "ab", "")])
def test_a_splice_is_small(old: str, new: str, piece: str) -> None:
    assert splice(old, new)[2] == piece
