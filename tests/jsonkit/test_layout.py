"""Laying out must not change what was sent; a place in the text must be the right one."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.jsonkit import layout
from playground.jsonkit.layout import (
    READ_AT_MOST,
    TOKEN,
    _tokens,
    lay_out,
    locate,
    locate_all,
    pretty,
    problem_at,
    read_json,
)
from playground.ui.widgets.plain_text import HIDDEN, escape_hidden, few_lines_of, show_hidden, tip

#: CPython points at the comma itself from 3.13 on, before that at what follows it.
TRAILING_COMMA = ('{\n  "a": 1,\n}', *((2, 9) if sys.version_info >= (3, 13) else (3, 1)), "comma is too many")

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 0, 3]))
def test_the_laid_out_text_has_the_same_value_and_nothing_unseen(value: object, ascii_only: bool, indent: int) -> None:
    text = pretty(json.dumps(value, ensure_ascii=ascii_only, indent=indent))
    assert json.loads(text) == value
    assert not HIDDEN.search(text)
    assert pretty(text) == text


@given(st.text(alphabet='{}[],:"\\ \n19eatru.-\u202e', max_size=60))
def test_any_text_can_be_laid_out_and_checked(text: str) -> None:
    assert "".join(pretty(text).split()) == "".join(show_hidden(escape_hidden(text)).split()) or "\u202e" in text
    problem = problem_at(text)
    if problem is None:
        assert json.loads(pretty(text)) == json.loads(text)
    else:
        assert problem.line >= 1
        assert problem.column >= 1
        assert problem.message


def test_numbers_order_and_doubled_keys_stay_as_written() -> None:
    assert pretty('{"b":1.0,"a":1e5,"b":0.10}') == '{\n  "b": 1.0,\n  "a": 1e5,\n  "b": 0.10\n}'
    assert pretty('{"a":{},"b":[ ]}') == '{\n  "a": {},\n  "b": []\n}'


def test_long_strings_are_shortened_and_say_so() -> None:
    layout = lay_out(json.dumps({"image": "A" * 3_000_000, "after": 1}), longest=2_000)
    assert layout.shortened
    assert len(layout.text) < 1_000
    assert "more characters" in layout.text
    assert '"after": 1' in layout.text


def test_a_hundred_thousand_brackets_stay_small_and_do_not_raise() -> None:
    text = "[" * 100_000
    assert len(pretty(text)) < 100 * len(text)
    assert problem_at(text) is not None


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        TRAILING_COMMA,
        ('{"a" 1}', 1, 6, "colon"),
        ("[1 2]", 1, 4, "comma"),
        ("{} x", 1, 4, "after the end"),
        ('{"a": NaN}', 1, 7, "NaN is not JSON"),
        ('{"a": 1e999}', 1, 7, "too large"),
        ("  ", 1, 3, "nothing"),
        ("9" * 5_000, 1, 1, "too many digits"),
    ],
)
def test_problems_are_found_where_they_are(text: str, line: int, column: int, words: str) -> None:
    problem = problem_at(text)
    assert problem is not None
    assert (problem.line, problem.column) == (line, column)
    assert words in problem.message
    with pytest.raises(ValueError, match=r"."):
        read_json(text)


def test_a_path_leads_to_its_place_or_its_nearest_parent() -> None:
    text = '{\n  "a": [1, {"b": true}],\n  "c": {"type": "strng"}\n}'
    assert locate(text, ("c", "type")) == (3, 17)
    assert locate(text, ("a", 1, "b")) == (2, 18)
    assert locate(text, ("c", "missing", "deeper")) == (3, 8)
    assert locate(text, ()) == (1, 1)
    assert locate("", ("a",)) is None


_BITS = st.sampled_from(
    ['"', "\\", '\\"', "a", "x" * 199, "x" * 2_001, "\\n" * 600, "{", "]", ",", ":", " ", "\n", "12"]
)


@given(st.lists(_BITS, max_size=14).map("".join))
def test_long_strings_are_read_in_pieces_and_end_where_they_do(text: str) -> None:
    assert list(_tokens(text)) == [match.span() for match in TOKEN.finditer(text)]


@pytest.mark.parametrize(
    "inside", ["x" * 250_000, '\\"' * 130_000, "\\" * 200_001 + '"', "\\" * 150_001, "é\\u00e9" * 70_000]
)
def test_so_are_strings_of_many_pieces(inside: str) -> None:
    text = '{"a": "' + inside + '", "b": 1}'
    assert list(_tokens(text)) == [match.span() for match in TOKEN.finditer(text)]


def test_no_more_lines_are_laid_out_than_asked_for() -> None:
    laid_out = lay_out("[" + "1," * 10_000 + "1]", lines=100)
    assert laid_out.text.count("\n") == 100
    assert 0 < laid_out.read < 250


def test_many_paths_are_found_in_one_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"a": [{"b": n, "c": [n]} for n in range(300)], "d": {"a": {"b": 1}}}, indent=1)
    paths: list[tuple[str | int, ...]] = [("a", n, "c", 0) for n in range(300)]
    paths += [("a", 7, "missing"), (), ("d", "a", "b"), ("d",), ("nowhere", 1)]
    alone = {path: locate(text, path) for path in paths}
    readings = 0

    def counted(given: str) -> Iterator[tuple[int, int]]:
        nonlocal readings
        readings += 1
        return _tokens(given)

    monkeypatch.setattr(layout, "_tokens", counted)
    assert locate_all(text, paths) == alone
    assert readings == 1
    lines = text.split("\n")
    for path, place in alone.items():
        assert place is not None, path
        assert lines[place[0] - 1][place[1] - 1] in '"{[0123456789'
    assert locate_all("", paths) == {}


def test_megabytes_that_are_typed_are_not_read() -> None:
    text = '"' + "x" * READ_AT_MOST + '"'
    problem = problem_at(text)
    assert problem is not None
    assert problem.message == "more than 2 MB, which is not read here"
    assert read_json(text, most=len(text)) == text[1:-1]
    assert read_json(text[:-3] + '"') == "x" * (READ_AT_MOST - 2)


def test_a_wrapped_label_has_few_lines() -> None:
    assert few_lines_of("one\ntwo") == "one\ntwo"
    assert few_lines_of("x\n" * 500_000).count("\n") < 10
    assert few_lines_of("x\n" * 500_000).endswith("…")
    assert len(few_lines_of("x" * 1_000_000)) < 2_100


def test_a_tooltip_is_never_markup() -> None:
    assert "<img" not in tip('<img src="http://evil.example/">')
    assert "‹U+202E›" in tip("a\u202eb")
