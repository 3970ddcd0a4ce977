"""Help, About and Updates in the window. What each needs is loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import shiboken6
from PySide6.QtCore import Signal

from playground.ui.features.action import Action
from playground.ui.features.help.update_control import UpdateControl
from playground.ui.features.host import Control, Host

if TYPE_CHECKING:
    from playground.ui.features.help.help_window import HelpWindow


class HelpControl(Control):
    """``link_asked`` carries an address that a person wants to open, from a page or for a download.

    ``actions`` are those of the whole window, for the page on shortcuts.
    """

    link_asked = Signal(str)

    def __init__(self, host: Host, actions: Sequence[Action[Any]]) -> None:
        super().__init__(host)
        self._actions = actions
        self._help: HelpWindow | None = None
        self.updates = UpdateControl(host)
        self.updates.page_asked.connect(self.link_asked)

    def open_help(self, page: str = "") -> None:
        """Open the help, or bring it to the front; on a page if one is named."""
        if self._help is None or not shiboken6.isValid(self._help):
            from playground.ui.features.help.help_window import HelpWindow
            from playground.ui.features.help.pages import places, read_pages

            self._help = HelpWindow(read_pages(places(self._settings.fileName()), self._actions), self._host.window)
            self._help.link_clicked.connect(self.link_asked)
        if page:
            self._help.show_page(page)
        self._help.show()
        self._help.raise_()
        self._help.activateWindow()

    def open_about(self) -> None:
        """What this program is and what it is made of."""
        from playground.ui.features.help.about_dialog import AboutDialog

        AboutDialog(self._host.window).open()
