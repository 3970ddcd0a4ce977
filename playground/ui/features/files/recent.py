"""The files opened or saved last, remembered in the window's settings, as a menu and as a list to search."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QSettings
from PySide6.QtWidgets import QMenu, QWidget

from playground.ui.widgets.palette import Entry
from playground.ui.widgets.plain_text import show_hidden, tip

KEY: Final = "files/recent"  # among the settings; a JSON list of paths, the latest first
MOST: Final = 12
LONGEST: Final = 48  # characters of a folder's name in the menu
NONE: Final = "No files yet"
FORGET: Final = "Forget these files"


class RecentFiles(QObject):
    """``open_file`` is called with the path that was chosen. Nothing here looks at a disk: that may take long."""

    def __init__(self, settings: QSettings, open_file: Callable[[Path], None], parent: QWidget) -> None:
        super().__init__(parent)
        self._settings = settings
        self._open_file = open_file
        self.menu = QMenu(parent)
        self.menu.setToolTipsVisible(True)
        self.menu.aboutToShow.connect(self.fill)
        self.fill()

    @property
    def paths(self) -> list[Path]:
        """The files, the latest first."""
        try:
            found = json.loads(str(self._settings.value(KEY, "[]")))
        except ValueError:
            return []
        return [Path(name) for name in found if isinstance(name, str)][:MOST] if isinstance(found, list) else []

    def add_recent(self, path: Path) -> None:
        """A file was opened or saved just now."""
        self._keep([path, *(other for other in self.paths if other != path)][:MOST])

    def remove(self, path: Path) -> None:
        """Forget one file."""
        self._keep([other for other in self.paths if other != path])

    def clear(self) -> None:
        """Forget all of them."""
        self._keep([])

    def _keep(self, paths: list[Path]) -> None:
        self._settings.setValue(KEY, json.dumps([str(path) for path in paths], ensure_ascii=False))
        self.fill()

    def fill(self) -> None:
        """Bring the menu up to date."""
        self.menu.clear()
        paths = self.paths
        for path in paths:
            action = self.menu.addAction(f"{show_hidden(path.name)}   {_folder(path)}".replace("&", "&&"))
            action.setToolTip(tip(str(path)))
            action.triggered.connect(partial(self._open_file, path))
        if not paths:
            self.menu.addAction(NONE).setEnabled(False)
            return
        self.menu.addSeparator()
        self.menu.addAction(FORGET).triggered.connect(self.clear)

    def entries(self) -> list[Entry]:
        """The files for the palette."""
        return [Entry(path.name, _folder(path), partial(self._open_file, path)) for path in self.paths]


def _folder(path: Path) -> str:
    """The folder, the home folder as ``~``; of a long one the end."""
    folder = path.parent
    try:
        words = str(Path("~") / folder.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        words = str(folder)
    return show_hidden(words if len(words) <= LONGEST else f"…{words[-LONGEST:]}")
