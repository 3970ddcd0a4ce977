"""The part of a text that is shown, written into a document.

A text is shown whole up to a size; of a larger one a part is shown, and more of it on request. See ``caps``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from playground.ui.features.conversation.caps import (
    AROUND,
    BEGINNING,
    BEGINNING_LINES,
    GROWING,
    LARGE,
    LARGE_MARKDOWN,
    LINES,
    MARKDOWN_LINES,
    PER_FRAME,
)
from playground.ui.features.conversation.document import DocumentWriter
from playground.ui.features.conversation.markdown import Line
from playground.ui.features.conversation.markdown_stream import MarkdownStream, exact_lines

_LINE_END = re.compile(r"\r\n|\n|\r")


class Part(NamedTuple):
    """Characters of a text from ``start`` to ``stop``, without the last."""

    start: int
    stop: int


class Change(NamedTuple):
    """Indexes of the first line that may differ, and of the first line that was written."""

    first: int
    touched: int


def is_large(text: str, mode: str) -> bool:
    """Return whether only a part of a text is shown in this mode."""
    return beginning(text, mode) < len(text)


def beginning(text: str, mode: str) -> int:
    """Return where the part ends that is shown of a text at first: all of it if it is not large."""
    if mode == "markdown":
        return _end(text, 0, LARGE_MARKDOWN, len(text))
    if _end(text, 0, LARGE, LINES) == len(text):
        return len(text)
    return _end(text, 0, BEGINNING, BEGINNING_LINES)


def byte_count(text: str) -> int:
    """Return the length of a text as UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _end(text: str, start: int, size: int, lines: int) -> int:
    """Return where a part of at most ``size`` characters and ``lines`` lines ends: before a line end if possible."""
    end = min(start + size, len(text))
    ends = [match.start() for match in islice(_LINE_END.finditer(text, start, end), lines + 1)]
    if len(ends) > lines:
        return ends[lines - 1]
    if end < len(text) and ends and ends[-1] > start + size // 2:
        return ends[-1]
    return end


class ShownText:
    """A text that may grow, and the ``part`` of it that ``writer`` has written."""

    def __init__(self, writer: DocumentWriter, mode: str) -> None:
        self._writer = writer
        self.mode = mode
        self.part = Part(0, 0)
        self.length = 0
        self.size = self.part_size = 0  # bytes of the text and of the part, as UTF-8
        self.is_collapsed = False  # a large text is shown as at first
        self.by_lines = False  # the lines were made elsewhere
        self._pieces: list[str] = []
        self._exact = mode != "markdown"
        self._follows = True  # more of the text is drawn when it is received
        self._stream = MarkdownStream()
        self._after_return = False  # the drawn text ends with the first half of a line end

    @property
    def text(self) -> str:
        """The whole text."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def is_behind(self) -> bool:
        """Return whether ``draw_more`` has more to draw of a text that is being received."""
        return self._follows and self.part.stop < self.length

    @property
    def is_capped(self) -> bool:
        """Return whether only a part of the text is shown."""
        return not self._follows and self.part != (0, self.length)

    @property
    def may_show_more(self) -> bool:
        """Return whether ``show_more`` has more to show."""
        return self.part.stop < self.length and self.part.stop - self.part.start < GROWING

    def set_text(self, text: str) -> None:
        """Show another text from its beginning."""
        self.share_text(text)
        self.by_lines = False
        self.collapse()

    def share_text(self, text: str) -> None:
        """Keep ``text``, equal to this text, instead of a copy."""
        self._pieces, self.length, self.size = [text], len(text), byte_count(text)

    def set_lines(self, source: str, lines: Sequence[Line]) -> None:
        """Show lines that the caller laid out for ``source``."""
        self.share_text(source)
        self.by_lines, self._follows, self.part = True, False, Part(0, len(source))
        self._writer.write(0, lines)

    def collapse(self) -> None:
        """Show only the beginning."""
        self._show(Part(0, beginning(self.text, self.mode)), exact=self.mode != "markdown")
        self._follows = self.part.stop == self.length
        self.is_collapsed = True

    def show_more(self) -> None:
        """Show the next part as well."""
        text = self.text
        stop = _end(text, self.part.stop, LARGE, LINES)
        self._write(text[self.part.stop : stop])

    def show_place(self, place: int) -> bool:
        """Show the exact text around a character, unless it is shown. Return whether that is another part."""
        if self.part.start <= place < self.part.stop or not self.is_capped:
            return False
        text, start = self.text, max(place - AROUND, 0)
        line_end = text.find("\n", start, place)
        start = line_end + 1 if line_end >= 0 else start
        self._show(Part(start, min(place + BEGINNING, len(text))), exact=True)
        return True

    def append(self, text: str) -> Change | None:
        """Add more text. Return what was drawn, if anything; see ``is_behind``."""
        at_end = self._follows and self.part.stop == self.length
        self._pieces.append(text)
        self.length += len(text)
        self.size += byte_count(text)
        if at_end and len(text) <= PER_FRAME and self._is_within_cap():
            return self._write(text)
        return None

    def draw_more(self) -> Change | None:
        """Draw more of what was received."""
        if not self._is_within_cap():
            return None
        start = self.part.stop
        return self._write(self.text[start : start + PER_FRAME])

    def _is_within_cap(self) -> bool:
        """Return whether more is drawn of a text that grows; that ends for good when it is large."""
        if self._exact:
            self._follows &= self.part.stop < LARGE and len(self._writer.lines) < LINES
        else:
            self._follows &= self.part.stop < GROWING
        return self._follows

    def _write(self, text: str) -> Change:
        self.part = Part(self.part.start, self.part.stop + len(text))
        self.part_size += byte_count(text)
        self.is_collapsed = False
        if not self._exact:
            first = self._stream.append_markdown(text)
            return Change(first, self._writer.write(first, self._stream.lines[first:]))
        # A line end received in two pieces counts once: the first piece has drawn it.
        if text.startswith("\n") and self._after_return:
            text = text[1:]
        self._after_return = text.endswith("\r")
        drawn = self._writer.lines
        last = drawn[-1] if drawn else Line(self._kind)
        first = max(len(drawn) - 1, 0)
        return Change(first, self._writer.write(first, exact_lines(last.text + text, self._kind, joins=last.joins)))

    def _show(self, part: Part, *, exact: bool) -> None:
        self.part, self._exact = part, exact
        piece = self.text[part.start : part.stop]
        self.part_size, self.is_collapsed = byte_count(piece), False
        self._stream, self._after_return = MarkdownStream(), piece.endswith("\r")
        if exact:
            self._writer.write(0, exact_lines(piece, self._kind))
        else:
            self._show_markdown(piece)

    def _show_markdown(self, piece: str) -> None:
        """Show as much of a piece as is quickly drawn."""
        lines, end = self._stream.lines, 0
        while end < len(piece) and len(lines) + sum([line.cell_count for line in lines]) < MARKDOWN_LINES:
            self._stream.append_markdown(piece[end : end + PER_FRAME])
            end = min(end + PER_FRAME, len(piece))
        self.part, self.part_size = Part(0, end), byte_count(piece[:end])
        self._writer.write(0, lines)

    @property
    def _kind(self) -> str:
        return "plain" if self.mode == "plain" else "raw"
