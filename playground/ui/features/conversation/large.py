"""Texts too large to be drawn whole: from which size on they are, the parts they are shown in, what is found in them.

No Qt here. A large text is folded to its beginning; opened, it is shown a part at a time, exactly as it is, and is
searched as it is, too. Every question is answered by looking at one part, or in parts of a few milliseconds.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Generator
from itertools import islice
from typing import Final, NamedTuple

from playground.ui.features.conversation.caps import LONG_LINE
from playground.ui.widgets.plain_text import HIDDEN, show_hidden, show_prose

LARGE: Final = 40_000  # characters of exact text that are drawn whole: a tenth of a second when all is drawn again
LINES: Final = 800  # lines of it; a short line costs as much as two hundred characters of a long one
LARGE_MARKDOWN: Final = 100_000  # characters of Markdown
GROWN_MARKDOWN: Final = 400_000  # of Markdown that is watched while it comes: nobody folds what is being read
BEGINNING, BEGINNING_LINES = 3_000, 30  # of a large text that are seen while it is folded
PIECE, PIECE_LINES = 700, 40  # that are drawn at once; the next ones follow frame by frame
SLICE = 100_000  # characters that are looked through at once
_END = re.compile(r"\r\n|\n|\r")
_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")


class Part(NamedTuple):
    """Characters of a text from ``start`` up to and without ``stop``."""

    start: int
    stop: int


class MeasuredText:
    """A text that may grow, and how large it is. Its lines and bytes are counted when they are first asked for."""

    def __init__(self, text: str = "") -> None:
        self._pieces = [text] if text else []
        self.length = len(text)
        self._line_ends = self._bytes = 0
        self._counted = 0  # pieces that are in both
        self._returned = False  # whether what is counted ends with half a line end

    def append_text(self, text: str) -> None:
        """More at the end."""
        self._pieces.append(text)
        self.length += len(text)

    def is_start_of(self, text: str) -> bool:
        """Return whether ``text`` begins with this text; the pieces are not joined for it."""
        start = 0
        for piece in self._pieces:
            if not text.startswith(piece, start):
                return False
            start += len(piece)
        return True

    def share(self, text: str) -> None:
        """Keep ``text``, which equals this text, instead of a copy of its own."""
        self._count()
        self._pieces, self._counted = [text], 1

    @property
    def counted(self) -> bool:
        """Whether asking for its figures takes no time worth a word."""
        return sum(map(len, self._pieces[self._counted :])) <= SLICE

    @property
    def line_ends(self) -> int:
        """How many lines end in it."""
        self._count()
        return self._line_ends

    @property
    def bytes(self) -> int:
        """How long it is as UTF-8."""
        self._count()
        return self._bytes

    @property
    def lines(self) -> int:
        """How many lines it has; the end of the last one begins no other."""
        ended = bool(self._pieces) and self._pieces[-1].endswith(("\n", "\r"))
        return self.line_ends + (not ended)

    @property
    def text(self) -> str:
        """All of it, exactly."""
        if len(self._pieces) > 1:
            self._count()
            self._pieces = ["".join(self._pieces)]
            self._counted = 1
        return self._pieces[0] if self._pieces else ""

    def is_large(self, mode: str, *, grown: bool = False) -> bool:
        """Whether it is not drawn whole in this mode; ``grown``: somebody has watched it come."""
        if mode == "markdown":
            return self.length > (GROWN_MARKDOWN if grown else LARGE_MARKDOWN)
        return self.length > LARGE or self.line_ends > LINES

    def _count(self) -> None:
        for text in self._pieces[self._counted :]:
            self._bytes += len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
            self._line_ends += line_ends(text) - (self._returned and text.startswith("\n"))
            self._returned = text.endswith("\r")
        self._counted = len(self._pieces)


def is_large(text: str, mode: str) -> bool:
    """Whether a text is not drawn whole in this mode."""
    if mode == "markdown":
        return len(text) > LARGE_MARKDOWN
    return len(text) > LARGE or line_ends(text) > LINES


def line_ends(text: str, start: int = 0, stop: int = sys.maxsize) -> int:
    """How many lines end in a text; LF, CR and both of them are one end each."""
    count = text.count("\n", start, stop)
    returns = text.count("\r", start, stop)
    return count + returns - (text.count("\r\n", start, stop) if returns else 0)


# Parts: they begin where a line does, or where one is cut that is too long. So each is drawn as in the whole text.


def beginning(text: str) -> Part:
    """What is seen of a large text while it is folded."""
    return Part(0, _stop(text, 0, BEGINNING, BEGINNING_LINES))


def part_from(text: str, start: int) -> Part:
    """The part that begins there."""
    return Part(start, _stop(text, start, LARGE, LINES))


def after(text: str, part: Part) -> Part | None:
    """The part behind one; None at the end."""
    end = _END.match(text, part.stop)
    return part_from(text, end.end() if end else part.stop) if part.stop < len(text) else None


def before(text: str, part: Part) -> Part | None:
    """The part in front of one; None at the beginning."""
    if part.start <= 0:
        return None
    return part_from(text, _back(text, part.start))


def around(text: str, place: int) -> Part:
    """A part with that character in it, some lines from its beginning where there are some."""
    start = line_start(text, place)
    for _ in range(BEGINNING_LINES // 2):
        if start <= 0 or place - start > LARGE // 4:
            break
        start = line_start(text, start - 1)
    return part_from(text, start)


def last(text: str) -> Part:
    """The part at the end."""
    return part_from(text, _back(text, len(text)))


def piece_end(text: str, at: int, stop: int, size: int = PIECE, lines: int = PIECE_LINES) -> int:
    """Where a piece that is drawn at once ends, if the text is to be drawn up to ``stop``."""
    end = min(at + size, stop)
    last_end = next(islice(_END.finditer(text, at, end), lines - 1, None), None)
    return last_end.end() if last_end is not None else end


def line_start(text: str, place: int) -> int:
    """Where the line drawn begins that holds a place: a long line is cut into several."""
    start = max(text.rfind("\n", 0, max(place, 0)), text.rfind("\r", 0, max(place, 0))) + 1
    return start + max(place - start, 0) // LONG_LINE * LONG_LINE


def line_number(text: str, place: int) -> int:
    """The number of the line that holds a place, from 1."""
    return line_ends(text, 0, place) + 1


def _stop(text: str, start: int, size: int, lines: int) -> int:
    """Where a part from ``start`` on ends: before a line end, where a long line is cut, or with the text."""
    end = min(start + size, len(text))
    ends = [found.span() for found in islice(_END.finditer(text, start, end), lines)]
    whole = len(ends) == lines
    if not whole and end == len(text):
        return end
    if ends and (whole or ends[-1][0] > start + size // 2):
        stop, behind = ends[-1]
        return behind if behind == len(text) else stop
    cut = line_start(text, end)
    return cut if cut > start else end


def _back(text: str, stop: int) -> int:
    """Where the part begins that ends at ``stop``."""
    least = max(stop - LARGE, 0)
    starts = [found.end() for found in _END.finditer(text, least, stop)]
    if starts and starts[-1] == stop:
        starts.pop()  # that is the end of the last line of the part
    if len(starts) >= LINES:
        return starts[-LINES]
    if least == 0:
        return 0
    if starts and starts[0] < stop - LARGE // 2:
        return starts[0]
    return min(line_start(text, least) + LONG_LINE, max(stop - 1, 0))


# Finding

#: Where patterns were found in large texts: those of the pattern looked for, and of the one before.
_found: dict[re.Pattern[str], dict[str, array[int]]] = {}


def found_places(text: str, pattern: re.Pattern[str]) -> array[int] | None:
    """Where a pattern is in a large text that has been looked through; None where it has not."""
    return _found.get(pattern, {}).get(text)


def look_through(text: str, pattern: re.Pattern[str], mode: str) -> Generator[None, None, int]:
    """Find every place of a pattern in a large text; pauses now and then. Returns how many there are."""
    known = found_places(text, pattern)
    if known is not None:
        return len(known)
    places: array[int] = array("Q")
    at = 0
    while at < len(text):
        end = len(text)
        if at + SLICE < end:
            end = text.rfind("\n", at, at + SLICE) + 1 or line_start(text, at + SLICE)
            end = end if end > at else at + SLICE
        _look(text[at:end], at, pattern, mode, places)
        at = end
        yield
    for old in [one for one in _found if one is not pattern][:-1]:
        del _found[old]
    _found.setdefault(pattern, {})[text] = places
    return len(places)


def forget_places() -> None:
    """Nobody looks for anything any more."""
    _found.clear()


def _look(piece: str, start: int, pattern: re.Pattern[str], mode: str, places: array[int]) -> None:
    """Look through whole lines, or a piece of a long one: no place reaches from one line drawn into the next."""
    if not HIDDEN.search(piece) and max(map(len, piece.split("\n"))) <= LONG_LINE and "\r" not in piece:
        matches = pattern.finditer(piece.replace("\n", "\0"))
        places.extend(start + match.start() for match in matches if match.end() > match.start())
        return
    shown = show_prose if mode == "plain" else show_hidden
    for line in _LINE.finditer(piece):
        for at in range(line.start(1), line.end(1), LONG_LINE):
            text = shown(piece[at : min(at + LONG_LINE, line.end(1))])
            places.extend(start + at for match in pattern.finditer(text) if match.end() > match.start())
