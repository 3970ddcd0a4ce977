"""Layouts as one expression: rows and columns with their items, margins and spacing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import Shiboken


class Gap(int):
    """Extra space in pixels, in addition to the spacing of the layout."""


#: A widget or layout, optionally with its stretch factor and alignment; a number alone is a stretch of that factor.
Item: TypeAlias = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]
Margins: TypeAlias = int | tuple[int, int, int, int]
_B = TypeVar("_B", bound=QBoxLayout)


def in_row(
    *items: Item, parent: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """Lay out ``items`` from left to right. ``margins`` and ``spacing`` are in pixels; by default they are the style's.

    ``parent`` is the widget that gets the layout; without one the caller adds the row to another layout.
    """
    return _fill(QHBoxLayout() if parent is None else QHBoxLayout(parent), items, margins, spacing)


def in_column(
    *items: Item, parent: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """Lay out ``items`` from top to bottom; the arguments are those of ``in_row``."""
    return _fill(QVBoxLayout() if parent is None else QVBoxLayout(parent), items, margins, spacing)


def in_pages(*pages: QWidget, parent: QWidget | None = None) -> QStackedWidget:
    """Create a stack of ``pages`` that shows the first one."""
    stack = QStackedWidget(parent)
    for page in pages:
        stack.addWidget(page)
    return stack


def split(*parts: QWidget, sizes: Sequence[int] = (), thin: bool = False, parent: QWidget | None = None) -> QSplitter:
    """Create a splitter of ``parts`` from left to right, with ``sizes`` in pixels; ``thin`` handles are a line."""
    splitter = QSplitter(Qt.Orientation.Horizontal, parent, childrenCollapsible=False)
    if thin:
        splitter.setHandleWidth(1)
    for part in parts:
        splitter.addWidget(part)
    if sizes:
        splitter.setSizes(sizes)
    return splitter


def discard(layout: QLayout, *widgets: QWidget) -> None:
    """Remove widgets from a layout: hide them at once and delete them later."""
    for widget in widgets:
        layout.removeWidget(widget)
        widget.hide()
        widget.deleteLater()


def _fill(box: _B, items: tuple[Item, ...], margins: Margins | None, spacing: int | None) -> _B:
    if margins is not None:
        box.setContentsMargins(*(margins if isinstance(margins, tuple) else (margins,) * 4))
    if spacing is not None:
        box.setSpacing(spacing)
    for item in items:
        if isinstance(item, Gap):
            box.addSpacing(item)
        elif isinstance(item, int):
            box.addStretch(item)
        else:
            _put(box, *item if isinstance(item, tuple) else (item,))
    return box


def _invalidate_items(nested: QLayout) -> None:
    """Invalidate the Python wrappers of the items of a nested layout.

    PySide creates them and does not notice when Qt deletes the items: a later object at the same address would be
    taken for the deleted one.
    """
    if isinstance(nested, QBoxLayout | QFormLayout | QGridLayout):  # other layouts own their items
        for index in range(nested.count()):
            if (item := nested.itemAt(index)) is None:
                continue
            if (inner := item.layout()) is not None:
                _invalidate_items(inner)
            else:
                Shiboken.invalidate(item)


def _put(box: QBoxLayout, item: QWidget | QLayout, factor: int = 0, *alignment: Qt.AlignmentFlag) -> None:
    if isinstance(item, QLayout):
        box.addLayout(item, factor)
        _invalidate_items(item)
    else:
        box.addWidget(item, factor, *alignment)
