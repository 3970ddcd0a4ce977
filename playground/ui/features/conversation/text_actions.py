"""Links of a text by keyboard, copies of its code blocks, and its selection as plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from PySide6.QtCore import QObject, QRectF, Qt, QTimer
from PySide6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextTable,
)
from PySide6.QtWidgets import QTextEdit, QToolButton, QWidget

from playground.ui.features.conversation.document import JOINS, CodeBlock, DocumentWriter
from playground.ui.features.conversation.markdown import Line
from playground.ui.features.conversation.measures import scroll_to
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icons import icon


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
        scroll_to(self._view, QRectF(self._view.cursorRect(cursor)))
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


def _has_link(line: Line) -> bool:
    cells = (cell for row in line.rows for cell in row)
    return any(span.href for spans in (line.spans, *cells) for span in spans)


COPIED_MS = 2_000  # how long a copy button says that it has copied


class CopyButtons(QObject):
    """A button in the head of each code block of ``view``; ``place`` gives the rectangle of a block."""

    def __init__(self, view: QWidget, writer: DocumentWriter, place: Callable[[CodeBlock], QRectF]) -> None:
        super().__init__(view)
        self._view = view
        self._writer = writer
        self._place = place
        self._buttons: list[QToolButton] = []
        self._placed = (0, 0, 0)  # number of blocks, start of the last one, width of the view
        self._copied = QTimer(self, singleShot=True)
        self._copied.timeout.connect(self._forget_copied)

    def follow(self, *, grown: bool = False) -> None:
        """Place the buttons for a new text, or for one that has only ``grown`` at its end."""
        blocks = self._writer.code_blocks
        last = round(self._place(blocks[-1]).top()) if blocks else 0
        before, self._placed = self._placed, (len(blocks), last, self._view.width())
        if grown and before == self._placed:
            return
        first = max(len(self._buttons) - 1, 0) if grown else 0
        while len(self._buttons) < len(blocks):
            button = styled(QToolButton(self._view), "quiet")
            button.setIcon(icon("copy"))
            button.setText("Copy")
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.setAccessibleName("Copy this code")
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(self._clicked)
            self._buttons.append(button)
        for number, button in enumerate(self._buttons[first:], start=first):
            button.setVisible(number < len(blocks))
            if number < len(blocks):
                rect = self._place(blocks[number])
                size = button.sizeHint()
                button.setGeometry(self._view.width() - size.width() - 4, round(rect.top()) + 2, size.width(), 22)

    def recolour(self) -> None:
        """Apply the current colours."""
        for button in self._buttons:
            button.setIcon(icon("copy"))

    def _clicked(self) -> None:
        button = self.sender()
        if not isinstance(button, QToolButton) or button not in self._buttons:
            return
        block = self._writer.code_blocks[self._buttons.index(button)]
        lines = self._writer.lines[block.first : block.last + 1]
        text = "".join(("" if line.joins or not number else "\n") + line.text for number, line in enumerate(lines))
        QGuiApplication.clipboard().setText(text)
        button.setText("Copied")
        self.follow()
        self._copied.start(COPIED_MS)

    def _forget_copied(self) -> None:
        for button in self._buttons:
            button.setText("Copy")
        self.follow()


def selected_text(cursor: QTextCursor, writer: DocumentWriter) -> str:
    """Return the selection as plain text; lines that were cut for speed are joined again."""
    start, end = cursor.selectionStart(), cursor.selectionEnd()
    out: list[str] = []
    block = cursor.document().findBlock(start)
    while block.isValid() and block.position() < end:
        form, text = block.blockFormat(), block.text()
        first, last = max(start - block.position(), 0), min(end - block.position(), len(text))
        holds_table = form.lineHeightType() == QTextBlockFormat.LineHeightTypes.FixedHeight.value
        if text or not holds_table:
            if writer.lines[writer.line_at(block.position())].kind == "item":
                text = text.replace("\t", " ", 1)  # the tab behind the marker
            before = "" if form.property(JOINS) or not out else "\t" if _in_later_column(block) else "\n"
            out.append(before + text[first:last].replace("\u2028", "\n"))
        block = block.next()
    return "".join(out)


def _in_later_column(block: QTextBlock) -> bool:
    frame = QTextCursor(block).currentFrame()
    return isinstance(frame, QTextTable) and frame.cellAt(block.position()).column() > 0
