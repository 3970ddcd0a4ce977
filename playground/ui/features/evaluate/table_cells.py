"""Draws the cells of the table: a mark for each repeat, a preview, the failed checks."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from playground.ui.features.evaluate.table_model import AnswersModel, CellContent, Head, Mark
from playground.ui.widgets.icons import icon
from playground.ui.widgets.theme import SMALL_PX, body_font, tokens

SIDE, TOP, BETWEEN = 12, 7, 2  # pixels
MARK, MARK_STEP = 11, 14
CHIP_SIDE = 7
#: The lines of marks, as points from the centre in pixels.
_STROKES: Final = {
    Mark.PASSED: (((-4, 0.5), (-1.5, 3), (4, -3.5)),),
    Mark.FAILED: (((-3, -3), (3, 3)), ((-3, 3), (3, -3))),
    Mark.STALE: (((-3, 0), (3, 0)),),
}


class CellDelegate(QStyledItemDelegate):
    """Draws the cells. ``checked`` reserves a line for failed checks."""

    def __init__(self, model: AnswersModel, view: QWidget) -> None:
        super().__init__(view)
        self._model, self._view = model, view
        self.checked = False
        self._small, self._of_small = face("small")
        self._of_body = face("body").metrics

    @property
    def row_height(self) -> int:
        """The height of each row in pixels."""
        lines = [max(MARK, self._of_small.height()), self._of_body.height()]
        lines += [self._of_small.height() + 3] if self.checked else []
        return 2 * TOP + sum(lines) + BETWEEN * (len(lines) - 1) + 1

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(200, self.row_height)

    def mark_at(self, rect: QRect, position: QPoint, count: int) -> int:
        """Return the number (from 1) of the mark at a position in a cell ``rect`` with ``count`` marks; 0 for none."""
        line = QRect(rect.left() + SIDE, rect.top() + TOP - 3, MARK_STEP * count, self._of_small.height() + 6)
        number = (position.x() - line.left()) // MARK_STEP + 1
        return number if line.contains(position) and number <= _fitting(rect.width() - 2 * SIDE, count) else 0

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        t = tokens()
        rect: QRect = option.rect
        number = index.column()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        # No save, restore or clip: all parts are made to fit, and cells are drawn often.
        painter.fillRect(rect, colour(t.line))
        ground = t.surface if chosen or number == 0 else t.window
        painter.fillRect(rect.adjusted(0, 0, -1, -1), colour(ground))
        inner = rect.adjusted(SIDE, TOP, -SIDE, -TOP)
        if number == 0:
            self._paint_case(painter, inner, self._model.head(index.row()))
        else:
            self._paint_answers(painter, inner, self._model.content(index.row(), number))
        if chosen:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            pen = QPen(colour(t.accent), 2)
            pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(1, 1, -2, -2))

    def _paint_case(self, painter: QPainter, inner: QRect, head: Head) -> None:
        top = self._line(painter, inner, inner.top(), head.title, "text", "body")
        if head.problem:
            self._line(painter, inner, top, head.problem, "error", "small")
        else:
            self._line(painter, inner, top, head.expected, "muted", "small")

    def _paint_answers(self, painter: QPainter, inner: QRect, cell: CellContent) -> None:
        self._paint_marks(painter, inner, cell.marks)
        top = inner.top() + max(MARK, self._of_small.height()) + BETWEEN
        top = self._line(painter, inner, top, cell.words, cell.colour, "body")
        if cell.failed:
            self._paint_chips(painter, inner, top, cell)

    def _line(self, painter: QPainter, inner: QRect, top: int, text: str, token: str, kind: str) -> int:
        """Draw an elided line. Return the top of the next one."""
        font, metrics = face(kind)
        if text:
            painter.setFont(font)
            painter.setPen(colour(getattr(tokens(), token)))
            painter.drawText(inner.left(), top + metrics.ascent(), elided(text, kind, inner.width()))
        return top + metrics.height() + BETWEEN

    def _paint_marks(self, painter: QPainter, inner: QRect, marks: tuple[Mark, ...]) -> None:
        fitting = _fitting(inner.width(), len(marks))
        top = inner.top() + (max(MARK, self._of_small.height()) - MARK) // 2
        scale = self._view.devicePixelRatioF()
        painter.drawPixmap(inner.left(), top, marks_picture(marks[:fitting], scale, tokens().ok))
        if fitting < len(marks):
            more = f"+{len(marks) - fitting}"
            painter.setFont(self._small)
            painter.setPen(colour(tokens().muted))
            left = inner.left() + fitting * MARK_STEP + 2
            painter.drawText(left, inner.top() + self._of_small.ascent(), more)

    def _paint_chips(self, painter: QPainter, inner: QRect, top: int, cell: CellContent) -> None:
        t = tokens()
        painter.setFont(self._small)
        height = self._of_small.height() + 3
        base = top + (height - self._of_small.height()) // 2 + self._of_small.ascent()
        more = len(cell.failed) - 1
        tail = "  ".join(filter(None, (f"+{more}" if more else "", cell.tally)))
        room = inner.width() - (self._of_small.horizontalAdvance(tail) + 8 if tail else 0)
        sign = MARK_STEP - 3
        words = elided(cell.failed[0], "small", max(room - 2 * CHIP_SIDE - sign, 0))
        width = self._of_small.horizontalAdvance(words) + 2 * CHIP_SIDE + sign
        left = inner.left()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour(t.error_background))
        painter.drawRoundedRect(QRectF(left, top, width, height), height / 2, height / 2)
        small = mark_picture(Mark.FAILED, self._view.devicePixelRatioF(), t.ok)
        painter.drawPixmap(left + CHIP_SIDE - 2, top + (height - MARK) // 2, small)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(colour(t.error))
        painter.drawText(left + CHIP_SIDE + sign, base, words)
        painter.setPen(QColor(t.muted))
        painter.drawText(left + width + 8, base, tail)


def _fitting(width: int, count: int) -> int:
    """Return how many marks fit beside the number of those that do not."""
    return count if count * MARK_STEP <= width else max((width - 3 * MARK_STEP) // MARK_STEP, 0)


class Face(NamedTuple):
    """A font with its metrics."""

    font: QFont
    metrics: QFontMetrics


@lru_cache(maxsize=8)
def face(kind: str) -> Face:
    """Return a font of the table: "body", "small" or "strong"."""
    font = body_font(SMALL_PX - 1) if kind == "small" else body_font()
    if kind == "strong":
        font.setWeight(QFont.Weight.DemiBold)
    return Face(font, QFontMetrics(font))


@lru_cache(maxsize=8_000)
def elided(text: str, kind: str, width: int) -> str:
    """Return a text elided to a width in pixels."""
    return face(kind).metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)


@lru_cache(maxsize=1_000)
def marks_picture(marks: tuple[Mark, ...], scale: float, scheme: str) -> QPixmap:
    """Return the picture of several marks."""
    picture = QPixmap(max(round(MARK_STEP * len(marks) * scale), 1), round(MARK * scale))
    picture.setDevicePixelRatio(scale)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    for place, mark in enumerate(marks):
        painter.drawPixmap(place * MARK_STEP, 0, mark_picture(mark, scale, scheme))
    painter.end()
    return picture


@lru_cache(maxsize=64)
def colour(value: str) -> QColor:
    """Return the colour ``#rrggbb``."""
    return QColor(value)


@lru_cache(maxsize=64)
def mark_picture(mark: Mark, scale: float, _scheme: str) -> QPixmap:
    """Return the picture of a mark at a scale; drawn once for each scheme."""
    t = tokens()
    picture = QPixmap(round(MARK * scale), round(MARK * scale))
    picture.setDevicePixelRatio(scale)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    middle = MARK / 2
    if mark is Mark.NO_ANSWER:
        icon("warning", t.tool).paint(painter, QRect(0, 0, MARK, MARK))
    elif mark is Mark.UNJUDGED:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.muted))
        painter.drawEllipse(QRectF(3, 3, MARK - 6, MARK - 6))
    elif mark is Mark.MISSING:
        painter.setPen(QPen(QColor(t.muted), 1.0))
        painter.setOpacity(0.7)
        painter.drawEllipse(QRectF(2.5, 2.5, MARK - 5, MARK - 5))
    else:
        ink = {Mark.PASSED: t.ok, Mark.FAILED: t.error, Mark.STALE: t.muted}[mark]
        painter.setPen(QPen(QColor(ink), 1.6, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin))
        for line in _STROKES[mark]:
            painter.drawPolyline([QPointF(middle + x, middle + y) for x, y in line])
    painter.end()
    return picture
