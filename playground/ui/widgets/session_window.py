"""Base of windows that follow the session of a main window, one of a kind for each."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QWidget

from playground.engine.session.changes import Change
from playground.engine.session.session import Session

W = TypeVar("W", bound="SessionWindow")


class SessionWindow(QDialog):
    """A modeless window that is hidden when it is closed. ``shown_for`` creates it."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._cancel = session.subscribe(self._changed)

    @classmethod
    def shown_for(cls: type[W], session: Session, parent: QWidget) -> W:
        """Bring the window of the main window of ``parent`` to the front; create it if there is none."""
        window = main_window(parent)
        open_windows = window.findChildren(cls, options=Qt.FindChildOption.FindDirectChildrenOnly)
        dialog = open_windows[0] if open_windows else cls(session, window)
        dialog.set_session(session)
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()
        return dialog

    def set_session(self, session: Session) -> None:
        """Follow another session."""
        if session is not self._session:
            self._cancel()
            self._session = session
            self._cancel = session.subscribe(self._changed)
            self._session_changed()

    def fit_into_window(self, width: int, height: int) -> None:
        """Resize to a size, at most a little smaller than the main window."""
        room = main_window(self).size()
        self.resize(min(width, room.width() - 40), min(height, room.height() - 60))

    def _session_changed(self) -> None:
        """Show the session that is followed now."""
        raise NotImplementedError

    def _changed(self, change: Change) -> None:
        """Show a change of the session."""
        raise NotImplementedError


def main_window(widget: QWidget) -> QWidget:
    """Return the outermost window above a widget."""
    window = widget.window()
    while (parent := window.parentWidget()) is not None:
        window = parent.window()
    return window
