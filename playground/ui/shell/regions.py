"""Regions of the window: docks with a grip, and places that are filled later.

Imported before the first paint: nothing heavy may be imported here.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QApplication,
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
        self._pressed = QPoint()
        self._on_wayland = QGuiApplication.platformName().startswith("wayland")
        self._say()
        dock.topLevelChanged.connect(self._say)
        self.setAccessibleName(f"Move {dock.windowTitle()}")
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)

    def sizeHint(self) -> QSize:
        return QSize(40, 6)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _say(self) -> None:
        """Say what can be done: on Wayland no dock is dragged out of the window, or back into it."""
        name = f"“{self._dock.windowTitle()}”"
        if self._moved_by_desktop():
            self.setToolTip(f"Drag to move {name}; double-click to put it back")
        elif self._on_wayland:
            self.setToolTip(f"Drag {name} to another edge to move it; double-click to float it")
        else:
            self.setToolTip(f"Drag to move {name}; double-click to float it")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position().toPoint()
        event.setAccepted(self._moved_by_desktop() and event.button() == Qt.MouseButton.LeftButton)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.ignore()  # the dock floats, or goes back

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        event.setAccepted(self._moved_by_desktop() and event.buttons() == Qt.MouseButton.LeftButton)
        far = (event.position().toPoint() - self._pressed).manhattanLength() >= QApplication.startDragDistance()
        if event.isAccepted() and far:
            self.window().windowHandle().startSystemMove()

    def _moved_by_desktop(self) -> bool:
        """Return whether only the desktop can move the dock: it floats, on Wayland.

        Qt knows no places there. It would take a press on the grip for one on the window's upper edge, and make the
        window smaller with each move of the mouse (QWidgetResizeHandler, 6.11).
        """
        return self._on_wayland and self._dock.isFloating()

    def _menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        floating = self._dock.isFloating()
        menu.addAction("Put back" if floating else "Float").triggered.connect(self._float)
        menu.addAction("Close").triggered.connect(self._dock.close)
        menu.popup(self.mapToGlobal(position))

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


def stacked(*widgets: QWidget, inside: QWidget) -> QFrame:
    """Stack widgets vertically in a frame that is a child of ``inside``; the last one takes the rest of the room."""
    frame = styled(QFrame(inside), "surface")
    column = in_column(of=frame, margins=0, spacing=0)
    for widget in widgets:
        column.addWidget(widget, 1 if widget is widgets[-1] else 0)
    return frame


class Region(QFrame):
    """Hold the content of one place. Replacing the dock's own widget would make the window jump."""

    def __init__(self, kind: str = "") -> None:
        super().__init__()
        if kind:
            self.setProperty("kind", kind)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._held: QWidget | None = None

    def fill(self, content: QWidget) -> None:
        """Replace the content."""
        if self._held is not None:
            self._column.removeWidget(self._held)
            self._held.hide()
        self._held = content
        self._column.addWidget(content)
