"""Models as rows of a list: what each says in words, and which are ticked where several may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from playground.ui.widgets.models.fact_words import short_words, signs
from playground.ui.widgets.models.listing import Line
from playground.ui.widgets.plain_text import one_line_of, tip

Index = QModelIndex | QPersistentModelIndex
CHECK: Final = Qt.ItemDataRole.CheckStateRole
_NO_PARENT: Final = QModelIndex()


class ModelRows(QAbstractListModel):
    """``ticking``: models are ticked, and what is stays so while others are looked for."""

    def __init__(self, parent: QObject, *, ticking: bool = False) -> None:
        super().__init__(parent)
        self.lines: Sequence[Line] = ()
        self.favourites: frozenset[str] = frozenset()
        self.ticking = ticking
        self.ticked: dict[str, None] = {}

    def show_lines(self, lines: Sequence[Line], favourites: frozenset[str]) -> None:
        """Other lines in their place."""
        self.beginResetModel()
        self.lines, self.favourites = lines, favourites
        self.endResetModel()

    def line(self, index: Index) -> Line | None:
        """The line of a row."""
        return self.lines[index.row()] if index.isValid() and index.row() < len(self.lines) else None

    def model_id(self, index: Index) -> str:
        """The id of the model of a row; empty where it has none."""
        line = self.line(index)
        return line.model.id if line is not None and line.model is not None else ""

    def row_of(self, model_id: str, near: int = 0) -> int:
        """A row of that model, the one next to ``near``; -1 for none."""
        rows = [at for at, line in enumerate(self.lines) if line.model is not None and line.model.id == model_id]
        return min(rows, key=lambda row: abs(row - near), default=-1)

    def next_row(self, row: int, step: int) -> int:
        """The row of the model so many models further, as far as there are any; -1 where there is none at all."""
        rows = [at for at, line in enumerate(self.lines) if line.model is not None]
        if not rows:
            return -1
        if step > 0:
            after = [at for at in rows if at > row]
            return after[min(step, len(after)) - 1] if after else rows[-1]
        before = [at for at in rows if at < row]
        return before[max(len(before) + step, 0)] if before else rows[0]

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        line = self.line(index)
        if line is None:
            return None
        if line.model is None:
            return line.words if role == Qt.ItemDataRole.DisplayRole else None
        if role == Qt.ItemDataRole.DisplayRole:
            return one_line_of(line.model.id)
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            words = self._words(line)
            return words.replace("\n", ", ") if role == Qt.ItemDataRole.AccessibleTextRole else tip(words)
        if role == CHECK and self.ticking:
            return Qt.CheckState.Checked if line.model.id in self.ticked else Qt.CheckState.Unchecked
        return None

    def _words(self, line: Line) -> str:
        model = line.model
        if model is None:
            return ""
        can = ", ".join(words for _, words in signs(model.facts))
        told = (one_line_of(model.id), one_line_of(model.title), one_line_of(short_words(model.facts)), can)
        words = [*told, line.note, "a favourite" if model.id in self.favourites else ""]
        return "\n".join(word for word in words if word)

    def flags(self, index: Index) -> Qt.ItemFlag:
        line = self.line(index)
        if line is None or line.model is None:
            return Qt.ItemFlag.ItemNeverHasChildren
        return super().flags(index) | (Qt.ItemFlag.ItemIsUserCheckable if self.ticking else Qt.ItemFlag.NoItemFlags)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        model_id = self.model_id(index)
        if role != CHECK or not model_id or not self.ticking:
            return False
        if Qt.CheckState(value) == Qt.CheckState.Checked:
            self.ticked[model_id] = None
        else:
            self.ticked.pop(model_id, None)
        self.dataChanged.emit(index, index, [role])
        return True

    def toggle(self, index: Index) -> None:
        """Tick what is not, and the other way round."""
        on = self.data(index, CHECK) == Qt.CheckState.Checked
        self.setData(index, Qt.CheckState.Unchecked if on else Qt.CheckState.Checked, CHECK)
