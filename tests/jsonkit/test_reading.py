"""Errors are reported at their position."""

from __future__ import annotations

import sys

import pytest

from playground.jsonkit.reading import READ_AT_MOST, problem_at, read_typed
from tests.support.each_case import each_case

#: CPython points at the comma itself from 3.13 on, before that at what follows it.
TRAILING_COMMA = ('{\n  "a": 1,\n}', *((2, 9) if sys.version_info >= (3, 13) else (3, 1)), "comma is too many")


@each_case(
    ("text", "line", "column", "words"),
    [
        TRAILING_COMMA, ('{"a" 1}', 1, 6, "colon"), ("[1 2]", 1, 4, "comma"), ("{} x", 1, 4, "after the end"),
        ('{"a": NaN}', 1, 7, "NaN is not JSON"), ('{"a": 1e999}', 1, 7, "too large"), ("  ", 1, 3, "nothing"),
        ("9" * 5_000, 1, 1, "too many digits"),
    ],
)  # fmt: skip
def test_problems_are_found_where_they_are(text: str, line: int, column: int, words: str) -> None:
    problem = problem_at(text)
    assert problem is not None
    assert (problem.line, problem.column) == (line, column)
    assert words in problem.message
    with pytest.raises(ValueError, match=r"."):
        read_typed(text)


def test_megabytes_that_are_typed_are_not_read() -> None:
    text = '"' + "x" * READ_AT_MOST + '"'
    problem = problem_at(text)
    assert problem is not None
    assert problem.message == "more than 2 MB, which is not read"
    assert read_typed(text, most=len(text)) == text[1:-1]
    assert read_typed(text[:-3] + '"') == "x" * (READ_AT_MOST - 2)
