"""The button that leads to the newest turn, where that is not in view."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

ABOVE_EDGE, APART = 12, 4  # pixels: from the lower edge of the view, and from a header


class LatestPill(QPushButton):
    """Hidden at first; ``place`` it whenever what lies below it has moved."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("↓  Jump to latest", parent)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()

    def place(self, width: int, height: int, heads: Iterable[tuple[int, int]]) -> None:
        """In the middle of a view of that size, as low as may be. ``heads`` are upper and lower edges of headers."""
        size = self.sizeHint()
        usual = height - size.height() - ABOVE_EDGE
        top = usual
        for upper, lower in sorted(heads, reverse=True):
            if top < lower + APART and top + size.height() + APART > upper:
                top = upper - APART - size.height()
        self.setGeometry((width - size.width()) // 2, top if top >= 0 else usual, size.width(), size.height())
        self.raise_()
