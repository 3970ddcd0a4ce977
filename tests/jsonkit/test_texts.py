"""Short texts."""

from __future__ import annotations

import pytest

from playground.jsonkit.texts import quantity


@pytest.mark.parametrize(
    ("count", "noun", "plural", "words"),
    [(0, "case", "", "0 cases"), (1, "case", "", "1 case"), (1_200, "branch", "branches", "1,200 branches")],
)
def test_quantity_uses_the_plural_except_for_one(count: int, noun: str, plural: str, words: str) -> None:
    assert quantity(count, noun, plural) == words
