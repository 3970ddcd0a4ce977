"""Sizes of the conversation, of which messages and composer share one column, and scrolling in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QHBoxLayout, QLayout, QSizePolicy, QWidget

from playground.ui.widgets.layouts import in_row

READING_WIDTH = 860
MARGIN = 26
BELOW = MARGIN, 6, MARGIN, 12  # margins of the composer in pixels
LEAST_MESSAGES = 96, 176  # least height of the messages in pixels: in the smallest window and in higher ones
EDGE = 40  # pixels kept free above and below a place that is scrolled to
SMALLEST = 520  # height of the smallest window in pixels


class Centre(QWidget):
    """Messages above a composer. `seen` shows the messages and keeps a height in which they can be read."""

    seen: QWidget
    least_messages: ClassVar[tuple[int, int]] = LEAST_MESSAGES

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        least, enough = self.least_messages
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


def scroll_to(widget: QWidget, rect: QRectF) -> None:
    """Scroll the area around `widget` so that `rect` of it is in view."""
    area = next((parent for parent in _parents(widget) if isinstance(parent, QAbstractScrollArea)), None)
    if area is None:
        return
    if callable(settle := getattr(area, "settle", None)):
        settle()  # the conversation would lay out a changed height with the next frame only
    top = widget.mapTo(area.viewport(), rect.topLeft().toPoint()).y()
    bar, height = area.verticalScrollBar(), area.viewport().height()
    if top < EDGE or top + rect.height() > height - EDGE:
        bar.setValue(bar.value() + top - max(height // 3, EDGE))


def update_layouts(widget: QWidget) -> None:
    """Update the layouts around `widget` for its new height now; Qt updates one in each turn of the event loop."""
    for parent in _parents(widget):
        if isinstance(parent, QAbstractScrollArea):
            return
        if (layout := parent.layout()) is not None:
            layout.activate()


def _parents(widget: QWidget) -> Iterator[QWidget]:
    parent = widget.parentWidget()
    while parent is not None:
        yield parent
        parent = parent.parentWidget()
