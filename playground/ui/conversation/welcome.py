"""What an empty experiment shows: what this is, and two ways to begin."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from playground.ui.flow_layout import FlowLayout
from playground.ui.icons import icon
from playground.ui.theme import tokens


class Welcome(QWidget):
    """``sample_asked``: run the sample on the demo gateway. ``connect_asked``: set up a gateway."""

    sample_asked = Signal()
    connect_asked = Signal()
    prompts_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = QLabel("See what a model is sent, and what comes back")
        title.setProperty("kind", "title")
        title.setWordWrap(True)
        words = QLabel(
            "Write a message below and run it. Reasoning, answer and tool calls arrive apart, and everything that "
            "went over the wire is kept beside them.",
            wordWrap=True,
        )
        words.setProperty("kind", "muted")
        self._gateway = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._gateway.setProperty("kind", "small")
        self._try = QPushButton("Try it now")
        self._try.setProperty("kind", "primary")
        self._try.setIcon(icon("sparkle", tokens().on_accent))
        self._try.setToolTip("A sample experiment on the demo gateway: nothing to set up")
        self._try.clicked.connect(self.sample_asked)
        connect = QPushButton("Connect a gateway")
        connect.setIcon(icon("gateway"))
        connect.clicked.connect(self.connect_asked)
        self._prompts = QPushButton("Prompts to try")
        self._prompts.setProperty("kind", "quiet")
        self._prompts.clicked.connect(self.prompts_asked)
        row = FlowLayout(gap=8)
        for button in (self._try, connect, self._prompts):
            row.addWidget(button)
        card = QFrame()
        card.setProperty("kind", "card")
        card.setMaximumWidth(560)
        inner = QVBoxLayout(card)
        inner.setContentsMargins(28, 24, 28, 24)
        inner.setSpacing(12)
        for widget in (title, words):
            inner.addWidget(widget)
        inner.addLayout(row)
        inner.addWidget(self._gateway)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(26, 26, 26, 26)
        outer.addStretch(1)
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(card, 8)
        middle.addStretch(1)
        outer.addLayout(middle)
        outer.addStretch(2)

    def describe(self, gateway: str, *, demo: bool) -> None:
        """Say which gateway is in use."""
        self._prompts.setVisible(demo)
        self._gateway.setText(
            "You are on the built-in demo gateway: it runs on this computer, its answers are simulated, "
            "and it needs no key and no network."
            if demo
            else f"You are on {gateway}."
        )


class WelcomePage(QScrollArea):
    """The welcome; what does not fit beside a tall composer scrolls."""

    def __init__(self) -> None:
        super().__init__()
        self.welcome = Welcome()
        ground = QWidget()  # asking for Qt's own makes PySide look through every kind of widget there is: 8 ms
        self.setViewport(ground)
        self.setWidgetResizable(True)
        self.setWidget(self.welcome)
        self.welcome.setAutoFillBackground(False)
        ground.setAutoFillBackground(False)
