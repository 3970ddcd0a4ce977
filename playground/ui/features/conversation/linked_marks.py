"""Stretches of a text that belong to something shown elsewhere: named by their place in the source, marked where drawn.

The text may be drawn as Markdown, laid out or exactly; it stays right while the text grows, at the cost of what is new.
Nothing is done until somebody marks something or asks what is selected.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from PySide6.QtGui import QAbstractTextDocumentLayout, QTextBlock, QTextCursor, QTextDocument
from PySide6.QtGui import QTextTable as Table

from playground.ui.features.conversation.document import DocumentWriter, drawn_text
from playground.ui.features.conversation.found_marks import mark
from playground.ui.features.conversation.large import Part
from playground.ui.features.conversation.markdown import Line
from playground.ui.features.conversation.source_map import SourceMap, Stretch
from playground.ui.widgets.exact_field import units
from playground.ui.widgets.theme import tokens

Span = tuple[int, int]  # first character and the one after the last


class LinkedMarks:
    """``source`` gives the text as given, ``part`` which characters of it are drawn. ``spans`` are those marked."""

    def __init__(
        self, document: QTextDocument, writer: DocumentWriter, source: Callable[[], str], part: Callable[[], Part]
    ) -> None:
        self._document = document
        self._writer = writer
        self._source = source
        self._part = part
        self._start = 0  # where in the text the map begins
        self._map: SourceMap | None = None
        self._fresh = 0  # the first line that the map does not know
        self.spans: tuple[Span, ...] = ()
        self._places: list[Span] = []  # document positions
        self._placed = False
        self._original: str | None = None

    def stand_for(self, original: str | None) -> None:
        """The places are those in ``original``, of which the text is another spelling; None: in the text as given."""
        if original != self._original:
            self._original = original
            self.follow(0)

    def show(self, spans: Sequence[Span]) -> bool:
        """Mark these and nothing else. Returns whether that is something else."""
        wanted = tuple(sorted(spans))
        if wanted == self.spans:
            return False
        self.spans, self._placed = wanted, False
        return True

    def follow(self, line: int) -> None:
        """The text is new from that line of the writer's on."""
        self._fresh = min(self._fresh, line)
        self._placed = False

    @property
    def places(self) -> list[Span]:
        """Where the marks are drawn: document positions, begin and end."""
        if not self._placed:
            self._placed = True
            self._places = []
            if self.spans:
                found = self._mapped()
                for start, end in self.spans:
                    drawn = found.drawn(start - self._start, end - self._start)
                    self._places += [self._place(stretch) for stretch in drawn]
        return self._places

    def selected(self, cursor: QTextCursor) -> Span | None:
        """The characters of the source that a selection holds; None for none."""
        if not cursor.hasSelection() or not self._writer.lines:
            return None
        first, last = self._spot(cursor.selectionStart()), self._spot(cursor.selectionEnd())
        found = self._mapped().source_of(first, last)
        return (found[0] + self._start, found[1] + self._start) if found is not None else None

    def selections(self, first: int, last: int) -> list[QAbstractTextDocumentLayout.Selection]:
        """What to draw between two document positions."""
        if not self.spans:
            return []
        out: list[QAbstractTextDocumentLayout.Selection] = []
        t, places = tokens(), self.places
        for begin, end in places[max(bisect_left(places, (first, 0)) - 1, 0) :]:
            if begin > last:
                break
            out.append(mark(self._document, begin, end, t.marked, t.text))
        return out

    def _mapped(self) -> SourceMap:
        lines = self._writer.lines
        if self._map is None:
            self._map, self._fresh = SourceMap(), 0
        if self._fresh < len(lines):
            source = self._source()
            original, self._start = (source if self._original is None else self._original), 0
            if original == source and (part := self._part()) != (0, len(source)):
                original, self._start = source[part.start : part.stop], part.start
            self._map.follow(self._fresh, original, lines)
        self._fresh = len(lines)
        return self._map

    # From characters of lines to positions of the document, and back

    def _place(self, stretch: Stretch) -> Span:
        line = self._writer.lines[stretch.line]
        block = self._block(stretch.line, stretch.cell)
        text, lead = _text_of(line, stretch.cell), _lead(line)
        begin, end = units(drawn_text(text[: stretch.start], line)), units(drawn_text(text[: stretch.end], line))
        return block.position() + lead + begin, block.position() + lead + end

    def _block(self, line: int, cell: int) -> QTextBlock:
        start = self._writer.block_start(line)
        table = self._table(line)
        if table is None:
            return self._document.findBlock(start)
        return table.cellAt(cell // table.columns(), cell % table.columns()).firstCursorPosition().block()

    def _table(self, line: int) -> Table | None:
        if self._writer.lines[line].kind != "table":
            return None
        cursor = QTextCursor(self._document)
        cursor.setPosition(self._writer.block_start(line) + 1)
        frame = cursor.currentFrame()
        return frame if isinstance(frame, Table) else None

    def _spot(self, position: int) -> tuple[int, int, int]:
        """Line, cell and character at a document position."""
        number = self._writer.line_at(position)
        line, table, cell = self._writer.lines[number], self._table(number), 0
        block = self._document.findBlock(position)
        if table is not None:
            found = table.cellAt(position)
            if not found.isValid():
                cells = table.rows() * table.columns()
                return number, (0 if position <= table.firstPosition() else cells), 0
            cell = found.row() * table.columns() + found.column()
        place = position - block.position() - _lead(line)
        text = _text_of(line, cell)
        return (
            number,
            cell,
            bisect_left(range(len(text) + 1), place, key=lambda at: units(drawn_text(text[:at], line))),
        )


def _text_of(line: Line, cell: int) -> str:
    if line.kind != "table":
        return line.text
    cells = [spans for row in line.rows for spans in row]
    return "".join([span.text for span in cells[cell]]) if cell < len(cells) else ""


def _lead(line: Line) -> int:
    """Room that the marker of a list item takes."""
    return units(line.marker) + 1 if line.kind == "item" else 0
