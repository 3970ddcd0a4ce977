"""Widgets in a row or a column: what stands in it, the room around it and between, said in one place."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, TypeAlias, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

#: Room that takes what nothing else does.
STRETCH: Final = 0

#: A number is room that stretches by that factor; with a pair its widget or layout does.
Item: TypeAlias = QWidget | QLayout | int | tuple[QWidget | QLayout, int]
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


def tab_after(before: QWidget, made: QWidget) -> None:
    """Have Tab go from ``before`` to what can be typed in of ``made``, and from there on as it went from ``before``.

    What is made later than its window would be the last in its round, wherever it stands.
    """
    stops = [before]
    at: QWidget | None = made
    while at is not None and (at is made or made.isAncestorOf(at)):
        if at.focusPolicy() != Qt.FocusPolicy.NoFocus and at.focusProxy() is None:
            stops.append(at)
        at = at.nextInFocusChain()
    for first, second in pairwise(stops):
        QWidget.setTabOrder(first, second)


def _filled(box: _B, items: tuple[Item, ...], margins: Margins | None, spacing: int | None) -> _B:
    if margins is not None:
        box.setContentsMargins(*(margins if isinstance(margins, tuple) else (margins,) * 4))
    if spacing is not None:
        box.setSpacing(spacing)
    for item in items:
        if isinstance(item, int):
            box.addStretch(item)
            continue
        inner, factor = item if isinstance(item, tuple) else (item, 0)
        if isinstance(inner, QLayout):
            box.addLayout(inner, factor)
        else:
            box.addWidget(inner, factor)
    return box
