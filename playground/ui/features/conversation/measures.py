"""Sizes of the conversation: messages and composer share one column of limited width."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLayout, QSizePolicy, QWidget

from playground.ui.widgets.layouts import in_row

READING_WIDTH = 860
MARGIN = 26
BELOW = MARGIN, 6, MARGIN, 12  # margins of the composer in pixels
LEAST_MESSAGES = 96, 176  # least height of the messages in pixels: in the smallest window and in higher ones
SMALLEST = 520  # height of the smallest window in pixels


class Centre(QWidget):
    """Messages above a composer. `seen` shows the messages and keeps a height in which they can be read."""

    seen: QWidget

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        least, enough = LEAST_MESSAGES
        self.seen.setMinimumHeight(min(max(least, self.window().height() - SMALLEST), enough))
        self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        """Return the least size with text wrapped at the current width, so that panels leave room for it."""
        hint, layout = super().minimumSizeHint(), self.layout()
        wrapped = layout.totalMinimumHeightForWidth(self.width()) if layout else 0  # -1 if nothing is wrapped
        return hint.expandedTo(QSize(0, wrapped))


def at_reading_width(column: QLayout, parent: QWidget) -> QHBoxLayout:
    """Return a row with `column` in the middle, at most as wide as the messages, for a layout of `parent`."""
    middle = QWidget(parent)
    middle.setLayout(column)
    middle.setMaximumWidth(READING_WIDTH)
    middle.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return in_row(1, (middle, 1000), 1, margins=BELOW)
