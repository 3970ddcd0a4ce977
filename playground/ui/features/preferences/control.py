"""The Preferences window of a window: opened once, with pages of other features."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import shiboken6
from PySide6.QtWidgets import QWidget

from playground.ui.features.host import Control, Host
from playground.ui.features.preferences.window import PreferencesWindow


class PreferencesControl(Control):
    """``makers`` create the pages by their titles, each time the window is opened."""

    def __init__(self, host: Host, makers: Mapping[str, Callable[[], QWidget]]) -> None:
        super().__init__(host)
        self._makers = makers
        self._preferences: PreferencesWindow | None = None

    def open(self, page: str) -> None:
        """Open the window, or bring it to the front, on that page."""
        window = self._preferences
        if window is None or not shiboken6.isValid(window):
            pages = {title: make() for title, make in self._makers.items()}
            window = self._preferences = PreferencesWindow(pages, self._host.window)
        window.show_page(page)
        window.show()
        window.raise_()
        window.activateWindow()
