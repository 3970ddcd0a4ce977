"""How wide a line may get, and the room beside it: the turns and the composer below them stand in one column."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLayout, QSizePolicy, QWidget

from playground.ui.widgets.layouts import in_row

READING_WIDTH = 860
MARGIN = 26
BELOW = MARGIN, 6, MARGIN, 12  # pixels around what stands below turns
SEEN = 96, 176  # pixels of the turns that stay in view, whatever stands below them: in the smallest window, in others
SMALLEST = 520  # pixels: the height of the smallest window


class Centre(QWidget):
    """Turns above, what one writes below: ``seen`` holds the turns, and keeps a height one can read in."""

    seen: QWidget

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        least, enough = SEEN
        self.seen.setMinimumHeight(min(max(least, self.window().height() - SMALLEST), enough))
        self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        """With words broken as they are at this width; the panels around it give way to that."""
        least, layout = super().minimumSizeHint(), self.layout()
        broken = layout.totalMinimumHeightForWidth(self.width()) if layout else 0  # -1 where nothing is broken
        return least.expandedTo(QSize(0, broken))


def at_reading_width(column: QLayout, of: QWidget) -> QHBoxLayout:
    """``column`` in the middle, no wider than a line may be, with the margins of what stands below the turns. To be put
    into the layout ``of`` a widget.
    """
    middle = QWidget(of)
    middle.setLayout(column)
    middle.setMaximumWidth(READING_WIDTH)
    middle.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return in_row(1, (middle, 1000), 1, margins=BELOW)
