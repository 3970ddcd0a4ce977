"""Map drawn characters to the source: marks of Markdown are passed over, all other characters are matched.

Drawn text is the source in its own order, but for marks, spaces of the layout and a few replaced characters; so both
are walked side by side. Characters without a match are left out rather than guessed. No Qt here.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from playground.ui.features.conversation.markdown import Line

BREAK: Final = "\u2028"  # a line end inside a paragraph that is drawn
#: Characters that are searched for when the two differ, and how far ahead.
_AHEAD: Final = ((16, 4_000), (8, 600), (4, 80))
#: Markdown's marks, which are not drawn, in the order in which they are tried.
_MARKUP: Final = re.compile(
    r"""(?:\]|(?<=\]))\((?:[^()\\\n]|\\.|\([^()\n]*\))*\)   # where a link leads
      | !?\[ | \]                               # around its words
      | [*_~`]+ | \\(?=[^\w\s]) | <(?=\w+:) | (?<=\w)> | \| | [=\-]{3,}(?=\s|\Z)
      | \s+""",
    re.VERBOSE,
)
#: Marks in front of the words of a source line.
_LEAD: Final = re.compile(
    r"""(?:[ \t]*(?:>[ \t]?|(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)[ \t]*|\#{1,6}(?=[ \t])[ \t]*|\|[ \t]*))+""",
    re.VERBOSE,
)
_FENCE: Final = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)*[ \t]*(?:`{3,}|~{3,})[^\n]*\n?")
_DELIMITER: Final = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*(?:\n|\Z)")
_ENTITY: Final = re.compile(r"&(?:#\w+|\w+);")
_QUOTED: Final = re.compile(r"[ \t>]*")


class Run(NamedTuple):
    """Drawn characters that follow one another in the source; ``cell`` counts the cells of a table."""

    line: int
    cell: int
    start: int
    source: int
    length: int


class Stretch(NamedTuple):
    """The characters of one drawn paragraph."""

    line: int
    cell: int
    start: int
    end: int


