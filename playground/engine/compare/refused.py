"""Lanes of one gateway that were refused for the same reason: a rule kept for one of them is tried in the others."""

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
    """Return an action that keeps an offered rule for the gateway; its value is the gateway's profile id.

    The reason of the rule is the message of the failure.
    """
    if action.offer is None:
        return action
    failure = outcome.failure if outcome is not None else None
    why = failure.message if failure is not None else ""
    return action._replace(value=profile_id, offer=action.offer.kept(action.value, why, today()))


def refused_alike(session: Session, offer: Offer, model: str) -> list[tuple[Session, str]]:
    """Return the other idle lanes of that gateway, and of `model` if given, whose last turn has the same refusal."""
    profile_id = session.settings.profile_id
    return [
        (lane, lane.transcript.path[-1].id)
        for lane in session.experiment.lanes
        if lane is not session and lane.state is RunState.IDLE and lane.transcript.path
        if lane.settings.profile_id == profile_id and model in ("", lane.settings.model)
        if any(item.rules == offer.rules for item in _offers(lane.transcript.path[-1]))
    ]


def _offers(turn: Turn) -> tuple[Offer, ...]:
    failure = turn.outcome.failure if turn.outcome is not None else None
    return offers(failure) if failure is not None and not turn.parts else ()
