"""Where rows stand, one below the other: a height for each, measured or guessed. No Qt.

Ten thousand rows are sums of numbers, redone from the first one that changed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Sequence
from itertools import accumulate, compress, count
from operator import is_not

from playground.ui.features.conversation.large import BEGINNING, LARGE_MARKDOWN
from playground.ui.features.conversation.rows import Row, common_prefix
from playground.ui.features.conversation.shown_parts import PAGE

GAP = 10
TOP = 10  # above the first row and below the last


class Heights:
    """Rows and their heights, in pixels. ``rows`` and ``index`` (place by turn id) are to be read only."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.index: dict[str, int] = {}
        self._steps: list[int] = []  # each row's height and the gap below it
        self._tops: list[int] = [TOP]
        self._sound = 0  # the tops up to this one are right

    def set_rows(self, rows: Sequence[Row], guess: Callable[[Row], int], known: Container[str]) -> int:
        """Other rows; returns how many stay as they were. ``known`` are those whose height is kept, changed or not."""
        start = common_prefix(self.rows, rows)
        if self._rewrite(rows, guess, known):
            return start
        before = {row.id: (row, step) for row, step in zip(self.rows[start:], self._steps[start:], strict=True)}
        for turn_id in before:
            del self.index[turn_id]
        del self.rows[start:], self._steps[start:]
        fresh = rows[start:]
        self.rows += fresh
        ids = [row.turn.id for row in fresh]
        self.index.update(zip(ids, range(start, len(rows)), strict=True))
        if not before:
            self._steps += [guess(row) + GAP for row in fresh]
        else:
            for turn_id, row in zip(ids, fresh, strict=True):
                old, step = before.get(turn_id, (None, 0))
                kept = old is not None and (old is row or turn_id in known)
                self._steps.append(step if kept else guess(row) + GAP)
        self._sound = min(self._sound, start)
        return start

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
                text = part.text if len(part.text) <= LARGE_MARKDOWN else part.text[:BEGINNING]
                height += (len(text) // letters + text.count("\n") // 2) * line
            elif part.kind == "tool_call":
                height += 90
            elif part.kind == "reasoning":
                height += 34
        return int(height)

    return guess
