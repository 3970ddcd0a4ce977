"""Marked characters of a text: the matches of a search, and the characters of an event chosen elsewhere.

They are named by their places in the source and marked where they are drawn, as Markdown, laid out or exactly, and
while the text grows. Nothing is worked out until something is marked or it is asked what is selected.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtGui import QAbstractTextDocumentLayout, QColor, QTextBlock, QTextCursor, QTextDocument

from playground.ui.features.conversation.document import DocumentWriter, drawn_text
from playground.ui.features.conversation.markdown import Line
from playground.ui.features.conversation.shown_text import ShownText
from playground.ui.features.conversation.source_map import SourceMap, Stretch
from playground.ui.widgets.exact_field import units
from playground.ui.widgets.theme import tokens

Span = tuple[int, int]  # first character and the one after the last


class TextMarks:
    """The marks of one document that shows a text."""

    def __init__(self, document: QTextDocument, writer: DocumentWriter, shown_text: ShownText) -> None:
        self._document = document
        self._writer = writer
        self._shown = shown_text
        self._start = 0  # of the text: where the map begins
        self._map: SourceMap | None = None
        self._first_new = 0  # the first line that the map does not have
        self._original: str | None = None
        self._linked: tuple[Span, ...] = ()
        self._matches: Sequence[Span] = ()
        self._current: int | None = None
        self._linked_places: list[Span] | None = None  # in the document
        self._match_places: list[Span] | None = None

    def __bool__(self) -> bool:
        return bool(self._linked or self._matches)

    @property
    def source(self) -> str:
        """The text whose characters are marked."""
        return self._shown.text if self._original is None else self._original

    def set_original(self, original: str | None) -> None:
        """Use places of ``original``, which the text formats in another way; None uses places of the text."""
        if original != self._original:
            self._original = original
            self.follow(0)

    def show_linked(self, spans: Sequence[Span]) -> bool:
        """Mark linked characters. Return whether that is a change."""
        sorted_spans = tuple(sorted(spans))
        if sorted_spans == self._linked:
            return False
        self._linked, self._linked_places = sorted_spans, None
        return True

    def show_matches(self, spans: Sequence[Span], current: int | None) -> bool:
        """Mark these characters, sorted, as matches of a search. Return whether that is a change."""
        if current == self._current and (spans is self._matches or spans == self._matches):
            return False
        self._matches, self._current, self._match_places = spans, current, None
        return True

    def follow(self, line: int) -> None:
        """Note that the text is new from that line of the writer on."""
        self._first_new = min(self._first_new, line)
        self._linked_places = self._match_places = None

    @property
    def linked_places(self) -> list[Span]:
        """Document positions of the linked characters, as (begin, end)."""
        if self._linked_places is None:
            self._linked_places = [place for span in self._linked for place in self._drawn(span)]
        return self._linked_places

    @property
    def current_place(self) -> Span | None:
        """The drawn place of the current match; for undrawn text, such as an address, the character before it."""
        if self._current is None or self._current >= len(self._matches):
            return None
        span, part = self._matches[self._current], self._shown.part
        if self._original is None and not part.start <= span[0] < part.stop:
            return None
        places = self._drawn(span)
        if not places and (stretch := self._mapped().before(span[0] - self._start)) is not None:
            places = [self._place(stretch)]
        return (places[0][0], places[-1][1]) if places else None

    def selected(self, cursor: QTextCursor) -> Span | None:
        """Return the characters of the source that a selection holds; None for none."""
        if not cursor.hasSelection() or not self._writer.lines:
            return None
        first, last = self._position(cursor.selectionStart()), self._position(cursor.selectionEnd())
        span = self._mapped().source_of(first, last)
        return (span[0] + self._start, span[1] + self._start) if span is not None else None

    def selections(self, first: int, last: int) -> list[QAbstractTextDocumentLayout.Selection]:
        """Return what to draw between two document positions."""
        t, out = tokens(), []
        for begin, end in _between(self.linked_places, first, last):
            out.append(self._selection(begin, end, t.marked, t.text))
        for begin, end in _between(self._places_of_matches(), first, last):
            out.append(self._selection(begin, end, t.search_match, t.text))
        if (place := self.current_place) is not None:
            out.append(self._selection(*place, t.search_match_current, t.on_search_match_current))
            out[-1].format.setFontUnderline(True)
        return out

    def _places_of_matches(self) -> list[Span]:
        if self._match_places is None:
            start, stop = self._shown.part if self._original is None else (0, len(self._original))
            in_part = _between(self._matches, start, stop)
            self._match_places = [place for span in in_part for place in self._drawn(span)]
        return self._match_places

    def _selection(self, begin: int, end: int, ground: str, ink: str) -> QAbstractTextDocumentLayout.Selection:
        selection = QAbstractTextDocumentLayout.Selection()
        cursor = QTextCursor(self._document)
        cursor.setPosition(begin)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        selection.cursor = cursor
        selection.format.setBackground(QColor(ground))
        selection.format.setForeground(QColor(ink))
        return selection

    # From characters of the source to positions of the document, and back

    def _mapped(self) -> SourceMap:
        lines = self._writer.lines
        if self._map is None:
            self._map, self._first_new = SourceMap(), 0
        if self._first_new < len(lines):
            source, self._start = self.source, 0
            if self._original is None and (part := self._shown.part) != (0, len(source)):
                source, self._start = source[part.start : part.stop], part.start
            self._map.follow(self._first_new, source, lines)
        self._first_new = len(lines)
        return self._map

    def _drawn(self, span: Span) -> list[Span]:
        source_map = self._mapped()
        return [self._place(stretch) for stretch in source_map.drawn(span[0] - self._start, span[1] - self._start)]

    def _place(self, stretch: Stretch) -> Span:
        line = self._writer.lines[stretch.line]
        block = self._block(stretch.line, stretch.cell)
        text, lead = _text_of(line, stretch.cell), _lead(line)
        begin, end = units(drawn_text(text[: stretch.start], line)), units(drawn_text(text[: stretch.end], line))
        return block.position() + lead + begin, block.position() + lead + end

    def _block(self, line: int, cell: int) -> QTextBlock:
        table = self._writer.table(line)
        if table is None:
            return self._document.findBlock(self._writer.block_start(line))
        return table.cellAt(cell // table.columns(), cell % table.columns()).firstCursorPosition().block()

    def _position(self, position: int) -> tuple[int, int, int]:
        """Return line, cell and character at a document position."""
        number = self._writer.line_at(position)
        line, table, cell = self._writer.lines[number], self._writer.table(number), 0
        block = self._document.findBlock(position)
        if table is not None:
            table_cell = table.cellAt(position)
            if not table_cell.isValid():
                cells = table.rows() * table.columns()
                return number, (0 if position <= table.firstPosition() else cells), 0
            cell = table_cell.row() * table.columns() + table_cell.column()
        place = position - block.position() - _lead(line)
        text = _text_of(line, cell)
        character = bisect_left(range(len(text) + 1), place, key=lambda index: units(drawn_text(text[:index], line)))
        return number, cell, character


def _between(spans: Sequence[Span], first: int, last: int) -> Sequence[Span]:
    """Return those of sorted spans that may reach between two places."""
    return spans[max(bisect_left(spans, (first, 0)) - 1, 0) : bisect_left(spans, (last + 1, 0))]


def _text_of(line: Line, cell: int) -> str:
    if line.kind != "table":
        return line.text
    cells = [spans for row in line.rows for spans in row]
    return "".join([span.text for span in cells[cell]]) if cell < len(cells) else ""


def _lead(line: Line) -> int:
    """Return the length of a list item's marker."""
    return units(line.marker) + 1 if line.kind == "item" else 0
