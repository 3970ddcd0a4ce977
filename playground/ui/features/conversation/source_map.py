"""Which characters of a source text each drawn line shows: Markdown's marks are passed over, everything else is found.

No Qt here. What is drawn is, but for marks, laid out spaces and a few replaced characters, the source in its own order;
so both are walked through side by side. Characters that cannot be found are left out rather than guessed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from playground.ui.features.conversation.markdown import Line

BREAK: Final = "\u2028"  # a line end inside a paragraph that is drawn
#: Characters that are looked for at once when the two do not agree, and how far ahead.
_AHEAD: Final = ((16, 4_000), (8, 600), (4, 80))
#: What Markdown writes and does not show, in the order in which it is tried.
_MARKUP: Final = re.compile(
    r"""(?:\]|(?<=\]))\((?:[^()\\\n]|\\.|\([^()\n]*\))*\)   # where a link leads
      | !?\[ | \]                               # around its words
      | [*_~`]+ | \\(?=[^\w\s]) | <(?=\w+:) | (?<=\w)> | \| | [=\-]{3,}(?=\s|\Z)
      | \s+""",
    re.VERBOSE,
)
#: What stands before the words of a line of the source.
_LEAD: Final = re.compile(
    r"""(?:[ \t]*(?:>[ \t]?|(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)[ \t]*|\#{1,6}(?=[ \t])[ \t]*|\|[ \t]*))+""",
    re.VERBOSE,
)
_FENCE: Final = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)*[ \t]*(?:`{3,}|~{3,})[^\n]*\n?")
_DELIMITER: Final = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*(?:\n|\Z)")
_ENTITY: Final = re.compile(r"&(?:#\w+|\w+);")
_QUOTED: Final = re.compile(r"[ \t>]*")


class Run(NamedTuple):
    """Characters drawn one after the other that stand so in the source: ``cell`` counts the cells of a table."""

    line: int
    cell: int
    start: int
    source: int
    length: int


class Stretch(NamedTuple):
    """Characters of one paragraph that is drawn."""

    line: int
    cell: int
    start: int
    end: int


