"""Undo and redo in menus and palette: on offer only while there is something to go back or forth to."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from playground.engine.library.workspace import Workspace
from playground.engine.session.changes import (
    Change,
    DebugChanged,
    PathChanged,
    RunStateChanged,
    SettingsChanged,
    TitleChanged,
    TurnChanged,
)
from playground.engine.session.session import Session
from playground.ui.shell.main_window import MainWindow

EDITS = (PathChanged, TurnChanged, RunStateChanged, SettingsChanged, TitleChanged, DebugChanged)


class UndoOffer(QObject):
    """``show_session`` brings both actions up to the session looked at. While a run lasts, they say why not."""

    def __init__(self, window: MainWindow, workspace: Workspace) -> None:
        super().__init__(window)
        self._undo, self._redo = window.action("edit.undo"), window.action("edit.redo")
        self._workspace = workspace
        workspace.subscribe(self._show)
        self._session: Session | None = None
        self._unsubscribe: Callable[[], None] | None = None

    def show_session(self) -> None:
        """Follow the experiment looked at."""
        session = self._workspace.current
        if session is not self._session:
            if self._unsubscribe is not None:
                self._unsubscribe()
            self._session = session
            self._unsubscribe = session.subscribe(self._changed, *EDITS)
        self._show()

    def _changed(self, _change: Change) -> None:
        self._show()

    def _show(self) -> None:
        history = self._workspace.current.history
        self._undo.setEnabled(history.can_undo or self._workspace.deleted_last is not None)
        self._redo.setEnabled(history.can_redo)
