"""Costs: cached input, reasoning as output, what is not known, and amounts as people read them."""

from __future__ import annotations

import pytest

from playground.domain.costs import Cost, cost, price_of, total
from playground.domain.prices import Asked, Price, cost_of, money
from playground.domain.transcript import Ending, Outcome
from playground.domain.usage import Usage
from tests.support.each_case import each_case

USAGE = Usage(prompt=1_000_000, completion=500_000, total=1_500_000, cached=400_000, reasoning=300_000)


@each_case(
    ("usage", "price", "expected"),
    [
        (USAGE, Price(input=2, output=8), 2 + 4),
        (USAGE, Price(input=2, cached=0.5, output=8), 0.6 * 2 + 0.4 * 0.5 + 4),
        (USAGE, Price(input=2), 2),
        (USAGE, Price(output=8), 4),
        (USAGE, Price(), None),
        (USAGE, Price(cached=1), None),
        (USAGE, None, None),
        (None, Price(input=1), None),
        (Usage(), Price(input=1, output=1), 0),
        (Usage(prompt=10, cached=50), Price(input=1_000_000, cached=0), 0),  # more cached than the prompt has
    ],
)
def test_cost_is_counted_by_kind_of_token(usage: Usage | None, price: Price | None, expected: float | None) -> None:
    assert cost_of(usage, price) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0.0, "$0.0000"), (0.00001, "< $0.0001"), (0.0042, "$0.0042"), (1.2, "$1.20"), (12345.6, "$12,345.60")],
)
def test_money(amount: float, words: str) -> None:
    assert money(amount, "$") == words


ENTERED = {("g", "m"): Price(input=1, output=2), ("g", "other"): Price(output=9), ("here", "m"): Price(output=4)}


@pytest.mark.parametrize(
    ("question", "model", "price"),
    [
        (Asked(profile_id="g", model="m"), "m-2026-11", ENTERED["g", "m"]),
        (Asked(profile_id="g", model="alias"), "other", ENTERED["g", "other"]),
        (Asked(profile_id="elsewhere", model="m"), "m", None),
        (Asked(), "m", ENTERED["here", "m"]),
        (Asked(), "unknown", None),
        (Asked(), "", None),
    ],
)
def test_price_is_that_of_the_own_gateway_and_model(question: Asked, model: str, price: Price | None) -> None:
    outcome = Outcome(ending=Ending.COMPLETE, model=model, usage=USAGE, asked=question)
    assert price_of(outcome, "here", lambda profile_id, model: ENTERED.get((profile_id, model))) == price


OWN = Price(input=1, output=1)
LISTED = Price(input=2, output=2, told=True)
FREE = Price(input=0, output=0, told=True)


@each_case(
    ("at_the_time", "now", "reported", "expected"),
    [
        (None, None, None, None),
        (None, None, 0.5, Cost(0.5, "$")),
        (None, OWN, 0.5, Cost(2.0, "$")),
        (None, LISTED, None, Cost(4.0, "$", listed=True)),
        (None, LISTED, 0.5, Cost(0.5, "$")),
        (LISTED, None, None, Cost(4.0, "$", listed=True)),
        (LISTED, FREE, None, Cost(4.0, "$", listed=True)),
        (LISTED, OWN, None, Cost(2.0, "$")),
        (OWN, LISTED, 0.5, Cost(2.0, "$")),
        (Price(output=7, currency="€"), None, None, Cost(7.0, "€")),
        (None, FREE, None, Cost(0.0, "$", listed=True)),
    ],
)
def test_own_price_goes_before_the_reported_cost_and_that_before_a_list(
    at_the_time: Price | None, now: Price | None, reported: float | None, expected: Cost | None
) -> None:
    usage = Usage(prompt=1_000_000, completion=1_000_000, cost=reported)
    outcome = Outcome(ending=Ending.COMPLETE, usage=usage, asked=Asked(model="m", price=at_the_time))
    assert cost(outcome, "here", lambda _profile, _model: now) == expected


@each_case(
    ("costs", "words"),
    [
        ([], ""),
        ([Cost(1, "$"), Cost(0.5, "€"), Cost(0.2, "$")], "$1.20 + €0.50"),
        ([Cost(1, "$", listed=True), Cost(1, "$", listed=True)], "$2.00 by the gateway's list"),
        ([Cost(1, "$"), Cost(1, "$", listed=True)], "$2.00 partly by the gateway's list"),
        ([Cost(1, "$"), Cost(0, "$", listed=True)], "$1.00"),
        ([Cost(0, "$", listed=True)], ""),
        ([Cost(0, "$")], "$0.0000"),
    ],
)
def test_costs_are_summed_by_currency_with_their_source(costs: list[Cost], words: str) -> None:
    assert total(costs) == words
