"""Lanes of one gateway that were refused for the same: what is kept for one of them has the others asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.domain.adaptations import today
from playground.domain.transcript import Outcome, Turn
from playground.engine.advice.parts import Action, Offer
from playground.engine.advice.refused_fields import offers
from playground.engine.session.changes import RunState

if TYPE_CHECKING:
    from playground.engine.session.session import Session


def keeping(action: Action, outcome: Outcome | None, profile_id: str) -> Action:
    """The action that keeps an offer, with the rules as that gateway is to keep them; its value is the gateway's id.

    Why they are kept is the gateway's own words, as long as they came.
    """
    if action.offer is None:
        return action
    failure = outcome.failure if outcome is not None else None
    why = failure.message if failure is not None else ""
    return action._replace(value=profile_id, offer=action.offer.kept(action.value, why, today()))


def refused_alike(session: Session, offer: Offer, model: str) -> list[tuple[Session, str]]:
    """The other lanes of that gateway, of that model or any, that stand at the same refusal, each with its turn."""
    profile_id = session.settings.profile_id
    return [
        (lane, lane.transcript.path[-1].id)
        for lane in session.lanes
        if lane is not session and lane.state is RunState.IDLE and lane.transcript.path
        if lane.settings.profile_id == profile_id and model in ("", lane.settings.model)
        if any(one.rules == offer.rules for one in _offered(lane.transcript.path[-1]))
    ]


def _offered(turn: Turn) -> tuple[Offer, ...]:
    failure = turn.outcome.failure if turn.outcome is not None else None
    return offers(failure) if failure is not None and not turn.parts else ()
