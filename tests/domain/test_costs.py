"""Which price counts, and that an amount by a list is said to be."""

from __future__ import annotations

import pytest

from playground.domain.costs import Cost, cost, total
from playground.domain.prices import Asked, Price
from playground.domain.transcript import Ending, Outcome
from playground.domain.usage import Usage
from tests.support.each_case import each_case

ENTERED = Price(input=1, output=1)
LISTED = Price(input=2, output=2, told=True)
FREE = Price(input=0, output=0, told=True)


@each_case(
    ("at_the_time", "now", "said", "expected"),
    [
        (None, None, None, None),
        (None, None, 0.5, Cost(0.5, "$")),
        (None, ENTERED, 0.5, Cost(2.0, "$")),
        (None, LISTED, None, Cost(4.0, "$", listed=True)),
        (None, LISTED, 0.5, Cost(0.5, "$")),
        (LISTED, None, None, Cost(4.0, "$", listed=True)),
        (LISTED, FREE, None, Cost(4.0, "$", listed=True)),
        (LISTED, ENTERED, None, Cost(2.0, "$")),
        (ENTERED, LISTED, 0.5, Cost(2.0, "$")),
        (None, FREE, None, Cost(0.0, "$", listed=True)),
    ],
)
def test_which_price_counts(
    at_the_time: Price | None, now: Price | None, said: float | None, expected: Cost | None
) -> None:
    usage = Usage(prompt=1_000_000, completion=1_000_000, cost=said)
    outcome = Outcome(ending=Ending.COMPLETE, usage=usage, asked=Asked(model="m", price=at_the_time))
    assert cost(outcome, "here", lambda _profile, _model: now) == expected


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ([], ""),
        ([Cost(1, "$"), Cost(2, "€")], "$1.00 + €2.00"),
        ([Cost(1, "$", listed=True), Cost(1, "$", listed=True)], "$2.00 by the gateway's list"),
        ([Cost(1, "$"), Cost(1, "$", listed=True)], "$2.00 partly by the gateway's list"),
        ([Cost(1, "$"), Cost(0, "$", listed=True)], "$1.00"),
        ([Cost(0, "$", listed=True)], ""),
        ([Cost(0, "$")], "$0.0000"),
    ],
)
def test_amounts_in_words(costs: list[Cost], words: str) -> None:
    assert total(costs) == words
