"""How wide a line may get, and the room beside it: the turns and the composer below them stand in one column."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLayout, QSizePolicy, QWidget

READING_WIDTH = 860
MARGIN = 26
SEEN = 96, 176  # pixels of the turns that stay in view, whatever stands below them: in the smallest window, in others
SMALLEST = 520  # pixels: the height of the smallest window


def least_seen(window_height: int) -> int:
    """Pixels of the turns that stay in view: enough to read in, but in a window where the composer needs the room."""
    least, enough = SEEN
    return min(max(least, window_height - SMALLEST), enough)


def at_reading_width(column: QLayout) -> QHBoxLayout:
    """``column`` in the middle, no wider than a line may be, with the margins of what stands below the turns."""
    middle = QWidget()
    middle.setLayout(column)
    middle.setMaximumWidth(READING_WIDTH)
    middle.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    centred = QHBoxLayout()
    centred.setContentsMargins(MARGIN, 6, MARGIN, 12)
    centred.addStretch(1)
    centred.addWidget(middle, 1000)
    centred.addStretch(1)
    return centred
