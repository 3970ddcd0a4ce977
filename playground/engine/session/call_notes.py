"""What is noted of tool calls beside their turns: why they wait, and what was typed or chosen as their results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from playground.domain.debugging import Answer, Reason, ResultDraft
from playground.engine.session.tool_loop import CallKey


class CallNotes(ABC):
    """The part of a debugger that only remembers, by turn id and call id."""

    def __init__(self) -> None:
        self.stops: dict[CallKey, Reason] = {}
        self.drafts: dict[CallKey, ResultDraft] = {}
        self.fork_drafts: dict[CallKey, tuple[Answer, ...]] = {}  # typed for a fork of that call, run or not

    @abstractmethod
    def changed(self) -> None:
        """Tell that something here is different."""

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
        """Keep the answers that are typed for a fork of a call."""
        key = (turn_id, call_id)
        if self.fork_drafts.get(key, ()) != answers:
            self.fork_drafts[key] = answers
            self.changed()

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
