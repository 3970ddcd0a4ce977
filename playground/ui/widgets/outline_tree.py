"""A tree of names with values, on one line each; the first level can have check marks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem

from playground.ui.widgets.plain_text import one_line_of, tip

_CHECK = {True: Qt.CheckState.Checked, False: Qt.CheckState.Unchecked}


@dataclass(frozen=True, slots=True)
class Item:
    """A name, a value, and the items below them. ``checked`` is None for an item without a check mark.

    Items below can be a function, called when the item is unfolded; the item is then folded at first.
    """

    name: str
    value: str = ""
    below: Sequence[Item] | Callable[[], Iterable[Item]] = ()
    checked: bool | None = None


def group(name: str, value: str, rows: Iterable[tuple[str, str]]) -> Item:
    """Return a heading with its rows."""
    return Item(name, value, tuple(Item(*row) for row in rows))


class OutlineTree(QTreeWidget):
    """A tree of foldable items; the tooltip has the full value. ``accessible_name`` is the accessible name.

    ``checks_changed`` is emitted when the user changes a check mark.
    """

    checks_changed = Signal()

    def __init__(self, accessible_name: str) -> None:
        super().__init__()
        self._unfold: dict[int, Callable[[], Iterable[Item]]] = {}
        self.setAccessibleName(accessible_name)
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setIndentation(14)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setUniformRowHeights(True)
        self.header().setStretchLastSection(True)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.header().setMaximumSectionSize(320)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemChanged.connect(self.checks_changed)
        self.itemExpanded.connect(self._fill)

    def show_items(self, items: Sequence[Item]) -> None:
        """Replace the content with ``items``, unfolded unless a function makes the items below."""
        self.blockSignals(True)
        self.clear()
        self._unfold.clear()
        lines = []
        for number, item in enumerate(items):
            line = _line(item)
            if callable(item.below):
                self._unfold[number] = item.below
                line.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
            lines.append(line)
        self.addTopLevelItems(lines)
        for item, line in zip(items, lines, strict=True):
            line.setExpanded(not callable(item.below))
        if any(map(_can_check, lines)):
            self.setCurrentItem(lines[0])
        self.blockSignals(False)

    def show_groups(self, groups: Iterable[tuple[str, str, Iterable[tuple[str, str]]]]) -> None:
        """Replace the content with headings, their values and rows."""
        self.show_items([group(*heading) for heading in groups])

    @property
    def lines(self) -> list[QTreeWidgetItem]:
        """The items of the first level."""
        return [item for number in range(self.topLevelItemCount()) if (item := self.topLevelItem(number)) is not None]

    @property
    def checkable(self) -> list[QTreeWidgetItem]:
        """The items with a check mark."""
        return [line for line in self.lines if _can_check(line)]

    @property
    def checked(self) -> tuple[int, ...]:
        """The positions of the checked items."""
        return tuple(
            number for number, line in enumerate(self.lines) if line.checkState(0) == _CHECK[True] and _can_check(line)
        )

    def check(self, checked: Callable[[int], bool]) -> None:
        """Check the items whose positions ``checked`` is true for, and no others."""
        self.blockSignals(True)
        for number, line in enumerate(self.lines):
            if _can_check(line):
                line.setCheckState(0, _CHECK[checked(number)])
        self.blockSignals(False)
        self.viewport().update()
        self.checks_changed.emit()

    def _fill(self, line: QTreeWidgetItem) -> None:
        below = self._unfold.pop(self.indexOfTopLevelItem(line), None)
        if below is not None:
            line.addChildren([_line(item) for item in below()])


def _can_check(line: QTreeWidgetItem) -> bool:
    return bool(line.flags() & Qt.ItemFlag.ItemIsUserCheckable)


def _line(item: Item) -> QTreeWidgetItem:
    line = QTreeWidgetItem([one_line_of(item.name), one_line_of(item.value)])
    line.setToolTip(0, tip(item.name) if len(item.name) > 20 else "")
    line.setToolTip(1, tip(item.value))
    if item.checked is None:
        line.setFlags(line.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)
    else:
        line.setFlags(line.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        line.setCheckState(0, _CHECK[item.checked])
    if not callable(item.below):
        line.addChildren([_line(child) for child in item.below])
    return line
