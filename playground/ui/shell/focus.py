"""Keyboard focus of the window: Enter presses the focused button, and the focus stays in the conversation."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QPushButton, QScrollArea, QToolButton, QWidget
from shiboken6 import isValid

from playground.ui.shell.docks import Region


class Centre(Region):
    """The centre of the window. If a focused widget in it disappears, the focus stays in the centre.

    Qt would give it to the next widget of the window, maybe in the tool bar, where the next key has another effect.
    """

    def __init__(self) -> None:
        super().__init__()
        self._home: QWidget | None = None
        self._messages: QWidget | None = None

    def set_home(self, home: QWidget, messages: QWidget) -> None:
        """Move a lost focus to ``home``, or to ``messages`` if the widget was in them."""
        self._home, self._messages = home, messages

    def focusNextPrevChild(self, next: bool) -> bool:
        """Called by Qt for the Tab key, and when the focused widget is hidden or disabled."""
        old, home, messages = QApplication.focusWidget(), self._home, self._messages
        if home is None or messages is None or old is None or (old.isVisible() and old.isEnabled()):
            return super().focusNextPrevChild(next)
        to = messages if messages.isAncestorOf(old) else home
        if not to.isVisible():  # another page is shown, such as an evaluation
            to = self
        if to is messages and super().focusNextPrevChild(next):
            focus = QApplication.focusWidget()
            if focus is not None and messages.isAncestorOf(focus):
                return True
        to.setFocus(Qt.FocusReason.OtherFocusReason)
        return True


def reveal(widget: QWidget | None) -> None:
    """Scroll the areas around a widget until it is in view."""
    area = widget.parentWidget() if widget is not None else None
    while widget is not None and area is not None:
        if isinstance(area, QScrollArea):
            area.ensureWidgetVisible(widget)
        area = area.parentWidget()


class EnterKey(QObject):
    """Let Enter press the focused button: Qt leaves that to the desktop."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._button: QWidget | None = None
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._focus_changed)

    def _focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if self._button is not None and isValid(self._button):
            self._button.removeEventFilter(self)
        self._button = new if isinstance(new, QPushButton | QToolButton) else None
        if self._button is not None:
            self._button.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Turn Enter into the space bar, also where the window has a shortcut on it."""
        if not isinstance(event, QKeyEvent) or event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return False
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress and not event.isAutoRepeat():
            for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
                if isValid(watched):
                    space = QKeyEvent(kind, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier, " ")
                    QApplication.sendEvent(watched, space)
        return event.type() == QEvent.Type.KeyPress
