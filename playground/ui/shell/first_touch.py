"""Says once that somebody is at a window: a key, a button of the mouse, its wheel, a finger, something dragged in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QWindow

_TOUCHES: Final = frozenset(
    {
        QEvent.Type.KeyPress,
        QEvent.Type.InputMethod,
        QEvent.Type.MouseButtonPress,
        QEvent.Type.Wheel,
        QEvent.Type.TouchBegin,
        QEvent.Type.TabletPress,
        QEvent.Type.DragEnter,
    }
)


class FirstTouch(QObject):
    """Calls ``touched`` at the first of these in ``window``, and looks at no event after it.

    What the system sends comes by the window. To look at the application's events would make PySide make the types of
    all objects of Qt's own that have some: 2 MiB.
    """

    def __init__(self, window: QWindow, touched: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._touched = window, touched
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _TOUCHES:
            self._window.removeEventFilter(self)
            self._touched()
        return False
