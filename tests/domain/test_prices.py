"""Costs: cached input, reasoning as output, what is not known, and amounts as people read them."""

from __future__ import annotations

import pytest

from playground.domain.prices import Price, cost_of, money
from playground.domain.usage import Usage

USAGE = Usage(prompt=1_000_000, completion=500_000, total=1_500_000, cached=400_000, reasoning=300_000)


@pytest.mark.parametrize(
    ("price", "cost"),
    [
        (Price(input=2, output=8), 2 + 4),
        (Price(input=2, cached=0.5, output=8), 0.6 * 2 + 0.4 * 0.5 + 4),
        (Price(input=2), 2),
        (Price(output=8), 4),
        (Price(), None),
        (Price(cached=1), None),
        (None, None),
    ],
)
def test_cost(price: Price | None, cost: float | None) -> None:
    assert cost_of(USAGE, price) == (None if cost is None else pytest.approx(cost))


def test_no_usage_no_cost() -> None:
    assert cost_of(None, Price(input=1)) is None
    assert cost_of(Usage(), Price(input=1, output=1)) == 0


def test_more_cached_than_prompt_is_not_a_negative_cost() -> None:
    assert cost_of(Usage(prompt=10, cached=50), Price(input=1_000_000, cached=0)) == 0


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0.0, "$0.0000"), (0.00001, "< $0.0001"), (0.0042, "$0.0042"), (1.2, "$1.20"), (12345.6, "$12,345.60")],
)
def test_money(amount: float, words: str) -> None:
    assert money(amount, "$") == words
