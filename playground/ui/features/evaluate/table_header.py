"""The table header: letter and name of each variant, its differences, pass rate with interval, and metrics."""

from __future__ import annotations

from typing import Final, NamedTuple

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QHeaderView, QToolTip, QWidget

from playground.engine.evaluation.results import ColumnResult, Comparison, Rate
from playground.ui.features.evaluate.table_cells import BETWEEN, SIDE, elided, face
from playground.ui.widgets.figures import seconds
from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.theme import tokens

TOP, BAR, TICK, ARROW = 8, 5, 11, 12  # pixels
#: Narrow columns stay readable.
LEAST: Final = 120


class ColumnHead(NamedTuple):
    """The header of a column. ``better`` is None without a significant difference to the first variant."""

    title: str
    words: str
    rate: Rate | None = None
    figures: str = ""
    against: str = ""
    better: bool | None = None
    about: str = ""


def head_of(title: str, words: str, result: ColumnResult | None, against: list[Comparison]) -> ColumnHead:
    """Return the header of a variant, with its results and the comparison with the first variant."""
    if result is None:
        return ColumnHead(show_hidden(title), show_hidden(words), about=f"{title}\n{words}")
    parts = [result.rate.words] if result.rate.judged else []
    parts += [f"{seconds(result.medians['seconds'])}"] if "seconds" in result.medians else []
    parts += [f"{result.medians['tokens']:,.0f} tok"] if "tokens" in result.medians else []
    parts += [f"{result.failed:,} failed to answer"] if result.failed else []
    difference = next((comparison for comparison in against if comparison.what == "passes" and comparison.sure), None)
    lines = [title, words, *_about(result), *(comparison.words for comparison in against)]
    return ColumnHead(
        show_hidden(title),
        show_hidden(words),
        result.rate,
        " · ".join(parts),
        difference.short if difference is not None else "",
        difference.better if difference is not None else None,
        "\n".join(filter(None, lines)),
    )


def _about(result: ColumnResult) -> list[str]:
    rate = result.rate
    lines = [f"{result.answered:,} answers"]
    if rate.judged:
        lines.append(f"{rate.passed:,} of {rate.judged:,} passed: {rate.words}, the interval at 95 %")
    lines += [f"{result.failed:,} failed to answer"] if result.failed else []
    lines += [f"{result.not_judged:,} not judged"] if result.not_judged and rate.judged else []
    lines += [f"score {result.score:.2f} of 1"] if result.score is not None else []
    for name, words in (("seconds", "to the last token"), ("first", "to the first token")):
        if name in result.medians:
            lines.append(f"{words}: median {seconds(result.medians[name])}, 95 % within {seconds(result.high[name])}")
    if "tokens" in result.medians:
        lines.append(f"tokens: median {result.medians['tokens']:,.0f}, 95 % have at most {result.high['tokens']:,.0f}")
    return lines


