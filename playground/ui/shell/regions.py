"""What the window's regions are made of: docks with a grip, the side panel with its tabs, places that are filled later.

On the way to the first paint: nothing heavy may be imported here.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QMainWindow,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.theme import tokens


class Dock(QDockWidget):
    """A region that can be moved, floated and closed by its slim grip."""

    def __init__(self, title: str, content: QWidget, window: QMainWindow) -> None:
        super().__init__(title, window)
        self.setObjectName(f"dock-{title.lower().replace(' ', '-')}")
        self.setWidget(content)
        self.setTitleBarWidget(_Grip(self))


class _Grip(QWidget):
    """A few pixels to take hold of: drag to move or float, double-click to float, right-click for a menu."""

    def __init__(self, dock: QDockWidget) -> None:
        super().__init__(dock)
        self._dock = dock
        self._hover = False
        self.setToolTip(f"Drag to move “{dock.windowTitle()}”; double-click to float it")
        self.setAccessibleName(f"Move {dock.windowTitle()}")
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)

    def sizeHint(self) -> QSize:
        return QSize(40, 6)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        floating = self._dock.isFloating()
        menu.addAction("Put back" if floating else "Float").triggered.connect(self._float)
        menu.addAction("Close").triggered.connect(self._dock.close)
        menu.popup(self.mapToGlobal(at))

    def _float(self) -> None:
        self._dock.setFloating(not self._dock.isFloating())

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Enter, QEvent.Type.Leave):
            self._hover = event.type() == QEvent.Type.Enter
            self.update()
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.surface))
        painter.drawRect(self.rect())  # not fillRect, for which Python makes the 169 names of Qt's gradients: 7 ms
        if self._hover or self._dock.isFloating():
            painter.setBrush(QColor(t.muted))
            painter.drawRoundedRect(QRect(self.width() // 2 - 14, 2, 28, 3), 1.5, 1.5)


def stacked(*widgets: QWidget) -> QFrame:
    """Widgets one below the other, the last one taking the room that is left."""
    frame = styled(QFrame(), "surface")
    column = in_column(of=frame, margins=0, spacing=0)
    for widget in widgets:
        column.addWidget(widget, 1 if widget is widgets[-1] else 0)
    return frame


class Region(QFrame):
    """Holds what belongs in one place, once it is there. Were the dock's or the window's own widget another, the
    window would be laid out anew, and jump."""

    def __init__(self, kind: str = "") -> None:
        super().__init__()
        if kind:
            self.setProperty("kind", kind)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._held: QWidget | None = None

    def fill(self, content: QWidget) -> None:
        """Hold ``content``, and no longer what was held before."""
        if self._held is not None:
            self._column.removeWidget(self._held)
            self._held.hide()
        self._held = content
        self._column.addWidget(content)
