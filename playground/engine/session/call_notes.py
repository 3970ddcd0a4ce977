"""What is noted of tool calls beside their turns: why they wait, what was typed for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from playground.domain.debugging import Answer, Reason, ResultDraft
from playground.domain.parts import ToolResult
from playground.domain.served import as_served
from playground.domain.tools import ToolDefinition
from playground.engine.session.changes import CallKey

#: That the answer of a server is not where it was to be.
LATE: Final = (
    "Something else stands as the result meanwhile. What the server answered is kept among the answers to compare."
)


@dataclass(frozen=True, slots=True)
class Planned:
    """An answer that is on its way: who gave it, and how long it took where that is known already."""

    answer: Answer
    by: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ToAsk:
    """A call that its tool's server is to be asked for; with ``look`` the answer waits for a person before it goes."""

    tool: ToolDefinition
    look: bool = False


@dataclass(frozen=True, slots=True)
class Pending:
    """An answer that is waited for. ``due`` is on the monotonic clock, infinite for one that never comes."""

    answer: Answer
    by: str
    due: float

    @property
    def remaining(self) -> float:
        """Seconds until it comes, never below 0; infinite for one that never does."""
        return max(self.due - time.monotonic(), 0.0)


def by_hand(answer: Answer) -> Planned:
    """An answer that a person sends: a server's own, where nobody edited it."""
    served = answer.served
    if served is None:
        return Planned(answer, "you")
    return Planned(answer, "server" if as_served(answer.body, served) else "you", served.seconds)


def given_as(result: ToolResult) -> Answer:
    """The answer that a result was."""
    return Answer(text=result.text, is_error=result.is_error, images=result.images, served=result.served)


def result_of(call_id: str, plan: Planned) -> ToolResult:
    """The result that an answer becomes."""
    answer = plan.answer
    return ToolResult(
        call_id=call_id,
        text=answer.body,
        is_error=answer.is_error,
        by=plan.by,
        seconds=plan.seconds,
        images=answer.images,
        served=answer.served,
    )


class CallNotes:
    """By turn id and call id: ``stops`` is why calls wait, ``drafts`` what was typed as results, ``fork_drafts`` the
    several answers that were typed to be compared, run or not. ``changed`` tells of a change.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self.changed = changed
        self.stops: dict[CallKey, Reason] = {}
        self.drafts: dict[CallKey, ResultDraft] = {}
        self.fork_drafts: dict[CallKey, tuple[Answer, ...]] = {}

    def draft(self, turn_id: str, call_id: str) -> ResultDraft | None:
        """What was typed for a call, sent or not."""
        return self.drafts.get((turn_id, call_id))

    def set_draft(self, turn_id: str, call_id: str, draft: ResultDraft | None) -> None:
        """Keep what is typed for a call; None forgets it."""
        key = (turn_id, call_id)
        if self.drafts.get(key) == draft:
            return
        if draft is None:
            del self.drafts[key]
        else:
            self.drafts[key] = draft
        self.changed()

    def set_fork_draft(self, turn_id: str, call_id: str, answers: tuple[Answer, ...]) -> None:
        """Keep the several answers to a call that are typed to be compared."""
        key = (turn_id, call_id)
        if self.fork_drafts.get(key, ()) != answers:
            self.fork_drafts[key] = answers
            self.changed()

    def keep_late(self, turn_id: str, call_id: str, answer: Answer) -> None:
        """An answer came for a call that was answered in another way meanwhile: it is one of those to be compared."""
        found = self.fork_drafts.get((turn_id, call_id), ())
        if answer not in found:
            self.set_fork_draft(turn_id, call_id, (*found, answer))

    def answered(self, keys: Iterable[CallKey]) -> None:
        """These calls wait no more."""
        for key in keys:
            self.stops.pop(key, None)

    def rename(self, turn_id: str, old: str, new: str) -> None:
        """A call of a turn has another id: what is known of it, and typed for it, stays with it."""
        everything: tuple[dict[CallKey, Any], ...] = (self.stops, self.drafts, self.fork_drafts)
        for known in everything:
            if (turn_id, old) in known:
                known[turn_id, new] = known.pop((turn_id, old))
        self.changed()

    def copied(self, copies: Mapping[str, str]) -> None:
        """Turns were copied for a branch (ids of both): what is known of their calls holds for the copies as well."""
        everything: tuple[dict[CallKey, Any], ...] = (self.stops, self.drafts, self.fork_drafts)
        for known in everything:
            known.update({(copies[turn], call): what for (turn, call), what in known.items() if turn in copies})
