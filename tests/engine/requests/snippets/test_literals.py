"""Literals of snippets read back as their value."""

from __future__ import annotations

import ast
import json
from typing import Any

from hypothesis import given, settings
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


@settings(max_examples=60)
@given(values, st.integers(0, 4))
def test_literal_reads_back_with_invisible_characters_escaped(value: Any, depth: int) -> None:
    as_json, as_python, as_javascript = (
        written(value, spelling, depth) for spelling in (JSON_TEXT, PYTHON, JAVASCRIPT)
    )
    assert repr(json.loads(as_json)) == repr(json.loads(json.dumps(value)))
    assert repr(ast.literal_eval(as_python)) == repr(value)
    for text in (as_json, as_python, as_javascript):
        assert not set(text) & set("\x00\x1b\x7f\x85\u200b\u202e\u2028\u2029\ufeff\ud800")
        text.encode()


def test_layouts_of_literals_keep_their_lines_short() -> None:
    value: Any = {"a": [1, {"b": None}], "text": "one\ntwo\n" * 16, "__proto__": True, "two words": {}}
    assert written(value, JAVASCRIPT).startswith('{\n  a: [1, { b: null }],\n  text: "one\\n" +\n    "two\\n" +\n')
    assert '  ["__proto__"]: true,\n  "two words": {},\n}' in written(value, JAVASCRIPT)
    assert written(value, PYTHON).startswith('{\n    "a": [1, {"b": None}],\n    "text": (\n        "one\\n"\n')
    assert written(value, JSON_TEXT).endswith('"__proto__": true,\n  "two words": {}\n}')
    value = {"messages": [{"role": "user", "content": "word " * 8, "more": [1, 2, 3]}] * 3, "n": {"a": {"b": [1] * 40}}}
    for spelling in (JSON_TEXT, PYTHON, JAVASCRIPT):
        assert max(map(len, written(value, spelling).splitlines())) <= WIDTH


def test_long_texts_get_names() -> None:
    image, blob = "data:image/png;base64," + "A" * 300, "B" * 300
    body = {"a": image, "b": [blob, blob, "C" * 100, "word " * 100], "c": {"d": image + "="}}
    assert long_texts(body) == {image: "image", blob: "blob", image + "=": "image2"}


def test_a_comment_stays_a_comment() -> None:
    assert comment("#", "a\nimport os\u2028b") == "# a import os b"
