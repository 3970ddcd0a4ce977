"""One line above the composer: what just happened or why not, with at most one thing to do about it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from playground.ui.icons import icon

STAYS_MS = 10_000


class NoticeBar(QFrame):
    """Hidden until ``say``. A notice with nothing to do stays until it is closed or the next one comes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "banner")
        self._act: Callable[[], None] | None = None
        self._words = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._button = QPushButton()
        self._button.clicked.connect(self._do)
        close = QToolButton()
        close.setProperty("kind", "quiet")
        close.setIcon(icon("close"))
        close.setAccessibleName("Close this notice")
        close.clicked.connect(self.hide)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 5, 6, 5)
        layout.addWidget(self._words, 1)
        layout.addWidget(self._button)
        layout.addWidget(close)
        self.hide()

    @property
    def words(self) -> str:
        """What it says."""
        return self._words.text()

    def say(self, words: str, action: str = "", act: Callable[[], None] | None = None, *, stays: bool = True) -> None:
        """Show ``words``; ``action`` names a button that calls ``act``. Without ``stays`` it goes by itself."""
        self._words.setText(words)
        self._act = act
        self._button.setText(action)
        self._button.setVisible(act is not None)
        self.setAccessibleName(words)
        self.show()
        self._timer.stop()
        if not stays:
            self._timer.start(STAYS_MS)

    def _do(self) -> None:
        act, self._act = self._act, None
        self.hide()
        if act is not None:
            act()
