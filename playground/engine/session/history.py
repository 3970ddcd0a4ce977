"""The states an experiment can go back and forth to: its turns and what is set, as they are, were, and would be again.

A run goes on while a person edits: what it brought is laid over a past state when that state is gone back to, so that
undoing an edit never loses an answer. Nothing is rewritten while turns arrive, however much is remembered.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from playground.domain.transcript import Transcript, Turn
from playground.engine.session.settings import ExperimentSettings

UNDO_DEPTH = 200
TYPING: Final = 2.0  # seconds; a setting changed again before they are over is being typed, and that is one edit
AT_ONCE: Final = 0.3  # seconds; what is set so soon after something else belongs to it: a gateway and its model, say


@dataclass(frozen=True, slots=True)
class _Past:
    """A state, the sources that were bringing turns when it was kept, and how much they had brought by then.

    ``moment`` is when the edit was made that left it.
    """

    transcript: Transcript
    settings: ExperimentSettings
    sources: frozenset[str]
    brought: int
    moment: float = -inf


@dataclass(frozen=True, slots=True)
class Kept:
    """The states that undo goes back to, newest first, as far as they can outlive the process: those of turns alone.

    ``stamp`` is another object whenever there may be others.
    """

    stamp: object
    states: tuple[Transcript, ...] = ()


class History:
    """``transcript`` and ``settings`` are the state as it is, free to be set; what can be undone is around it.

    A *source* is a name for something that brings turns: a tool loop, or one turn. ``clock`` gives seconds.
    """

    def __init__(self, settings: ExperimentSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self.transcript = Transcript()
        self.settings = settings
        self._clock = clock
        self._typing: tuple[str, float] | None = None  # what was set last, and when, as long as nothing else happened
        self._undo: list[_Past] = []
        self._redo: list[_Past] = []
        self._open: set[str] = set()
        self._brought: dict[str, tuple[int, str, Turn]] = {}  # turn id → when it came first, its source, the turn
        self._count = 0
        self._kept: Kept | None = None

    def begin_anew(self, transcript: Transcript, settings: ExperimentSettings) -> None:
        """This is the state, and there is no other to go to."""
        self.transcript, self.settings = transcript, settings
        self._typing = self._kept = None
        for known in (self._undo, self._redo, self._open, self._brought):
            known.clear()

    def begin(self, source: str) -> None:
        """From now on ``source`` brings turns; the states kept meanwhile will hold them too."""
        self._open.add(source)

    def end(self, source: str) -> None:
        """``source`` brings no more turns."""
        self._open.discard(source)
        needed = self._open.union(*(past.sources for past in (*self._undo, *self._redo)))
        self._brought = {key: entry for key, entry in self._brought.items() if entry[1] in needed}

    def brought(self, source: str, turn: Turn) -> None:
        """``source`` brought a turn, or more of one."""
        known = self._brought.get(turn.id)
        if known is None:
            self._count += 1
        elif turn.parent is None:  # it has lost its place meanwhile; the past may still have one
            turn = turn.model_copy(update={"parent": known[2].parent})
        self._brought[turn.id] = (known[0] if known else self._count, source, turn)
        self._kept = None

    def keep(self, by: str = "") -> None:
        """An edit is about to be made: this state can be gone back to. ``by`` is the source that goes on, if any."""
        self._typing = self._kept = None
        self._undo.append(self._now(by))
        del self._undo[:-UNDO_DEPTH]
        self._redo.clear()

    def keep_for(self, what: str) -> None:
        """The same before something is set. ``what`` names it: while that goes on, as typing does, it is one edit."""
        now, before = self._clock(), self._typing
        again = before is not None and now - before[1] < (TYPING if before[0] == what else AT_ONCE)
        if not (again and self._undo):
            self.keep()
        self._typing, self._kept = (what, now), None

    @property
    def can_undo(self) -> bool:
        """Whether there is a state to go back to."""
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        """Whether there is a state to go forth to."""
        return bool(self._redo)

    @property
    def moment(self) -> float:
        """When the edit was made that ``undo`` takes back, in seconds of the clock; before all time without one."""
        return self._undo[-1].moment if self._undo else -inf

    def kept(self) -> Kept:
        """What can be gone back to, for a store. What was set beside the turns is left out: undo goes over it, and
        where turns were other ones with it the way back ends.
        """
        if self._kept is None:
            states, newer, settings = [], self.transcript, self.settings
            for past in reversed(self._undo):
                state = self._whole(past)
                if past.settings is settings or past.settings == settings:
                    states.append(state)
                elif state is not newer:
                    break
                newer, settings = state, past.settings
            self._kept = Kept(object(), tuple(states))
        return self._kept

    def recall(self, states: Iterable[Transcript]) -> None:
        """Undo goes back to these, newest first: what was kept of another process's."""
        older = [_Past(state, self.settings, frozenset(), self._count) for state in states]
        self._undo = older[::-1] + self._undo
        self._kept = None

    def forget(self, transcript: Transcript) -> None:
        """Forget the last state kept if its turns are those very ones."""
        if self._undo and self._undo[-1].transcript is transcript:
            self._typing = self._kept = None
            self._undo.pop()

    def undo(self) -> bool:
        """Go to the state before, the present one kept for redo. Returns whether there was one."""
        return self._travel(self._undo, self._redo)

    def redo(self) -> bool:
        """Go to the state after, the present one kept for undo. Returns whether there was one."""
        return self._travel(self._redo, self._undo)

    def _now(self, by: str = "") -> _Past:
        sources = frozenset(self._open - {by})
        return _Past(self.transcript, self.settings, sources, self._count, self._clock())

    def _travel(self, source: list[_Past], target: list[_Past]) -> bool:
        if not source:
            return False
        self._typing = self._kept = None
        past = source.pop()
        target.append(replace(self._now(), moment=past.moment))
        self.transcript, self.settings = self._whole(past), past.settings
        return True

    def _whole(self, past: _Past) -> Transcript:
        """The turns of a past state with what was being brought when it was kept, as far as that has come."""
        transcript = past.transcript
        for count, name, turn in self._brought.values():
            if name not in past.sources:
                continue
            if turn.id in transcript.turns:
                if transcript.turns[turn.id].outcome is None and turn.outcome is not None:
                    transcript = transcript.replace(turn)
            elif count > past.brought and (turn.parent is None or turn.parent in transcript.turns):
                head = turn.id if transcript.head == turn.parent else transcript.head
                transcript = Transcript({**transcript.turns, turn.id: turn}, head)
        return transcript
