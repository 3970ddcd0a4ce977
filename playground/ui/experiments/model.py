"""The rows as a model of Qt's. Only the stretch that is different is told, so that nothing else moves."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from playground.ui.experiments.rows import Heading, Hit, Line, Row
from playground.ui.plain_text import tip

ROW = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class ExperimentsModel(QAbstractListModel):
    """``set_rows`` shows others. ``renamed`` carries the id of an experiment and the title typed for it."""

    renamed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []

    def set_rows(self, rows: list[Row]) -> None:
        """Show these; rows that stay keep their selection and their place."""
        before = self.rows
        old, new = [row.key for row in before], [row.key for row in rows]
        start, most = 0, min(len(old), len(new))
        while start < most and old[start] == new[start]:
            start += 1
        tail, most = 0, most - start
        while tail < most and old[-1 - tail] == new[-1 - tail]:
            tail += 1
        gone, come = len(old) - start - tail, len(new) - start - tail
        if gone:
            self.beginRemoveRows(_NOWHERE, start, start + gone - 1)
            self.rows = before[:start] + before[start + gone :]
            self.endRemoveRows()
        rest = self.rows
        if come:
            self.beginInsertRows(_NOWHERE, start, start + come - 1)
            self.rows = rows
            self.endInsertRows()
        self.rows = rows
        for row in (*range(start), *range(len(rows) - tail, len(rows))):
            was = rest[row if row < start else row - come]
            if was is not rows[row] and was != rows[row]:
                self.dataChanged.emit(self.index(row), self.index(row))

    def place(self, entry_id: str) -> QModelIndex:
        """The row of an experiment; an invalid index where there is none."""
        for number, row in enumerate(self.rows):
            if isinstance(row, Line) and row.entry.id == entry_id:
                return self.index(number)
        return QModelIndex()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or isinstance(self.rows[index.row()], Heading):
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return flags | Qt.ItemFlag.ItemIsEditable if isinstance(self.rows[index.row()], Line) else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title if isinstance(row, Line) else row.text
        if role == Qt.ItemDataRole.EditRole and isinstance(row, Line):
            return row.entry.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _spoken(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(f"{row.title}\n{row.entry.summary}" if isinstance(row, Line) else row.text)
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row = self.rows[index.row()] if index.isValid() else None
        if role != Qt.ItemDataRole.EditRole or not isinstance(row, Line):
            return False
        if str(value).strip() != row.entry.title:
            self.renamed.emit(row.entry.id, str(value))
        return True


def _spoken(row: Row) -> str:
    if isinstance(row, Line):
        entry = row.entry
        words = [row.title, entry.summary, "pinned" if entry.pinned else "", "archived" if entry.archived else ""]
        return ", ".join(word for word in words if word)
    return f"Found: {row.text}" if isinstance(row, Hit) else row.text
