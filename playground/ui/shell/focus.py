"""Keyboard focus: Enter presses the focused button, and the focus stays in the conversation.

Qt leaves it to the desktop whether Enter presses a button. If a focused widget disappears, Qt gives the focus to the
next one in the window, maybe in the tool bar, where the next key would have an unexpected effect.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton, QWidget
from shiboken6 import isValid

if TYPE_CHECKING:
    from playground.ui.features.conversation.transcript_view import TranscriptView

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Focus(QObject):
    """Follow the focus of a window.

    If a focused widget in ``area`` disappears, the focus moves to ``home``, from one of the ``turns`` to the nearest
    turn, unless another widget in ``area`` gets it at once.
    """

    def __init__(self, area: QWidget, home: QWidget, turns: TranscriptView, parent: QObject) -> None:
        super().__init__(parent)
        self._area, self._home, self._turns = area, home, turns
        self._button: QWidget | None = None
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._moved)

    def _moved(self, old: QWidget | None, new: QWidget | None) -> None:
        if self._button is not None and isValid(self._button):
            self._button.removeEventFilter(self)
        self._button = new if isinstance(new, QPushButton | QToolButton) else None
        if self._button is not None:
            self._button.installEventFilter(self)
        if old is not None and self._strayed(old, new):
            height = _height(old) if self._turns.isAncestorOf(old) else None
            QTimer.singleShot(0, self, partial(self._bring_home, new, height))

    def _strayed(self, old: QWidget | None, new: QWidget | None) -> bool:
        if old is None or not isValid(old) or (old.isVisible() and old.isEnabled()):
            return False
        if not isValid(self._area) or not isValid(self._home) or not self._home.isVisible():
            return False
        if new is not None and (self._area.isAncestorOf(new) or new.window() is not self._area.window()):
            return False
        return self._area.isAncestorOf(old)

    def _bring_home(self, astray: QWidget | None, height: int | None) -> None:
        if QApplication.focusWidget() is not astray or not isValid(self._home):
            return
        best = self._home
        if height is not None and isValid(self._turns):
            near: list[QWidget] = [card for card in self._turns.cards.values() if card.isVisible()]
            best = min(near, key=partial(_distance, height), default=best)
        best.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter is the space bar of a button, also where the window has a shortcut on it."""
        if not isinstance(event, QKeyEvent) or event.key() not in ENTER or watched is not self._button:
            return False
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress:
            if not event.isAutoRepeat():
                _press_space(watched)
            return True
        return False


def _height(widget: QWidget) -> int:
    return widget.mapToGlobal(QPoint(0, 0)).y()


def _distance(height: int, card: QWidget) -> int:
    """Return the distance of a card from a height on the screen; 0 if it covers that height."""
    top = _height(card)
    return max(top - height, height - top - card.height(), 0)


def _press_space(button: QObject) -> None:
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        if isValid(button):
            space = QKeyEvent(kind, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier, " ")
            QApplication.sendEvent(button, space)
