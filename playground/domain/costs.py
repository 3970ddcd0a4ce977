"""Costs of requests: by the price at the time of the request, else the entered price, else as reported.

A cost that the gateway reports with the tokens outranks its list of models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeAlias

from playground.domain.model_facts import BY_LIST
from playground.domain.prices import DOLLARS, Price, cost_of, money
from playground.domain.transcript import Outcome


class Cost(NamedTuple):
    """An amount of money. ``listed``: computed from the gateway's list of models."""

    amount: float
    currency: str
    listed: bool = False


class AnswerMetrics(NamedTuple):
    """Measured figures of one answer; None for what is unknown. Saved as a JSON list in this order.

    ``seconds`` is the time to the last token and ``first`` that to the first. ``tokens`` are those of the answer,
    ``prompt`` those of its requests. ``real`` counts the ``calls`` that a tool server answered, not a recording.
    ``listed``: the price is computed from the gateway's list of models.
    """

    seconds: float | None = None
    first: float | None = None
    prompt: int | None = None
    tokens: int | None = None
    price: float | None = None
    currency: str = ""
    requests: int = 0
    calls: int = 0
    real: int = 0
    listed: bool = False

    @property
    def cost(self) -> Cost | None:
        """The price with its currency; None if unknown."""
        return Cost(self.price, self.currency, self.listed) if self.price is not None else None


NO_METRICS: Final = AnswerMetrics()


#: Returns the entered or listed price of a model, by profile id and model id.
PriceLookup: TypeAlias = Callable[[str, str], Price | None]


def price_of(outcome: Outcome, default_profile_id: str, entered: PriceLookup) -> Price | None:
    """Return the price of a turn. ``default_profile_id`` is the experiment's gateway, for turns that name none."""
    target = outcome.asked
    if target.price is not None and not target.price.told:
        return target.price
    profile_id = target.profile_id or default_profile_id
    models = dict.fromkeys((target.model, outcome.model))
    now = next((price for model in models if model and (price := entered(profile_id, model))), None)
    return target.price if target.price is not None and (now is None or now.told) else now


def cost(outcome: Outcome, default_profile_id: str, entered: PriceLookup) -> Cost | None:
    """Return the cost of the request of a turn, all its choices together; None if unknown."""
    price = price_of(outcome, default_profile_id, entered)
    amount = cost_of(outcome.usage, price)
    reported = outcome.usage.cost if outcome.usage is not None else None
    if price is not None and amount is not None and not (price.told and reported is not None):
        return Cost(amount, price.currency, price.told)
    return Cost(reported, DOLLARS) if reported is not None else None


def sum_costs(costs: Iterable[Cost | None]) -> tuple[Cost, ...]:
    """Add up costs, each currency for itself; None adds nothing."""
    sums: dict[str, Cost] = {}
    for cost in costs:
        if cost is not None:
            before = sums.get(cost.currency, Cost(0.0, cost.currency))
            sums[cost.currency] = Cost(before.amount + cost.amount, cost.currency, before.listed or cost.listed)
    return tuple(sums.values())


def total(costs: Iterable[Cost]) -> str:
    """Format the sum of costs, each currency for itself, such as ``$1.20 + €0.0042``, with a note on listed prices.

    Empty for no costs, and if all of them are listed as free.
    """
    sums: dict[str, float] = {}
    listed: set[bool] = set()
    for item in costs:
        if item.amount or not item.listed:
            sums[item.currency] = sums.get(item.currency, 0.0) + item.amount
            listed.add(item.listed)
    words = " + ".join(money(amount, currency) for currency, amount in sums.items())
    return f"{words} {'partly ' * (len(listed) > 1)}{BY_LIST}" if True in listed else words


def no_price(_profile_id: str, _model: str) -> Price | None:
    """Return no price: none was entered."""
    return None
