"""The word that stands where experiments will be, when opening them takes longer than a moment."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel

WORD = "Opening…"
AFTER_MS = 300  # a word that comes and goes at once is only a flicker


class OpeningLabel(QLabel):
    """Empty, until ``set_opening`` was called and a moment has gone by."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "muted")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._timer = QTimer(self, singleShot=True, interval=AFTER_MS)
        self._timer.timeout.connect(self._say)

    def set_opening(self, opening: bool) -> None:
        """Something is being opened, or no longer is."""
        if not opening:
            self._timer.stop()
            self.clear()
        elif not self.text() and not self._timer.isActive():
            self._timer.start()

    def _say(self) -> None:
        self.setText(WORD)
