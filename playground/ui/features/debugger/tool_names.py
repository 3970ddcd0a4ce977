"""How a line of the list of rules is painted: the tool's name, and below it its rule in a few words."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.theme import SMALL_PX, code_font, tokens

HEIGHT = 46
MARGIN = 12


class ToolNameDelegate(QStyledItemDelegate):
    """``name`` and ``words`` are the roles under which the two lines are found; an empty name is the default."""

    def __init__(self, name: int, words: int, parent: QObject) -> None:
        super().__init__(parent)
        self._name, self._words = name, words

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(120, HEIGHT)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        t = tokens()
        rect: QRect = option.rect
        state = option.state
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.fillRect(rect, QColor(t.accent_background if chosen else t.surface))
        if chosen and state & QStyle.StateFlag.State_HasFocus:
            painter.fillRect(QRect(rect.left(), rect.top(), 2, rect.height()), QColor(t.accent))
        name = shown_name(str(index.data(self._name) or ""))
        words = str(index.data(self._words) or "")
        inner = rect.adjusted(MARGIN, 5, -MARGIN, -5)
        half = inner.height() // 2
        font = code_font() if name else QFont(painter.font())
        font.setBold(True)
        self._line(painter, font, t.text, QRect(inner.left(), inner.top(), inner.width(), half), name or "Default")
        small = QFont(option.font)
        small.setPixelSize(SMALL_PX)
        below = QRect(inner.left(), inner.top() + half, inner.width(), half)
        self._line(painter, small, t.muted, below, words)
        painter.restore()

    def _line(self, painter: QPainter, font: QFont, colour: str, rect: QRect, text: str) -> None:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        fitting = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, fitting)
