"""List items of two lines: a title, a description, and a dot for the state."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from playground.ui.widgets.plain_text import one_line_of
from playground.ui.widgets.state_dot import SIDE, paint_dot
from playground.ui.widgets.theme import SMALL_PX, tokens

HEIGHT: Final = 48  # pixels
LINE: Final = Qt.ItemDataRole.UserRole
STATE: Final = Qt.ItemDataRole.UserRole + 1


class TwoLines(QStyledItemDelegate):
    """Delegate that paints the text of an item, its ``LINE`` below it in small type, and the dot of its ``STATE``."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, HEIGHT)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colours = tokens()
        rect = QRectF(option.rect).adjusted(0, 2, 0, -2)
        state: QStyle.StateFlag = option.state
        font: QFont = option.font
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent_background))
            painter.drawRoundedRect(rect, 6, 6)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.chip))
            painter.drawRoundedRect(rect, 6, 6)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(colours.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        inside = rect.adjusted(10, 4, -10, -4)
        if (dot := index.data(STATE)) is not None:
            paint_dot(painter, str(dot), inside.left() - 4, inside.center().y() - SIDE / 2)
            inside.setLeft(inside.left() + SIDE)
        small = QFont(font)
        small.setPixelSize(SMALL_PX)
        half = inside.height() / 2
        for text, face, colour, top in (
            (str(index.data(Qt.ItemDataRole.DisplayRole) or ""), font, colours.text, inside.top()),
            (str(index.data(LINE) or ""), small, colours.muted, inside.top() + half),
        ):
            painter.setFont(face)
            painter.setPen(QColor(colour))
            elide, room = Qt.TextElideMode.ElideRight, int(inside.width())
            elided = painter.fontMetrics().elidedText(one_line_of(text), elide, room)
            line = QRectF(inside.left(), top, inside.width(), half)
            painter.drawText(line, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), elided)
        painter.restore()
