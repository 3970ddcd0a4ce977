"""A line below the tool bar that says when experiments are not kept as they should be, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from playground.engine.library.store import Mode, Status
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import discard, in_row

WAITS = "Nothing is lost: changes wait in memory and are written as soon as that is possible. Leave the window open."
GONE = "Export what you want to keep, or save it as a file."

Choice = tuple[str, Callable[[], None]]


def status_words(status: Status) -> str:
    """Return the notice about a store; empty when there is nothing to report. Trouble with writing comes first."""
    if status.trouble:
        return f"Experiments cannot be saved now. {status.trouble} {WAITS}"
    if status.mode is Mode.MEMORY and status.words:
        return f"{status.words} {GONE}"
    return status.words


class StorageBanner(QFrame):
    """A notice with buttons, hidden without text. A lasting one can be closed; trouble stays until it is over.

    ``words`` are shown at once.
    """

    def __init__(self, words: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("storageNotice")
        self.setProperty("kind", "notice-bar")
        self._closed = ""
        self._status = Status()
        self._words = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.buttons: list[QPushButton] = []
        self._line = QHBoxLayout()
        self._line.setSpacing(6)
        self.close_button = IconButton("close", "Dismiss this notice")
        self.close_button.clicked.connect(self._close)
        in_row(
            _Sign(), (self._words, 1), self._line, self.close_button, parent=self, margins=(14, 5, 10, 5), spacing=10
        )
        self.show_status(Status(words=words))

    @property
    def words(self) -> str:
        """The text shown; empty while it is hidden."""
        return "" if self.isHidden() else self._words.text()

    def show_status(self, status: Status, choices: Sequence[Choice] = ()) -> None:
        """Show the notice about a store, with a button for each choice."""
        self._status = status
        words = status_words(status)
        discard(self._line, *self.buttons)
        self.buttons = []
        for text, act in choices if words else ():
            button = QPushButton(text)
            button.clicked.connect(partial(_do, act))
            self._line.addWidget(button)
            self.buttons.append(button)
        self._words.setText(words)
        self.setAccessibleName(words)
        self.close_button.setVisible(not status.trouble)
        self.setVisible(bool(words) and (words != self._closed or bool(status.trouble)))

    def _close(self) -> None:
        self._closed = self._words.text()
        self.hide()


class _Sign(QLabel):
    """A warning sign in the colour of the scheme."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Warning")
        self._draw()

    def _draw(self) -> None:
        self.setPixmap(icon("warning", "tool").pixmap(16, 16))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()


def _do(act: Callable[[], None], _checked: bool = False) -> None:
    act()
