"""Where a pattern occurs in a text that is shown, kept right while the text grows, and drawn without touching it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtGui import QAbstractTextDocumentLayout, QColor, QTextBlock, QTextCursor, QTextDocument

from playground.ui.features.conversation.document import DocumentWriter
from playground.ui.features.conversation.large import found_places
from playground.ui.features.conversation.shown_text import ShownText
from playground.ui.widgets.exact_field import units
from playground.ui.widgets.theme import tokens


class FindMarks:
    """The places of one document; ``chosen`` is the number of the one drawn more than the others.

    Of a large text only a part is drawn: ``count`` and ``chosen`` are of all its places once it was looked through.
    """

    def __init__(self, document: QTextDocument, writer: DocumentWriter, shown: ShownText) -> None:
        self._document = document
        self._writer = writer
        self._shown = shown
        self.pattern: re.Pattern[str] | None = None
        self.places: list[tuple[int, int]] = []  # document positions, begin and end
        self.chosen: int | None = None

    @property
    def count(self) -> int:
        """How many places there are; of a large text those that are drawn, until it has been looked through."""
        places = self._of_all()
        return len(self.places) if places is None else len(places)

    @property
    def current(self) -> int | None:
        """The number of the chosen place among those that are drawn; it may be none of them."""
        places = self._of_all()
        if self.chosen is None or places is None:
            return self.chosen
        return self.chosen - bisect_left(places, self._shown.part.start) if self._shown.exact else None

    @property
    def chosen_at(self) -> int | None:
        """Where in a large text the chosen place is: a character of its line."""
        places = self._of_all()
        return places[self.chosen] if places and self.chosen is not None and self.chosen < len(places) else None

    def _of_all(self) -> Sequence[int] | None:
        if self.pattern is None or not self._shown.folds:
            return None
        return found_places(self._shown.text.text, self.pattern)

    def look_for(self, pattern: re.Pattern[str] | None) -> bool:
        """Look for something else, or for nothing. Returns whether anything drawn may be different."""
        if pattern is self.pattern:
            return False
        had = bool(self.places)
        self.pattern, self.places = pattern, []
        self.follow(0)
        return had or bool(self.places)

    def follow(self, line: int) -> None:
        """The text is new from that line of the writer's on."""
        if self.pattern is None:
            return
        if line >= len(self._writer.lines) > 0:
            return
        start = self._writer.block_start(line) if line else 0
        del self.places[bisect_left(self.places, (start, 0)) :]
        block = self._document.findBlock(start)
        while block.isValid():
            self._search(block)
            block = block.next()

    def _search(self, block: QTextBlock) -> None:
        text = block.text()
        if not text or self.pattern is None:
            return
        at, places = block.position(), self.places
        skipped = len(marker) + 1 if (marker := self._marker(block, text)) else 0
        for match in self.pattern.finditer(text, skipped):
            start, end = match.span()
            if start < end:
                places.append((at + units(text[:start]), at + units(text[:end])))

    def _marker(self, block: QTextBlock, text: str) -> str:
        """The bullet or number in front of a list item: it is drawn, and not part of the text."""
        if "\t" not in text:
            return ""
        line = self._writer.lines[self._writer.line_at(block.position())]
        return line.marker if line.kind == "item" and text.startswith(f"{line.marker}\t") else ""

    def selections(self, first: int, last: int) -> list[QAbstractTextDocumentLayout.Selection]:
        """What to draw between two document positions."""
        out: list[QAbstractTextDocumentLayout.Selection] = []
        t, current = tokens(), self.current
        for number in range(max(bisect_left(self.places, (first, 0)) - 1, 0), len(self.places)):
            begin, end = self.places[number]
            if begin > last:
                break
            chosen = number == current
            ground, ink = (t.found_current, t.on_found_current) if chosen else (t.found, t.text)
            out.append(mark(self._document, begin, end, ground, ink))
            out[-1].format.setFontUnderline(chosen)
        return out


def mark(document: QTextDocument, begin: int, end: int, ground: str, ink: str) -> QAbstractTextDocumentLayout.Selection:
    """What to draw between two positions of a document, in these colours."""
    selection = QAbstractTextDocumentLayout.Selection()
    cursor = QTextCursor(document)
    cursor.setPosition(begin)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    selection.cursor = cursor
    selection.format.setBackground(QColor(ground))
    selection.format.setForeground(QColor(ink))
    return selection
