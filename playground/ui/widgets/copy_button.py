"""A button that copies text to the clipboard and confirms it for a moment."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

COPIED_MS: Final = 2_000  # duration of the confirmation


class CopyButton(QPushButton):
    """A button with the text ``words`` and a style ``kind``. Enter in a field never presses it."""

    def __init__(self, words: str, kind: str = "") -> None:
        super().__init__(words, autoDefault=False)
        self.setProperty("kind", kind)
        self._words = words
        self._reset_timer = QTimer(self, singleShot=True, interval=COPIED_MS)
        self._reset_timer.timeout.connect(self._reset_text)

    def copy(self, text: str) -> None:
        """Copy ``text`` to the clipboard."""
        QGuiApplication.clipboard().setText(text)
        self.setText("Copied")
        self._reset_timer.start()

    def _reset_text(self) -> None:
        self.setText(self._words)
