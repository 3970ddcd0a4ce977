"""Paints the table of answers: its cells with a mark for each repeat, and the header with results."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from playground.engine.evaluation.results import Rate
from playground.ui.features.conversation.markdown import Context, Span, Style, parse
from playground.ui.features.evaluate.table_model import AnswersModel, CaseHead, CellContent, ColumnHead, Mark
from playground.ui.widgets.icons import icon
from playground.ui.widgets.theme import SMALL_PX, body_font, tokens

SIDE, TOP, LINE_GAP = 12, 7, 2  # pixels
MARK, MARK_STEP = 11, 14
CHIP_SIDE = 7
BAR, TICK, ARROW = 5, 11, 12
LEAST_COLUMN: Final = 120
#: The lines of marks, as points from the centre in pixels.
_STROKES: Final = {
    Mark.PASSED: (((-4, 0.5), (-1.5, 3), (4, -3.5)),),
    Mark.FAILED: (((-3, -3), (3, 3)), ((-3, 3), (3, -3))),
    Mark.STALE: (((-3, 0), (3, 0)),),
}


@lru_cache(maxsize=16)
def face(kind: str, style: Style = Style.PLAIN) -> QFont:
    """Return a font of the table: "body", "small" or "strong", in the style of a span of Markdown."""
    font = body_font(SMALL_PX - 1) if kind == "small" else body_font()
    if kind == "strong" or style & Style.BOLD:
        font.setWeight(QFont.Weight.DemiBold)
    font.setItalic(bool(style & Style.ITALIC))
    font.setStrikeOut(bool(style & Style.STRIKE))
    return font


@lru_cache(maxsize=16)
def metrics_of(kind: str, style: Style = Style.PLAIN) -> QFontMetrics:
    """Return the metrics of a font of the table."""
    return QFontMetrics(face(kind, style))


def line_height(kind: str) -> int:
    """Return the height of a line in pixels."""
    return metrics_of(kind).height()


def draw_spans(painter: QPainter, line: QRect, spans: Iterable[Span], colour: str, kind: str = "body") -> int:
    """Draw a line of text, elided where it ends. ``colour`` is a token. Return its width in pixels."""
    left, ascent = line.left(), metrics_of(kind).ascent()
    painter.setPen(QColor(getattr(tokens(), colour)))
    for span in spans:
        style = span.style & (Style.BOLD | Style.ITALIC | Style.STRIKE)
        metrics, room = metrics_of(kind, style), line.right() - left + 1
        text = metrics.elidedText(span.text, Qt.TextElideMode.ElideRight, room)
        painter.setFont(face(kind, style))
        painter.drawText(left, line.top() + ascent, text)
        left += metrics.horizontalAdvance(text)
        if text != span.text:
            break
    return left - line.left()


def draw_text(painter: QPainter, line: QRect, text: str, colour: str, kind: str = "body") -> int:
    """Draw a line of plain text, elided where it ends. Return its width in pixels."""
    return draw_spans(painter, line, [Span(text)], colour, kind)


@lru_cache(maxsize=1_000)
def preview_spans(text: str) -> tuple[Span, ...]:
    """Return a preview of Markdown as spans of one line, without its signs. Cached: a cell is painted often."""
    spans: list[Span] = []
    for line in parse(text.split("\n"), Context()).lines:
        cells = [span for row in line.rows for cell in row for span in (*cell, Span("  "))]
        marker = [Span(f"{line.marker} ")] if line.marker else []
        spans += [*([Span(" ")] if spans else []), *marker, *line.spans, *cells]
    return tuple(Span(span.text.replace("\u2028", " "), span.style) for span in spans)


def paint_mark(painter: QPainter, left: float, top: float, mark: Mark) -> None:
    """Paint the mark of a repeat."""
    t, middle = tokens(), MARK / 2
    painter.save()
    painter.translate(left, top)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if mark is Mark.NO_ANSWER:
        icon("warning", t.tool).paint(painter, QRect(0, 0, MARK, MARK))
    elif mark is Mark.UNJUDGED:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.muted))
        painter.drawEllipse(QRectF(3, 3, MARK - 6, MARK - 6))
    elif mark is Mark.MISSING:
        painter.setOpacity(0.7)
        painter.setPen(QPen(QColor(t.muted), 1.0))
        painter.drawEllipse(QRectF(2.5, 2.5, MARK - 5, MARK - 5))
    else:
        ink = {Mark.PASSED: t.ok, Mark.FAILED: t.error, Mark.STALE: t.muted}[mark]
        painter.setPen(QPen(QColor(ink), 1.6, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin))
        for stroke in _STROKES[mark]:
            painter.drawPolyline([QPointF(middle + x, middle + y) for x, y in stroke])
    painter.restore()


def _fitting(width: int, count: int) -> int:
    """Return how many marks fit beside the number of those that do not."""
    return count if count * MARK_STEP <= width else max((width - 3 * MARK_STEP) // MARK_STEP, 0)


class CellDelegate(QStyledItemDelegate):
    """Paints the cells. ``checked`` reserves a line for failed checks."""

    def __init__(self, model: AnswersModel, view: QWidget) -> None:
        super().__init__(view)
        self._model = model
        self.checked = False

    @property
    def row_height(self) -> int:
        """The height of each row in pixels."""
        lines = [self._marks_height, line_height("body"), *([line_height("small") + 3] if self.checked else [])]
        return 2 * TOP + sum(lines) + LINE_GAP * (len(lines) - 1) + 1

    @property
    def _marks_height(self) -> int:
        return max(MARK, line_height("small"))

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(200, self.row_height)

    def mark_at(self, rect: QRect, position: QPoint, count: int) -> int:
        """Return the number (from 1) of the mark at a position in a cell ``rect`` with ``count`` marks; 0 for none."""
        line = QRect(rect.left() + SIDE, rect.top() + TOP - 3, MARK_STEP * count, self._marks_height + 6)
        number = (position.x() - line.left()) // MARK_STEP + 1
        return number if line.contains(position) and number <= _fitting(rect.width() - 2 * SIDE, count) else 0

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        t, rect, number = tokens(), QRect(option.rect), index.column()
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.fillRect(rect, QColor(t.line))
        painter.fillRect(rect.adjusted(0, 0, -1, -1), QColor(t.surface if selected or number == 0 else t.window))
        inner = rect.adjusted(SIDE, TOP, -SIDE, -TOP)
        if number == 0:
            self._paint_case(painter, inner, self._model.head(index.row()))
        else:
            self._paint_answers(painter, inner, self._model.content(index.row(), number))
        if selected:
            painter.setPen(QPen(QColor(t.accent), 2, j=Qt.PenJoinStyle.MiterJoin))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(1, 1, -2, -2))
        painter.restore()

    def _paint_case(self, painter: QPainter, line: QRect, head: CaseHead) -> None:
        draw_text(painter, line, head.title, "text")
        line.setTop(line.top() + line_height("body") + LINE_GAP)
        draw_text(painter, line, head.problem or head.expected, "error" if head.problem else "muted", "small")

    def _paint_answers(self, painter: QPainter, line: QRect, cell: CellContent) -> None:
        fitting = _fitting(line.width(), len(cell.marks))
        top = line.top() + (self._marks_height - MARK) // 2
        for place, mark in enumerate(cell.marks[:fitting]):
            paint_mark(painter, line.left() + place * MARK_STEP, top, mark)
        if fitting < len(cell.marks):
            more = line.adjusted(fitting * MARK_STEP + 2, 0, 0, 0)
            draw_text(painter, more, f"+{len(cell.marks) - fitting}", "muted", "small")
        line.setTop(line.top() + self._marks_height + LINE_GAP)
        spans = (Span(cell.text),) if cell.colour == "error" else preview_spans(cell.text)
        draw_spans(painter, line, spans, cell.colour)
        line.setTop(line.top() + line_height("body") + LINE_GAP)
        if cell.failed:
            self._paint_chip(painter, line, cell)

    def _paint_chip(self, painter: QPainter, line: QRect, cell: CellContent) -> None:
        """Paint the failed check, how many others there are, and how many answers failed."""
        metrics, height = metrics_of("small"), line_height("small") + 3
        more = len(cell.failed) - 1
        tail = "  ".join(filter(None, (f"+{more}" if more else "", cell.tally)))
        room = line.width() - (metrics.horizontalAdvance(tail) + 8 if tail else 0)
        start = CHIP_SIDE + MARK_STEP - 3
        words = metrics.elidedText(cell.failed[0], Qt.TextElideMode.ElideRight, max(room - start - CHIP_SIDE, 0))
        width = start + metrics.horizontalAdvance(words) + CHIP_SIDE
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens().error_background))
        painter.drawRoundedRect(QRectF(line.left(), line.top(), width, height), height / 2, height / 2)
        painter.restore()
        paint_mark(painter, line.left() + CHIP_SIDE - 2, line.top() + (height - MARK) // 2, Mark.FAILED)
        words_line = line.adjusted(start, (height - metrics.height()) // 2, 0, 0)
        draw_text(painter, words_line, words, "error", "small")
        words_line.setLeft(line.left() + width + 8)
        draw_text(painter, words_line, tail, "muted", "small")


class AnswersHeader(QHeaderView):
    """The header: title and differences of each variant, its pass rate with the interval, and its metrics."""

    def __init__(self, model: AnswersModel, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setAccessibleName("Columns: click to sort")
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(LEAST_COLUMN)
        self._model = model
        self._sorted = (-1, False, "")

    def show_sorted(self, section: int, *, down: bool, words: str) -> None:
        """Mark the column that rows are sorted by; -1 for none."""
        self._sorted = section, down, words
        self.viewport().update()

    def sizeHint(self) -> QSize:
        height = 2 * TOP + line_height("strong") + 2 * line_height("small") + TICK + 3 * LINE_GAP + 2
        return QSize(super().sizeHint().width(), height)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        t = tokens()
        painter.save()
        painter.fillRect(rect, QColor(t.surface))
        painter.setPen(QColor(t.line))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.drawLine(rect.topRight(), rect.bottomRight())
        if section < len(self._model.heads):
            self._paint(painter, rect.adjusted(SIDE, TOP + 1, -SIDE, -TOP), self._model.heads[section], section)
        painter.restore()

    def _paint(self, painter: QPainter, line: QRect, head: ColumnHead, section: int) -> None:
        title = QRect(line)
        if section == self._sorted[0]:
            title.setRight(title.right() - self._paint_order(painter, line))
        draw_text(painter, title, head.title, "text", "strong")
        line.setTop(line.top() + line_height("strong") + LINE_GAP)
        draw_text(painter, line, head.words, "muted", "small")
        if section == 0:
            return
        line.setTop(line.top() + line_height("small") + LINE_GAP)
        self._paint_bar(painter, line, head.rate)
        line.setTop(line.top() + TICK + LINE_GAP)
        reserved = metrics_of("small").horizontalAdvance(head.against) + 8 if head.against else 0
        figures = head.figures or "no answers"
        width = draw_text(painter, line.adjusted(0, 0, -reserved, 0), figures, "muted", "small")
        if head.against:
            draw_text(
                painter, line.adjusted(width + 8, 0, 0, 0), head.against, "ok" if head.better else "error", "small"
            )

    def _paint_order(self, painter: QPainter, line: QRect) -> int:
        """Paint the order of the rows. Return its width in pixels."""
        _, down, words = self._sorted
        metrics = metrics_of("small")
        words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, line.width() // 2)
        width = metrics.horizontalAdvance(words)
        draw_text(painter, line.adjusted(line.width() - width, 2, 1, 0), words, "accent", "small")
        arrow = QRect(line.right() - width - ARROW - 3, line.top() + 3, ARROW, ARROW)
        icon("down" if down else "up", "accent").paint(painter, arrow)
        return width + ARROW + 10

    def _paint_bar(self, painter: QPainter, line: QRect, rate: Rate | None) -> None:
        t = tokens()
        bar = QRectF(line.left(), line.top() + (TICK - BAR) / 2, line.width(), BAR)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.chip))
        painter.drawRoundedRect(bar, BAR / 2, BAR / 2)
        share = rate.share if rate is not None else None
        if rate is None or share is None:
            return
        if share > 0:
            painter.setBrush(QColor(t.ok))
            painter.drawRoundedRect(QRectF(bar.left(), bar.top(), bar.width() * share, BAR), BAR / 2, BAR / 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for end in rate.interval:
            painter.fillRect(QRect(round(bar.left() + (bar.width() - 2) * end), line.top(), 2, TICK), QColor(t.text))
