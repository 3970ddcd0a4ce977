"""What turns cost by the prices a person entered, in words; nothing where a price is not known."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from playground.domain.prices import Price, cost_of, money
from playground.domain.transcript import Outcome, one_per_request
from playground.engine.session import Session

#: The price entered for a gateway's model, by profile id and model id.
PriceOf = Callable[[str, str], Price | None]


def cost_of_turn(session: Session, turn_id: str, price_of: PriceOf) -> str:
    """What the request that brought a turn cost, all its choices; empty where that is not known."""
    turn = session.transcript.turns.get(turn_id)
    outcome = turn.outcome if turn is not None else None
    cost = _cost(outcome, lambda model: _price(session, model, price_of)) if outcome is not None else None
    return money(*cost) if cost is not None else ""


def total_cost(session: Session, price_of: PriceOf) -> str:
    """What all turns of the experiment cost, every branch; empty without a price."""
    price = cache(lambda model: _price(session, model, price_of))
    requests = one_per_request(session.transcript.turns.values())
    costs = [cost for outcome in requests if (cost := _cost(outcome, price)) is not None]
    return money(sum(amount for amount, _ in costs), costs[0][1]) if costs else ""


def _price(session: Session, model: str, price_of: PriceOf) -> Price | None:
    return price_of(session.profile_id, model) or price_of(session.profile_id, session.model)


def _cost(outcome: Outcome, price_of: Callable[[str], Price | None]) -> tuple[float, str] | None:
    if (price := price_of(outcome.model)) is None:
        return None
    amount = cost_of(outcome.usage, price)
    return (amount, price.currency) if amount is not None else None
