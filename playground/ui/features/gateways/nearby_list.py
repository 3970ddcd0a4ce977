"""Gateways on this computer: a button that searches for them, and a row for each that answers.

The search starts only with the button. A server's name is untrusted text: it is shown as plain text, and cut.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

import shiboken6
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QWidget

from playground.engine.gateways.nearby import LocalGateway, LocalKind
from playground.jsonkit.texts import listed
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.plain_text import one_line_of, short_name, show_hidden

Tell = Callable[[LocalGateway], None]
#: Searches, and calls the given function for each gateway.
Look = Callable[[Tell], Coroutine[Any, Any, None]]

MOST_ROWS: Final = 40
_MOST_OTHERS: Final = 6  # servers named that are no gateway
_MOST_NAMES: Final = 3  # servers named that usually listen at one port
_ASK: Final = "&Look for gateways on this computer"
_WHAT: Final = "Asks the usual ports of local servers for their models: this computer's alone, and without any key."
_NONE: Final = (
    "Nothing answers at the usual ports of this computer. Start the server and look again, or enter its address."
)
_DO: Final = {
    LocalKind.GATEWAY: "Connect",
    LocalKind.KEY: "Enter its key",
    LocalKind.ERROR: "Use this address",
    LocalKind.SILENT: "Use this address",
}


class NearbyRow(QWidget):
    """Row of a gateway that answered. ``chosen`` is emitted by its button; a saved gateway has none."""

    chosen = Signal()

    def __init__(self, gateway: LocalGateway) -> None:
        super().__init__()
        self.setObjectName("nearbyGateway")
        name, words = title_of(gateway), details_of(gateway)
        self.title = text_label(show_hidden(name), "heading", wrap=True)
        self.details = text_label(show_hidden(words), "muted", wrap=True)
        self.button: QPushButton | None = None
        row = in_row((in_column(self.title, self.details, spacing=1), 1), parent=self, margins=(0, 3, 0, 3), spacing=8)
        if gateway.saved is None:
            self.button = push_button(_DO[gateway.kind])
            self.button.setAutoDefault(True)  # Enter presses this button while it has the focus, not the default one
            self.button.setAccessibleName(one_line_of(f"{_DO[gateway.kind]}: {name}, {words}"))
            self.button.clicked.connect(self.chosen)
            row.addWidget(self.button)


class NearbyList(QWidget):
    """List of local gateways. ``chosen`` carries the one whose button was pressed; ``grew``: new rows."""

    chosen = Signal(object)
    grew = Signal()

    def __init__(self, look: Look, spawn: Callable[..., asyncio.Task[Any]]) -> None:
        super().__init__()
        self.rows: list[NearbyRow] = []
        self._search, self._spawn = look, spawn
        self._task: asyncio.Task[Any] | None = None
        self._gateways: list[LocalGateway] = []
        self.button = push_button(_ASK)
        self.button.setToolTip(_WHAT)
        self.button.clicked.connect(self.look)
        self.status = text_label(kind="muted", wrap=True)
        self.others = text_label(kind="small", wrap=True)
        self._column = in_column(spacing=0)
        in_column(in_row(self.button, 1), self.status, self._column, self.others, parent=self, margins=0, spacing=6)
        say(self.status, _WHAT)
        say(self.others, "")

    def look(self) -> None:
        """Start the search, unless one is running."""
        if self._task is not None:
            return
        discard(self._column, *self.rows)
        self.rows, self._gateways = [], []
        say(self.others, "")
        say(self.status, "Looking…")
        self._task = self._spawn(self._run_search(), name="look for gateways on this computer")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._gateways and event.size().height() > event.oldSize().height():
            QTimer.singleShot(0, self, self.grew.emit)  # after the layout of the page is done

    def stop(self) -> None:
        """Stop a running search."""
        if self._task is not None:
            self._task.cancel()

    async def _run_search(self) -> None:
        try:
            await self._search(self._add_gateway)
        finally:
            if shiboken6.isValid(self):
                self._task = None
                self._show_summary()

    def _add_gateway(self, gateway: LocalGateway) -> None:
        if not shiboken6.isValid(self):
            return
        self._gateways.append(gateway)
        if gateway.kind is not LocalKind.NO_GATEWAY and len(self.rows) < MOST_ROWS:
            row = NearbyRow(gateway)
            row.chosen.connect(partial(self.chosen.emit, gateway))
            self.rows.append(row)
            self._column.addWidget(row)

    def _show_summary(self) -> None:
        count = sum(gateway.kind in (LocalKind.GATEWAY, LocalKind.KEY) for gateway in self._gateways)
        say(self.status, f"{count} found." if count else "No gateway was found." if self.rows else _NONE)
        servers = [gateway for gateway in self._gateways if gateway.kind is LocalKind.NO_GATEWAY]
        others = [f"{server.place} ({server.words.rstrip('.')})" for server in servers]
        more = [f"{len(others) - _MOST_OTHERS} more"] if len(others) > _MOST_OTHERS else []
        words = f"Also there, and no gateway: {'; '.join((*others[:_MOST_OTHERS], *more))}." if others else ""
        say(self.others, show_hidden(words))
        if self.button.hasFocus() and (first := next((row.button for row in self.rows if row.button), None)):
            first.setFocus()


def title_of(gateway: LocalGateway) -> str:
    """Return the name from the gateway's answer, else the servers that usually listen at its port."""
    names = [short_name(service.name) for service in gateway.services]
    if gateway.sure:
        return names[0]
    if not names:
        return gateway.place
    more = ["another"] if len(names) > _MOST_NAMES else []
    return f"{'Probably' if len(names) == 1 else 'Perhaps'} {listed([*names[:_MOST_NAMES], *more], 'or')}"


def details_of(gateway: LocalGateway) -> str:
    """Return the place of a gateway and a summary of its answer."""
    number = f"{gateway.models:,} model{'' if gateway.models == 1 else 's'}" if gateway.models else "no models"
    answer = {
        LocalKind.GATEWAY: number + (" and more" if gateway.cut else ""),
        LocalKind.KEY: "needs a key",
    }.get(gateway.kind, gateway.words)
    saved = f"set up already as “{short_name(gateway.saved.name)}”" if gateway.saved is not None else ""
    place = gateway.place if title_of(gateway) != gateway.place else ""
    return " · ".join(filter(None, (place, answer, saved)))
