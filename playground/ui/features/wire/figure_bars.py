"""Figures of two exchanges as bars, one pair below the other: to see at a glance which took more."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from playground.engine.inspect.compare import Figure
from playground.ui.widgets.theme import SMALL_PX, body_font, tokens

ROW, BAR = 47, 9  # pixels
VALUE = 84  # room for a number
EDGE = 12


class FigureBars(QWidget):
    """``show_figures``; the first exchange is the upper bar of each pair."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.figures: Sequence[Figure] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(220)
        self.setAccessibleName("Times and tokens of both")

    def show_figures(self, figures: Sequence[Figure]) -> None:
        """Show these."""
        self.figures = figures
        said = [f"{f.label}: {words(f.left, f.unit)} and {words(f.right, f.unit)}" for f in figures]
        self.setAccessibleDescription(". ".join(said))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(280, ROW * len(self.figures) + 8)

    def minimumSizeHint(self) -> QSize:
        return QSize(220, ROW * len(self.figures) + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = body_font()
        font.setPixelSize(SMALL_PX - 1)
        painter.setFont(font)
        wide = self.width() - 2 * EDGE - VALUE
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for number, figure in enumerate(self.figures):
            top = number * ROW + 4.0
            painter.setPen(QColor(t.muted))
            painter.drawText(QRectF(EDGE, top, self.width() - 2 * EDGE, 14), left, figure.label)
            most = max(figure.left or 0, figure.right or 0)
            for at, (value, colour) in enumerate(((figure.left, t.accent), (figure.right, t.tool))):
                y = top + 15 + at * (BAR + 5)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(t.chip))
                painter.drawRoundedRect(QRectF(EDGE, y, wide, BAR), 3, 3)
                if value and most:
                    painter.setBrush(QColor(colour))
                    painter.drawRoundedRect(QRectF(EDGE, y, max(value / most * wide, 3), BAR), 3, 3)
                painter.setPen(QColor(t.text if value is not None else t.muted))
                painter.drawText(
                    QRectF(self.width() - EDGE - VALUE, y - 4, VALUE, BAR + 8), right, words(value, figure.unit)
                )
        painter.end()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()


def words(value: float | None, unit: str) -> str:
    """A figure for people."""
    if value is None:
        return "not known"
    match unit:
        case "s":
            return f"{value:.3f} s" if value < 1 else f"{value:.2f} s"
        case "tokens/s":
            return f"{value:.0f} tok/s"
        case "tokens" | "choices":
            return f"{value:,.0f}"
    return f"{value:,.0f} bytes"
