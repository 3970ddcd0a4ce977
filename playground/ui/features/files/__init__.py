"""Experiments, messages and exports in files: opened, saved, imported, dropped onto the window, and remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import EXPERIMENT, Action

if TYPE_CHECKING:
    from playground.ui.features.files.control import FileControl

RECENT: Action[FileControl] = Action("file.recent", "Open recent", EXPERIMENT, 210, lambda it: it.open_recent())

ACTIONS: tuple[Action[FileControl], ...] = (
    Action("file.open", "Open…", EXPERIMENT, 200, lambda it: it.open(), ("Ctrl+O",)),
    RECENT,
    Action("file.save", "Save a copy as…", EXPERIMENT, 220, lambda it: it.save(), ("Ctrl+Shift+S", "Ctrl+S")),
    Action("file.import", "Import messages…", EXPERIMENT, 230, lambda it: it.import_messages()),
    Action("file.export", "Export…", EXPERIMENT, 250, lambda it: it.export()),
)
