"""What an answer in a fork may start from: what was typed, what was given before, rows of the table, faults."""

from __future__ import annotations

from typing import NamedTuple

from playground.domain.debugging import FAULTS, Answer, Policy
from playground.domain.parts import ToolCall
from playground.engine.checks import checking
from playground.engine.checks.questions import RowFits
from playground.engine.session.session import Session
from playground.ui.features.debugger.rule_words import answer_words, match_words

MOST_ROWS = 20
LABEL = 48  # characters of an answer in a menu


class Start(NamedTuple):
    """One entry: ``group`` parts the kinds of them."""

    group: str
    words: str
    answer: Answer


def starts(session: Session, turn_id: str, call: ToolCall) -> list[Start]:
    """All there is to start from, the likeliest first."""
    debugger = session.debugger
    out: list[Start] = []
    draft = debugger.notes.draft(turn_id, call.id)
    if draft is not None and draft.text:
        answer = Answer(text=draft.text, is_error=draft.is_error)
        out.append(_start("given", "What you typed", answer))
    for turn in session.transcript.path:
        for result in turn.results:
            if result.call_id == call.id and _follows(session, turn.id, turn_id):
                answer = Answer(text=result.text, is_error=result.is_error)
                out.append(_start("given", "The answer it got", answer))
    rule = debugger.debugging.rule(call.name)
    if rule.policy is Policy.FIXED:
        out.append(_start("rule", "The fixed answer", rule.fixed))
    for number, row in enumerate(rule.rows[:MOST_ROWS], 1):
        found = checking.now(RowFits(row, call.arguments))
        fits = " (fits)" if found is not None and found.fits else ""
        out.append(_start("rule", f"Row {number}{fits}, {match_words(row)[:LABEL]}", row.answer))
    out += [Start("fault", name, row.answer) for name, row in FAULTS]
    return out


def first_answers(session: Session, turn_id: str, call: ToolCall) -> tuple[Answer, ...]:
    """What a fork of this call begins with: what was typed for it last, else the likeliest answer and an error."""
    kept = session.debugger.notes.fork_drafts.get((turn_id, call.id))
    if kept is not None:
        return kept
    likely = [start.answer for start in starts(session, turn_id, call) if start.group == "given"]
    ready = session.debugger.answer_ready(turn_id, call.id)
    if not likely and ready is not None:
        likely = [ready.answer]
    return (*(likely[:1] or [Answer()]), dict(FAULTS)["Error text"].answer)


def _follows(session: Session, turn_id: str, maker: str) -> bool:
    """Whether a turn on the path stands behind another on it: a gateway may use an id again."""
    ids = [turn.id for turn in session.transcript.path]
    return maker in ids and ids.index(maker) < ids.index(turn_id)


def _start(group: str, name: str, answer: Answer) -> Start:
    return Start(group, f"{name}: {answer_words(answer, LABEL)}", answer)
