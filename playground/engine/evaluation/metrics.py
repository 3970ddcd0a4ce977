"""Metrics of answers: time, tokens, requests and money."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from playground.domain.costs import Cost
from playground.domain.prices import Price
from playground.engine.compare.metrics import LaneMetrics


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


def metrics_of(lane: LaneMetrics) -> AnswerMetrics:
    """Return the metrics of the requests of one answer. A price in several currencies is unknown."""
    one_currency = len(lane.currencies) == 1
    return AnswerMetrics(
        seconds=lane.seconds or None,
        first=lane.first,
        prompt=lane.prompt,
        tokens=lane.tokens,
        price=lane.price if one_currency else None,
        currency=next(iter(lane.currencies)) if one_currency else "",
        requests=lane.requests,
        calls=lane.calls,
        listed=lane.listed,
    )


def sum_costs(costs: Iterable[Cost | None]) -> tuple[Cost, ...]:
    """Add up costs, each currency for itself; None adds nothing."""
    sums: dict[str, Cost] = {}
    for cost in costs:
        if cost is not None:
            before = sums.get(cost.currency, Cost(0.0, cost.currency))
            sums[cost.currency] = Cost(before.amount + cost.amount, cost.currency, before.listed or cost.listed)
    return tuple(sums.values())


def no_price(_profile_id: str, _model: str) -> Price | None:
    """Return no price: none was entered."""
    return None
