"""The order of the Tab key by the place of the controls: Qt's own is the order in which they were made."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def order_tab_stops(area: QWidget) -> None:
    """Let the Tab key go through the controls in view of ``area`` by rows, beginning with the first one."""
    for before, after in pairwise(_tab_stops(area)):
        QWidget.setTabOrder(before, after)


def _tab_stops(area: QWidget) -> Iterator[QWidget]:
    for child in _by_rows(area):
        if child.focusPolicy() & Qt.FocusPolicy.TabFocus and child.focusProxy() is None:
            yield child
        yield from _tab_stops(child)


def _by_rows(area: QWidget) -> Iterator[QWidget]:
    """Yield the visible children from top to bottom, and those beside one another from left to right."""
    children = [child for child in area.children() if isinstance(child, QWidget) and not child.isWindow()]
    children = [child for child in children if child.isVisibleTo(area)]
    row: list[QWidget] = []
    for child in sorted(children, key=lambda child: child.geometry().center().y()):
        if row and child.geometry().center().y() > row[0].geometry().bottom():
            yield from sorted(row, key=QWidget.x)
            row = []
        row.append(child)
    yield from sorted(row, key=QWidget.x)
