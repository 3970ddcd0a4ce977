"""Bars with counts: how often each label came. Painted; a list with words for people who cannot see it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QHelpEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from playground.engine.session.stability import FAILED, NO_CALL
from playground.ui.features.debugger.stability_words import Bar, brief, share
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.theme import code_font, tokens

LABEL, BAR, GAP = 16, 12, 10  # pixels: a line of a label, its bar, the room below
MOST_LINES = 6  # calls of one answer that are written out
COUNT = 82  # room for "20 · 100 %"


class Histogram(QWidget):
    """``set_bars`` shows labels and counts, the most frequent first; shares are of ``total``. Ctrl+C copies it."""

    def __init__(self, says: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bars: list[Bar] = []
        self._tops: list[int] = [0]
        self._total = 0
        self._says = says
        self.setAccessibleName(says)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def bars(self) -> Sequence[Bar]:
        """What is shown."""
        return self._bars

    def set_bars(self, bars: Sequence[Bar], total: int) -> None:
        """Show these."""
        if list(bars) == self._bars and total == self._total:
            return
        self._bars, self._total = list(bars), total
        heights = (len(_lines(label)) * LABEL + BAR + GAP for label, _ in self._bars)
        self._tops = list(accumulate(heights, initial=0))
        self.setAccessibleDescription(self.text())
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """A line for each bar."""
        return "\n".join(f"{count} ({share(count, self._total)}): {' + '.join(label)}" for label, count in self._bars)

    def sizeHint(self) -> QSize:
        return QSize(240, max(self._tops[-1], LABEL))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.text())
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            row = bisect_right(self._tops, event.pos().y()) - 1
            words = "\n".join(self._bars[row][0])[:2_000] if 0 <= row < len(self._bars) else ""
            QToolTip.showText(event.globalPos(), tip(words), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        most = max((count for _, count in self._bars), default=0)
        for row in range(len(self._bars)):
            if self._tops[row] <= event.rect().bottom() and self._tops[row + 1] >= event.rect().top():
                self._paint_row(painter, row, most)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QColor(tokens().accent))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _paint_row(self, painter: QPainter, row: int, most: int) -> None:
        t, (label, count) = tokens(), self._bars[row]
        top, width = self._tops[row], self.width()
        plain = label[0] in (NO_CALL, FAILED)
        colour = t.error if label[0] == FAILED else t.muted if plain else t.accent
        painter.setFont(self.font() if plain else code_font())
        painter.setPen(QColor(t.text if count else t.muted))
        for line in _lines(label):
            words = painter.fontMetrics().elidedText(one_line_of(line), Qt.TextElideMode.ElideRight, width - 8)
            painter.drawText(QRect(4, top, width - 8, LABEL), Qt.AlignmentFlag.AlignVCenter, words)
            top += LABEL
        room = width - COUNT - 8
        track = QRectF(4, top + 2, room, BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.chip))
        painter.drawRoundedRect(track, 3, 3)
        if count and most:
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(4, track.top(), max(room * count / max(self._total, most), 4), BAR), 3, 3)
        painter.setFont(self.font())
        painter.setPen(QColor(t.text if count else t.muted))
        painter.drawText(
            QRect(width - COUNT, top, COUNT - 4, BAR + 4),
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight,
            f"{count} · {share(count, self._total)}" if count else "0",
        )


def _lines(label: tuple[str, ...]) -> list[str]:
    """The lines of a label: a call each, the last one saying how many more there are."""
    if label[0] in (NO_CALL, FAILED):
        return [label[0].strip("()").capitalize()]
    lines = [brief(call) for call in label[:MOST_LINES]]
    return [*lines, f"and {len(label) - MOST_LINES} more calls"] if len(label) > MOST_LINES else lines
