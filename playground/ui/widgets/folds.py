"""Fold the parts of a text that are too long to edit: the middle of a long line, and most of very many lines.

Qt lays out a line as a whole at every key, in time quadratic in its length. A fold is one character of the document,
drawn as a chip with its size; sending, copying, deleting and undo treat it as the full text.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

LONG_LINE: Final = 10_000  # characters of a line that is folded
HEAD, TAIL = 2_000, 500  # characters shown of it
WINDOW: Final = 4_000  # characters shown where it is opened
MOST_LINES: Final = 10_000  # lines of a text that are not folded
HEAD_LINES, TAIL_LINES = 4_000, 500
MOST: Final = 800_000  # cost of lines, see ``_cost``, that is laid out at once
HEAD_COST, TAIL_COST = 300_000, 100_000
#: The character that represents a fold; the document stores the same character of the text under a substitute.
MARK: Final = chr(0xFFFC)


class Folded(str):
    """A piece of a text that is not shown."""

    __slots__ = ()

    @property
    def words(self) -> str:
        """The text of the chip."""
        lines = self.count("\n")
        return f"{lines:,} line{'s' if lines != 1 else ''} folded" if lines else f"{len(self):,} characters folded"


def pieces(text: str) -> list[str]:
    """Split a text whose lines end with LF into pieces; the ``Folded`` ones are not shown."""
    lines = list(islice(_lines(text), MOST_LINES + 2))
    if len(lines) <= MOST_LINES + 1 and sum(_cost(stop - start) for start, stop in lines) <= MOST:
        return _fold_long_lines(text)
    start, stop = _end_of_head(text), _start_of_tail(text)
    if start >= stop:  # the text is one or two long lines
        return _fold_long_lines(text)
    return [*_fold_long_lines(text[:start]), Folded(text[start:stop]), *_fold_long_lines(text[stop:])]


def opened(text: str, before: str, after: str) -> tuple[list[str], bool]:
    """Return the pieces that replace an opened fold of ``text``, and True if they replace its whole line.

    ``before`` and ``after`` are the rest of the line that contains the fold.
    """
    if "\n" in text:
        end = _end_of_head(text)
        return [*_fold_long_lines(text[:end]), *([Folded(text[end:])] if end < len(text) else [])], False
    line, index = before + text + after, len(before)
    return _split_around(line, index), True


def around(line: str, index: int) -> list[str]:
    """Split a line into pieces, with the characters around ``index`` shown."""
    return _split_around(line, index) if len(line) > LONG_LINE else [line]


def _split_around(line: str, index: int) -> list[str]:
    start, stop = max(index - WINDOW // 4, 0), min(index + WINDOW, len(line))
    start = start if start > TAIL else 0
    stop = stop if stop < len(line) - TAIL else len(line)
    parts = [line[:TAIL], Folded(line[TAIL:start])] if start else []
    parts.append(line[start:stop])
    return [*parts, Folded(line[stop : len(line) - TAIL]), line[len(line) - TAIL :]] if stop < len(line) else parts


def _fold_long_lines(text: str) -> list[str]:
    parts, position = [], 0
    for start, stop in _lines(text) if len(text) > LONG_LINE else ():
        if stop - start > LONG_LINE:
            parts += [text[position : start + HEAD], Folded(text[start + HEAD : stop - TAIL])]
            position = stop - TAIL
    return [*parts, text[position:]]


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each line, lazily: the caller stops early in a long text."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield start, end
        start = end + 1
    yield start, len(text)


def _cost(length: int) -> int:
    """Return the relative cost of laying out a line: it grows with the square of the characters shown."""
    visible = length if length <= LONG_LINE else HEAD + TAIL
    return visible + visible * visible // 200


def _end_of_head(text: str) -> int:
    """Return the end of the lines shown at the beginning, at least one."""
    cost = end = 0
    for start, stop in islice(_lines(text), HEAD_LINES):
        cost += _cost(stop - start)
        if start and cost > HEAD_COST:
            break
        end = min(stop + 1, len(text))
    return end


def _start_of_tail(text: str) -> int:
    """Return the start of the lines shown at the end, at least one."""
    start, cost = len(text), 0
    for number in range(TAIL_LINES):
        before = text.rfind("\n", 0, start - 1 if number else start)
        cost += _cost(start - before - 1)
        if number and cost > TAIL_COST:
            break
        start = before + 1
        if not start:
            break
    return start
