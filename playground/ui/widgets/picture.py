"""A picture that may be larger than its room: it scrolls both ways, and what is under the pointer is told."""

from __future__ import annotations

from typing import Generic, TypeVar

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from playground.ui.widgets.plain_text import tip

K = TypeVar("K")


class Picture(QAbstractScrollArea, Generic[K]):
    """Something in it is named by a ``K``; ``nothing`` names none. ``across`` and ``down`` are steps in pixels."""

    def __init__(self, nothing: K, across: int, down: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._nothing = self._hover = nothing
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.horizontalScrollBar().setSingleStep(across)
        self.verticalScrollBar().setSingleStep(down)

    def _at(self, point: QPoint) -> K:
        """What is at a point of the viewport."""
        raise NotImplementedError

    def _words(self, at: K) -> str:
        """What is said of it; empty of nothing."""
        raise NotImplementedError

    def _origin(self) -> QPointF:
        """The point of the picture that is at the top left of the viewport."""
        return QPointF(self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def _set_ranges(self, wide: float, high: float) -> None:
        """The picture is that large, in pixels."""
        room, across, down = self.viewport().size(), self.horizontalScrollBar(), self.verticalScrollBar()
        across.setPageStep(room.width())
        across.setRange(0, max(round(wide) - room.width(), 0))
        down.setPageStep(room.height())
        down.setRange(0, max(round(high) - room.height(), 0))

    def _set_hover(self, at: K) -> None:
        if at != self._hover:
            self._hover = at
            over = at != self._nothing
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)
            self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._set_hover(self._at(event.position().toPoint()))

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), tip(self._words(self._at(event.pos()))), self.viewport())
            return True
        if event.type() == QEvent.Type.Leave:
            self._set_hover(self._nothing)
        return super().viewportEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel of a mouse scrolls sideways where there is nothing above and below."""
        turned = event.angleDelta()
        if self.verticalScrollBar().maximum() != 0 or not turned.y() or turned.x():
            super().wheelEvent(event)
            return
        across = self.horizontalScrollBar()
        across.setValue(across.value() - turned.y())
        event.accept()
