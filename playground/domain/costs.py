"""What requests cost, by the price they were asked at, else by the one entered, else as the gateway says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from playground.domain.prices import DOLLARS, Price, cost_of, money
from playground.domain.transcript import Outcome


class Cost(NamedTuple):
    """An amount of money."""

    amount: float
    currency: str


#: The price entered for a model of a gateway, by profile id and model id.
Entered: TypeAlias = Callable[[str, str], Price | None]


def price_of(outcome: Outcome, here: str, entered: Entered) -> Price | None:
    """The price of a turn. ``here`` is the gateway of its experiment, for turns that do not say theirs."""
    asked = outcome.asked
    if asked.price is not None:
        return asked.price
    models = dict.fromkeys((asked.model, outcome.model))
    return next((price for model in models if model and (price := entered(asked.profile_id or here, model))), None)


def cost(outcome: Outcome, here: str, entered: Entered) -> Cost | None:
    """What the request that brought a turn cost, all its choices together; None where nobody says."""
    price = price_of(outcome, here, entered)
    amount = cost_of(outcome.usage, price)
    if price is not None and amount is not None:
        return Cost(amount, price.currency)
    told = outcome.usage.cost if outcome.usage is not None else None
    return Cost(told, DOLLARS) if told is not None else None


def total(costs: Iterable[Cost]) -> str:
    """All of them in words, each currency for itself: ``$1.20 + €0.0042``; empty for none."""
    sums: dict[str, float] = {}
    for amount, currency in costs:
        sums[currency] = sums.get(currency, 0.0) + amount
    return " + ".join(money(amount, currency) for currency, amount in sums.items())
