"""What else can be done with a call, behind a small button; the menu is filled when it is opened."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from playground.ui.widgets.icon_button import IconButton

#: What an entry is called, its words, and when it is there: "waiting", or "" for always.
ENTRIES = (
    ("all", "Send the same to all calls", "waiting"),
    ("all_errors", "Send the same to all, as errors", "waiting"),
    ("remember", "Remember this answer", ""),
    ("fork", "Compare several answers…", ""),
    ("edit", "Edit its name, id and arguments…", ""),
    ("delete", "Delete this call", ""),
    ("rules", "Rules for this tool…", ""),
    ("raw", "Arguments exactly as they came", ""),
    ("frame", "Show the frame that carried it", ""),
)


class CallMenu(IconButton):
    """``chosen`` tells the entry; ``offer`` says what the call is like now."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("more", "More for this call", parent)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._waiting = self._raw = False
        menu = QMenu(self)
        menu.aboutToShow.connect(self._fill)
        self.setMenu(menu)

    def offer(self, *, waiting: bool, raw: bool) -> None:
        """Which entries are there from now on, and whether the exact text is shown."""
        self._waiting, self._raw = waiting, raw

    def _fill(self) -> None:
        menu = self.menu()
        menu.clear()
        for name, words, when in ENTRIES:
            if when == "waiting" and not self._waiting:
                continue
            action = menu.addAction(words)
            if name == "raw":
                action.setCheckable(True)
                action.setChecked(self._raw)
            action.triggered.connect(partial(self._tell, name))

    def _tell(self, name: str, _checked: bool = False) -> None:
        self.chosen.emit(name)
