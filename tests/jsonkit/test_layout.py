"""A place in the text must be the right one, and laying out must not change what was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.jsonkit import layout
from playground.jsonkit.layout import TOKEN, indented, lay_out, lay_out_value, locate, locate_all, tokens
from playground.jsonkit.reading import problem_at


def test_numbers_order_and_doubled_keys_stay_as_written() -> None:
    assert lay_out('{"b":1.0,"a":1e5,"b":0.10}').text == '{\n  "b": 1.0,\n  "a": 1e5,\n  "b": 0.10\n}'
    assert lay_out('{"a":{},"b":[ ]}').text == '{\n  "a": {},\n  "b": []\n}'


def test_long_strings_are_shortened_and_say_so() -> None:
    layout = lay_out(json.dumps({"image": "A" * 3_000_000, "after": 1}), longest=2_000)
    assert layout.shortened
    assert len(layout.text) < 1_000
    assert "more characters" in layout.text
    assert '"after": 1' in layout.text


def test_a_hundred_thousand_brackets_stay_small_and_do_not_raise() -> None:
    text = "[" * 100_000
    assert len(lay_out(text).text) < 100 * len(text)
    assert problem_at(text) is not None


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
    assert list(tokens(text)) == [match.span() for match in TOKEN.finditer(text)]


@pytest.mark.parametrize(
    "inside", ["x" * 250_000, '\\"' * 130_000, "\\" * 200_001 + '"', "\\" * 150_001, "é\\u00e9" * 70_000]
)
def test_so_are_strings_of_many_pieces(inside: str) -> None:
    text = '{"a": "' + inside + '", "b": 1}'
    assert list(tokens(text)) == [match.span() for match in TOKEN.finditer(text)]


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
        return tokens(given)

    monkeypatch.setattr(layout, "tokens", counted)
    assert locate_all(text, paths) == alone
    assert readings == 1
    lines = text.split("\n")
    for path, place in alone.items():
        assert place is not None, path
        assert lines[place[0] - 1][place[1] - 1] in '"{[0123456789'
    assert locate_all("", paths) == {}


def test_a_value_is_laid_out_but_for_what_stays_on_a_line() -> None:
    value = {"a": [1, [2]], "b": {}, "c": {"d": "é"}}
    assert lay_out_value(value, lambda one: json.dumps(one, ensure_ascii=False), lambda *_: False) == indented(value)
    text = lay_out_value(value, json.dumps, lambda one, level: level > 0, unit="\t", colon=":", indent="  ")
    assert text == '{\n  \t"a":[1, [2]],\n  \t"b":{},\n  \t"c":{"d": "\\u00e9"}\n  }'


def test_letters_that_no_encoding_has_stay_escapes() -> None:
    assert indented(["é"]) == '[\n  "é"\n]'
    assert indented(["é\ud800"]) == '[\n  "\\u00e9\\ud800"\n]'
