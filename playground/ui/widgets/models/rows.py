"""Item model of a list of models: their texts, and which of them are ticked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from playground.ui.widgets.models.fact_words import short_words, signs
from playground.ui.widgets.models.listing import Line
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.row_delegate import ROW, Control, EndIcon, Row, Words

Index = QModelIndex | QPersistentModelIndex
_FAVOURITE: Final = EndIcon("star-filled", "accent", "Remove from favourites (Ctrl+D)")
_NO_FAVOURITE: Final = EndIcon("star", "muted", "Add to favourites (Ctrl+D)", on_hover=True)
CHECK: Final = Qt.ItemDataRole.CheckStateRole
_NO_PARENT: Final = QModelIndex()


class ModelRows(QAbstractListModel):
    """List lines as an item model. With ``ticking``, rows have check boxes, and ticks survive another search."""

    def __init__(self, parent: QObject, *, ticking: bool = False) -> None:
        super().__init__(parent)
        self.lines: Sequence[Line] = ()
        self.favourites: frozenset[str] = frozenset()
        self.ticking = ticking
        self.stars = False  # each model has a star
        self.ticked: dict[str, None] = {}

    def show_lines(self, lines: Sequence[Line], favourites: frozenset[str]) -> None:
        """Replace all lines."""
        self.beginResetModel()
        self.lines, self.favourites = lines, favourites
        self.endResetModel()

    def line(self, index: Index) -> Line | None:
        """Return the line of a row, or None."""
        return self.lines[index.row()] if index.isValid() and index.row() < len(self.lines) else None

    def model_id(self, index: Index) -> str:
        """Return the id of the model of a row; empty for a row without a model."""
        line = self.line(index)
        return line.model.id if line is not None and line.model is not None else ""

    def row_of(self, model_id: str, near: int = 0) -> int:
        """Return the row of that model nearest to ``near``; -1 for none."""
        rows = [row for row, line in enumerate(self.lines) if line.model is not None and line.model.id == model_id]
        return min(rows, key=lambda row: abs(row - near), default=-1)

    def next_row(self, row: int, step: int) -> int:
        """Return the row ``step`` models after ``row``, at most the first or last model; -1 without models."""
        rows = [place for place, line in enumerate(self.lines) if line.model is not None]
        if not rows:
            return -1
        if step > 0:
            after = [place for place in rows if place > row]
            return after[min(step, len(after)) - 1] if after else rows[-1]
        before = [place for place in rows if place < row]
        return before[max(len(before) + step, 0)] if before else rows[0]

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        line = self.line(index)
        if line is None:
            return None
        if role == ROW:
            return self._row(line)
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

    def _row(self, line: Line) -> Row:
        model = line.model
        if model is None:
            return Row(Words(line.words), heading=True)
        starred = model.id in self.favourites
        return Row(
            Words(model.id, "text"),
            Words(" · ".join(filter(None, (line.note, short_words(model.facts))))),
            Words(model.title),
            side_yields=True,
            middle=True,
            icons=tuple((name, "muted") for name, _ in signs(model.facts)),
            control=Control("box", model.id in self.ticked) if self.ticking else None,
            end_icon=(_FAVOURITE if starred else _NO_FAVOURITE) if self.stars else None,
        )

    def _words(self, line: Line) -> str:
        model = line.model
        if model is None:
            return ""
        abilities = ", ".join(words for _, words in signs(model.facts))
        facts = (one_line_of(model.id), one_line_of(model.title), one_line_of(short_words(model.facts)), abilities)
        words = [*facts, line.note, "a favourite" if model.id in self.favourites else ""]
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
        """Tick the row, or remove its tick."""
        on = self.data(index, CHECK) == Qt.CheckState.Checked
        self.setData(index, Qt.CheckState.Unchecked if on else Qt.CheckState.Checked, CHECK)
