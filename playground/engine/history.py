"""The transcripts an experiment can go back and forth to.

A run goes on while a person edits: what it brought is laid over a past state when that state is gone back to, so that
undoing an edit never loses an answer. Nothing is rewritten while turns arrive, however much is remembered.
"""

from __future__ import annotations

from dataclasses import dataclass

from playground.domain.transcript import Transcript, Turn

UNDO_DEPTH = 200


@dataclass(frozen=True, slots=True)
class _Past:
    """A transcript, the sources that were bringing turns when it was kept, and how much they had brought by then."""

    transcript: Transcript
    sources: frozenset[str]
    brought: int


class History:
    """What can be undone and redone. A *source* is a name for something that brings turns: a lane, or one turn."""

    def __init__(self) -> None:
        self._undo: list[_Past] = []
        self._redo: list[_Past] = []
        self._open: set[str] = set()
        self._brought: dict[str, tuple[int, str, Turn]] = {}  # turn id → when it came first, its source, the turn
        self._count = 0

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

    def keep(self, transcript: Transcript, by: str = "") -> None:
        """``transcript`` can be gone back to. ``by`` is the source that is about to go on, if one is."""
        self._undo.append(self._past(transcript, by))
        del self._undo[:-UNDO_DEPTH]
        self._redo.clear()

    def drop_last(self, transcript: Transcript) -> None:
        """Forget the last state kept if it is that very transcript."""
        if self._undo and self._undo[-1].transcript is transcript:
            self._undo.pop()

    def undo(self, now: Transcript) -> Transcript | None:
        """The state before, ``now`` kept for redo; None when there is none."""
        return self._travel(self._undo, self._redo, now)

    def redo(self, now: Transcript) -> Transcript | None:
        """The state after, ``now`` kept for undo; None when there is none."""
        return self._travel(self._redo, self._undo, now)

    def _past(self, transcript: Transcript, by: str = "") -> _Past:
        return _Past(transcript, frozenset(self._open - {by}), self._count)

    def _travel(self, source: list[_Past], target: list[_Past], now: Transcript) -> Transcript | None:
        if not source:
            return None
        target.append(self._past(now))
        past = source.pop()
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
