"""What of a text stands folded in a field for typing: a long line but for its ends, most of many lines.

Qt lays out a line as a whole, in the square of its length, and again at every key. What is folded is one character of
the document, drawn as a chip with its size; it is sent, copied, deleted and brought back by undo as the text it stands
for.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

LONG_LINE: Final = 10_000  # characters of a line that is folded
HEAD, TAIL = 2_000, 500  # of it that are seen
WINDOW: Final = 4_000  # and that are seen when it is opened somewhere
MOST_LINES: Final = 10_000  # of a text that are not folded
HEAD_LINES, TAIL_LINES = 4_000, 500
MOST: Final = 800_000  # of what lines cost, see ``_cost``, that is laid out at once: a twentieth of a second or two
HEAD_COST, TAIL_COST = 300_000, 100_000
#: The character that stands for what is folded; one in the text itself is kept as another.
MARK: Final = chr(0xFFFC)


class Folded(str):
    """A piece of a text that is not shown."""

    __slots__ = ()

    @property
    def words(self) -> str:
        """What the chip says."""
        lines = self.count("\n")
        return f"{lines:,} line{'s' if lines != 1 else ''} folded" if lines else f"{len(self):,} characters folded"


def pieces(text: str) -> list[str]:
    """A text whose lines end with LF, in pieces; those that are ``Folded`` are not shown."""
    lines = list(islice(_lines(text), MOST_LINES + 2))
    if len(lines) <= MOST_LINES + 1 and sum(_cost(stop - start) for start, stop in lines) <= MOST:
        return _by_lines(text)
    start, stop = _after_lines(text), _before_lines(text)
    if start >= stop:  # a line or two are all there is, each long
        return _by_lines(text)
    return [*_by_lines(text[:start]), Folded(text[start:stop]), *_by_lines(text[stop:])]


def opened(text: str, before: str, after: str) -> tuple[list[str], bool]:
    """What is shown when a fold of ``text`` is opened, in its place or, with True, in that of its line.

    ``before`` and ``after`` are the rest of the line it stands in.
    """
    if "\n" in text:
        end = _after_lines(text)
        return [*_by_lines(text[:end]), *([Folded(text[end:])] if end < len(text) else [])], False
    line, at = before + text + after, len(before)
    return _around(line, at), True


def around(line: str, at: int) -> list[str]:
    """A line in pieces, with the characters around one place shown."""
    return _around(line, at) if len(line) > LONG_LINE else [line]


def _around(line: str, at: int) -> list[str]:
    start, stop = max(at - WINDOW // 4, 0), min(at + WINDOW, len(line))
    start = start if start > TAIL else 0
    stop = stop if stop < len(line) - TAIL else len(line)
    out = [line[:TAIL], Folded(line[TAIL:start])] if start else []
    out.append(line[start:stop])
    return [*out, Folded(line[stop : len(line) - TAIL]), line[len(line) - TAIL :]] if stop < len(line) else out


def _by_lines(text: str) -> list[str]:
    out, at = [], 0
    for start, stop in _lines(text) if len(text) > LONG_LINE else ():
        if stop - start > LONG_LINE:
            out += [text[at : start + HEAD], Folded(text[start + HEAD : stop - TAIL])]
            at = stop - TAIL
    return [*out, text[at:]]


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Where each line begins and ends. ``find`` alone goes over ten megabytes in a moment: ``count`` takes 8 ms."""
    at = 0
    while (end := text.find("\n", at)) >= 0:
        yield at, end
        at = end + 1
    yield at, len(text)


def _cost(length: int) -> int:
    """What laying out a line takes, about 0.07 µs each: it grows with the square of what is shown of it."""
    shown = length if length <= LONG_LINE else HEAD + TAIL
    return shown + shown * shown // 200


def _after_lines(text: str) -> int:
    """Where the lines at the beginning end that are shown, one at least."""
    cost = end = 0
    for start, stop in islice(_lines(text), HEAD_LINES):
        cost += _cost(stop - start)
        if start and cost > HEAD_COST:
            break
        end = min(stop + 1, len(text))
    return end


def _before_lines(text: str) -> int:
    """Where the lines at the end begin that are shown, one at least."""
    at, cost = len(text), 0
    for number in range(TAIL_LINES):
        before = text.rfind("\n", 0, at - 1 if number else at)
        cost += _cost(at - before - 1)
        if number and cost > TAIL_COST:
            break
        at = before + 1
        if not at:
            break
    return at
