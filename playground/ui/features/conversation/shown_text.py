"""The part of a text that is to be seen, written into a document a piece at a time. No widgets here.

A text is shown whole up to a size, see ``large``; what is larger is folded to its beginning, or opened part by part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from playground.ui.features.conversation import large
from playground.ui.features.conversation.blocks import exact_lines
from playground.ui.features.conversation.document import DocumentWriter
from playground.ui.features.conversation.large import MeasuredText, Part
from playground.ui.features.conversation.markdown import Line
from playground.ui.features.conversation.markdown_stream import MarkdownStream


class Drawn(NamedTuple):
    """The first line that may be another one now, and the first one that was written."""

    first: int
    touched: int


class ShownText:
    """``whole`` says that all is written that is to be seen; until then ``draw`` goes on."""

    def __init__(self, writer: DocumentWriter, mode: str) -> None:
        self._writer = writer
        self.mode = self._drawn_as = mode  # a large text that is opened is drawn exactly, whatever its mode
        self.text = MeasuredText()
        self.part = Part(0, 0)  # of the text: what is to be seen
        self.opened = False  # whether somebody looks at it part by part
        self.by_lines = False  # what is written was made elsewhere
        self._drawn = 0  # how far the part is written
        self._stream = MarkdownStream()
        self._after_return = False  # what is written ends with half a line end

    @property
    def folds(self) -> bool:
        """Whether only a part of the text is to be seen."""
        return self.part != (0, self.text.length)

    @property
    def whole(self) -> bool:
        """Whether all of the part is written."""
        return self._drawn >= self.part.stop

    @property
    def exact(self) -> bool:
        """Whether it is written character for character."""
        return self._drawn_as != "markdown"

    def give(self, text: str) -> None:
        """Show another text from its beginning."""
        self.text, self.by_lines = MeasuredText(text), False
        self.begin()

    def give_lines(self, source: str, lines: Sequence[Line]) -> None:
        """Show lines made elsewhere; ``source`` is the text they stand for."""
        self.text, self.by_lines, self.opened = MeasuredText(source), True, False
        self.part, self._drawn = Part(0, len(source)), len(source)
        self._writer.write(0, lines)

    def begin(self) -> None:
        """From the beginning; a large text is folded."""
        self.opened = False
        all_of_it = Part(0, self.text.length)
        self._show(large.beginning(self.text.text) if self.text.is_large(self.mode) else all_of_it, self.mode)

    def open(self, part: Part) -> None:
        """Look at a part of a large text."""
        self.opened = True
        self._show(part, "plain" if self.mode == "plain" else "raw")

    def step(self, where: str) -> None:
        """Look at another part: "all" (the first), "before", "after" or "last"; or "fold" it."""
        text = self.text.text
        match where:
            case "fold":
                self.begin()
            case "before":
                self.open(large.before(text, self.part) or self.part)
            case "after":
                self.open(large.after(text, self.part) or self.part)
            case "last":
                self.open(large.last(text))
            case _:
                self.open(large.part_from(text, 0))

    def open_at(self, place: int) -> bool:
        """Look at the part with that character, unless it is seen. Returns whether that is another part."""
        if not self.folds or (self.exact and self.part.start <= place < self.part.stop):
            return False
        self.open(large.around(self.text.text, place))
        return True

    def append_shown(self, text: str) -> None:
        """More text at the end, to be drawn. What makes a text a large one is not seen any more."""
        before = self.text.length
        self.text.append_text(text)
        if self.part == (0, before) and not self.text.is_large(self.mode, grown=True):
            self.part = Part(0, self.text.length)
        elif not before:
            self.part = large.beginning(self.text.text)

    def adds(self, text: str) -> bool:
        """Whether ``text``, just added, is all that is left to draw."""
        return self._drawn + len(text) == self.part.stop

    def draw(self, size: int) -> Drawn:
        """Write about so many characters more."""
        text = self.text.text
        lines = max(size // 50, large.PIECE_LINES)
        return self.write(text[self._drawn : large.piece_end(text, self._drawn, self.part.stop, size, lines)])

    def write(self, text: str) -> Drawn:
        """Write what comes next of the part."""
        self._drawn += len(text)
        if not self.exact:
            first = self._stream.append_markdown(text, more=not self.whole)
            return Drawn(first, self._writer.write(first, self._stream.lines[first:]))
        # A line end that came in two pieces is one: the first piece has drawn it.
        if text.startswith("\n") and self._after_return:
            text = text[1:]
        self._after_return = text.endswith("\r")
        drawn, mode = self._writer.lines, self._drawn_as
        last = drawn[-1] if drawn else Line(mode)
        first = max(len(drawn) - 1, 0)
        return Drawn(first, self._writer.write(first, exact_lines(last.text + text, mode, joins=last.joins)))

    def _show(self, part: Part, mode: str) -> None:
        self.part, self._drawn_as = part, mode
        text = self.text.text
        self._drawn = large.piece_end(text, part.start, part.stop)
        piece = text[part.start : self._drawn]
        self._stream, self._after_return = MarkdownStream(), piece.endswith("\r")
        if self.exact:
            self._writer.write(0, exact_lines(piece, mode))
        else:
            self._stream.append_markdown(piece)
            self._writer.write(0, self._stream.lines)
