"""Frames of tool servers as a table's rows. Text is made only for the cells that are looked at."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtGui import QColor

from playground.engine.tool_servers.tape import Entry, ServerTape
from playground.ui.features.server_tape.words import FRONT, arrow, clock, kind, name, said, took, way
from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import one_line_of, show_hidden, tip
from playground.ui.widgets.theme import code_font, tokens
from playground.ui.widgets.titled_table import Index, TitledTable

AT, SERVER, NAME, TOOK, DATA = range(5)
TITLES: Final = ("at", "server", "message", "took", "says")
SAID: Final = (
    "When it went out or came in",
    "Which server it went to or came from",
    "What it is",
    "From a request to its answer",
    "Its parameters, its result, or its error",
)
KEPT: Final = 400  # rows whose text is kept
MOST_STRETCHES: Final = 40  # of rows that go at once; more, and all are told anew

_number = attrgetter("number")


class TapeModel(TitledTable):
    """``add`` puts rows at the end, ``drop_gone`` takes those away that the tape let go."""

    titles, tips, at_right = TITLES, SAID, frozenset({AT, TOOK})

    def __init__(self, tape: ServerTape, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tape = tape
        self.rows: list[Entry] = []
        self._went = tape.removed_count
        self._cells: OrderedDict[int, tuple[str, ...]] = OrderedDict()

    def start_again(self) -> None:
        """No rows."""
        self.beginResetModel()
        self.rows = []
        self._went = self._tape.removed_count
        self.endResetModel()

    def add(self, entries: Sequence[Entry]) -> None:
        """More rows, behind the others."""
        if entries:
            first = len(self.rows)
            self.beginInsertRows(QModelIndex(), first, first + len(entries) - 1)
            self.rows += entries
            self.endInsertRows()

    def drop_gone(self) -> int:
        """Take away the rows of frames that are no longer kept. Returns how many."""
        tape = self._tape
        if tape.removed_count == self._went:
            return 0
        self._went = tape.removed_count
        end = bisect_right(self.rows, tape.last_removed, key=_number)
        entries = tape.entries
        kept = {entry.number for entry in entries[: bisect_right(entries, tape.last_removed, key=_number)]}
        stretches: list[tuple[int, int]] = []
        for row in range(end):
            if self.rows[row].number in kept:
                continue
            if stretches and stretches[-1][1] == row:
                stretches[-1] = stretches[-1][0], row + 1
            else:
                stretches.append((row, row + 1))
        count = sum(stop - start for start, stop in stretches)
        if len(stretches) > MOST_STRETCHES:
            self.beginResetModel()
            self.rows[:end] = [entry for entry in self.rows[:end] if entry.number in kept]
            self.endResetModel()
            return count
        for start, stop in reversed(stretches):
            self.beginRemoveRows(QModelIndex(), start, stop - 1)
            del self.rows[start:stop]
            self.endRemoveRows()
        return count

    def row_of(self, number: int) -> int:
        """The row of a frame; -1 where it has none."""
        at = bisect_right(self.rows, number, key=_number) - 1
        return at if at >= 0 and self.rows[at].number == number else -1

    def cells(self, entry: Entry) -> tuple[str, ...]:
        """One row's texts."""
        found = self._cells.get(entry.number)
        if found is None:
            says = show_hidden(said(self._tape.front(entry, FRONT)))
            texts = clock(entry), entry.server, f"{arrow(entry)} {name(entry)}", took(entry)
            found = self._cells[entry.number] = (*map(one_line_of, texts), one_line_of(says))
            if len(self._cells) > KEPT:
                self._cells.popitem(last=False)
        return found

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry, column = self.rows[index.row()], index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.cells(entry)[column]
            case Qt.ItemDataRole.ToolTipRole:
                return tip(self.cells(entry)[column])
            case Qt.ItemDataRole.AccessibleTextRole:
                if column == NAME:
                    return one_line_of(f"{TITLES[NAME]}: {name(entry)}, {way(entry)}")
                return f"{TITLES[column]}: {self.cells(entry)[column]}"
            case Qt.ItemDataRole.DecorationRole if column == NAME and entry.frame.error:
                return icon("error", "error")
            case Qt.ItemDataRole.TextAlignmentRole:
                return self.side(column)
            case Qt.ItemDataRole.FontRole:
                return code_font() if column == DATA else None
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(_colour(entry, column))
        return None


def _colour(entry: Entry, column: int) -> str:
    t = tokens()
    if entry.frame.error and column in (NAME, DATA):
        return t.error
    if column == NAME:
        return {"request": t.accent, "answer": t.ok, "connection": t.tool}.get(kind(entry), t.muted)
    return t.text if column == DATA else t.muted
