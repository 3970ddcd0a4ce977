"""The bar above the composer of an experiment that replays a recording: speed, and event by event."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QPushButton, QWidget

from playground.jsonkit.texts import quantity
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.segments import Segments

if TYPE_CHECKING:
    from playground.engine.cassettes.replay import CassettePlayer

#: The labels of the switch, and multiples of the recorded speed; None: event by event.
SPEEDS = (("1×", 1.0), ("2×", 2.0), ("10×", 10.0), ("Instant", math.inf), ("Step", None))
WIDE = 640  # pixels of width for one line
SAYS = "Runs replay the recording. Nothing is sent to a gateway."


class ReplayBar(QFrame):
    """The replay bar, hidden without a recording."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._player: CassettePlayer | None = None
        self.setProperty("kind", "banner")
        self.words = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.speed = Segments(tuple(words for words, _ in SPEEDS), "Speed of the replay")
        self.step_button = QPushButton("Next event")
        self.step_button.setToolTip(tip("Receive one more event"))
        controls = in_row(self.step_button, self.speed, 1, spacing=8)
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._line.setContentsMargins(12, 5, 8, 5)
        self._line.setSpacing(8)
        self._line.addWidget(self.words, 1)
        self._line.addLayout(controls)
        self.speed.chosen.connect(self._chosen)
        self.step_button.clicked.connect(self._step)
        self.hide()

    def show_player(self, player: CassettePlayer | None) -> None:
        """Show the recording and its speed."""
        self._player = player
        self.setVisible(player is not None)
        if player is None:
            return
        cassette = player.cassette
        count = len(cassette.exchanges)
        when = ""
        if cassette.created_at:
            when = datetime.fromtimestamp(cassette.created_at).astimezone().strftime(", recorded on %d %B %Y")
        self.words.setText(show_hidden(f"Recording with {quantity(count, 'exchange')}{when}. {SAYS}"))
        clock = player.clock
        selected = None if clock.stepping else clock.speed
        self.speed.set_index(next((index for index, (_, speed) in enumerate(SPEEDS) if speed == selected), 0))
        self.step_button.setVisible(clock.stepping)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the controls below the text in a narrow window."""
        super().resizeEvent(event)
        below = self.width() < WIDE
        self._line.setDirection(QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight)

    def _chosen(self, index: int) -> None:
        player, speed = self._player, SPEEDS[index][1]
        if player is None:
            return
        player.clock.stepping = speed is None
        if speed is not None:
            player.clock.speed = speed
        self.step_button.setVisible(speed is None)

    def _step(self) -> None:
        if self._player is not None:
            self._player.clock.step()
