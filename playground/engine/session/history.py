"""The transcripts an experiment can go back and forth to.

A run goes on while a person edits: what it brought is laid over a past state when that state is gone back to, so that
undoing an edit never loses an answer. Nothing is rewritten while turns arrive, however much is remembered.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final, TypeAlias

from playground.domain.transcript import Transcript, Turn

UNDO_DEPTH = 200
TYPING: Final = 2.0  # seconds; a setting changed again before they are over is being typed, and that is one edit
AT_ONCE: Final = 0.3  # seconds; what is set so soon after something else belongs to it: a gateway and its model, say
#: Settings of an experiment, by name.
Setup: TypeAlias = Mapping[str, Any]
#: Gives the setting of a name as it is now.
Setting: TypeAlias = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class _Past:
    """A transcript, the sources that were bringing turns when it was kept, and how much they had brought by then.

    ``setup`` is what was set then, by name; None where the edit left that alone. ``moment`` is when it was made.
    """

    transcript: Transcript
    sources: frozenset[str]
    brought: int
    setup: Setup | None = None
    moment: float = -inf


@dataclass(frozen=True, slots=True)
class Kept:
    """The states that undo goes back to, newest first, as far as they can outlive the process: those of turns alone.

    ``stamp`` is another object whenever there may be others.
    """

    stamp: object
    states: tuple[Transcript, ...] = ()


class History:
    """What can be undone and redone. A *source* is a name for something that brings turns: a lane, or one turn.

    ``setup`` is what is to be set in the state gone to last, where that step had changed it; else None. ``clock`` gives
    seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.setup: Setup | None = None
        self._clock = clock
        self._typing: tuple[str, float] | None = None  # what was set last, and when, as long as nothing else happened
        self._undo: list[_Past] = []
        self._redo: list[_Past] = []
        self._open: set[str] = set()
        self._brought: dict[str, tuple[int, str, Turn]] = {}  # turn id → when it came first, its source, the turn
        self._count = 0
        self._kept = Kept(object())
        self._is_kept = True

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
        self._is_kept = False

    def keep(self, transcript: Transcript, by: str = "", setup: Setup | None = None) -> None:
        """``transcript`` can be gone back to. ``by`` is the source that is about to go on, if one is.

        ``setup`` is what is set now, where the edit is about to change that as well.
        """
        self._typing, self._is_kept = None, False
        self._undo.append(self._past(transcript, by, setup))
        del self._undo[:-UNDO_DEPTH]
        self._redo.clear()

    def keep_setup(self, transcript: Transcript, setup: Setup, what: str) -> None:
        """What is set now, ``setup``, can be gone back to. ``what`` names what is about to be set: while that goes on,
        as typing does, it is one edit.
        """
        now, before = self._clock(), self._typing
        again = before is not None and now - before[1] < (TYPING if before[0] == what else AT_ONCE)
        if again and self._undo:
            past = self._undo[-1]
            self._undo[-1] = replace(past, setup={**setup, **(past.setup or {})})
            self._is_kept = False
        else:
            self.keep(transcript, setup=setup)
        self._typing = what, now

    @property
    def can_undo(self) -> bool:
        """Whether there is a state to go back to."""
        return bool(self._undo)

    def kept(self, now: Transcript) -> Kept:
        """What can be gone back to from ``now``, for a store. What was set beside the turns is left out: undo goes over
        it, and where turns were other ones with it the way back ends.
        """
        if not self._is_kept:
            states, newer = [], now
            for past in reversed(self._undo):
                state = self._whole(past)
                if past.setup is None:
                    states.append(state)
                elif state is not newer:
                    break
                newer = state
            self._kept, self._is_kept = Kept(object(), tuple(states)), True
        return self._kept

    def recall(self, states: Iterable[Transcript]) -> None:
        """Undo goes back to these, newest first: what was kept of another process's."""
        self._undo = [_Past(state, frozenset(), self._count) for state in states][::-1] + self._undo
        self._is_kept = False

    @property
    def moment(self) -> float:
        """When the edit was made that ``undo`` takes back, in seconds of the clock; before all time without one."""
        return self._undo[-1].moment if self._undo else -inf

    @property
    def can_redo(self) -> bool:
        """Whether there is a state to go forth to."""
        return bool(self._redo)

    def drop_last(self, transcript: Transcript) -> None:
        """Forget the last state kept if it is that very transcript."""
        if self._undo and self._undo[-1].transcript is transcript:
            self._typing, self._is_kept = None, False
            self._undo.pop()

    def undo(self, now: Transcript, setting: Setting | None = None) -> Transcript | None:
        """The state before, ``now`` kept for redo; None when there is none. ``setting`` gives what is set now."""
        return self._travel(self._undo, self._redo, now, setting)

    def redo(self, now: Transcript, setting: Setting | None = None) -> Transcript | None:
        """The state after, ``now`` kept for undo; None when there is none. ``setting`` gives what is set now."""
        return self._travel(self._redo, self._undo, now, setting)

    def _past(self, transcript: Transcript, by: str = "", setup: Setup | None = None) -> _Past:
        return _Past(transcript, frozenset(self._open - {by}), self._count, setup, self._clock())

    def _travel(
        self, source: list[_Past], target: list[_Past], now: Transcript, setting: Setting | None
    ) -> Transcript | None:
        if not source:
            return None
        self._typing, self._is_kept = None, False
        past = source.pop()
        self.setup = past.setup
        known = {name: setting(name) for name in past.setup} if past.setup is not None and setting is not None else None
        target.append(replace(self._past(now, setup=known), moment=past.moment))
        return self._whole(past)

    def _whole(self, past: _Past) -> Transcript:
        """A past state with what was being brought when it was kept, as far as that has come."""
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
