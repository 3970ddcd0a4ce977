"""The base of windows that stand beside the conversation: one of a kind for each main window, following its session."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QWidget

from playground.engine.session.changes import Change
from playground.engine.session.session import Session

W = TypeVar("W", bound="SessionWindow")


class SessionWindow(QDialog):
    """Not modal, and kept when it is closed. Made by ``shown_for``."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._cancel = session.subscribe(self._changed)

    @classmethod
    def shown_for(cls: type[W], session: Session, parent: QWidget) -> W:
        """The one of the main window that ``parent`` is in, brought to the front; made when there is none yet."""
        window = main_window(parent)
        found = window.findChildren(cls, options=Qt.FindChildOption.FindDirectChildrenOnly)
        dialog = found[0] if found else cls(session, window)
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
        """That size, or as much of it as the main window leaves."""
        room = main_window(self).size()
        self.resize(min(width, room.width() - 40), min(height, room.height() - 60))

    def _session_changed(self) -> None:
        """Another session is followed: show it."""
        raise NotImplementedError

    def _changed(self, change: Change) -> None:
        """The session tells that something is different."""
        raise NotImplementedError


def main_window(widget: QWidget) -> QWidget:
    """The outermost window above a widget, past the dialogs between."""
    window = widget.window()
    while (above := window.parentWidget()) is not None:
        window = above.window()
    return window
