"""What an empty experiment shows: what this is, two ways to begin, and samples to open."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from playground.ui.features.conversation.measures import MARGIN
from playground.ui.features.conversation.samples import SAMPLES
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import look, paragraph, styled, thin_line
from playground.ui.widgets.icons import icon
from playground.ui.widgets.opening_label import OpeningLabel
from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.theme import tokens

PROMPTS = "Prompts to try"
ROOMY = 560, 370  # pixels of the page
SAMPLE_WORDS = "Eight samples, each of which shows one thing. They run on the demo gateway, without a network."


class Welcome(QWidget):
    """``sample_asked``: run the sample on the demo gateway. ``connect_asked``: set up a gateway.

    ``opened`` carries the action of the sample to open.
    """

    sample_asked = Signal()
    connect_asked = Signal()
    prompts_asked = Signal()
    opened = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = self._title = QLabel("See what a model is sent, and what comes back")
        title.setProperty("kind", "title")
        title.setWordWrap(True)
        words = self._words = QLabel(
            "Write a message below and run it. Reasoning, answer and tool calls arrive apart, and everything that "
            "went over the wire is kept beside them.",
            wordWrap=True,
        )
        words.setProperty("kind", "muted")
        self._gateway = paragraph("", "small")
        self._try = styled(QPushButton("Try it now"), "primary")
        self._try.setIcon(icon("sparkle", tokens().on_accent))
        self._try.setToolTip("A sample experiment on the demo gateway: nothing to set up")
        self._try.clicked.connect(self.sample_asked)
        connect = QPushButton("Connect a gateway")
        connect.setIcon(icon("gateway"))
        connect.clicked.connect(self.connect_asked)
        self._prompts = styled(QPushButton(PROMPTS), "quiet")
        self._prompts.setAccessibleName(PROMPTS)
        self._prompts.clicked.connect(self.prompts_asked)
        row = FlowLayout(gap=6)
        for button in (self._try, connect, self._prompts):
            row.addWidget(button)
        card = self._card = styled(QFrame(self), "card")
        card.setMaximumWidth(560)
        inner = self._inner = QVBoxLayout(card)
        for widget in (title, words):
            inner.addWidget(widget)
        inner.addLayout(row)
        inner.addWidget(self._gateway)
        inner.addWidget(thin_line())
        self._add_samples(inner)
        outer = self._outer = QVBoxLayout(self)
        outer.addStretch(1)
        middle = self._middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(card, 8)
        middle.addStretch(1)
        outer.addLayout(middle)
        outer.addStretch(2)
        self._little = True
        self._room = QSize(*ROOMY)
        self.fit(self._room)

    def fit(self, room: QSize) -> None:
        """Take the space there is, so that nothing has to be scrolled to.

        Where it is little, all is closer together; where that is not enough, the explanation goes.
        """
        self._room = room
        little = room.width() < ROOMY[0] or room.height() < ROOMY[1]
        if little != self._little:
            self._little = little
            look(self._title, "little" if little else "", "room")
            self._outer.setContentsMargins(*((MARGIN, 6, MARGIN, 0) if little else (26, 26, 26, 26)))
            self._inner.setContentsMargins(*((12, 11, 12, 9) if little else (28, 24, 28, 24)))
            self._inner.setSpacing(8 if little else 12)
            self._prompts.setText(PROMPTS.split()[0] if little else PROMPTS)
            for at in (0, 2):
                self._middle.setStretch(at, 0 if little else 1)
        self._explain(True)
        if self.heightForWidth(room.width()) > room.height():
            self._explain(False)

    def _explain(self, shown: bool) -> None:
        """Show or hide the explanation; the height for a width is right at once."""
        self._words.setVisible(shown)
        self._inner.invalidate()
        self._card.updateGeometry()

    def _add_samples(self, column: QVBoxLayout) -> None:
        """A button for each sample, and the line of the one under the pointer or the focus."""
        self._shows = paragraph(SAMPLE_WORDS, "small")
        self._shows.setMinimumHeight(2 * self._shows.fontMetrics().lineSpacing())  # nothing jumps when it changes
        self._shows.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        row = FlowLayout(gap=6)
        self._lines: dict[QObject, str] = {}
        for sample in SAMPLES:
            button = styled(QPushButton(sample.title), "pill")
            button.setAccessibleName(f"Open the sample {sample.title}")
            button.setAccessibleDescription(sample.shows)
            button.clicked.connect(partial(self.opened.emit, sample.action))
            button.installEventFilter(self)
            self._lines[button] = sample.shows
            row.addWidget(button)
        column.addLayout(row)
        column.addWidget(self._shows)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The line of a sample is read before it is opened."""
        if event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn):
            self._shows.setText(self._lines.get(watched, SAMPLE_WORDS))
        elif event.type() in (QEvent.Type.Leave, QEvent.Type.FocusOut):
            self._shows.setText(SAMPLE_WORDS)
        return False

    def describe(self, gateway: str, *, demo: bool) -> None:
        """Say which gateway is in use."""
        self._prompts.setVisible(demo)
        self._gateway.setText(
            "You are on the built-in demo gateway: it runs on this computer, its answers are simulated, "
            "and it needs no key and no network."
            if demo
            else f"You are on {shown_name(gateway)}."
        )
        self.fit(self._room)


class WelcomePage(QScrollArea):
    """The welcome; what does not fit beside a tall composer scrolls.

    While experiments are being opened it is empty, and soon says so: who has some is not to be welcomed.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        ground = QWidget()  # asking for Qt's own makes PySide look through every kind of widget there is: 8 ms
        self.setViewport(ground)
        self.welcome = Welcome(ground)
        self.setWidgetResizable(True)
        self.setWidget(self.welcome)
        self.welcome.setAutoFillBackground(False)
        ground.setAutoFillBackground(False)
        self.opening = OpeningLabel()
        self.opening.hide()
        QVBoxLayout(self).addWidget(self.opening)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.welcome.fit(event.size())
        super().resizeEvent(event)

    def set_opening(self, opening: bool) -> None:
        """Whether it is not known yet if there is anything to show."""
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAlwaysOff if opening else policy.ScrollBarAsNeeded)
        self.welcome.setVisible(not opening)
        self.opening.setVisible(opening)
        self.opening.set_opening(opening)
