"""Widgets in a row or a column: what stands in it, the room around it and between, said in one place."""

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
    """Room of that many pixels, besides what is between all."""


#: A number is room that stretches by that factor; beside a widget or a layout it is theirs, and where they stand in it.
Item: TypeAlias = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]
Margins: TypeAlias = int | tuple[int, int, int, int]
_B = TypeVar("_B", bound=QBoxLayout)


def in_row(
    *items: Item, of: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """``items`` from left to right. ``margins`` and ``spacing`` are pixels; left out, they are the style's.

    ``of`` is the widget that is laid out; without one the row is to be put into another layout.
    """
    return _filled(QHBoxLayout() if of is None else QHBoxLayout(of), items, margins, spacing)


def in_column(
    *items: Item, of: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """``items`` from top to bottom; see ``in_row``."""
    return _filled(QVBoxLayout() if of is None else QVBoxLayout(of), items, margins, spacing)


def in_pages(*pages: QWidget, of: QWidget | None = None) -> QStackedWidget:
    """``pages`` in one place, of which the first is shown; they are parts ``of`` a widget that stands already."""
    stack = QStackedWidget(of)
    for page in pages:
        stack.addWidget(page)
    return stack


def split(*parts: QWidget, sizes: Sequence[int] = (), thin: bool = False, of: QWidget | None = None) -> QSplitter:
    """``parts`` from left to right, of ``sizes`` in pixels, with a handle between them to move; ``thin`` is a line."""
    splitter = QSplitter(Qt.Orientation.Horizontal, of, childrenCollapsible=False)
    if thin:
        splitter.setHandleWidth(1)
    for part in parts:
        splitter.addWidget(part)
    if sizes:
        splitter.setSizes(sizes)
    return splitter


def discard(layout: QLayout, *widgets: QWidget) -> None:
    """Take these out of the layout; they are gone at once and deleted as soon as that may be."""
    for widget in widgets:
        layout.removeWidget(widget)
        widget.hide()
        widget.deleteLater()


def _filled(box: _B, items: tuple[Item, ...], margins: Margins | None, spacing: int | None) -> _B:
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


def _let_go(nested: QLayout) -> None:
    """Have no Python objects of what stands in a nested layout. PySide makes them, and is not told when Qt deletes what
    they stand for: whatever comes to lie at that place in memory is taken for it.
    """
    if isinstance(nested, QBoxLayout | QFormLayout | QGridLayout):  # others keep their items themselves
        for at in range(nested.count()):
            if (item := nested.itemAt(at)) is None:
                continue
            if (inner := item.layout()) is not None:
                _let_go(inner)
            else:
                Shiboken.invalidate(item)


def _put(box: QBoxLayout, item: QWidget | QLayout, factor: int = 0, *where: Qt.AlignmentFlag) -> None:
    if isinstance(item, QLayout):
        box.addLayout(item, factor)
        _let_go(item)
    else:
        box.addWidget(item, factor, *where)
