"""What turns and an experiment cost, in words; nothing where nobody says (see ``playground.domain.prices``)."""

from __future__ import annotations

from functools import cache

from playground.domain.costs import Entered, cost, total
from playground.domain.transcript import one_per_request
from playground.engine.session.session import Session


def cost_of_turn(session: Session, turn_id: str, entered: Entered) -> str:
    """What the request that brought a turn cost, all its choices; empty where that is not known."""
    turn = session.transcript.turns.get(turn_id)
    outcome = turn.outcome if turn is not None else None
    found = cost(outcome, session.settings.profile_id, entered) if outcome is not None else None
    return total([found]) if found is not None else ""


def total_cost(session: Session, entered: Entered) -> str:
    """What all requests of the experiment cost, on every branch; said to be the least where some are not known."""
    known = cache(entered)
    requests = [outcome for outcome in one_per_request(session.transcript.turns.values()) if outcome.usage]
    costs = [found for outcome in requests if (found := cost(outcome, session.settings.profile_id, known)) is not None]
    return f"{'at least ' if 0 < len(costs) < len(requests) else ''}{total(costs)}"
