"""From conversations to cases and back: a turn with all above it becomes a case, an answer becomes a conversation."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from playground.domain.transcript import Role, Transcript
from playground.domain.variables import as_written, names_in
from playground.engine.session.plan import Case, Plan
from playground.engine.session.session import Session

if TYPE_CHECKING:
    from playground.engine.evaluation.answers import Kept
    from playground.engine.evaluation.inquiry import Column

_SYSTEM = (Role.SYSTEM, Role.DEVELOPER)


def case_of(session: Session, turn_id: str) -> Case:
    """What was asked up to a turn, as a case: an answer is what is expected of it then, and nothing below it counts.

    System turns stay the experiment's, so that variants may have others; what stands in an open editor counts. Raises
    KeyError for an unknown turn, and ValueError where nothing was asked.
    """
    turn = session.transcript.turns[turn_id]
    answer = turn if turn.role is Role.ASSISTANT else None
    transcript, at = session.editors.preview(turn.parent if answer is not None else turn_id)
    path = transcript.lineage(at) if at is not None else ()
    top = next((place for place, turn in enumerate(path) if turn.role not in _SYSTEM), len(path))
    asked = tuple(turn for turn in path[top:] if not turn.is_empty)
    if not any(turn.role is Role.USER for turn in asked):
        raise ValueError("Nothing was asked above this turn, so that it is no case.")
    neighbours = any(one.role is Role.USER and two.role is Role.USER for one, two in pairwise(asked))
    behind_call = asked[-1].role is not Role.USER
    return Case(turns=asked, whole=neighbours or behind_call, expected=answer.text if answer is not None else "")


def step_plan(session: Session, turn_id: str, repeats: int = 5) -> Plan:
    """A plan that asks once more, and so often, what brought a turn: with the checks and variants that there are.

    Raises as ``case_of`` does.
    """
    before = session.main.settings.evaluation or Plan()
    case = case_of(session, turn_id).model_copy(update={"name": "This step", "expected": ""})
    return before.model_copy(update={"cases": (case,), "repeats": repeats})


def begin_with_answer(session: Session, column: Column, kept: Kept, title: str = "") -> None:
    """Have a new session hold an answer: what was asked and what came, under what its column sets.

    What looks like a variable in it is none any more: the values were put in when it was asked.
    """
    settings = column.settings.model_copy(
        update={"title": title, "variables": {name: as_written(name) for name in names_in(kept.turns)}}
    )
    session.history.reset(Transcript().append(*kept.turns), settings.with_parameters(settings.current))
    for exchange in kept.exchanges:
        session.exchanges.keep(exchange)


def step_of(session: Session, focused: str = "") -> str:
    """The turn whose step is meant: an answer that has the focus, else the one that is looked at, while its calls wait
    or when it is the last; else the last turn of the path. Empty where there is none.
    """
    transcript = session.transcript
    if focused in transcript.turns and transcript.turns[focused].role is Role.ASSISTANT:
        return focused
    received = [turn.id for turn in transcript.path if turn.role is Role.ASSISTANT]
    if received and (transcript.path[-1].id == received[-1] or transcript.unanswered()):
        return received[-1]
    return transcript.path[-1].id if transcript.path else ""
