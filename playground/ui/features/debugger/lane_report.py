"""What one lane of a fork has come to, as words and figures, and where its text differs from another's. No widgets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from playground.domain.debugging import signature
from playground.domain.transcript import Role, Turn, one_per_request, waiting_in
from playground.engine.session.debugger import Fork
from playground.engine.session.run_state import RunState
from playground.engine.session.session import Session
from playground.engine.session.tool_loop import ToolLoop, ToolLoopEnd
from playground.ui.features.debugger.rule_words import one_line
from playground.ui.widgets.figures import seconds

STATES: Final = {
    RunState.IDLE: "waiting",
    RunState.WAITING: "waiting",
    RunState.STREAMING: "receiving",
    RunState.RETRYING: "trying again",
    RunState.ANSWERING: "answer delayed",
}
BY: Final = {"you": "you", "table": "table", "fixed": "fixed", "fork": "fork", "filled": "nobody"}
MOST_COMPARED = 1500  # words; of a longer text whole lines are compared
TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class LaneCall:
    """A call made in a lane. ``asks`` is the same for calls that ask the same."""

    asks: str
    words: str


@dataclass(frozen=True, slots=True)
class LaneReport:
    """``look`` is the chip's: "" for under way or paused, "ok", "error". ``text`` is the latest answer so far."""

    state: str
    look: str
    figures: str
    calls: tuple[LaneCall, ...]
    text: str
    why: str
    running: bool
    shown: bool  # whether the conversation shows this branch
    root: str  # what to select for that; empty while there is nothing to show


def report(session: Session, fork: Fork, lane: ToolLoop) -> LaneReport:
    """The lane as it stands now."""
    transcript = session.transcript
    turns = _turns(session, fork, lane)
    running = lane.ending is ToolLoopEnd.RUNNING
    state, look, why = _state(session, lane, turns)
    there = lane.root in transcript.turns
    return LaneReport(
        state=state,
        look=look,
        figures=_figures(lane, turns),
        calls=tuple(_calls(turns)),
        text=_text(session, turns),
        why=why,
        running=running,
        shown=there and any(turn.id == lane.root for turn in transcript.path),
        root=lane.root if there else "",
    )


def _turns(session: Session, fork: Fork, lane: ToolLoop) -> tuple[Turn, ...]:
    """The turns of the lane, those given by others after it included."""
    head = lane.head
    if head is None or head not in session.transcript.turns:
        return ()
    branch = session.transcript.lineage(head)
    at = next((number for number, turn in enumerate(branch) if turn.id == fork.turn_id), len(branch))
    return branch[at + 1 :]


def _state(session: Session, lane: ToolLoop, turns: tuple[Turn, ...]) -> tuple[str, str, str]:
    if lane.ending is not ToolLoopEnd.RUNNING and lane.root and lane.root not in session.transcript.turns:
        return "taken back", "", "Undo took this branch back; redo brings it again."
    match lane.ending:
        case ToolLoopEnd.RUNNING:
            return _running_words(lane), "", ""
        case ToolLoopEnd.DONE:
            reason = next((turn.outcome.finish_reason for turn in reversed(turns) if turn.outcome), None)
            return "done", "ok", f"Ended with an answer ({reason})." if reason else "Ended with an answer."
        case ToolLoopEnd.PAUSED:
            if not waiting_in(session.transcript.lineage(lane.head)):
                return "went on", "", "It paused, and somebody went on from there."
            return "paused", "", lane.words or "A call waits for an answer."
        case ToolLoopEnd.STOPPED:
            return "stopped", "", "Stopped. What had arrived is kept."
        case _:
            return "failed", "error", lane.words or "It ended without an answer."


def _running_words(lane: ToolLoop) -> str:
    answer = lane.answer
    if lane.state is RunState.ANSWERING and not lane.requests and answer is not None:
        return "no answer comes" if answer.never else f"answer in {max(answer.delay - lane.elapsed, 0):.0f} s"
    return STATES[lane.state]


def _figures(lane: ToolLoop, turns: tuple[Turn, ...]) -> str:
    usages = [outcome.usage for outcome in one_per_request(turns) if outcome.usage is not None]
    prompt = sum(usage.prompt or 0 for usage in usages)
    completion = sum(usage.completion or 0 for usage in usages)
    parts = [f"{lane.requests} request{'s' * (lane.requests != 1)}", seconds(lane.elapsed)]
    if usages:
        parts += [f"{prompt:,} in", f"{completion:,} out"]
    return " · ".join(parts)


def _calls(turns: tuple[Turn, ...]) -> list[LaneCall]:
    results = [(at, result) for at, turn in enumerate(turns) for result in turn.results]
    out: list[LaneCall] = []
    for at, turn in enumerate(turns):
        for call in turn.calls:
            asks = signature(call)
            result = next((r for place, r in results if place > at and r.call_id == call.id), None)
            answer = "waits"
            if result is not None:
                by = f"{BY[result.by]}: " if result.by in BY else ""
                answer = f"{by}{'error ' if result.is_error else ''}{one_line(result.text, 60) or 'empty'}"
            out.append(LaneCall(asks, f"{one_line(asks, 90)} → {answer}"))
    return out


def _text(session: Session, turns: tuple[Turn, ...]) -> str:
    for turn in reversed(turns):
        if turn.role is not Role.ASSISTANT:
            continue
        growing = session.growing.get(turn.id)
        text = turn.text or turn.refusal
        if growing is not None:
            text = "".join("".join(part.fragments) for part in growing.parts if part.kind == "text")
        if text:
            return text
    return ""


def differences(text: str, base: str) -> list[tuple[int, int]]:
    """The places (begin, end) in ``text`` that are not in ``base``, word by word; whole lines of long texts."""
    ours, theirs = TOKEN.findall(text), TOKEN.findall(base)
    if max(len(ours), len(theirs)) > MOST_COMPARED:
        ours, theirs = text.splitlines(keepends=True), base.splitlines(keepends=True)
        if max(len(ours), len(theirs)) > MOST_COMPARED:
            return []
    places = [0]
    for piece in ours:
        places.append(places[-1] + len(piece))
    out: list[tuple[int, int]] = []
    for kind, begin, end, _, _ in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if kind in ("replace", "delete") and "".join(ours[begin:end]).strip():
            out.append((places[begin], places[end]))
    return out
