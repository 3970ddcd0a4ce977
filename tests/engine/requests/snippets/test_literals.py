"""Whatever the value, its source text reads back as that value."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.engine.requests.snippets.literals import (
    JAVASCRIPT,
    JSON_TEXT,
    PYTHON,
    WIDTH,
    comment,
    long_texts,
    written,
)

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
letters = (
    st.text() | st.text(st.characters(categories=["Cc", "Cf", "Zl", "Zp", "Cs", "Co"])) | st.just("a\nb'\"\\" * 20)
)
values = st.recursive(
    st.none() | st.booleans() | numbers | letters,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(letters, inner, max_size=6),
    max_leaves=20,
)


@given(values, st.integers(0, 4))
def test_json_text_reads_back(value: Any, depth: int) -> None:
    assert repr(json.loads(written(value, JSON_TEXT, depth))) == repr(json.loads(json.dumps(value)))


@given(values, st.integers(0, 4))
def test_python_reads_back(value: Any, depth: int) -> None:
    assert repr(ast.literal_eval(written(value, PYTHON, depth))) == repr(value)


@given(values)
def test_what_cannot_be_seen_is_escaped(value: Any) -> None:
    for spelling in (JSON_TEXT, PYTHON, JAVASCRIPT):
        text = written(value, spelling)
        assert not set(text) & set("\x00\x1b\x7f\x85\u200b\u202e\u2028\u2029\ufeff\ud800")
        text.encode()


@pytest.mark.parametrize("spelling", [JSON_TEXT, PYTHON, JAVASCRIPT])
def test_lines_are_no_longer_than_they_have_to_be(spelling: Any) -> None:
    value = {"messages": [{"role": "user", "content": "word " * 8, "more": [1, 2, 3]}] * 3, "n": {"a": {"b": [1] * 40}}}
    assert max(map(len, written(value, spelling).splitlines())) <= WIDTH


def test_layouts() -> None:
    value = {"a": [1, {"b": None}], "text": "one\ntwo\n" * 16, "__proto__": True, "two words": {}}
    assert written(value, JAVASCRIPT).startswith('{\n  a: [1, { b: null }],\n  text: "one\\n" +\n    "two\\n" +\n')
    assert '  ["__proto__"]: true,\n  "two words": {},\n}' in written(value, JAVASCRIPT)
    assert written(value, PYTHON).startswith('{\n    "a": [1, {"b": None}],\n    "text": (\n        "one\\n"\n')
    assert written(value, JSON_TEXT).endswith('"__proto__": true,\n  "two words": {}\n}')


def test_long_texts_get_names() -> None:
    image, other = "data:image/png;base64," + "A" * 300, "B" * 300
    body = {"a": image, "b": [other, other, "C" * 100, "word " * 100], "c": {"d": image + "="}}
    assert long_texts(body) == {image: "image", other: "blob", image + "=": "image2"}


def test_a_comment_stays_a_comment() -> None:
    assert comment("#", "a\nimport os\u2028b") == "# a import os b"
