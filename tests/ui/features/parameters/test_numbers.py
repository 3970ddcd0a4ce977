"""Numbers as typed and shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.ui.widgets.numbers import read_number, show_number
from tests.support.each_case import each_case


@each_case(
    "text, whole, value",
    [
        ("0.7", False, 0.7),
        ("0,7", False, 0.7),
        (".5", False, 0.5),
        ("1e-3", False, 0.001),
        ("2 048", True, 2048),
        ("2\u00a0048", True, 2048),
        ("2,048", True, 2048),
        ("1,234,567", True, 1234567),
        ("-1", True, -1),
        ("1.5", True, 1.5),
        ('"hot"', False, "hot"),
        ("true", False, True),
        ("[1]", True, [1]),
    ],
)
def test_read(text: str, whole: bool, value: object) -> None:
    assert read_number(text, whole) == value


@each_case("text", ["abc", "0.7x", "1e999", "NaN", "Infinity", "null", "--1", "9" * 5_000, "{"])
def test_text_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a number, so it is not sent"):
        read_number(text)


@each_case("text", ["2,0480", "2,04", "1,5", ",5"])
def test_comma_in_a_whole_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a whole number, so it is not sent"):
        read_number(text, integer=True)


@given(st.integers(min_value=-(10**12), max_value=10**12) | st.floats(allow_nan=False, allow_infinity=False))
def test_shown_number_is_read_back(value: float) -> None:
    for step, grouped in ((1, True), (1, False), (0.01, False), (0.05, True)):
        assert read_number(show_number(value, step, grouped), grouped) == value


def test_shown_with_the_decimals_of_the_step() -> None:
    assert show_number(0.7, 0.01) == "0.70"
    assert show_number(0.123, 0.01) == "0.123"
    assert show_number(1, 0.01) == "1.00"
    assert show_number(2048, 1, True) == "2,048"
    assert show_number(True, 1) == "true"
