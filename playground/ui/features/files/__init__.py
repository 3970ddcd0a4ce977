"""Commands on files: open, save, import and export experiments and messages, and list recent files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.ui.features.action import FILE, Action

if TYPE_CHECKING:
    from playground.ui.features.files.control import FileControl

RECENT: Final[Action[FileControl]] = Action(
    "file.recent", "Open recent", lambda it: it.open_recent(), FILE, 120, synonyms="files"
)

ACTIONS: tuple[Action[FileControl], ...] = (
    Action("file.open", "Open…", lambda it: it.open(), FILE, 110, "Ctrl+O", synonyms="load"),
    RECENT,
    Action("file.save", "Save copy as…", lambda it: it.save(), FILE, 200, "Ctrl+Shift+S Ctrl+S", synonyms="file"),
    Action("file.export", "Export…", lambda it: it.export(), FILE, 210, synonyms="markdown html json"),
    Action("file.import", "Import messages…", lambda it: it.import_messages(), FILE, 220, synonyms="conversation"),
)
