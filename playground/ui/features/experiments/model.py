"""The rows as a model of Qt's. Only the stretches that are different are told, so that nothing else moves."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from playground.ui.features.experiments.rows import Heading, Hit, Line, Row
from playground.ui.widgets.plain_text import tip

ROW = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
MOST_RUNS = 40  # stretches of rows that go or come, told one by one
Runs = list[tuple[int, int]]


class ExperimentsModel(QAbstractListModel):
    """``set_rows`` shows others. ``renamed`` carries the id of an experiment and the title typed for it."""

    renamed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []

    def set_rows(self, rows: list[Row]) -> None:
        """Show these; rows that stay keep their selection and their place."""
        old, new = [row.key for row in self.rows], [row.key for row in rows]
        left, right = set(old), set(new)
        gone, come = runs(old, right), runs(new, left)
        stay = [key for key in old if key in right] == [key for key in new if key in left]
        if not stay or len(gone) + len(come) > MOST_RUNS:
            gone, come = _stretch(old, new)
        self.rows = list(self.rows)
        for start, stop in reversed(gone):
            self.beginRemoveRows(_NOWHERE, start, stop - 1)
            del self.rows[start:stop]
            self.endRemoveRows()
        for start, stop in come:
            self.beginInsertRows(_NOWHERE, start, stop - 1)
            self.rows[start:start] = rows[start:stop]
            self.endInsertRows()
        before, self.rows = self.rows, rows
        for number, (was, row) in enumerate(zip(before, rows, strict=True)):
            if was is not row and was != row:
                self.dataChanged.emit(self.index(number), self.index(number))

    def place(self, experiment_id: str) -> QModelIndex:
        """The row of an experiment; an invalid index where there is none."""
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
            return _spoken(row)
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


def _spoken(row: Row) -> str:
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
    """The stretches of ``keys`` that are none of the ``others``, as start and end."""
    out: Runs = []
    for number, key in enumerate(keys):
        if key in others:
            continue
        if out and out[-1][1] == number:
            out[-1] = out[-1][0], number + 1
        else:
            out.append((number, number + 1))
    return out


def _stretch(old: list[str], new: list[str]) -> tuple[Runs, Runs]:
    """The one stretch of each outside of which they are alike."""
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    tail, most = 0, most - start
    while tail < most and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    ends = len(old) - tail, len(new) - tail
    gone, come = ([(start, end)] if end > start else [] for end in ends)
    return gone, come
