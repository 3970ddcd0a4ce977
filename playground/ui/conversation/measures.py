"""How wide a line may get, and the room beside it: the turns and the composer below them stand in one column."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLayout, QSizePolicy, QWidget

READING_WIDTH = 860
MARGIN = 26
LEAST_SEEN = 96  # pixels of the turns that stay in view, whatever stands below them


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
