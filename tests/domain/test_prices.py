"""Costs: cached input, reasoning as output, what is not known, and amounts as people read them."""

from __future__ import annotations

import pytest

from playground.domain.costs import Cost, cost, price_of, total
from playground.domain.prices import Asked, Price, cost_of, money
from playground.domain.transcript import Ending, Outcome
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


ENTERED = {("g", "m"): Price(input=1, output=2), ("g", "other"): Price(output=9), ("here", "m"): Price(output=4)}


def entered(profile_id: str, model: str) -> Price | None:
    return ENTERED.get((profile_id, model))


def outcome(asked: Asked, model: str = "m", usage: Usage | None = USAGE) -> Outcome:
    return Outcome(ending=Ending.COMPLETE, model=model, usage=usage, asked=asked)


def test_a_turn_keeps_the_price_it_was_asked_at() -> None:
    kept = Price(output=7, currency="€")
    assert price_of(outcome(Asked(profile_id="g", model="m", price=kept)), "here", entered) is kept
    assert cost(outcome(Asked(profile_id="gone", model="m", price=kept)), "here", entered) == Cost(3.5, "€")


@pytest.mark.parametrize(
    ("asked", "model", "price"),
    [
        (Asked(profile_id="g", model="m"), "m-2026-11", ENTERED["g", "m"]),
        (Asked(profile_id="g", model="alias"), "other", ENTERED["g", "other"]),
        (Asked(profile_id="elsewhere", model="m"), "m", None),
        (Asked(), "m", ENTERED["here", "m"]),
        (Asked(), "unknown", None),
        (Asked(), "", None),
    ],
)
def test_without_one_its_own_gateway_and_model_decide(asked: Asked, model: str, price: Price | None) -> None:
    assert price_of(outcome(asked, model), "here", entered) == price


def test_where_no_price_is_known_the_gateway_is_believed() -> None:
    told = USAGE.model_copy(update={"cost": 0.25})
    assert cost(outcome(Asked(profile_id="elsewhere"), usage=told), "here", entered) == Cost(0.25, "$")
    assert cost(outcome(Asked(profile_id="g", model="m"), usage=told), "here", entered) == Cost(2.0, "$")
    assert cost(outcome(Asked(profile_id="elsewhere")), "here", entered) is None
    assert cost(outcome(Asked(), usage=None), "here", entered) is None


def test_each_currency_is_summed_for_itself() -> None:
    assert total([Cost(1, "$"), Cost(0.5, "€"), Cost(0.2, "$")]) == "$1.20 + €0.50"
    assert total([]) == ""
