"""What a call's card looks like around its parts: the frame, the two halves, what stands below them, quiet buttons."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from playground.domain.parts import ToolCall, ToolResult
from playground.engine.inspect.unknown_members import beside_part
from playground.ui.features.conversation.members_fold import MembersFold
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.theme import tokens

NARROW = 500  # pixels


class CallFrame(QFrame):
    """A frame with a head above ``rule``, and two halves below it; ``lit`` while it asks for attention.

    The halves stand in ``body``: side by side, or one below the other where the frame is ``narrow``. Below them are
    ``folds`` of what the call came with that nothing here knows.
    """

    narrowed = Signal(bool)
    height_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lit = False
        self.halved = True
        self.narrow = False
        self.body = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(0)
        self.rule = QFrame()
        self.rule.setProperty("kind", "line")
        self.folds: list[MembersFold] = []

    def show_beside(self, *parts: ToolCall | ToolResult) -> None:
        """Show what a call and its result came with."""
        found = [one for part in parts for one in beside_part(part)]
        for fold in self.folds[len(found) :]:
            fold.hide()
            fold.deleteLater()
        del self.folds[len(found) :]
        layout = self.layout()
        while layout is not None and len(self.folds) < len(found):
            fold = MembersFold()
            fold.setContentsMargins(10, 0, 10, 6)
            fold.height_changed.connect(self.height_changed)
            layout.addWidget(fold)
            self.folds.append(fold)
        for fold, one in zip(self.folds, found, strict=True):
            fold.show_members(one)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < NARROW
        if narrow != self.narrow:
            self.narrow = narrow
            across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
            self.body.setDirection(down if narrow else across)
            self.narrowed.emit(narrow)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QColor(t.tool if self.lit else t.line))
        painter.setBrush(QColor(t.raised))
        painter.drawRoundedRect(rect, 7, 7)
        head = rect.adjusted(0.5, 0.5, -0.5, 0)
        head.setHeight(self.rule.y() - 1)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.code))
        painter.drawRoundedRect(head, 6, 6)
        painter.drawRect(head.adjusted(0, 7, 0, 0))
        if self.halved and not self.narrow:
            x = self.width() // 2
            painter.setPen(QColor(t.line))
            painter.drawLine(x, self.rule.y() + 1, x, self.body.geometry().bottom() - 1)


def half() -> QVBoxLayout:
    """The layout of one half of a card."""
    return in_column(margins=(10, 4, 10, 8), spacing=4)


def column(layout: QVBoxLayout) -> QWidget:
    """Half of the card, however wide what is in it would like to be."""
    column = QWidget()
    column.setLayout(layout)
    column.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return column


def quiet(text: str, words: str) -> QPushButton:
    """A button that is a word; ``words`` say what it does."""
    button = QPushButton(text)
    button.setProperty("kind", "quiet")
    button.setToolTip(words)
    button.setAccessibleName(words)
    return button


class Caption(QLabel):
    """A muted word above something."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setProperty("kind", "muted")


def row(*widgets: QWidget) -> QHBoxLayout:
    """Widgets side by side, at the left."""
    row = in_row(margins=0, spacing=6)
    for widget in widgets:
        row.addWidget(widget)
    row.addStretch(1)
    return row
