"""Banner below the tool bar for a request of a tool server, with the button that opens it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton

from playground.domain.tool_servers import Elicitation, Request
from playground.jsonkit.texts import cut
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.plain_text import show_hidden, shown_name

MAX_PREVIEW = 120  # characters of the message


class AsksBar(QFrame):
    """Banner of pending requests, hidden without any. ``opened`` carries the id of the request to show."""

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
        in_row((self.words, 1), self.more, self.open_button, parent=self, margins=(14, 5, 10, 5), spacing=10)
        self.hide()

    def show_waiting(self, requests: tuple[Request, ...]) -> None:
        """Show the oldest pending request and the number of the others."""
        self._first = requests[0].id if requests else ""
        if requests:
            self.words.setText(ask_words(requests[0]))
            self.setAccessibleName(self.words.text())
            self.more.setText(f"{len(requests) - 1} more wait" if len(requests) > 2 else "1 more waits")
            self.more.setVisible(len(requests) > 1)
        self.setVisible(bool(requests))


def ask_words(request: Request) -> str:
    """Return a line with the server and a preview of its request."""
    server = shown_name(request.server)
    if isinstance(request, Elicitation):
        preview = show_hidden(cut(" ".join(request.message[: 4 * MAX_PREVIEW].split()), MAX_PREVIEW))
        return f"The server {server} asks: {preview}" if preview else f"The server {server} asks for an answer."
    return f"The server {server} requests an answer from a model."
