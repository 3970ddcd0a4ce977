"""One hint at a time, above the composer: what is happening now and what to do next. It can be skipped for good."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QPushButton, QWidget

from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import in_row

SIDE_BY_SIDE = 560  # pixels; a narrower bar has its buttons below the words


class GuideBar(QFrame):
    """Hidden until ``show_hint``. ``acted``: the hint's own button; ``skipped``: no more hints."""

    acted = Signal()
    skipped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("guideBar")
        self.setProperty("kind", "banner")
        self._count = text_label("", "small")
        self._words = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.act_button = QPushButton("Next")
        self.act_button.clicked.connect(self.acted)
        self.skip_button = styled(QPushButton("Skip all"), "quiet")
        self.skip_button.setToolTip("No more hints, now and later; Help has them again")
        self.skip_button.clicked.connect(self.skipped)
        buttons = in_row(1, self.act_button, self.skip_button, spacing=6)
        words = in_row((self._count, 0, Qt.AlignmentFlag.AlignTop), (self._words, 1), spacing=10)
        self._whole = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._whole.setContentsMargins(12, 8, 8, 8)
        self._whole.setSpacing(8)
        self._whole.addLayout(words, 1)
        self._whole.addLayout(buttons)
        self.hide()

    @property
    def words(self) -> str:
        """What it says."""
        return self._words.text()

    def show_hint(self, number: int, of: int, words: str, action: str, *, last: bool) -> None:
        """Show a hint; ``action`` names its button. After the last there is nothing to skip."""
        self._count.setText(f"{number} of {of}")
        self._words.setText(words)
        self.act_button.setText(action)
        self.act_button.setAccessibleName(action)
        self.skip_button.setVisible(not last)
        self.setAccessibleName(f"Hint {number} of {of}: {words}")
        self._arrange(self.width())
        self.show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(event.size().width())

    def _arrange(self, width: int) -> None:
        narrow = width < SIDE_BY_SIDE
        self._whole.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)
