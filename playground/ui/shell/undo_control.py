"""Undo and redo for the whole experiment: offered while there is something to go back or forth to, with a word on what
cannot be seen to change.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

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
from playground.engine.session.settings import ExperimentSettings, different
from playground.ui.features.host import Host

EDITS = (PathChanged, TurnChanged, RunStateChanged, SettingsChanged, TitleChanged, DebugChanged)
_MOST = 3  # parameters named one by one
_NAMES = {
    "profile_id": "the gateway",
    "protocol": "the protocol",
    "model": "the model",
    "tools": "tools",
    "extra_body": "the extra body",
    "extra_headers": "the extra headers",
    "reasoning_return": "how reasoning is sent back",
    "variables": "variables",
    "title": "the title",
    "debugging": "the rules for tool calls",
}


class UndoControl(QObject):
    """``offer`` and ``offer_again`` are the actions for undo and redo. While a run lasts, they say why not.

    ``settled`` is called when settings went back: fields are to show them, whatever was being typed there.
    ``undelete`` brings the experiment deleted last back.
    """

    def __init__(
        self,
        host: Host,
        offer: QAction,
        offer_again: QAction,
        settled: Callable[[], None],
        undelete: Callable[[], None],
    ) -> None:
        super().__init__(host.window)
        self._host = host
        self._workspace = host.workspace
        self._undo, self._redo = offer, offer_again
        self._settled = settled
        self._undelete = undelete
        self._session: Session | None = None
        self._unsubscribe: Callable[[], None] | None = None
        host.workspace.subscribe(self._show)

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

    def undo(self) -> None:
        """Take the last edit back; where an experiment was deleted since, that is."""
        deleted, history = self._workspace.deleted_last, self._workspace.current.history
        if deleted is not None and deleted > history.moment:
            self._undelete()
            return
        self._travel(self._workspace.current.undo, self._host.pane.undo, "Undone")

    def redo(self) -> None:
        """Do the edit taken back last again."""
        self._travel(self._workspace.current.redo, self._host.pane.redo, "Done again")

    def _travel(self, go: Callable[[], bool], refuse: Callable[[], None], word: str) -> None:
        session, notice = self._workspace.current, self._host.pane.notice
        turns, settings = session.transcript, session.settings
        if not go():
            refuse()  # says why, since it cannot either
            return
        notice.hide()
        if session.settings != settings:
            self._settled()
            names = setting_names(settings, session.settings)
            if names and session.transcript is turns:
                listed = ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]
                notice.say(f"{word}: {listed}.", stays=False)


def setting_names(before: ExperimentSettings, after: ExperimentSettings) -> list[str]:
    """The settings that are different, as words; of the parameters each by its own name, some at most."""
    found = [name.partition(".") for name in different(before, after)]
    names = [words for field, words in _NAMES.items() if any(field == one[0] for one in found)]
    parameters = [name.replace("_", " ") for field, _, name in found if field == "parameters"]
    return names + (parameters if len(parameters) <= _MOST else ["parameters"])
