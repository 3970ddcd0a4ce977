"""How tall ten thousand rows are and where they stand, most of them guessed: what is seen is measured. No Qt here."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Sequence
from itertools import accumulate, compress, count
from operator import attrgetter, is_not, not_

from playground.domain.transcript import common_prefix
from playground.ui.features.conversation.caps import LARGE_MARKDOWN
from playground.ui.features.conversation.rows import Row
from playground.ui.features.conversation.shown_parts import PAGE

GAP = 10
TOP = 10  # above the first row and below the last
LOT = 500  # rows whose heights are guessed at once
SAMPLE = 64  # of more: from so many of them the others are estimated until there is time
_ID = attrgetter("turn.id")


class Heights:
    """Rows and their heights, in pixels. ``rows`` and ``index`` (place by turn id) are to be read only."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.index: dict[str, int] = {}
        self._steps: list[int] = []  # each row's height and the gap below it
        self._tops: list[int] = [TOP]
        self._sound = 0  # the tops up to this one are right
        self._rough: dict[str, Row] = {}  # rows that were taken to be as tall as the average, by turn id

    def set_rows(self, rows: Sequence[Row], guess: Callable[[Row], int], known: Container[str]) -> int:
        """Other rows; returns how many stay as they were. ``known`` are those whose height is kept, changed or not."""
        start = common_prefix(self.rows, rows)
        if self._rewrite(rows, guess, known):
            return start
        fresh = rows[start:]
        ids = list(map(_ID, fresh))
        steps = [0] * len(fresh)
        for at in compress(count(), map(self.index.__contains__, ids)):
            steps[at] = self._step_of(ids[at], fresh[at], known)
        if start:
            for turn_id in map(_ID, self.rows[start:]):
                del self.index[turn_id]
        else:
            self.index.clear()
        self.rows[start:] = fresh
        self.index.update(zip(ids, range(start, len(rows)), strict=True))
        new = list(compress(count(), map(not_, steps)))
        guessed = new if len(new) <= LOT else new[:: len(new) // SAMPLE | 1]  # odd: of questions and answers
        for at in guessed:
            steps[at] = guess(fresh[at]) + GAP
        if len(guessed) < len(new):
            average = sum([steps[at] for at in guessed]) // len(guessed)
            self._rough.update(compress(zip(ids, fresh, strict=True), map(not_, steps)))
            steps = [step or average for step in steps]
        self._steps[start:] = steps
        self._sound = min(self._sound, start)
        return start

    def _step_of(self, turn_id: str, row: Row, known: Container[str]) -> int:
        """The step of a row of a turn that was there, as it is now; 0 for one that was another one."""
        at = self.index[turn_id]
        return self._steps[at] if self.rows[at] is row or turn_id in known else 0

    @property
    def rough(self) -> bool:
        """Whether there are rows to ``refine``."""
        return bool(self._rough)

    def refine(self, guess: Callable[[Row], int]) -> None:
        """Guess the heights of some rows that were estimated from others."""
        for _ in range(min(LOT, len(self._rough))):
            turn_id, row = self._rough.popitem()  # from the end, where most people are
            at = self.index.get(turn_id)
            if at is not None and self.rows[at] is row:
                self.set_height(at, guess(row))

    def _rewrite(self, rows: Sequence[Row], guess: Callable[[Row], int], known: Container[str]) -> bool:
        """Whether these are the same turns in the same order: then those that say something else have been put in."""
        if len(rows) != len(self.rows):
            return False
        others = list(compress(count(), map(is_not, self.rows, rows)))
        if any(self.rows[at].id != rows[at].id for at in others):
            return False
        for at in others:
            row = rows[at]
            self.set_row(at, row, self.height(at) if row.id in known else guess(row))
        return True

    def set_row(self, at: int, row: Row, height: int) -> None:
        """Another row of the same turn, and its height."""
        self.rows[at] = row
        self.set_height(at, height)

    def height(self, at: int) -> int:
        """How tall a row is."""
        return self._steps[at] - GAP

    def set_height(self, at: int, height: int) -> bool:
        """Whether the row had another height until now."""
        if self._rough:
            self._rough.pop(self.rows[at].turn.id, None)
        if self._steps[at] == height + GAP:
            return False
        self._steps[at] = height + GAP
        self._sound = min(self._sound, at)
        return True

    def top(self, at: int) -> int:
        """Where a row begins."""
        self._sum()
        return self._tops[at]

    @property
    def total(self) -> int:
        """The height of all rows together, with the room above and below; 0 without any."""
        self._sum()
        return self._tops[-1] + TOP if self.rows else 0

    def row_at(self, y: int) -> int:
        """The row that stands at a height, or the nearest one; 0 without any."""
        self._sum()
        return min(max(bisect_right(self._tops, y) - 1, 0), max(len(self.rows) - 1, 0))

    def _sum(self) -> None:
        if self._sound < len(self._steps) or len(self._tops) != len(self._steps) + 1:
            start = self._sound
            self._tops[start:] = accumulate(self._steps[start:], initial=self._tops[start])
            self._sound = len(self._steps)


def guesser(width: int, zoom: float) -> Callable[[Row], int]:
    """How tall the card of a row may be at a width and text size, from its letters; close enough to scroll by."""
    letters = max(int((width - 32) / (7 * zoom)), 20)
    line = 20 * zoom

    def guess(row: Row) -> int:
        height = 80.0
        for part in row.turn.parts[:PAGE]:
            if part.kind == "text":
                text = part.text if len(part.text) <= LARGE_MARKDOWN else part.text[:LARGE_MARKDOWN]
                height += (len(text) // letters + text.count("\n") // 2) * line
            elif part.kind == "tool_call":
                height += 90
            elif part.kind == "reasoning":
                height += 34
        return int(height)

    return guess
