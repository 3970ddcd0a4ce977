"""Qt model of the rows. It reports only the changed stretches, so that all other rows stay in place."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from playground.ui.features.experiments.rows import Heading, Hit, Line, Row
from playground.ui.widgets.plain_text import tip

ROW = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
MAX_RUNS = 40  # removed and inserted stretches that are reported separately
Runs = list[tuple[int, int]]


class ExperimentsModel(QAbstractListModel):
    """List model of rows. ``renamed`` carries the id of an experiment and its new title."""

    renamed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []

    def set_rows(self, rows: list[Row]) -> None:
        """Replace the rows; remaining rows keep their selection and their place."""
        old, new = [row.key for row in self.rows], [row.key for row in rows]
        old_set, new_set = set(old), set(new)
        removed, inserted = runs(old, new_set), runs(new, old_set)
        same_order = [key for key in old if key in new_set] == [key for key in new if key in old_set]
        if not same_order or len(removed) + len(inserted) > MAX_RUNS:
            removed, inserted = _changed_stretch(old, new)
        self.rows = list(self.rows)
        for start, stop in reversed(removed):
            self.beginRemoveRows(_NOWHERE, start, stop - 1)
            del self.rows[start:stop]
            self.endRemoveRows()
        for start, stop in inserted:
            self.beginInsertRows(_NOWHERE, start, stop - 1)
            self.rows[start:start] = rows[start:stop]
            self.endInsertRows()
        old_rows, self.rows = self.rows, rows
        for number, (old_row, row) in enumerate(zip(old_rows, rows, strict=True)):
            if old_row is not row and old_row != row:
                self.dataChanged.emit(self.index(number), self.index(number))

    def place(self, experiment_id: str) -> QModelIndex:
        """Return the index of an experiment, invalid if it has no row."""
        for number, row in enumerate(self.rows):
            if isinstance(row, Line) and row.experiment.id == experiment_id:
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
            return row.experiment.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _accessible_text(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(f"{row.title}\n{row.experiment.summary}" if isinstance(row, Line) else row.text)
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row = self.rows[index.row()] if index.isValid() else None
        if role != Qt.ItemDataRole.EditRole or not isinstance(row, Line):
            return False
        if str(value).strip() != row.experiment.title:
            self.renamed.emit(row.experiment.id, str(value))
        return True


def _accessible_text(row: Row) -> str:
    if isinstance(row, Line):
        experiment = row.experiment
        words = [
            row.title,
            experiment.summary,
            "pinned" if experiment.pinned else "",
            "archived" if experiment.archived else "",
        ]
        return ", ".join(word for word in words if word)
    return f"Found: {row.text}" if isinstance(row, Hit) else row.text


def runs(keys: list[str], others: Set[str]) -> Runs:
    """Return the stretches of ``keys`` that are not in ``others``, as start and end."""
    out: Runs = []
    for number, key in enumerate(keys):
        if key in others:
            continue
        if out and out[-1][1] == number:
            out[-1] = out[-1][0], number + 1
        else:
            out.append((number, number + 1))
    return out


def _changed_stretch(old: list[str], new: list[str]) -> tuple[Runs, Runs]:
    """Return the stretches of both lists between their common start and their common end."""
    start, limit = 0, min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    tail, limit = 0, limit - start
    while tail < limit and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    ends = len(old) - tail, len(new) - tail
    removed, inserted = ([(start, end)] if end > start else [] for end in ends)
    return removed, inserted
