"""Word in a turn that part of the answer could not be read: what was odd, and the way to the frame that came."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from playground.ui.features.conversation.error_frame import ErrorFrame
from playground.ui.features.conversation.text_view import TextView

TITLE = "Part of the answer could not be read"
LONGEST = 400  # characters of a note


class HoleCard(ErrorFrame):
    """``notes`` say what could not be read, ``calls`` whether the turn has calls that wait because of it."""

    frame_asked = Signal()
    height_changed = Signal()

    def __init__(self, notes: Iterable[str], *, calls: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 10, 12, 10)
        layout.setSpacing(4)
        title = _label(TITLE, "error")
        font = title.font()
        font.setBold(True)
        title.setFont(font)
        layout.addWidget(title)
        said = TextView(mode="plain")  # breaks a line anywhere: an excerpt of JSON may be one long word
        said.setAccessibleName("What could not be read")
        said.set_text("\n".join(f"{note[:1].upper()}{note[1:LONGEST]}" for note in notes))
        said.height_changed.connect(self.height_changed)
        layout.addWidget(said)
        rest = " No rule answers its calls: look at them before you do." if calls else ""
        layout.addWidget(_label(f"What could be read stands above; the frames hold what came.{rest}", "muted"))
        row = QHBoxLayout()
        row.setContentsMargins(0, 6, 0, 0)
        button = QPushButton("Show the frame")
        button.setToolTip("Show in the timeline what could not be read, as it came")
        button.clicked.connect(self.frame_asked)
        row.addWidget(button)
        row.addStretch(1)
        layout.addLayout(row)
        self.setAccessibleName(f"Error: {TITLE}")


def _label(words: str, kind: str) -> QLabel:
    label = QLabel(words, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
    label.setProperty("kind", kind)
    return label
