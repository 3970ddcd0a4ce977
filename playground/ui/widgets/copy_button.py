"""A button that puts text on the clipboard, and says so on itself for a moment."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

COPIED_MS: Final = 2_000  # how long it says that it has copied


class CopyButton(QPushButton):
    """``words`` stand on it, ``kind`` is its look. Enter in a field never presses it."""

    def __init__(self, words: str, kind: str = "") -> None:
        super().__init__(words, autoDefault=False)
        self.setProperty("kind", kind)
        self._words = words
        self._copied = QTimer(self, singleShot=True, interval=COPIED_MS)
        self._copied.timeout.connect(self._forget)

    def copy(self, text: str) -> None:
        """Put ``text`` on the clipboard."""
        QGuiApplication.clipboard().setText(text)
        self.setText("Copied")
        self._copied.start()

    def _forget(self) -> None:
        self.setText(self._words)
