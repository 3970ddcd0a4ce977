"""Faults of a layout: texts that are cut off, widgets outside their parents, widgets of one layout that overlap."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QLabel, QLayout, QToolButton, QWidget

from playground.ui.widgets.mark_label import MarkLabel

TOLERANCE = 2  # pixels


def find_faults(window: QWidget) -> Iterator[str]:
    """Describe each fault among the visible widgets of a window."""
    for widget in (window, *window.findChildren(QWidget)):
        if widget.window() is not window or not widget.isVisible() or widget.visibleRegion().isEmpty():
            continue
        if _is_cut_off(widget):
            yield f"{_describe(widget)} is cut off"
        parent = widget.parentWidget()
        if widget is not window and parent is not None and _is_outside(widget, parent):
            yield f"{_describe(widget)} is outside its parent {_describe(parent)}"
        layout = widget.layout()
        if layout is not None:
            for first, second in combinations(_shown(layout), 2):
                overlap = first.geometry() & second.geometry()
                if overlap.width() > TOLERANCE and overlap.height() > TOLERANCE:
                    yield f"{_describe(first)} overlaps {_describe(second)}"


def _is_cut_off(widget: QWidget) -> bool:
    """Return whether a label or button has less room than its text needs."""
    if isinstance(widget, QLabel):
        if not widget.text() or isinstance(widget, MarkLabel):  # which elides its text
            return False
        if widget.wordWrap():
            return widget.heightForWidth(widget.width()) > widget.height() + TOLERANCE
        needed = widget.sizeHint()
        return needed.width() > widget.width() + TOLERANCE or needed.height() > widget.height() + TOLERANCE
    if isinstance(widget, QAbstractButton):
        shows_text = not isinstance(widget, QToolButton) or (
            widget.toolButtonStyle() != Qt.ToolButtonStyle.ToolButtonIconOnly or widget.icon().isNull()
        )
        needed = widget.minimumSizeHint()
        return bool(widget.text()) and shows_text and needed.width() > widget.width() + TOLERANCE
    return False


def _is_outside(widget: QWidget, parent: QWidget) -> bool:
    """Return whether a widget exceeds its parent where nothing scrolls."""
    area = parent.parentWidget()
    if isinstance(parent, QAbstractScrollArea) or (isinstance(area, QAbstractScrollArea) and area.viewport() is parent):
        return False
    room = parent.rect().adjusted(-TOLERANCE, -TOLERANCE, TOLERANCE, TOLERANCE)
    return not room.contains(widget.geometry())


def _shown(layout: QLayout) -> Iterator[QWidget]:
    """The visible widgets of a layout and the layouts in it."""
    for index in range(layout.count()):
        item = layout.itemAt(index)
        if item is None:
            continue
        widget, inner = item.widget(), item.layout()
        if widget is not None and widget.isVisible() and not widget.geometry().isEmpty():
            yield widget
        elif inner is not None:
            yield from _shown(inner)


def _describe(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QLabel | QAbstractButton) else ""
    name = text or widget.accessibleName() or widget.objectName() or widget.windowTitle()
    rect: QRect = widget.geometry()
    return f"{type(widget).__name__} {name[:60]!r} ({rect.width()}x{rect.height()} at {rect.x()},{rect.y()})"