class SourceMap:
    """Grows with its text: ``follow`` goes on from the first line that is different."""

    def __init__(self) -> None:
        self._source = ""
        self._runs: list[Run] = []
        self._begins: list[int] = []  # where in the source each line was begun to be looked for
        self._at = 0

    def follow(self, first: int, source: str, lines: Sequence[Line]) -> None:
        """The text is ``source``, drawn as ``lines``, which are new from ``first`` on."""
        first = min(first, len(self._begins))
        self._source = source.replace("\0", "\ufffd")
        if first < len(self._begins):
            self._at = self._begins[first]
            del self._begins[first:]
            del self._runs[bisect_left(self._runs, (first,)) :]
        for number in range(first, len(lines)):
            self._begins.append(self._at)
            line = lines[number]
            cells = [cell for row in line.rows for cell in row] if line.kind == "table" else [line.spans]
            for cell, spans in enumerate(cells):
                self._paragraph(number, cell, "".join([span.text for span in spans]), line)

    def drawn(self, start: int, end: int) -> list[Stretch]:
        """Where the characters of the source from ``start`` up to and without ``end`` are drawn."""
        out: list[Stretch] = []
        at = max(bisect_right(self._runs, start, key=lambda run: run.source) - 1, 0)
        for run in self._runs[at:]:
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
        at = bisect_left(self._runs, place, key=lambda run: run.source) - 1
        if at < 0:
            return None
        run = self._runs[at]
        last = run.start + min(place - run.source, run.length) - 1
        return Stretch(run.line, run.cell, last, last + 1)

    def source_of(self, first: tuple[int, int, int], last: tuple[int, int, int]) -> tuple[int, int] | None:
        """What of the source is drawn between two places (line, cell, character); None for nothing of it."""
        runs = self._runs
        at = max(bisect_right(runs, first, key=lambda run: (run.line, run.cell, run.start)) - 1, 0)
        found: tuple[int, int] | None = None
        for run in runs[at:]:
            place = (run.line, run.cell)
            if (*place, run.start) >= last:
                break
            begin = max(first[2] - run.start, 0) if place == first[:2] else 0
            stop = min(last[2] - run.start, run.length) if place == last[:2] else run.length
            if place < first[:2] or begin >= stop:
                continue
            found = (found[0] if found else run.source + begin, run.source + stop)
        return found

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
        at = 0
        while at < len(text):
            if not exact and self._entity(text[at]):
                self._runs.append(Run(number, cell, at, self._at, 1))
                self._at = _end(_ENTITY, self._source, self._at)
                at += 1
            elif same := self._same(text, at, exact=exact):
                self._runs.append(Run(number, cell, at, self._at, same))
                self._at += same
                at += same
            elif text[at] == BREAK:
                end = self._line_end()
                if end >= 0:
                    self._runs.append(Run(number, cell, at, end, 1))
                    self._at = _end(_QUOTED, self._source, end + 1)
                at += 1
            elif not self._pass_over(text, at):
                at += 1  # drawn, and not in the source: a space of the layout, a mark

    def _same(self, text: str, at: int, *, exact: bool) -> int:
        """How many characters from here on are the same in both, up to one that the source may have spelled out."""
        source, begin = self._source, self._at
        most = min(len(text) - at, len(source) - begin)
        if not exact and (entity := text.find("&", at + 1)) >= 0:
            most = min(most, entity - at)
        if source.startswith(text[at : at + most], begin):
            return most
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if source.startswith(text[at : at + middle], begin) else (low, middle - 1)
        return low

    def _line_end(self) -> int:
        """Where the line of the source ends, if nothing but marks is left of it; else -1."""
        here = self._at
        while here < len(self._source) and self._source[here] != "\n":
            if self._source[here] in " \t\r\\":
                here += 1
            elif (end := _end(_MARKUP, self._source, here)) > here:
                here = end
            else:
                return -1
        return here if here < len(self._source) else -1

    def _entity(self, character: str) -> bool:
        import html  # late: the names of two thousand letters

        found = _ENTITY.match(self._source, self._at)
        return found is not None and html.unescape(found[0]) == character

    def _pass_over(self, text: str, at: int) -> bool:
        """Go past what the source has and the text has not. Returns whether the text goes on there."""
        source, here, wanted = self._source, self._at, text[at]
        while here < len(source) and source[here] != wanted:
            found = _MARKUP.match(source, here)
            if found is None:
                break
            here = found.end()
            if "\n" in found[0] and wanted not in "-*+#>|`~":
                here = _end(_LEAD, source, here)
        if here > self._at and source[here : here + 1] == wanted:
            self._at = here
            return True
        if wanted.isspace():
            return False
        for length, distance in _AHEAD:
            piece = text[at : at + length].partition(BREAK)[0]
            if len(piece) < min(length, 4):
                continue
            place = source.find(piece, self._at, self._at + distance)
            if place >= 0:
                self._at = place
                return True
        return False

    # Where a paragraph begins

    def _enter_words(self, text: str) -> None:
        """Go past blank lines, fences that end, the marks of items, headings and quotes, and a table's second line."""
        source = self._source
        while self._at < len(source):
            here = self._at
            if here == 0 or source[here - 1] == "\n":
                for pattern in (_FENCE, _DELIMITER):
                    if not source.startswith(text[:4], here):
                        here = _end(pattern, source, here)
                here = _end(_LEAD, source, here) if here == self._at else here
            if here < len(source) and source[here] in " \t\r\n" and not source.startswith(text, here):
                here += 1
            if here == self._at:
                return
            self._at = here

    def _enter_code(self, text: str) -> None:
        """Go past the fence; indented code has none."""
        source = self._source
        here = self._at
        while here < len(source):
            line = source.find("\n", here) + 1 or len(source)
            if here == 0 or source[here - 1] == "\n":
                fence = _FENCE.match(source, here)
                if fence is not None:
                    self._at = fence.end()
                    return
                if source[here:line].strip():
                    break
            here = line if not source[here:line].strip() else here + 1
        self._skip_line_ends(text)

    def _skip_line_ends(self, text: str) -> None:
        source = self._source
        while self._at < len(source) and source[self._at] in "\r\n" and not source.startswith(text, self._at):
            self._at += 1


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where a match at a place ends; the place itself without one."""
    found = pattern.match(text, at)
    return found.end() if found is not None else at
