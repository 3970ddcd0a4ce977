"""What requests cost: by the price they were asked at, else by the one entered, else as the gateway says.

A cost that the gateway told beside the tokens is believed rather than its list of models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from playground.domain.model_facts import BY_LIST
from playground.domain.prices import DOLLARS, Price, cost_of, money
from playground.domain.transcript import Outcome


class Cost(NamedTuple):
    """An amount of money. ``listed``: by a price of the gateway's list of models."""

    amount: float
    currency: str
    listed: bool = False


#: The price of a model of a gateway, entered or listed, by profile id and model id.
Entered: TypeAlias = Callable[[str, str], Price | None]


def price_of(outcome: Outcome, here: str, entered: Entered) -> Price | None:
    """The price of a turn. ``here`` is the gateway of its experiment, for turns that do not say theirs."""
    asked = outcome.asked
    if asked.price is not None and not asked.price.told:
        return asked.price
    models = dict.fromkeys((asked.model, outcome.model))
    now = next((price for model in models if model and (price := entered(asked.profile_id or here, model))), None)
    return asked.price if asked.price is not None and (now is None or now.told) else now


def cost(outcome: Outcome, here: str, entered: Entered) -> Cost | None:
    """What the request that brought a turn cost, all its choices together; None where nobody says."""
    price = price_of(outcome, here, entered)
    amount = cost_of(outcome.usage, price)
    told = outcome.usage.cost if outcome.usage is not None else None
    if price is not None and amount is not None and not (price.told and told is not None):
        return Cost(amount, price.currency, price.told)
    return Cost(told, DOLLARS) if told is not None else None


def total(costs: Iterable[Cost]) -> str:
    """All of them in words, each currency for itself: ``$1.20 + €0.0042``, and whether a list says so.

    Empty for none, and where all that is known is that a list asks nothing for them.
    """
    sums: dict[str, float] = {}
    listed: set[bool] = set()
    for one in costs:
        if one.amount or not one.listed:
            sums[one.currency] = sums.get(one.currency, 0.0) + one.amount
            listed.add(one.listed)
    words = " + ".join(money(amount, currency) for currency, amount in sums.items())
    return f"{words} {'partly ' * (len(listed) > 1)}{BY_LIST}" if True in listed else words
