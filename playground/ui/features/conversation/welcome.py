"""The page of an empty experiment: what the app does, three ways to start, and samples to open."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from playground.ui.features.conversation.samples import SAMPLES, Sample
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import styled, text_label, thin_line
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import Gap, in_column, in_row
from playground.ui.widgets.opening_label import OpeningLabel
from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.scroll_page import DownArea
from playground.ui.widgets.theme import tokens

TITLE = "See what a model is sent, and what comes back"
ABOUT = "Write a message below and run it. You see reasoning, answer and tool calls, and every byte that was sent."
DEMO = "You use the demo gateway: it runs on this computer, simulates answers, and needs no key and no network."
PROMPTS = "Prompts to try"
WIDEST = 600  # pixels of the card
NAME_WIDTH = 100  # pixels


class SampleRow(QPushButton):
    """A sample: its name and what it shows, in one row."""

    def __init__(self, sample: Sample) -> None:
        super().__init__()
        self.setProperty("kind", "row")
        self.setAccessibleName(f"Open the sample {sample.title}")
        self.setAccessibleDescription(sample.shows)
        name, shows = text_label(sample.title, "heading"), text_label(sample.shows, "muted", wrap=True)
        name.setMinimumWidth(NAME_WIDTH)
        for label in (name, shows):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._row = in_row(
            (name, 0, Qt.AlignmentFlag.AlignTop), (shows, 1), parent=self, margins=(8, 4, 8, 4), spacing=10
        )

    def sizeHint(self) -> QSize:
        return self._row.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._row.minimumSize()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._row.heightForWidth(width)


class Welcome(QWidget):
    """List of samples; ``opened`` carries the id of the action that opens one."""

    try_asked = Signal()
    connect_asked = Signal()
    paste_asked = Signal()
    prompts_asked = Signal()
    opened = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        start = FlowLayout(gap=6)
        try_button = styled(QPushButton("Try it now"), "primary")
        try_button.setIcon(icon("sparkle", tokens().on_accent))
        try_button.setToolTip("A sample with tool calls, on the demo gateway: nothing to set up")
        connect_button = QPushButton("Connect a gateway")
        connect_button.setIcon(icon("gateway"))
        paste_button = QPushButton("Paste a curl command")
        paste_button.setIcon(icon("code"))
        for button, signal in (
            (try_button, self.try_asked),
            (connect_button, self.connect_asked),
            (paste_button, self.paste_asked),
        ):
            button.clicked.connect(signal)
            start.addWidget(button)
        self._gateway = text_label("", "small", wrap=True)
        self._prompts = styled(QPushButton(PROMPTS), "quiet")
        self._prompts.clicked.connect(self.prompts_asked)
        card = styled(QFrame(), "card")
        card.setMaximumWidth(WIDEST)
        column = in_column(
            text_label(TITLE, "title", wrap=True),
            text_label(ABOUT, "muted", wrap=True),
            Gap(4),
            start,
            in_row((self._gateway, 1), (self._prompts, 0, Qt.AlignmentFlag.AlignTop)),
            thin_line(),
            text_label("Samples", "group"),
            parent=card,
            margins=(24, 20, 24, 16),
            spacing=8,
        )
        rows = in_column(spacing=0)
        for sample in SAMPLES:
            row = SampleRow(sample)
            row.clicked.connect(partial(self.opened.emit, sample.action))
            rows.addWidget(row)
        column.addLayout(rows)
        in_column(1, in_row(1, (card, 100), 1), 2, parent=self, margins=(26, 16, 26, 10))

    def describe(self, gateway: str, *, demo: bool) -> None:
        """Name the gateway in use."""
        self._prompts.setVisible(demo)
        self._gateway.setText(DEMO if demo else f"You use {shown_name(gateway)}.")


class WelcomePage(DownArea):
    """The welcome page, scrolled if it does not fit.

    While stored experiments are being opened it is empty, and soon says so.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        self.welcome = Welcome()
        super().__init__(self.welcome, parent)
        self.setAccessibleName("Welcome")
        self.welcome.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)
        self.opening = OpeningLabel()
        self.opening.hide()
        QVBoxLayout(self).addWidget(self.opening)

    def set_opening(self, opening: bool) -> None:
        """Hide the welcome while stored experiments are being opened."""
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAlwaysOff if opening else policy.ScrollBarAsNeeded)
        self.welcome.setVisible(not opening)
        self.opening.setVisible(opening)
        self.opening.set_opening(opening)