class AnswersHeader(QHeaderView):
    """The header. ``menu_asked`` carries a column and the position for its menu on the screen."""

    menu_asked = Signal(int, QPoint)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setAccessibleName("Columns: click to sort")
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(LEAST)
        self.setMouseTracking(True)
        self._heads: list[ColumnHead] = []
        self._sorted = (-1, False, "")
        self._pressed = QPoint()
        self._strong, self._of_strong = face("strong")
        self._small, self._of_small = face("small")

    @property
    def heads(self) -> list[ColumnHead]:
        """The headers of all columns, the cases first."""
        return self._heads

    def show_heads(self, heads: list[ColumnHead]) -> None:
        """Show the headers of all columns."""
        if heads != self._heads:
            self._heads = heads
            self.viewport().update()

    def show_sorted(self, section: int, *, down: bool, words: str) -> None:
        """Mark the column that rows are sorted by; -1 for none."""
        self._sorted = section, down, words
        self.viewport().update()

    def sizeHint(self) -> QSize:
        height = 2 * TOP + self._of_strong.height() + 2 * self._of_small.height() + TICK + 3 * BETWEEN
        return QSize(super().sizeHint().width(), height)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        t = tokens()
        painter.save()
        painter.fillRect(rect, QColor(t.surface))
        painter.setPen(QColor(t.line))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.drawLine(rect.topRight(), rect.bottomRight())
        if section < len(self._heads):
            self._paint(painter, rect.adjusted(SIDE, TOP, -SIDE, -TOP), self._heads[section], section)
        painter.restore()

    def _paint(self, painter: QPainter, inner: QRect, head: ColumnHead, section: int) -> None:
        t = tokens()
        top, room = inner.top(), inner.width()
        if section == self._sorted[0]:
            room -= self._paint_arrow(painter, inner)
        painter.setFont(self._strong)
        painter.setPen(QColor(t.text))
        painter.drawText(inner.left(), top + self._of_strong.ascent(), elided(head.title, "strong", room))
        top += self._of_strong.height() + BETWEEN
        painter.setFont(self._small)
        painter.setPen(QColor(t.muted))
        words = elided(head.words, "small", inner.width())
        painter.drawText(inner.left(), top + self._of_small.ascent(), words)
        if section == 0:
            return
        top += self._of_small.height() + BETWEEN
        self._paint_bar(painter, QRect(inner.left(), top, inner.width(), TICK), head.rate)
        top += TICK + BETWEEN
        base = top + self._of_small.ascent()
        against = head.against
        reserved = self._of_small.horizontalAdvance(against) + 2 * BETWEEN + 4 if against else 0
        figures = elided(head.figures or "no answer yet", "small", max(inner.width() - reserved, 0))
        painter.setPen(QColor(t.muted))
        painter.drawText(inner.left(), base, figures)
        if against:
            painter.setPen(QColor(t.ok if head.better else t.error))
            painter.drawText(inner.left() + self._of_small.horizontalAdvance(figures) + 8, base, against)

    def _paint_arrow(self, painter: QPainter, inner: QRect) -> int:
        """Draw the order of the rows. Return its width in pixels."""
        _, down, words = self._sorted
        words = elided(words, "small", inner.width() // 2)
        painter.setFont(self._small)
        painter.setPen(QColor(tokens().accent))
        width = self._of_small.horizontalAdvance(words)
        painter.drawText(inner.right() - width, inner.top() + self._of_strong.ascent(), words)
        arrow = QRect(inner.right() - width - ARROW - 3, inner.top() + 3, ARROW, ARROW)
        icon("down" if down else "up", tokens().accent).paint(painter, arrow)
        return width + ARROW + 10

    def _paint_bar(self, painter: QPainter, rect: QRect, rate: Rate | None) -> None:
        t = tokens()
        track = QRectF(rect.left(), rect.top() + (TICK - BAR) / 2, rect.width(), BAR)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.chip))
        painter.drawRoundedRect(track, BAR / 2, BAR / 2)
        share = rate.share if rate is not None else None
        if rate is None or share is None:
            return
        if share > 0:
            painter.setBrush(QColor(t.ok))
            painter.drawRoundedRect(QRectF(track.left(), track.top(), track.width() * share, BAR), BAR / 2, BAR / 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for end in rate.interval:
            left = round(track.left() + (track.width() - 2) * end)
            painter.fillRect(QRect(left, rect.top(), 2, TICK), QColor(t.text))

    # Mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._pressed = event.position().toPoint()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        resized = self.cursor().shape() == Qt.CursorShape.SplitHCursor
        super().mouseReleaseEvent(event)
        position = event.position().toPoint()
        section = self.logicalIndexAt(position)
        moved = (position - self._pressed).manhattanLength() > 4
        if event.button() == Qt.MouseButton.LeftButton and section >= 0 and not moved and not resized:
            self.ask_menu(section)

    def ask_menu(self, section: int) -> None:
        """Ask for the menu of a column below its header."""
        left = max(self.sectionViewportPosition(section), 0)
        self.menu_asked.emit(section, self.viewport().mapToGlobal(QPoint(left, self.height())))

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            section = self.logicalIndexAt(event.pos())
            if 0 <= section < len(self._heads):
                QToolTip.showText(event.globalPos(), tip(self._heads[section].about), self)
            return True
        return bool(super().viewportEvent(event))
