"""Edits of single fields of a request body."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.ui.features.inspector.next_request import (
    MAX_DATA,
    FoldedText,
    typed_value,
    with_field,
    without_field,
)

BODY = json.dumps({"model": "m", "stream": True, "stream_options": {"include_usage": True}, "a.b": 1})


def test_fields_are_set_and_removed_at_any_depth() -> None:
    assert json.loads(with_field(BODY, ("temperature",), 0.5))["temperature"] == 0.5
    assert json.loads(with_field(BODY, ("a.b",), 2))["a.b"] == 2, "a dot in a name is a dot"
    inner = json.loads(with_field(BODY, ("stream_options", "other"), 1))["stream_options"]
    assert inner == {"include_usage": True, "other": 1}
    assert json.loads(with_field("{}", ("a", "b", "c"), "x")) == {"a": {"b": {"c": "x"}}}
    assert json.loads(with_field('{"a": 1}', ("a", "b"), "x")) == {"a": {"b": "x"}}
    assert "stream_options" not in json.loads(without_field(BODY, ("stream_options", "include_usage")))
    assert json.loads(without_field('{"a": {"b": {"c": 1}, "d": 2}}', ("a", "b", "c"))) == {"a": {"d": 2}}
    assert json.loads(without_field(BODY, ("model",))) == {k: v for k, v in json.loads(BODY).items() if k != "model"}
    assert json.loads(without_field(BODY, ("nowhere", "at"))) == json.loads(BODY)
    with pytest.raises(ValueError, match="object"):
        with_field("[]", ("x",), 1)


def test_typed_value_is_json_or_text() -> None:
    assert typed_value("0.5") == 0.5
    assert typed_value('"low"') == "low"
    assert typed_value("low") == "low"
    assert typed_value('["END"]') == ["END"]
    for begun in ('"low', "[1", '{"a"'):
        with pytest.raises(ValueError, match="not JSON yet"):
            typed_value(begun)


@given(st.text(min_size=1, max_size=50), st.text())
def test_any_folded_string_is_restored(piece: str, short: str) -> None:
    body = {"a": "data:" + piece * (MAX_DATA // len(piece) + 1), short: short}
    folded = FoldedText(json.dumps(body, ensure_ascii=False))
    assert json.loads(folded.text).keys() == body.keys()
    assert json.loads(folded.unfold(folded.text)) == body
