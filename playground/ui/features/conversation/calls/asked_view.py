"""How far a tool server is with a call: the time, how much of it is done, its own words and the last lines of its log.

It looks at the ticket some times a second while it is shown, however often the server tells something.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QProgressBar, QPushButton, QSizePolicy, QWidget

from playground.engine.session.tool_calls import Ticket
from playground.jsonkit.texts import cut
from playground.ui.widgets import figures
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, shown_name, tip
from playground.ui.widgets.theme import code_font

LOOKS_MS: Final = 100
LINES: Final = 4  # of the log that are seen
LONGEST: Final = 200  # characters of a line
FINE: Final = 1_000  # steps of the bar


class AskedView(QWidget):
    """Hidden while nothing is asked. ``cancelled``: the server is to be asked no longer."""

    cancelled = Signal()
    height_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ticket: Ticket | None = None
        self._server = ""
        self._lines = 0
        self.words = text_label("", "small-text", wrap=True)
        self.cancel_button = QPushButton("Cancel")
        self.cancel_button.setToolTip("Ask the server no longer; nothing is sent")
        self.cancel_button.setAccessibleName("Cancel asking the server")
        self.cancel_button.clicked.connect(self.cancelled)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName("How far the server is")
        self.said = text_label("", "small", wrap=True)
        self.log = styled(text_label("", "small"), "small")
        self.log.setFont(code_font())
        self.log.setAccessibleName("Log of the server")
        self.log.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        head = in_row((self.words, 1), self.cancel_button, margins=0, spacing=6)
        in_column(head, self.bar, self.said, self.log, of=self, margins=0, spacing=4)
        self._looks = QTimer(self, interval=LOOKS_MS)
        self._looks.timeout.connect(self._look)
        self.hide()

    def follow(self, server: str, ticket: Ticket | None) -> None:
        """Show how far the server of that name is; None: it is not asked any more."""
        if ticket is self._ticket:
            return
        self._ticket, self._server = ticket, server
        self.setVisible(ticket is not None)
        if ticket is None:
            self._looks.stop()
            self.height_changed.emit()
        else:
            self._looks.start()
            self._look()

    def _look(self) -> None:
        ticket = self._ticket
        if ticket is None:
            return
        self.words.setText(f"Asking {shown_name(self._server)}… {figures.seconds(ticket.seconds)}{_done(ticket)}")
        self._show_bar(ticket)
        said = show_hidden(cut(" ".join(ticket.words.split()), LONGEST))
        kept = list(islice(reversed(ticket.log), LINES))[::-1]
        log = "\n".join(_line(line) for line in kept)
        if self.said.text() != said:
            self.said.setText(said)
        if self.log.text() != log:
            self.log.setText(log)
            self.log.setToolTip(tip("\n".join(_line(line) for line in list(ticket.log))))
        self.said.setVisible(bool(said))
        self.log.setVisible(bool(log))
        lines = len(kept) + bool(said)
        if lines != self._lines or self.height() < self.sizeHint().height():
            self._lines = lines
            self.height_changed.emit()

    def _show_bar(self, ticket: Ticket) -> None:
        """As much as is said to be done; busy where that is not said."""
        if ticket.done is None or not ticket.total or not 0 <= ticket.done <= ticket.total:
            if self.bar.maximum() != 0:
                self.bar.setRange(0, 0)
        else:
            if self.bar.maximum() != FINE:
                self.bar.setRange(0, FINE)
            self.bar.setValue(round(ticket.done / ticket.total * FINE))


def _done(ticket: Ticket) -> str:
    if ticket.done is None:
        return ""
    return f" · {ticket.done:g}" + (f" of {ticket.total:g}" if ticket.total else "")


def _line(text: str) -> str:
    return show_hidden(cut(text.rstrip("\n"), LONGEST)).replace("\n", " ")