class SourceMap:
    """Map of a growing text; ``follow`` continues from the first line that differs."""

    def __init__(self) -> None:
        self._source = ""
        self._runs: list[Run] = []
        self._starts: list[int] = []  # of the search for each line, in the source
        self._position = 0

    def follow(self, first: int, source: str, lines: Sequence[Line]) -> None:
        """Map ``source``, drawn as ``lines``, which are new from ``first`` on."""
        first = min(first, len(self._starts))
        self._source = source.replace("\0", "\ufffd")
        if first < len(self._starts):
            self._position = self._starts[first]
            del self._starts[first:]
            del self._runs[bisect_left(self._runs, (first,)) :]
        for number in range(first, len(lines)):
            self._starts.append(self._position)
            line = lines[number]
            cells = [cell for row in line.rows for cell in row] if line.kind == "table" else [line.spans]
            for cell, spans in enumerate(cells):
                self._paragraph(number, cell, "".join([span.text for span in spans]), line)

    def drawn(self, start: int, end: int) -> list[Stretch]:
        """Return where the characters of the source from ``start`` to ``end``, without the last, are drawn."""
        out: list[Stretch] = []
        first_run = max(bisect_right(self._runs, start, key=lambda run: run.source) - 1, 0)
        for run in self._runs[first_run:]:
            if run.source >= end:
                break
            first, last = max(start, run.source) - run.source, min(end, run.source + run.length) - run.source
            if first >= last:
                continue
            begin, stop = run.start + first, run.start + last
            if out and (out[-1].line, out[-1].cell, out[-1].end) == (run.line, run.cell, begin):
                out[-1] = out[-1]._replace(end=stop)
            else:
                out.append(Stretch(run.line, run.cell, begin, stop))
        return out

    def before(self, place: int) -> Stretch | None:
        """Return the drawn character in front of a place of the source."""
        first_run = bisect_left(self._runs, place, key=lambda run: run.source) - 1
        if first_run < 0:
            return None
        run = self._runs[first_run]
        last = run.start + min(place - run.source, run.length) - 1
        return Stretch(run.line, run.cell, last, last + 1)

    def source_of(self, first: tuple[int, int, int], last: tuple[int, int, int]) -> tuple[int, int] | None:
        """Return the characters of the source drawn between two places (line, cell, character); None for none."""
        runs = self._runs
        first_run = max(bisect_right(runs, first, key=lambda run: (run.line, run.cell, run.start)) - 1, 0)
        span: tuple[int, int] | None = None
        for run in runs[first_run:]:
            place = (run.line, run.cell)
            if (*place, run.start) >= last:
                break
            begin = max(first[2] - run.start, 0) if place == first[:2] else 0
            stop = min(last[2] - run.start, run.length) if place == last[:2] else run.length
            if place < first[:2] or begin >= stop:
                continue
            span = (span[0] if span else run.source + begin, run.source + stop)
        return span

    # Walking

    def _paragraph(self, number: int, cell: int, text: str, line: Line) -> None:
        if not text:
            return
        exact = line.kind in ("raw", "plain") or (line.kind == "code" and not line.first)
        if line.kind == "code" and line.first:
            self._enter_code(text)
        elif not exact and not line.joins:
            self._enter_words(text)
        elif exact and not line.joins:
            self._skip_line_ends(text)
        index = 0
        while index < len(text):
            if not exact and self._entity(text[index]):
                self._runs.append(Run(number, cell, index, self._position, 1))
                self._position = _end(_ENTITY, self._source, self._position)
                index += 1
            elif same := self._same(text, index, exact=exact):
                self._runs.append(Run(number, cell, index, self._position, same))
                self._position += same
                index += same
            elif text[index] == BREAK:
                end = self._line_end()
                if end >= 0:
                    self._runs.append(Run(number, cell, index, end, 1))
                    self._position = _end(_QUOTED, self._source, end + 1)
                index += 1
            elif not self._pass_over(text, index):
                index += 1  # drawn and not in the source: a space of the layout, a mark

    def _same(self, text: str, index: int, *, exact: bool) -> int:
        """Return how many characters are equal in both, up to one that the source may spell as an entity."""
        source, begin = self._source, self._position
        most = min(len(text) - index, len(source) - begin)
        if not exact and (entity := text.find("&", index + 1)) >= 0:
            most = min(most, entity - index)
        if source.startswith(text[index : index + most], begin):
            return most
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if source.startswith(text[index : index + middle], begin) else (low, middle - 1)
        return low

    def _line_end(self) -> int:
        """Return where the source line ends if only marks are left of it; else -1."""
        position = self._position
        while position < len(self._source) and self._source[position] != "\n":
            if self._source[position] in " \t\r\\":
                position += 1
            elif (end := _end(_MARKUP, self._source, position)) > position:
                position = end
            else:
                return -1
        return position if position < len(self._source) else -1

    def _entity(self, character: str) -> bool:
        import html  # late: a table of two thousand names

        match = _ENTITY.match(self._source, self._position)
        return match is not None and html.unescape(match[0]) == character

    def _pass_over(self, text: str, index: int) -> bool:
        """Skip characters that only the source has. Return whether the text continues there."""
        source, position, character = self._source, self._position, text[index]
        while position < len(source) and source[position] != character:
            match = _MARKUP.match(source, position)
            if match is None:
                break
            position = match.end()
            if "\n" in match[0] and character not in "-*+#>|`~":
                position = _end(_LEAD, source, position)
        if position > self._position and source[position : position + 1] == character:
            self._position = position
            return True
        if character.isspace():
            return False
        for length, distance in _AHEAD:
            piece = text[index : index + length].partition(BREAK)[0]
            if len(piece) < min(length, 4):
                continue
            place = source.find(piece, self._position, self._position + distance)
            if place >= 0:
                self._position = place
                return True
        return False

    # Where a paragraph begins

    def _enter_words(self, text: str) -> None:
        """Pass over blank lines, closing fences, marks of items, headings and quotes, and a table's delimiter line."""
        source = self._source
        while self._position < len(source):
            position = self._position
            if position == 0 or source[position - 1] == "\n":
                for pattern in (_FENCE, _DELIMITER):
                    if not source.startswith(text[:4], position):
                        position = _end(pattern, source, position)
                position = _end(_LEAD, source, position) if position == self._position else position
            if position < len(source) and source[position] in " \t\r\n" and not source.startswith(text, position):
                position += 1
            if position == self._position:
                return
            self._position = position

    def _enter_code(self, text: str) -> None:
        """Pass over the opening fence; indented code has none."""
        source = self._source
        position = self._position
        while position < len(source):
            line = source.find("\n", position) + 1 or len(source)
            if position == 0 or source[position - 1] == "\n":
                fence = _FENCE.match(source, position)
                if fence is not None:
                    self._position = fence.end()
                    return
                if source[position:line].strip():
                    break
            position = line if not source[position:line].strip() else position + 1
        self._skip_line_ends(text)

    def _skip_line_ends(self, text: str) -> None:
        source = self._source
        while (
            self._position < len(source)
            and source[self._position] in "\r\n"
            and not source.startswith(text, self._position)
        ):
            self._position += 1


def _end(pattern: re.Pattern[str], text: str, index: int) -> int:
    """Return where a match at an index ends; the index itself without one."""
    match = pattern.match(text, index)
    return match.end() if match is not None else index
