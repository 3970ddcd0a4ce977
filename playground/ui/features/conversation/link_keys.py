"""Links in a text by keyboard: Tab goes from one to the next, Enter opens the one that is selected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QAbstractScrollArea, QTextEdit, QWidget

from playground.ui.features.conversation.document import DocumentWriter
from playground.ui.features.conversation.markdown import Line

EDGE = 24  # pixels between a link that was scrolled to and the edge of the view


class Link(NamedTuple):
    """Document positions and the address of a link."""

    start: int
    end: int
    address: str


class LinkKeys:
    """The links of one text; the chosen link is selected, so that it is visible and can be copied."""

    def __init__(self, view: QTextEdit, document: QTextDocument, writer: DocumentWriter) -> None:
        self._view = view
        self._document = document
        self._writer = writer

    @property
    def chosen(self) -> Link | None:
        """Return the link that is selected, if exactly a link is."""
        cursor = self._view.textCursor()
        if not cursor.hasSelection():
            return None
        selected = cursor.selectionStart(), cursor.selectionEnd()
        return next((link for link in self._links() if link[:2] == selected), None)

    def step(self, forward: bool) -> bool:
        """Choose the next or previous link. Return whether there is one; without one, none is chosen."""
        cursor = self._view.textCursor()
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        links = list(self._links())
        if cursor.hasSelection():
            links = [link for link in links if (link.start >= end if forward else link.end <= start)]
        if not links:
            if cursor.hasSelection() and self.chosen is not None:
                cursor.clearSelection()
                self._view.setTextCursor(cursor)
            return False
        link = links[0 if forward else -1]
        cursor.setPosition(link.start)
        cursor.setPosition(link.end, QTextCursor.MoveMode.KeepAnchor)
        self._view.setTextCursor(cursor)
        self._bring_into_view(cursor)
        return True

    def opened_by(self, event: QKeyEvent) -> str:
        """Return the address that a key opens; empty for none."""
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and modifiers == Qt.KeyboardModifier.NoModifier
        link = self.chosen if enter else None
        return link.address if link is not None else ""

    def _links(self) -> Iterator[Link]:
        lines = self._writer.lines
        for index, line in enumerate(lines):
            if _has_link(line):
                last = index + 1 == len(lines)
                end = self._document.characterCount() if last else self._writer.block_start(index + 1)
                yield from self._links_between(self._writer.block_start(index), end)

    def _links_between(self, start: int, end: int) -> Iterator[Link]:
        block = self._document.findBlock(start)
        while block.isValid() and block.position() < end:
            link: Link | None = None
            pieces = block.begin()
            while not pieces.atEnd():
                piece = pieces.fragment()
                form = piece.charFormat()
                address = form.anchorHref() if form.isAnchor() else ""
                if link is not None and address != link.address:
                    yield link
                    link = None
                if address:
                    begin = link.start if link is not None else piece.position()
                    link = Link(begin, piece.position() + piece.length(), address)
                pieces += 1
            if link is not None:
                yield link
            block = block.next()

    def _bring_into_view(self, cursor: QTextCursor) -> None:
        area: QWidget | None = self._view.parentWidget()
        while area is not None and not isinstance(area, QAbstractScrollArea):
            area = area.parentWidget()
        if not isinstance(area, QAbstractScrollArea):
            return
        rect = self._view.cursorRect(cursor)
        top = self._view.viewport().mapTo(area.viewport(), rect.topLeft()).y()
        height, bar = area.viewport().height(), area.verticalScrollBar()
        if top < EDGE:
            bar.setValue(bar.value() + top - EDGE)
        elif top + rect.height() > height - EDGE:
            bar.setValue(bar.value() + top + rect.height() - height + EDGE)


def _has_link(line: Line) -> bool:
    cells = (cell for row in line.rows for cell in row)
    return any(span.href for spans in (line.spans, *cells) for span in spans)
