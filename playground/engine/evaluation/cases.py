"""Cases from turns of a conversation, and conversations from answers of an evaluation."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from playground.domain.roles import INSTRUCTION_ROLES
from playground.domain.transcript import Role, Transcript
from playground.domain.variables import as_written, names_in
from playground.engine.session.plan import Case, Plan
from playground.engine.session.session import Session

if TYPE_CHECKING:
    from playground.engine.evaluation.answers import SavedAnswer
    from playground.engine.evaluation.resolved import EvalVariant


def case_of(session: Session, turn_id: str) -> Case:
    """Return the turns down to a turn as a case; an answer there is the expected one, and not part of the turns.

    Edits in open editors are included. Leading system turns are not: they belong to the variants. Raises KeyError for
    an unknown turn, and ValueError if there is no user turn.
    """
    turn = session.transcript.turns[turn_id]
    answer = turn if turn.role is Role.ASSISTANT else None
    transcript, tip = session.editors.preview(turn.parent if answer is not None else turn_id)
    path = transcript.lineage(tip) if tip is not None else ()
    start = next((place for place, turn in enumerate(path) if turn.role not in INSTRUCTION_ROLES), len(path))
    turns = tuple(turn for turn in path[start:] if not turn.is_empty)
    if not any(turn.role is Role.USER for turn in turns):
        raise ValueError("Nothing was asked above this turn, so that it is no case.")
    has_adjacent_users = any(first.role is Role.USER and second.role is Role.USER for first, second in pairwise(turns))
    is_single_request = has_adjacent_users or turns[-1].role is not Role.USER
    return Case(turns=turns, whole=is_single_request, expected=answer.text if answer is not None else "")


def step_plan(session: Session, turn_id: str, repeats: int = 5) -> Plan:
    """Return a plan that repeats the request of a turn, with the checks and variants of the current plan.

    Raises KeyError and ValueError as ``case_of`` does.
    """
    plan = session.main.settings.evaluation or Plan()
    case = case_of(session, turn_id).model_copy(update={"name": "This step", "expected": ""})
    return plan.model_copy(update={"cases": (case,), "repeats": repeats})


def begin_with_answer(session: Session, column: EvalVariant, kept: SavedAnswer, title: str = "") -> None:
    """Fill a new session with an answer: its turns, and the settings of its variant.

    Variables were filled in when it was requested, so text that looks like one is kept as it is written.
    """
    settings = column.settings.model_copy(
        update={"title": title, "variables": {name: as_written(name) for name in names_in(kept.turns)}}
    )
    session.history.reset(Transcript().append(*kept.turns), settings.with_parameters(settings.current))
    for exchange in kept.exchanges:
        session.exchanges.keep(exchange)


def step_of(session: Session, focused: str = "") -> str:
    """Return the id of the turn whose request a person means; empty in an empty conversation.

    It is the focused answer, else the last answer if it ends the path or its calls wait, else the last turn.
    """
    transcript = session.transcript
    if focused in transcript.turns and transcript.turns[focused].role is Role.ASSISTANT:
        return focused
    received = [turn.id for turn in transcript.path if turn.role is Role.ASSISTANT]
    if received and (transcript.path[-1].id == received[-1] or transcript.unanswered()):
        return received[-1]
    return transcript.path[-1].id if transcript.path else ""
