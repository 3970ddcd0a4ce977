"""Undo and redo for the whole experiment, with a word on what cannot be seen to change."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from playground.domain.parameters import Parameters
from playground.engine.library.workspace import Workspace
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
    "given_title": "the title",
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
        before, parameters = session.transcript, session.current_parameters()
        if not go():
            refuse()  # says why, since it cannot either
            return
        notice.hide()
        setup = session.history.setup
        if setup:
            self._settled()
            names = [name for key, name in _NAMES.items() if key in setup]
            if "parameters" in setup:
                names += parameter_names(parameters, session.current_parameters())
            if names and session.transcript is before:
                listed = ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]
                notice.say(f"{word}: {listed}.", stays=False)


def parameter_names(before: Parameters, after: Parameters) -> list[str]:
    """The parameters that are different, as words; some at most."""
    fields = {**type(before).model_fields, **type(after).model_fields}
    names = [name.replace("_", " ") for name in fields if getattr(before, name, None) != getattr(after, name, None)]
    return names if len(names) <= _MOST else ["parameters"]
