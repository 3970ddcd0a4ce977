"""Base of table models: column titles, their tooltips, and their alignment."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, ClassVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from playground.ui.widgets.plain_text import tip

Index = QModelIndex | QPersistentModelIndex


class TitledTable(QAbstractTableModel):
    """A table model whose subclass declares titles, tooltips and the right-aligned columns."""

    titles: ClassVar[tuple[str, ...]]
    tips: ClassVar[tuple[str, ...]]
    at_right: ClassVar[Set[int]]

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self.titles)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return self.titles[section]
            if role == Qt.ItemDataRole.ToolTipRole:
                return tip(self.tips[section])
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return self.side(section)
        return None

    def side(self, column: int) -> Qt.AlignmentFlag:
        """Return the alignment of a column's texts."""
        side = Qt.AlignmentFlag.AlignRight if column in self.at_right else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter
