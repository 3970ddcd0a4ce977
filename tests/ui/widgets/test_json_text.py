"""Laying out must not change what was sent, and leaves nothing unseen."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.jsonkit.reading import problem_at
from playground.ui.widgets.json_text import pretty
from playground.ui.widgets.plain_text import HIDDEN, escape_hidden, show_hidden, tip

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=40)
@given(VALUES, st.booleans(), st.sampled_from([None, 0, 3]))
def test_formatted_json_has_the_same_value_and_no_hidden_characters(
    value: object, ascii_only: bool, indent: int
) -> None:
    text = pretty(json.dumps(value, ensure_ascii=ascii_only, indent=indent))
    assert json.loads(text) == value
    assert not HIDDEN.search(text)
    assert pretty(text) == text


@given(st.text(alphabet='{}[],:"\\ \n19eatru.-\u202e', max_size=60))
def test_any_text_can_be_formatted(text: str) -> None:
    assert "".join(pretty(text).split()) == "".join(show_hidden(escape_hidden(text)).split()) or "\u202e" in text
    problem = problem_at(text)
    if problem is None:
        assert json.loads(pretty(text)) == json.loads(text)
    else:
        assert problem.line >= 1
        assert problem.column >= 1
        assert problem.message


def test_tooltip_is_never_markup() -> None:
    assert "<img" not in tip('<img src="http://evil.example/">')
    assert "‹U+202E›" in tip("a\u202eb")
