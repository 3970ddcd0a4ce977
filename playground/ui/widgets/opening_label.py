"""A label shown in place of experiments while they are opened."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel

WORD = "Opening…"
AFTER_MS = 300  # a word shown for less time only flickers


class OpeningLabel(QLabel):
    """A label that is empty until ``AFTER_MS`` after ``set_opening``."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "muted")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._timer = QTimer(self, singleShot=True, interval=AFTER_MS)
        self._timer.timeout.connect(self._show_word)

    def set_opening(self, opening: bool) -> None:
        """Show the word after ``AFTER_MS``, or clear the label."""
        if not opening:
            self._timer.stop()
            self.clear()
        elif not self.text() and not self._timer.isActive():
            self._timer.start()

    def _show_word(self) -> None:
        self.setText(WORD)
