"""What is around a part of the conversation: told of its new height at once, scrolled so that a place in it is seen."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

ROOM = 40  # pixels kept free above a place that is scrolled to


def scroll_to(view: QWidget, rect: QRectF) -> None:
    """Scroll what is around ``view`` so that ``rect`` of it is seen."""
    around = view.parentWidget()
    while around is not None and not isinstance(around, QAbstractScrollArea):
        around = around.parentWidget()
    if around is None:
        return
    if callable(settle := getattr(around, "settle", None)):
        settle()  # the conversation lays out what has changed its height with the next frame only
    top = view.mapTo(around.viewport(), rect.topLeft().toPoint()).y()
    bar, height = around.verticalScrollBar(), around.viewport().height()
    if top < ROOM or top + rect.height() > height - ROOM:
        bar.setValue(bar.value() + top - max(height // 3, ROOM))


def tell_height(view: QWidget) -> None:
    """Let the layouts around ``view`` know its new height now; Qt tells one with each turn of the event loop."""
    around = view.parentWidget()
    while around is not None and not isinstance(around, QAbstractScrollArea):
        if (layout := around.layout()) is not None:
            layout.activate()
        around = around.parentWidget()
