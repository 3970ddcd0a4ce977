"""The table model of cases: a column for each variable, the expected answer and the name; a row for a new case.

The model changes nothing: it emits ``typed``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor

from playground.domain.transcript import Role
from playground.engine.session.plan import EXPECTED, Case
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.theme import tokens

_Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()
_SHOWN: Final = 200  # characters of a cell
LONG: Final = 2_000  # characters beyond which a text, or one of several lines, is not typed on one line
ASKS, NAME = "asks", "name"
_TITLES: Final = {ASKS: "Asks", EXPECTED: "Expected", NAME: "Name"}


class Column:
    """A column: a variable, or another field of cases."""

    def __init__(self, name: str, *, variable: bool = False) -> None:
        self.name, self.variable = name, variable
        self.title = name if variable else _TITLES[name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Column) and (self.name, self.variable) == (other.name, other.variable)

    def __hash__(self) -> int:
        return hash((self.name, self.variable))

    def text_of(self, case: Case) -> str | None:
        """Return the text of a case in this column, or None."""
        if self.variable:
            return case.values.get(self.name)
        if self.name == ASKS:
            return "\n".join(turn.text for turn in case.turns if turn.role is Role.USER) or None
        return case.expected if self.name == EXPECTED else case.name

    def put(self, case: Case, text: str) -> Case:
        """Return the case with a text in this column. An empty text removes the value of a variable."""
        if self.variable:
            values = {**case.values, self.name: text}
            if not text:
                del values[self.name]
            return case.model_copy(update={"values": values})
        if self.name == ASKS:
            return case
        return case.model_copy(update={"expected" if self.name == EXPECTED else "name": text})


class ColumnFinder:
    """Finds the columns of cases: their variables, and whether any has its own messages.

    Only changed cases are read, so that typing stays quick with many cases.
    """

    def __init__(self) -> None:
        self._cases: tuple[Case, ...] = ()
        self._names: dict[str, None] = {}
        self._asks = False

    def columns(
        self, cases: tuple[Case, ...], mentioned: Iterable[str] = (), added: Iterable[str] = ()
    ) -> tuple[Column, ...]:
        """Return the columns: variables that are mentioned, have values or were added; then the other fields."""
        if len(cases) != len(self._cases):
            self._names, self._asks, others = {}, False, list(cases)
        else:
            others = [case for old, case in zip(self._cases, cases, strict=True) if old is not case]
        self._cases = cases
        self._names |= dict.fromkeys(name for case in others for name in case.values)
        self._asks = self._asks or any(case.turns for case in others)
        names = dict.fromkeys((*mentioned, *self._names, *added))
        names.pop(EXPECTED, None)
        asks = [Column(ASKS)] if self._asks else []
        return (*(Column(name, variable=True) for name in names), Column(EXPECTED), Column(NAME), *asks)


class CaseModel(QAbstractTableModel):
    """The model. ``typed`` carries the row, the column and the text; ``free`` adds a row for a new case."""

    typed = Signal(int, object, str)

    def __init__(self, parent: QObject, *, free: bool = True) -> None:
        super().__init__(parent)
        self._free = int(free)
        self.cases: tuple[Case, ...] = ()
        self.columns: tuple[Column, ...] = ()
        self._values: dict[str, str] = {}
        self._problems: dict[str, str] = {}

    def show_cases(
        self, cases: tuple[Case, ...], columns: tuple[Column, ...], values: dict[str, str], problems: dict[str, str]
    ) -> None:
        """Show cases; ``values`` are defaults of variables, ``problems`` are texts by the ids of cases."""
        if columns != self.columns:
            self.beginResetModel()
            self.cases, self.columns, self._values, self._problems = cases, columns, values, problems
            self.endResetModel()
            return
        before, now, before_problems = len(self.cases), len(cases), self._problems
        if now > before:
            self.beginInsertRows(_NO_PARENT, before, now - 1)
        elif now < before:
            self.beginRemoveRows(_NO_PARENT, now, before - 1)
        self.cases, self._values, self._problems = cases, values, problems
        if now > before:
            self.endInsertRows()
        elif now < before:
            self.endRemoveRows()
        last = self.rowCount() - 1
        if last >= 0:
            self.dataChanged.emit(self.index(0, 0), self.index(last, len(columns) - 1))
            if problems != before_problems:
                self.headerDataChanged.emit(Qt.Orientation.Vertical, 0, last)

    def case(self, row: int) -> Case | None:
        """Return the case of a row; None for the row of a new case."""
        return self.cases[row] if 0 <= row < len(self.cases) else None

    # Qt's interface

    def rowCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.cases) + self._free

    def columnCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        case = self.case(index.row())
        text = (self.columns[index.column()].text_of(case) if case is not None else "") or ""
        on_one_line = "\n" not in text and len(text) <= LONG and self.columns[index.column()].name != ASKS
        return flags | Qt.ItemFlag.ItemIsEditable if on_one_line else flags

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        column, case = self.columns[index.column()], self.case(index.row())
        text = column.text_of(case) if case is not None else None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                if case is None:
                    return "new case" if index.column() == 0 else ""
                return one_line_of((text or self._default(column))[:_SHOWN])
            case Qt.ItemDataRole.EditRole:
                return text or ""
            case Qt.ItemDataRole.ForegroundRole:
                return None if text else QColor(tokens().muted)
            case Qt.ItemDataRole.ToolTipRole:
                return tip(text or "")
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{column.title}: {one_line_of(text or '') or 'empty'}"
        return None

    def _default(self, column: Column) -> str:
        return self._values.get(column.name, "") if column.variable else ""

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Horizontal:
            title = self.columns[section].title if section < len(self.columns) else ""
            return one_line_of(title) if role == Qt.ItemDataRole.DisplayRole else None
        case = self.case(section)
        problem = self._problems.get(case.id, "") if case is not None else ""
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return str(section + 1) if case is not None else "+"
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(tokens().error if problem else tokens().muted)
            case Qt.ItemDataRole.ToolTipRole:
                return tip(problem)
        return None

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or value == self.data(index, role):
            return False
        self.typed.emit(index.row(), self.columns[index.column()], str(value))
        return True


def pasted(
    text: str, before: Sequence[Case], columns: Sequence[Column], top: int, first_column: int
) -> tuple[list[Case], int]:
    """Return the cases with pasted cells, and how many cells of a row had no column.

    Cells are put from row ``top`` and column ``first_column`` on; missing rows are added. A first row with the names of
    columns selects the columns.
    """
    rows = _rows_of(text)
    put = [column for column in columns[first_column:] if column.name != ASKS or column.variable]
    by_title = {column.title.casefold(): column for column in columns if column.name != ASKS or column.variable}
    if len(rows) > 1 and all(cell.strip().casefold() in by_title for cell in rows[0]):
        put = [by_title[cell.strip().casefold()] for cell in rows.pop(0)]
    cases = list(before)
    for row, cells in enumerate(rows, min(top, len(cases))):
        if row == len(cases):
            cases.append(Case())
        for column, cell in zip(put, cells, strict=False):
            cases[row] = column.put(cases[row], cell)
    return cases, max(max(map(len, rows), default=0) - len(put), 0)


def _rows_of(text: str) -> list[list[str]]:
    """Return the cells of tab-separated text. A quote that is never closed is an ordinary character."""
    plain = text.replace("\r\n", "\n").removesuffix("\n")
    try:
        return list(csv.reader(io.StringIO(plain, newline=""), delimiter="\t", strict=True))
    except csv.Error:
        return [line.split("\t") for line in plain.split("\n")]


def as_rows(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as tab-separated text."""
    out = io.StringIO(newline="")
    csv.writer(out, delimiter="\t", lineterminator="\n").writerows(rows)
    return out.getvalue()
