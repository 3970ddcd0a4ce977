"""Base of table models of read-only rows: titles, texts, tooltips, colours and signs by row and column."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, ClassVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.theme import code_font

Index = QModelIndex | QPersistentModelIndex


class TitledTable(QAbstractTableModel):
    """A table model whose subclass declares its columns, and returns what is in a cell.

    ``at_right`` are the right-aligned columns, ``in_code`` those in the font of code.
    """

    titles: ClassVar[tuple[str, ...]]
    tips: ClassVar[tuple[str, ...]]
    at_right: ClassVar[Set[int]] = frozenset()
    in_code: ClassVar[Set[int]] = frozenset()

    # A subclass implements these

    def count(self) -> int:
        """Return the number of rows."""
        raise NotImplementedError

    def text(self, row: int, column: int) -> str:
        """Return the text of a cell."""
        raise NotImplementedError

    def colour(self, row: int, column: int) -> str:
        """Return the colour of a cell's text."""
        raise NotImplementedError

    def tooltip(self, row: int, column: int) -> str:
        """Return the tooltip of a cell: its text, unless a subclass knows more."""
        return self.text(row, column)

    def spoken(self, row: int, column: int) -> str:
        """Return the text of a cell for a screen reader."""
        return f"{self.titles[column]}: {self.text(row, column)}"

    def sign(self, row: int, column: int) -> tuple[str, str] | None:
        """Return the icon of a cell and its colour; None for no icon."""

    # Qt

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else self.count()

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self.titles)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = index.row(), index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.text(row, column)
            case Qt.ItemDataRole.ToolTipRole:
                return tip(self.tooltip(row, column))
            case Qt.ItemDataRole.AccessibleTextRole:
                return self.spoken(row, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return self._side(column)
            case Qt.ItemDataRole.FontRole:
                return code_font() if column in self.in_code else None
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(self.colour(row, column))
            case Qt.ItemDataRole.DecorationRole:
                sign = self.sign(row, column)
                return icon(*sign) if sign is not None else None
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return self.titles[section]
            if role == Qt.ItemDataRole.ToolTipRole:
                return tip(self.tips[section])
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return self._side(section)
        return None

    def _side(self, column: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if column in self.at_right else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter
