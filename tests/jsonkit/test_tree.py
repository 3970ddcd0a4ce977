from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.tree import parse
from tests.support.each_case import each_case


def strict(text: str) -> Any:
    def refuse(word: str) -> Any:
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)


@given(st.text(alphabet=' \n{}[]:,"\\u0a1-+.eEtruefalsn\x01é', max_size=24))
@settings(max_examples=200, deadline=None)
def test_text_is_json_exactly_when_python_reads_it(text: str) -> None:
    try:
        strict(text)
        sound = True
    except ValueError:
        sound = False
    try:
        parse(text)
        assert sound
    except JsonTextError:
        assert not sound


@each_case(
    ("text", "line", "column", "reason"),
    [
        ("", 1, 1, "there is nothing here"),
        ('{\n  "a": 1\n  "b": 2}', 3, 3, "a comma is missing"),
        ('["a]', 1, 2, "this text has no closing quote"),
        ("[1", 1, 3, "a closing bracket is missing"),
        ('["a\nb"]', 1, 4, "a line break or control character in a text; write it as an escape such as \\n"),
        ('["\\x"]', 1, 3, "this escape does not exist in JSON; a backslash itself is written \\\\"),
        ("[NaN]", 1, 2, "“NaN” is not JSON"),
    ],
)
def test_first_fault_is_named_with_its_place(text: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(JsonTextError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column, caught.value.message) == (line, column, reason)
    assert str(caught.value) == f"line {line}, column {column}: {reason}"


def test_hostile_text_neither_crashes_nor_takes_long() -> None:
    assert parse("[" * 10_000 + "]" * 10_000).kind == "array"
    for text in ("[" * 10_000, '{"a":' * 10_000, '"' + "a" * 100_000, '"' + "\\n" * 50_000, "[1" + " " * 50_000):
        with pytest.raises(JsonTextError):
            parse(text)
    assert parse("9" * 5000).kind == "number"
    assert parse('{"\\ud800": "\\udfff"}').children[0].key == "\ud800"
