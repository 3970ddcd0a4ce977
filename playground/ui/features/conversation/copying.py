"""Copy from a displayed text: the selection as plain text, and code blocks by a button each."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QRectF, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QTextBlock, QTextBlockFormat, QTextCursor, QTextTable
from PySide6.QtWidgets import QToolButton, QWidget

from playground.ui.features.conversation.document import JOINS, CodeBlock, DocumentWriter
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icons import icon

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
