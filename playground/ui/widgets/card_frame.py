"""The rounded frame of a card, with a coloured stripe at its left."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from playground.ui.widgets.theme import tokens

EDGE = 10  # px at the bottom that look different from the middle


class CardFrame(QFrame):
    """A frame that grows without being repainted; `height_changed` says that its content needs another height."""

    height_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._marked = False
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)  # painted where it grows, and where it ended before

    def mark(self, marked: bool) -> None:
        """Show whether something dragged can be dropped here."""
        if marked is not self._marked:
            self._marked = marked
            self.update()

    def stripe(self) -> str:
        """Return the colour of the stripe as `#rrggbb`."""
        return tokens().line

    def height_at(self, width: int) -> int:
        """Return the height that the content needs at a width, in pixels."""
        layout = self.layout()
        if layout is None:
            return self.sizeHint().height()
        layout.activate()
        return layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()

    def event(self, event: QEvent) -> bool:
        """Report a changed height after the layouts have taken notice of it."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self.height_at(self.width()) != self.height():
            self.height_changed.emit()
        return done

    def resizeEvent(self, event: QResizeEvent) -> None:
        old = event.oldSize()
        if old.width() != self.width():
            self.update()
        else:
            self.update(0, min(old.height(), self.height()) - EDGE, self.width(), EDGE)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(t.accent if self.hasFocus() or self._marked else t.line))
        painter.setBrush(QColor(t.raised))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        painter.setClipRect(0, 0, 3, self.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.stripe()))
        painter.drawRoundedRect(self.rect(), 8, 8)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()
