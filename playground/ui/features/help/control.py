"""Help, About and Updates in the window. What each needs is loaded when it is first asked for."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import shiboken6
from PySide6.QtCore import Signal

from playground import __version__
from playground.ui.features.action import Action
from playground.ui.features.host import Control, Host
from playground.ui.widgets.kept_number import number
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.engine.io.updates import Update
    from playground.ui.features.help.help_window import HelpWindow
    from playground.ui.features.help.update_dialog import UpdateDialog

DAILY, ADDRESS, LAST = "updates/daily", "updates/address", "updates/last"
DAY = 24 * 3600.0
log = logging.getLogger("playground.updates")


class UpdateControl(Control):
    """``page_asked`` carries the address of a download page that a person wants to see."""

    page_asked = Signal(str)

    def __init__(self, host: Host, now: Callable[[], float] = time.time) -> None:
        super().__init__(host)
        self._now = now
        self._dialog: UpdateDialog | None = None
        self._found: Update | None = None

    @property
    def daily(self) -> bool:
        """Whether a person switched it on."""
        return bool(self._settings.value(DAILY, False, type=bool))

    @property
    def address(self) -> str:
        """The address that is asked; "" while none is known."""
        from playground.engine.io.updates import default_address

        return str(self._settings.value(ADDRESS, "")) or default_address()

    def start(self) -> None:
        """Called once the event loop runs: look, if that was switched on and was not done within a day."""
        if not self.daily or not self.address:
            return
        last = number(self._settings, LAST, 0.0, 0.0, math.inf)
        if not 0 <= self._now() - last < DAY:
            spawn(self._look_quietly(), name="look for updates")

    def open(self) -> None:
        """The dialog with the setting."""
        from playground.ui.features.help.update_dialog import UpdateDialog

        dialog = self._dialog = UpdateDialog(self.address, self._host.window, daily=self.daily)
        dialog.asked.connect(self._look_now)
        dialog.page_asked.connect(self._open_page)
        dialog.finished.connect(self._closed)
        dialog.open()

    def _closed(self, _result: int) -> None:
        dialog, self._dialog = self._dialog, None
        if dialog is None:
            return
        from playground.engine.io.updates import default_address

        typed = dialog.address.text().strip()
        self._settings.setValue(DAILY, dialog.daily.isChecked())
        self._settings.setValue(ADDRESS, "" if typed == default_address() else typed)

    def _look_now(self, address: str) -> None:
        spawn(self._answer_dialog(address), name="look for updates")

    async def _answer_dialog(self, address: str) -> None:
        from playground.engine.io.updates import UpdateError, look_for_update

        dialog = self._dialog
        try:
            if not address.strip():
                raise UpdateError("Enter an address first.")
            found = await look_for_update(address, __version__)
        except UpdateError as error:
            words, kind, page = str(error), "error", False
        else:
            self._found = found
            newest = f"Version {found.version} is available. {found.notes}".strip()
            words = newest if found.newer else f"This is the newest version ({__version__})."
            kind, page = ("heading", True) if found.newer else ("ok", False)
        if dialog is not None and shiboken6.isValid(dialog):
            dialog.show_answer(words, kind, page=page)

    async def _look_quietly(self) -> None:
        """A failure is not worth a word: it is tried again tomorrow."""
        from playground.engine.io.updates import UpdateError, look_for_update

        self._settings.setValue(LAST, self._now())
        try:
            found = await look_for_update(self.address, __version__)
        except UpdateError:
            log.info("It could not be found out whether there is a newer version.")
            return
        if found.newer:
            self._found = found
            words = f"Version {found.version} of Gateway Playground is available. {found.notes}".strip()
            self._say(words, "Open the download page…", partial(self._open_page))

    def _open_page(self) -> None:
        if self._found is not None:
            self.page_asked.emit(self._found.page)


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
