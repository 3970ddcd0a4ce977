"""Numbers that no reader can hold are found anywhere in a JSON text."""

from __future__ import annotations

import pytest

from playground.jsonkit.foreign import members_beside, overflow
from playground.jsonkit.values import JSONObject
from tests.support.each_case import each_case


@each_case("before", range(17))
@each_case("number", ["9" * 308 + "9.5", "9" * 400 + ".0", "1e999", "-1.5E+400"])
def test_number_too_large_is_found_at_any_place(number: str, before: int) -> None:
    text = f'{{"k{"x" * before}": {number}, "rest": [{", ".join("12" for _ in range(40))}]}}'
    assert overflow(text) == number


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "chatcmpl-3e9999", "n": 1}', "9" * 307 + ".5", '"' + "9" * 400 + '"', "9" * 400, "1e100", '"1e999"',
        "[" * 40,
    ],
)  # fmt: skip
def test_number_within_range_or_in_a_text_is_no_overflow(text: str) -> None:
    assert overflow(text) == ""


def test_unknown_members_without_content_are_left_out() -> None:
    received: JSONObject = {
        "known": 1,
        "null": None,
        "text": "",
        "list": [],
        "object": {},
        "zero": 0,
        "no": False,
        "one": 1,
    }
    assert members_beside(received, {"known"}) == {"zero": 0, "no": False, "one": 1}
