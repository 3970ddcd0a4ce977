"""Draw a model in a list: id and name, below them facts and icons of its input kinds, and a star."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QHelpEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QToolTip

from playground.ui.widgets.icons import icon
from playground.ui.widgets.models.fact_words import short_words, signs
from playground.ui.widgets.models.listing import Line
from playground.ui.widgets.models.rows import CHECK, ModelRows
from playground.ui.widgets.plain_text import one_line_of
from playground.ui.widgets.theme import SMALL_PX, tokens

PLAIN, TWO_LINES, HEADING = 30, 46, 26  # pixels of height: id alone, id with facts, heading
SIDE, BETWEEN, SIGN, STAR, BOX = 10, 8, 14, 16, 15  # pixels
_LINE: Final = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
_LEFT: Final = _LINE | int(Qt.AlignmentFlag.AlignLeft)
_RIGHT: Final = _LINE | int(Qt.AlignmentFlag.AlignRight)


class ModelDrawing(QStyledItemDelegate):
    """Delegate that draws a model. ``stars`` gives each model a star, at the place from ``star_place``."""

    def __init__(self, parent: QAbstractItemView, rows: ModelRows) -> None:
        super().__init__(parent)
        self._rows = rows
        self.stars = False

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        line = self._rows.line(index)
        if line is None or line.model is None:
            return QSize(0, HEADING)
        return QSize(0, TWO_LINES if line.note or _has_second_line(line) else PLAIN)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        line = self._rows.line(index)
        if line is None:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if line.model is None:
            self._paint_words(painter, option, line)
        else:
            self._paint_model(painter, option, index, line)
        painter.restore()

    @staticmethod
    def _paint_words(painter: QPainter, option: QStyleOptionViewItem, line: Line) -> None:
        rect: QRect = option.rect
        small = _small(option)
        if line.heading:
            small.setWeight(QFont.Weight.DemiBold)
        painter.setFont(small)
        painter.setPen(QColor(tokens().muted))
        painter.drawText(rect.adjusted(SIDE, 2, -SIDE, 0), _LEFT, line.words)

    def _paint_model(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
        line: Line,
    ) -> None:
        colours, rect, model = tokens(), QRectF(option.rect).adjusted(0, 1, 0, -1), line.model
        state: QStyle.StateFlag = option.state
        chosen, hovered = bool(state & QStyle.StateFlag.State_Selected), bool(state & QStyle.StateFlag.State_MouseOver)
        if model is None:
            return
        if chosen or hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent_background if chosen else colours.chip))
            painter.drawRoundedRect(rect, 6, 6)
        if chosen and state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(colours.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        inside = rect.adjusted(SIDE, 3, -SIDE, -3).toRect()
        if self._rows.ticking:
            _paint_box(painter, inside, bool(self._rows.data(index, CHECK) == Qt.CheckState.Checked))
            inside.setLeft(inside.left() + BOX + BETWEEN)
        if self.stars:
            starred = model.id in self._rows.favourites
            if starred or chosen or hovered:
                name, colour = ("star-filled", "accent") if starred else ("star", "muted")
                icon(name, colour).paint(painter, star_place(option.rect))
            inside.setRight(inside.right() - STAR - BETWEEN)
        below = line.note or _has_second_line(line)
        first = QRect(inside)
        if below:
            first.setHeight(inside.height() // 2)
        self._paint_first_line(painter, option, first, line)
        if below:
            second = QRect(inside)
            second.setTop(first.bottom() + 1)
            self._paint_second_line(painter, option, second, line)

    @staticmethod
    def _paint_first_line(painter: QPainter, option: QStyleOptionViewItem, place: QRect, line: Line) -> None:
        """Draw the id, and at the right the name if it fits."""
        model, colours = line.model, tokens()
        if model is None:
            return
        painter.setFont(option.font)
        painter.setPen(QColor(colours.text))
        metrics = painter.fontMetrics()
        text = metrics.elidedText(one_line_of(model.id), Qt.TextElideMode.ElideMiddle, place.width())
        painter.drawText(place, _LEFT, text)
        room = place.width() - metrics.horizontalAdvance(text) - 2 * BETWEEN
        if model.title and room > 40:
            painter.setFont(_small(option))
            painter.setPen(QColor(colours.muted))
            title = painter.fontMetrics().elidedText(one_line_of(model.title), Qt.TextElideMode.ElideRight, room)
            painter.drawText(place, _RIGHT, title)

    @staticmethod
    def _paint_second_line(painter: QPainter, option: QStyleOptionViewItem, place: QRect, line: Line) -> None:
        """Draw the facts, and at the right the icons."""
        if line.model is None:
            return
        right = place.right()
        for name, _ in reversed(signs(line.model.facts)):
            right -= SIGN
            icon(name, "muted").paint(painter, QRect(right, place.center().y() - SIGN // 2, SIGN, SIGN))
            right -= BETWEEN // 2
        painter.setFont(_small(option))
        painter.setPen(QColor(tokens().muted))
        room = right - place.left() - BETWEEN
        words = " · ".join(part for part in (line.note, one_line_of(short_words(line.model.facts))) if part)
        text = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room)
        painter.drawText(place, _LEFT, text)

    def helpEvent(
        self,
        event: QHelpEvent,
        view: QAbstractItemView,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> bool:
        if event.type() == QEvent.Type.ToolTip and self.stars and star_place(option.rect).contains(event.pos()):
            on = self._rows.model_id(index) in self._rows.favourites
            words = "Take it off the favourites (Ctrl+D)" if on else "Make it a favourite (Ctrl+D)"
            QToolTip.showText(event.globalPos(), words, view)
            return True
        return super().helpEvent(event, view, option, index)


def _small(option: QStyleOptionViewItem) -> QFont:
    font = QFont(option.font)
    font.setPixelSize(SMALL_PX)
    return font


def _has_second_line(line: Line) -> bool:
    """Return whether the model has facts to draw on a second line."""
    return line.model is not None and bool(short_words(line.model.facts) or signs(line.model.facts))


def star_place(row: QRect) -> QRect:
    """Return the rectangle of the star within that of a row."""
    return QRect(row.right() - SIDE - STAR + 1, row.center().y() - STAR // 2, STAR, STAR)


def _paint_box(painter: QPainter, inside: QRect, on: bool) -> None:
    colours = tokens()
    box = QRectF(inside.left() + 0.5, inside.center().y() - BOX / 2 + 0.5, BOX, BOX)
    painter.setPen(QColor(colours.accent if on else colours.muted))
    painter.setBrush(QColor(colours.accent if on else colours.raised))
    painter.drawRoundedRect(box, 4, 4)
    if on:
        icon("check", "on_accent").paint(painter, box.toRect().adjusted(1, 1, -1, -1))
