"""A line below the tool bar that says that a tool server asks something, with the button that opens the question."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton

from playground.domain.tool_servers import Elicitation, Request
from playground.jsonkit.texts import cut
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.plain_text import show_hidden, shown_name

GIST = 120  # characters of what is asked


class AsksBar(QFrame):
    """Hidden while nothing is asked. ``opened`` gives the id of the question that a person wants to see."""

    opened = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "notice-bar")
        self.setObjectName("serverRequestBar")
        self._first = ""
        self.words = MarkLabel(wraps=True)
        self.words.set_mark("info", "accent")
        self.more = text_label("", "small")
        self.open_button = styled(QPushButton("Answer…"), "primary")
        self.open_button.clicked.connect(lambda: self.opened.emit(self._first))
        in_row((self.words, 1), self.more, self.open_button, of=self, margins=(14, 5, 10, 5), spacing=10)
        self.hide()

    def show_waiting(self, asks: tuple[Request, ...]) -> None:
        """Say which question is the oldest that waits, and how many more do."""
        self._first = asks[0].id if asks else ""
        if asks:
            self.words.setText(ask_words(asks[0]))
            self.setAccessibleName(self.words.text())
            self.more.setText(f"{len(asks) - 1} more wait" if len(asks) > 2 else "1 more waits")
            self.more.setVisible(len(asks) > 1)
        self.setVisible(bool(asks))


def ask_words(ask: Request) -> str:
    """Who asks, and what, in a line."""
    server = shown_name(ask.server)
    if isinstance(ask, Elicitation):
        gist = show_hidden(cut(" ".join(ask.message[: 4 * GIST].split()), GIST))
        return f"The server {server} asks: {gist}" if gist else f"The server {server} asks something."
    return f"The server {server} wants a model to be asked."
