"""The result of a connection test below its headline: a line for each endpoint, details, and offered fixes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from playground.engine.gateways.connection_test import ConnectionReport, Offer
from playground.engine.gateways.profiles import Connection
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.plain_text import show_hidden

#: Tests a connection, such as ``try_gateway``.
Tester = Callable[[Connection], Awaitable[ConnectionReport]]
#: Icon, colour and accessible text of a line by the state of its endpoint.
MARKS: Final = {
    "ok": ("check", "ok", "OK"),
    "unsure": ("warning", "tool", "Unsure"),
    "missing": ("minus", "muted", "Missing"),
    "refused": ("key", "error", "Refused"),
    "failed": ("error", "error", "Failed"),
}
LEAST_WIDTH, USUAL_WIDTH = 160, 440  # pixels
_READABLE: Final = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard


class TestResult(QWidget):
    """Result of a test, hidden until there is one. ``offer_taken`` carries the ``Offer`` of the pressed button."""

    offer_taken = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[MarkLabel] = []
        self.offers: list[QPushButton] = []
        self.details = text_label(kind="muted", wrap=True)
        self.asked = text_label(kind="small", wrap=True)
        for label in (self.details, self.asked):
            label.setTextInteractionFlags(_READABLE)
        self._marks = QVBoxLayout()
        self._marks.setSpacing(3)
        buttons = QWidget()
        self._flow = FlowLayout(buttons, 8)
        self._buttons = buttons
        in_column(self._marks, buttons, self.details, self.asked, parent=self, margins=0, spacing=8)
        self.clear()

    def show_verdict(self, verdict: ConnectionReport, *more: str) -> None:
        """Show the report, with ``more`` as additional details."""
        self.clear()
        for line in verdict.lines:
            mark, colour, word = MARKS[line.state.value]
            label = MarkLabel(show_hidden(f"{line.title}: {line.words}"), wraps=True)
            label.set_mark(mark, colour)
            label.setAccessibleName(f"{word}. {line.title}: {line.words}")
            label.setTextInteractionFlags(_READABLE)
            policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
            policy.setHeightForWidth(True)
            label.setSizePolicy(policy)
            self._marks.addWidget(label)
            self.lines.append(label)
        for number, offer in enumerate(verdict.offers):
            self._offer(offer, "" if number or verdict.ok else "primary")
        self._buttons.setVisible(bool(verdict.offers))
        say(self.details, "\n".join((*verdict.details, *more)))
        say(self.asked, verdict.asked)
        self.setVisible(bool(verdict.lines or verdict.details or more))

    def say(self, words: str) -> None:
        """Show only this text."""
        self.clear()
        say(self.asked, words)
        self.setVisible(bool(words))

    def clear(self) -> None:
        """Show nothing."""
        for widget in (*self.lines, *self.offers):
            widget.hide()
            widget.deleteLater()
        self.lines, self.offers = [], []
        self._buttons.hide()
        say(self.details, "")
        say(self.asked, "")
        self.hide()

    def minimumSizeHint(self) -> QSize:
        """Return the minimum width and no height, since Qt's height for the minimum width is far too large."""
        return QSize(LEAST_WIDTH, 0)

    def sizeHint(self) -> QSize:
        return QSize(USUAL_WIDTH, self.heightForWidth(USUAL_WIDTH))

    def _offer(self, offer: Offer, kind: str) -> None:
        button = push_button(show_hidden(offer.label).replace("&", "&&"), kind)
        button.clicked.connect(partial(self.offer_taken.emit, offer))
        self._flow.addWidget(button)
        self.offers.append(button)
