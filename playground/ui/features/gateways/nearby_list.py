"""Gateways on this computer: a button that looks for them, and a row for each that answers, as they come.

Nothing is looked for before the button is pressed. What a server calls itself is foreign text: shown plain, and cut.
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
#: Looks, and calls what it is given for each find.
Look = Callable[[Tell], Coroutine[Any, Any, None]]

MOST_ROWS: Final = 40
_MOST_OTHERS: Final = 6  # things that are no gateway, named one by one
_MOST_NAMES: Final = 3  # of servers that usually listen at one port
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
    """One find. ``chosen`` is emitted by its button; one that is set up already has none."""

    chosen = Signal()

    def __init__(self, found: LocalGateway) -> None:
        super().__init__()
        self.setObjectName("nearbyGateway")
        name, words = title_of(found), details_of(found)
        self.title = text_label(show_hidden(name), "heading", wrap=True)
        self.details = text_label(show_hidden(words), "muted", wrap=True)
        self.button: QPushButton | None = None
        row = in_row((in_column(self.title, self.details, spacing=1), 1), of=self, margins=(0, 3, 0, 3), spacing=8)
        if found.saved is None:
            self.button = push_button(_DO[found.kind])
            self.button.setAutoDefault(True)  # Enter presses it while it has the focus, and not what tests
            self.button.setAccessibleName(one_line_of(f"{_DO[found.kind]}: {name}, {words}"))
            self.button.clicked.connect(self.chosen)
            row.addWidget(self.button)


class NearbyList(QWidget):
    """``chosen`` carries the ``LocalGateway`` whose button was pressed; ``grew`` reports new rows."""

    chosen = Signal(object)
    grew = Signal()

    def __init__(self, look: Look, spawn: Callable[..., asyncio.Task[Any]]) -> None:
        super().__init__()
        self.rows: list[NearbyRow] = []
        self._look, self._spawn = look, spawn
        self._task: asyncio.Task[Any] | None = None
        self._found: list[LocalGateway] = []
        self.button = push_button(_ASK)
        self.button.setToolTip(_WHAT)
        self.button.clicked.connect(self.look)
        self.status = text_label(kind="muted", wrap=True)
        self.others = text_label(kind="small", wrap=True)
        self._column = in_column(spacing=0)
        in_column(in_row(self.button, 1), self.status, self._column, self.others, of=self, margins=0, spacing=6)
        say(self.status, _WHAT)
        say(self.others, "")

    def look(self) -> None:
        """Look, or go on looking."""
        if self._task is not None:
            return
        discard(self._column, *self.rows)
        self.rows, self._found = [], []
        say(self.others, "")
        say(self.status, "Looking…")
        self._task = self._spawn(self._looked(), name="look for gateways on this computer")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._found and event.size().height() > event.oldSize().height():
            QTimer.singleShot(0, self, self.grew.emit)  # when all that stands around it has its place, too

    def stop(self) -> None:
        """End a look that is under way; nobody is there to see it."""
        if self._task is not None:
            self._task.cancel()

    async def _looked(self) -> None:
        try:
            await self._look(self._tell)
        finally:
            if shiboken6.isValid(self):
                self._task = None
                self._sum_up()

    def _tell(self, found: LocalGateway) -> None:
        if not shiboken6.isValid(self):
            return
        self._found.append(found)
        if found.kind is not LocalKind.OTHER and len(self.rows) < MOST_ROWS:
            row = NearbyRow(found)
            row.chosen.connect(partial(self.chosen.emit, found))
            self.rows.append(row)
            self._column.addWidget(row)

    def _sum_up(self) -> None:
        gateways = sum(one.kind in (LocalKind.GATEWAY, LocalKind.KEY) for one in self._found)
        say(self.status, f"{gateways} found." if gateways else "No gateway was found." if self.rows else _NONE)
        others = [f"{one.place} ({one.words.rstrip('.')})" for one in self._found if one.kind is LocalKind.OTHER]
        more = [f"{len(others) - _MOST_OTHERS} more"] if len(others) > _MOST_OTHERS else []
        words = f"Also there, and no gateway: {'; '.join((*others[:_MOST_OTHERS], *more))}." if others else ""
        say(self.others, show_hidden(words))
        if self.button.hasFocus() and (first := next((row.button for row in self.rows if row.button), None)):
            first.setFocus()


def title_of(found: LocalGateway) -> str:
    """What it is called: by what it answered, else by what usually listens there."""
    names = [short_name(one.name) for one in found.services]
    if found.sure:
        return names[0]
    if not names:
        return found.place
    more = ["another"] if len(names) > _MOST_NAMES else []
    return f"{'Probably' if len(names) == 1 else 'Perhaps'} {listed([*names[:_MOST_NAMES], *more], 'or')}"


def details_of(found: LocalGateway) -> str:
    """Where it is, and what it answered."""
    number = f"{found.models:,} model{'' if found.models == 1 else 's'}" if found.models else "no models"
    said = {
        LocalKind.GATEWAY: number + (" and more" if found.cut else ""),
        LocalKind.KEY: "needs a key",
    }.get(found.kind, found.words)
    saved = f"set up already as “{short_name(found.saved.name)}”" if found.saved is not None else ""
    place = found.place if title_of(found) != found.place else ""
    return " · ".join(filter(None, (place, said, saved)))
