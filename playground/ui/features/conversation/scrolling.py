"""Helpers for a widget inside a scroll area: scroll to a part of it, and update the layouts around it."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

MARGIN = 40  # pixels kept free above and below a place that is scrolled to


def scroll_to(widget: QWidget, rect: QRectF) -> None:
    """Scroll the area around `widget` so that `rect` of it is in view."""
    area = next((parent for parent in _parents(widget) if isinstance(parent, QAbstractScrollArea)), None)
    if area is None:
        return
    if callable(settle := getattr(area, "settle", None)):
        settle()  # the conversation would lay out a changed height with the next frame only
    top = widget.mapTo(area.viewport(), rect.topLeft().toPoint()).y()
    bar, height = area.verticalScrollBar(), area.viewport().height()
    if top < MARGIN or top + rect.height() > height - MARGIN:
        bar.setValue(bar.value() + top - max(height // 3, MARGIN))


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
