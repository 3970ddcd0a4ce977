"""Help, About and updates in the window."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable

import shiboken6
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from playground import __version__
from playground.engine.io.updates import Update, UpdateError, default_address, look_for_update
from playground.ui.features.help.about_dialog import AboutDialog
from playground.ui.features.help.help_window import HelpWindow
from playground.ui.features.help.pages import places, read_pages
from playground.ui.features.help.update_page import UpdatePage
from playground.ui.features.host import Control, Host
from playground.ui.widgets.kept_number import number
from playground.ui.widgets.loop import spawn

DAILY, ADDRESS, LAST = "updates/daily", "updates/address", "updates/last"
DAY = 24 * 3600.0
log = logging.getLogger("playground.updates")


class UpdateControl(Control):
    """Checks for a newer version, on request and, if switched on, once a day.

    ``download_asked`` carries the address of a download page that a person wants to see.
    """

    download_asked = Signal(str)

    def __init__(self, host: Host, now: Callable[[], float] = time.time) -> None:
        super().__init__(host)
        self._now = now
        self._latest: Update | None = None

    @property
    def daily(self) -> bool:
        """Return whether a person switched the daily check on."""
        return bool(self._settings.value(DAILY, False, type=bool))

    @property
    def address(self) -> str:
        """The address to request; "" while none is known."""
        return str(self._settings.value(ADDRESS, "")) or default_address()

    def start(self) -> None:
        """Check, if that is switched on and was not done within a day. Called once the event loop runs."""
        if not self.daily or not self.address:
            return
        last = number(self._settings, LAST, 0.0, 0.0, math.inf)
        if not 0 <= self._now() - last < DAY:
            spawn(self._check_daily(), name="look for updates")

    def make_page(self) -> QWidget:
        """Return the page of the preferences."""
        page = UpdatePage(self.address, daily=self.daily)
        page.check_asked.connect(lambda address: spawn(self._check(page, address), name="look for updates"))
        page.download_asked.connect(self._open_download_page)
        page.daily.toggled.connect(lambda on: self._settings.setValue(DAILY, on))
        page.address.textEdited.connect(self._keep_address)
        return page

    def _keep_address(self, text: str) -> None:
        address = text.strip()
        self._settings.setValue(ADDRESS, "" if address == default_address() else address)

    async def _check(self, page: UpdatePage, address: str) -> None:
        try:
            latest = await look_for_update(address, __version__)
        except UpdateError as error:
            words, kind, newer = str(error), "error", False
        else:
            self._latest, newer = latest, latest.newer
            newest = f"Version {latest.version} is available. {latest.notes}".strip()
            words, kind = (newest, "heading") if newer else (f"This is the newest version ({__version__}).", "ok")
        if shiboken6.isValid(page):
            page.show_result(words, kind, newer=newer)

    async def _check_daily(self) -> None:
        """Check without reporting a failure: the next day tries again."""
        self._settings.setValue(LAST, self._now())
        try:
            latest = await look_for_update(self.address, __version__)
        except UpdateError:
            log.info("The check for a newer version failed.")
            return
        if latest.newer:
            self._latest = latest
            words = f"Version {latest.version} of Gateway Playground is available. {latest.notes}".strip()
            self._say(words, "Open download page…", self._open_download_page)

    def _open_download_page(self) -> None:
        if self._latest is not None:
            self.download_asked.emit(self._latest.page)


class HelpControl(Control):
    """``link_asked`` carries an address that a person wants to open, from a page or for a download."""

    link_asked = Signal(str)

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._help: HelpWindow | None = None
        self.updates = UpdateControl(host)
        self.updates.download_asked.connect(self.link_asked)

    def open_help(self, page: str = "") -> None:
        """Open the help, or bring it to the front; on a page if one is named."""
        if self._help is None or not shiboken6.isValid(self._help):
            self._help = HelpWindow(read_pages(places(self._settings.fileName())), self._host.window)
            self._help.link_clicked.connect(self.link_asked)
        if page:
            self._help.show_page(page)
        self._help.show()
        self._help.raise_()
        self._help.activateWindow()

    def open_about(self) -> None:
        """Show the version and the libraries of this program."""
        AboutDialog(self._host.window).open()
