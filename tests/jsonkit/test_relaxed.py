"""JSON with comments and commas too many: what it says, and that every place stays where it was."""

from __future__ import annotations

import json

import pytest

from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.relaxed import read_relaxed, strict
from tests.support.each_case import each_case

SETTINGS = """// what a person noted
{
  "url": "https://a.example/*x*/y", /* not
  that */ "list": [1, 2, ], // "quoted"
  "text": "a \\" // b, }",
  "last": {"a": ",}",},
}
"""


def test_comments_and_trailing_commas_are_skipped_outside_texts() -> None:
    assert read_relaxed(SETTINGS) == {
        "url": "https://a.example/*x*/y",
        "list": [1, 2],
        "text": 'a " // b, }',
        "last": {"a": ",}"},
    }
    assert len(strict(SETTINGS)) == len(SETTINGS)
    assert strict(SETTINGS).count("\n") == SETTINGS.count("\n")


def test_json_stays_as_it_is() -> None:
    text = json.dumps({"a": ["//", "/*", ",]", {"b": None}]}, indent=1)
    assert strict(text) == text


def test_problem_has_its_line() -> None:
    with pytest.raises(JsonTextError) as raised:
        read_relaxed('{ // one\n "a": 1 "b": 2}')
    assert "line 2" in str(raised.value)


@each_case("text", ["," * 50_000, '"' * 50_001, "/*" * 25_000, ", " * 25_000 + "x", "[," * 25_000])
def test_long_text_is_read_in_linear_time(text: str) -> None:
    """A reader that takes quadratic time runs into the time limit of a test."""
    assert len(strict(text)) == len(text)
