"""Undo and redo for the whole experiment, with a word on what cannot be seen to change."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from playground.engine.library.workspace import Workspace
from playground.engine.session.settings import ExperimentSettings, different
from playground.ui.shell.main_window import MainWindow

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
    """``settled`` is called when settings went back: fields are to show them, whatever was being typed there."""

    def __init__(
        self, window: MainWindow, workspace: Workspace, settled: Callable[[], None], undelete: Callable[[], None]
    ) -> None:
        """``undelete`` brings the experiment deleted last back."""
        super().__init__(window)
        self._undelete = undelete
        self._window = window
        self._workspace = workspace
        self._settled = settled
        self.handlers: dict[str, Callable[[], None]] = {"edit.undo": self.undo, "edit.redo": self.redo}

    def undo(self) -> None:
        """Take the last edit back; where an experiment was deleted since, that is."""
        deleted, history = self._workspace.deleted_last, self._workspace.current.history
        if deleted is not None and deleted > history.moment:
            self._undelete()
            return
        self._travel(self._workspace.current.undo, self._window.pane.undo, "Undone")

    def redo(self) -> None:
        """Do the edit taken back last again."""
        self._travel(self._workspace.current.redo, self._window.pane.redo, "Done again")

    def _travel(self, go: Callable[[], bool], refuse: Callable[[], None], word: str) -> None:
        session, notice = self._workspace.current, self._window.pane.notice
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
