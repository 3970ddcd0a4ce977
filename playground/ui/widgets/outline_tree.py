"""A tree of headings and rows, each with a name and a value on one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem

from playground.ui.widgets.plain_text import show_hidden, tip

#: A heading, its own value, and the (name, value) of each row below it.
Group: TypeAlias = tuple[str, str, Sequence[tuple[str, str]]]


class OutlineTree(QTreeWidget):
    """A tree of foldable headings; the tooltip has the full value. ``name`` is the accessible name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setIndentation(14)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setUniformRowHeights(True)
        self.header().setStretchLastSection(True)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_groups(self, groups: Iterable[Group]) -> None:
        """Replace the content with ``groups``."""
        self.clear()
        for title, value, rows in groups:
            top = _item(title, value)
            self.addTopLevelItem(top)
            top.addChildren([_item(*row) for row in rows])
            top.setExpanded(True)


def _item(name: str, value: str) -> QTreeWidgetItem:
    item = QTreeWidgetItem([show_hidden(name), show_hidden(value)])
    item.setToolTip(1, tip(value))
    return item
