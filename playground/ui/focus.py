"""What the keyboard's focus does everywhere: Enter presses the button that has it, and it does not stray.

Whether Enter presses a button is the desktop's to say in Qt, and only some do; a person with a keyboard expects it of
all. And where what has the focus goes, the button of a notice, say, Qt hands it to whatever comes next in the window,
which may be the tool bar, where the next key would do something nobody meant.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton, QWidget
from shiboken6 import isValid

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Focus(QObject):
    """Looks after the focus as long as its window lives.

    What goes from within ``area`` leaves the focus there or, unless somebody gives it to something else at once, to
    ``home``. It looks at the keys of one button at a time.
    """

    def __init__(self, area: QWidget, home: QWidget, parent: QObject) -> None:
        super().__init__(parent)
        self._area, self._home = area, home
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
        if self._strayed(old, new):
            QTimer.singleShot(0, self, partial(self._bring_home, new))

    def _strayed(self, old: QWidget | None, new: QWidget | None) -> bool:
        if old is None or not isValid(old) or (old.isVisible() and old.isEnabled()):
            return False
        if not isValid(self._area) or not isValid(self._home) or not self._home.isVisible():
            return False
        if new is not None and (self._area.isAncestorOf(new) or new.window() is not self._area.window()):
            return False
        return self._area.isAncestorOf(old)

    def _bring_home(self, astray: QWidget | None) -> None:
        if QApplication.focusWidget() is astray and isValid(self._home):
            self._home.setFocus(Qt.FocusReason.OtherFocusReason)

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


def _press_space(button: QObject) -> None:
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        if isValid(button):
            space = QKeyEvent(kind, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier, " ")
            QApplication.sendEvent(button, space)
