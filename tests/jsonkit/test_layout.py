"""A place in the text must be the right one, and laying out must not change what was sent."""

from __future__ import annotations

import json

from playground.jsonkit.layout import indented, lay_out, lay_out_value, locate, locate_all
from playground.jsonkit.reading import problem_at


def test_numbers_order_and_doubled_keys_stay_as_written() -> None:
    assert lay_out('{"b":1.0,"a":1e5,"b":0.10}').text == '{\n  "b": 1.0,\n  "a": 1e5,\n  "b": 0.10\n}'
    assert lay_out('{"a":{},"b":[ ]}').text == '{\n  "a": {},\n  "b": []\n}'


def test_long_strings_are_shortened_with_a_note() -> None:
    value = {"image": "A" * 300_000, "escapes": '\\"' * 130_000, "after": 1}
    layout = lay_out(json.dumps(value), longest=2_000)
    assert layout.shortened
    assert len(layout.text) < 2_000
    assert layout.text.count("more characters") == 2
    assert '"after": 1' in layout.text
    assert locate(json.dumps(value), ("after",)) == (1, len(json.dumps(value)) - 1)


def test_hundred_thousand_brackets_stay_small_and_do_not_raise() -> None:
    text = "[" * 20_000
    assert len(lay_out(text).text) < 100 * len(text)
    assert problem_at(text) is not None


def test_path_leads_to_its_place_or_its_nearest_parent() -> None:
    text = '{\n  "a": [1, {"b": true}],\n  "c": {"type": "strng"}\n}'
    assert locate(text, ("c", "type")) == (3, 17)
    assert locate(text, ("a", 1, "b")) == (2, 18)
    assert locate(text, ("c", "missing", "deeper")) == (3, 8)
    assert locate(text, ()) == (1, 1)
    assert locate("", ("a",)) is None


def test_no_more_lines_are_laid_out_than_asked_for() -> None:
    laid_out = lay_out("[" + "1," * 10_000 + "1]", lines=100)
    assert laid_out.text.count("\n") == 100
    assert 0 < laid_out.read < 250


def test_places_of_many_paths_are_those_of_each_path() -> None:
    text = json.dumps({"a": [{"b": n, "c": [n]} for n in range(20)], "d": {"a": {"b": 1}}}, indent=1)
    paths: list[tuple[str | int, ...]] = [("a", n, "c", 0) for n in range(20)]
    paths += [("a", 7, "missing"), (), ("d", "a", "b"), ("d",), ("nowhere", 1)]
    places = locate_all(text, paths)
    assert places == {path: locate(text, path) for path in paths}
    lines = text.split("\n")
    for line, column in filter(None, places.values()):
        assert lines[line - 1][column - 1] in '"{[0123456789'
    assert locate_all("", paths) == {}


def test_value_is_laid_out_but_for_what_stays_on_a_line() -> None:
    value = {"a": [1, [2]], "b": {}, "c": {"d": "é"}}
    assert lay_out_value(value, lambda item: json.dumps(item, ensure_ascii=False), lambda *_: False) == indented(value)
    text = lay_out_value(value, json.dumps, lambda item, level: level > 0, unit="\t", colon=":", indent="  ")
    assert text == '{\n  \t"a":[1, [2]],\n  \t"b":{},\n  \t"c":{"d": "\\u00e9"}\n  }'


def test_letters_that_no_encoding_has_stay_escapes() -> None:
    assert indented(["é"]) == '[\n  "é"\n]'
    assert indented(["é\ud800"]) == '[\n  "\\u00e9\\ud800"\n]'
