"""The calls of an experiment as a table's rows. Text is made only for the cells that are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from playground.engine.inspect.calls import CallEntry
from playground.engine.session.verdicts import VerdictCode
from playground.ui.features.debugger.call_words import about, answered_words, seconds_words, turn_words, verdict_words
from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.theme import code_font, tokens

TURN, TOOL, ARGUMENTS, VERDICT, ANSWERED, DURATION = range(6)
TITLES = ("Turn", "Tool", "Arguments", "Verdict", "Answered", "Duration")
SAID = (
    "The turn's number on its branch",
    "",
    "",
    "Whether the arguments fit the schema of the tool",
    "",
    "From the complete call to its answer",
)
SEARCHED = 4_000  # characters of the arguments that a filter looks through

Index = QModelIndex | QPersistentModelIndex


class CallModel(QAbstractTableModel):
    """``set_entries`` shows others; rows that stay keep their selection."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: list[CallEntry] = []

    def set_entries(self, entries: list[CallEntry]) -> None:
        """Show these; only the stretch that is different is told."""
        before = self.entries
        start, most = 0, min(len(before), len(entries))
        while start < most and _same_row(before[start], entries[start]):
            start += 1
        tail, most = 0, most - start
        while tail < most and _same_row(before[-1 - tail], entries[-1 - tail]):
            tail += 1
        old, new = len(before) - start - tail, len(entries) - start - tail
        if old:
            self.beginRemoveRows(QModelIndex(), start, start + old - 1)
            self.entries = before[:start] + before[start + old :]
            self.endRemoveRows()
        rest = self.entries
        if new:
            self.beginInsertRows(QModelIndex(), start, start + new - 1)
            self.entries = entries
            self.endInsertRows()
        self.entries = entries
        stayed = [row for row in range(start) if rest[row] is not entries[row]]
        stayed += [row for row in range(len(entries) - tail, len(entries)) if rest[row - new] is not entries[row]]
        if stayed:
            self.dataChanged.emit(self.index(stayed[0], 0), self.index(stayed[-1], len(TITLES) - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self.entries)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return TITLES[section]
            if role == Qt.ItemDataRole.ToolTipRole:
                return tip(SAID[section])
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return _side(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry, column = self.entries[index.row()], index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return one_line_of(cell(entry, column))
            case Qt.ItemDataRole.ToolTipRole:
                return tip(entry.call.arguments[:2_000] if column == ARGUMENTS else about(entry))
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{TITLES[column]}: {one_line_of(cell(entry, column))}"
            case Qt.ItemDataRole.TextAlignmentRole:
                return _side(column)
            case Qt.ItemDataRole.FontRole:
                return _font(column)
            case Qt.ItemDataRole.DecorationRole if column == VERDICT:
                return icon(*_mark(entry.verdict.code))
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(_colour(entry, column))
        return None


def cell(entry: CallEntry, column: int) -> str:
    """The text of one cell."""
    match column:
        case 0:
            return turn_words(entry)
        case 1:
            return entry.call.name
        case 2:
            return entry.short
        case 3:
            return verdict_words(entry.verdict) + (" · edited" if entry.edited else "")
        case 4:
            return answered_words(entry)
    return seconds_words(entry.seconds)


def matches(entry: CallEntry, words: Iterable[str]) -> bool:
    """Whether every word, in lower case, stands in the row, the call's id or its arguments."""
    row = " ".join((*(cell(entry, column) for column in range(len(TITLES))), entry.call.id)).lower()
    return all(word in row or word in entry.call.arguments[:SEARCHED].lower() for word in words)


def in_order(entries: Sequence[CallEntry], column: int, *, descending: bool) -> list[CallEntry]:
    """The entries sorted by a column; equal ones stay as they are."""
    keys: dict[int, Callable[[CallEntry], Any]] = {
        TURN: lambda entry: entry.turn_number,
        DURATION: lambda entry: -1.0 if entry.seconds is None else entry.seconds,
    }
    key = keys.get(column) or (lambda entry: cell(entry, column).lower())
    return sorted(entries, key=key, reverse=descending)


def _same_row(first: CallEntry, second: CallEntry) -> bool:
    """Whether both are the same call with the same answer, whatever else is known by now."""
    return first is second or (
        first.turn_id == second.turn_id
        and first.call.id == second.call.id
        and first.result_turn_id == second.result_turn_id
    )


def _side(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column == DURATION else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def _font(column: int) -> QFont | None:
    return code_font() if column in (TOOL, ARGUMENTS) else None


def _colour(entry: CallEntry, column: int) -> str:
    t = tokens()
    if column == VERDICT:
        return str(getattr(t, _mark(entry.verdict.code)[1]))
    if column == ANSWERED and entry.result is not None and entry.result.is_error:
        return t.error
    if column == ANSWERED and entry.result is None and entry.on_path:
        return t.tool
    if column == TOOL:
        return t.tool
    return t.text if entry.on_path and column not in (TURN, DURATION) else t.muted


def _mark(code: VerdictCode) -> tuple[str, str]:
    """The icon of a verdict, and the name of its colour."""
    if code is VerdictCode.FITS:
        return "check", "ok"
    if code is VerdictCode.CHECKING:
        return "refresh", "muted"
    return ("error", "error") if code.wrong else ("warning", "tool")
