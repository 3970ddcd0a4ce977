"""Tool calls that hold up a conversation, as the composer's main button needs them."""

from __future__ import annotations

from dataclasses import dataclass

from playground.domain.debugging import TRUNCATED
from playground.engine.session.session import Session


@dataclass(frozen=True, slots=True)
class PendingCalls:
    """Tell whether a paused conversation can continue; `reason` says why not and is empty if it is `ready`."""

    ready: bool
    reason: str = ""


def pending_calls(session: Session) -> PendingCalls | None:
    """Return the calls that a session is paused at, or None if it is not paused."""
    debugger = session.debugger
    if not debugger.paused:
        return None
    waiting = debugger.waiting
    if any(session.transcript.turns[turn_id].truncated for turn_id, _ in waiting):
        return PendingCalls(False, TRUNCATED.words)
    missing = sum(not debugger.has_answer(turn_id, call.id) for turn_id, call in waiting)
    return PendingCalls(False, needs_results(missing)) if missing else PendingCalls(True)


def needs_results(count: int) -> str:
    """Return the sentence that says how many calls have no result yet."""
    return "1 tool call needs a result" if count == 1 else f"{count:,} tool calls need results"
