"""The table of all tool calls of an experiment: filter, open, copy, export."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from playground.engine.gateways.redaction import redact, redactor_of
from playground.engine.gateways.secrets import Secret
from playground.engine.inspect.calls import CallEntry, CallIndex, calls_csv, calls_json
from playground.engine.session.call_notes import CallVerdictCode
from playground.engine.session.changes import PathChanged, RunStateChanged, SettingsChanged, TurnChanged
from playground.engine.session.session import Session
from playground.jsonkit.texts import quantity
from playground.ui.features.debugger.texts import answered_words, describe_call, turn_words, verdict_words
from playground.ui.widgets.elided_label import CountLabel
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.page_parts import RowsTable, empty_words
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.save_text import save_as
from playground.ui.widgets.search_field import SearchField
from playground.ui.widgets.session_page import SessionPage
from playground.ui.widgets.theme import tokens
from playground.ui.widgets.titled_table import TitledTable

ROW_HEIGHT = 22
WIDTHS = (108, 118, 150, 160, 146, 146)
ABOUT_TABLE = "Enter opens the call. Ctrl+C copies the selected rows as CSV."
EMPTY = "No tool calls yet. Every call appears here, on every branch."
NO_MATCH = "No matching calls."

TURN, TOOL, ARGUMENTS, STATUS, ANSWERED, TIME = range(6)
TITLES = ("Message", "Tool", "Arguments", "Status", "Answered", "Time")
TIPS = (
    "Number of the message on its branch",
    "",
    "",
    "Result of checking the arguments against the tool's schema",
    "",
    "Time from the complete call to its result: your part and the server's",
)
MAX_SEARCHED = 4_000  # characters of the arguments of a call


class CallModel(TitledTable):
    """Rows of calls; those that `set_entries` does not change keep their selection."""

    titles, tips, in_code = TITLES, TIPS, frozenset({TOOL, ARGUMENTS})

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: list[CallEntry] = []

    def set_entries(self, entries: list[CallEntry]) -> None:
        """Show these entries; only the rows that differ are replaced."""
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
        updated = [row for row in range(start) if rest[row] is not entries[row]]
        updated += [row for row in range(len(entries) - tail, len(entries)) if rest[row - new] is not entries[row]]
        if updated:
            self.dataChanged.emit(self.index(updated[0], 0), self.index(updated[-1], len(TITLES) - 1))

    def count(self) -> int:
        return len(self.entries)

    def text(self, row: int, column: int) -> str:
        return one_line_of(cell(self.entries[row], column))

    def tooltip(self, row: int, column: int) -> str:
        entry = self.entries[row]
        return entry.call.arguments[:2_000] if column == ARGUMENTS else describe_call(entry)

    def sign(self, row: int, column: int) -> tuple[str, str] | None:
        return _mark(self.entries[row].verdict.code) if column == STATUS else None

    def colour(self, row: int, column: int) -> str:
        return _colour(self.entries[row], column)


def cell(entry: CallEntry, column: int) -> str:
    """Return the text of a cell."""
    match column:
        case 0:  # TURN
            return turn_words(entry)
        case 1:  # TOOL
            return entry.call.name
        case 2:  # ARGUMENTS
            return entry.short
        case 3:  # STATUS
            return verdict_words(entry.verdict) + (" · edited" if entry.edited else "")
        case 4:  # ANSWERED
            return answered_words(entry)
    return entry.time_words


def matches(entry: CallEntry, words: Iterable[str]) -> bool:
    """Return whether the row, the call's id or its arguments contain every word; words are in lower case."""
    row = " ".join((*(cell(entry, column) for column in range(len(TITLES))), entry.call.id)).lower()
    return all(word in row or word in entry.call.arguments[:MAX_SEARCHED].lower() for word in words)


def in_order(entries: Sequence[CallEntry], column: int, *, descending: bool) -> list[CallEntry]:
    """Return the entries sorted by a column; equal ones keep their order."""
    keys: dict[int, Callable[[CallEntry], Any]] = {
        TURN: lambda entry: entry.turn_number,
        TIME: lambda entry: -1.0 if entry.seconds is None else entry.seconds,
    }
    key = keys.get(column) or (lambda entry: cell(entry, column).lower())
    return sorted(entries, key=key, reverse=descending)


def _same_row(first: CallEntry, second: CallEntry) -> bool:
    """Return whether two entries are the same call with the same result."""
    return first is second or (
        first.turn_id == second.turn_id
        and first.call.id == second.call.id
        and first.result_turn_id == second.result_turn_id
    )


def _colour(entry: CallEntry, column: int) -> str:
    t = tokens()
    if column == STATUS:
        return str(getattr(t, _mark(entry.verdict.code)[1]))
    if column == ANSWERED and entry.result is not None and entry.result.is_error:
        return t.error
    if column == ANSWERED and entry.result is None and entry.on_path:
        return t.tool
    if column == TOOL:
        return t.tool
    return t.text if entry.on_path and column not in (TURN, TIME) else t.muted


def _mark(code: CallVerdictCode) -> tuple[str, str]:
    """Return the icon of a verdict, and the name of its colour."""
    if code is CallVerdictCode.FITS:
        return "check", "ok"
    if code is CallVerdictCode.CHECKING:
        return "refresh", "muted"
    return ("error", "error") if code.wrong else ("warning", "tool")


class CallList(SessionPage):
    """`card_asked` carries the `CallEntry` to open, `events_asked` the ids of the turn and the call of an entry.

    `secrets` returns what no copy or export may contain.
    """

    FOLLOWED = (PathChanged, TurnChanged, RunStateChanged, SettingsChanged)
    card_asked = Signal(object)
    events_asked = Signal(str, str)

    def __init__(self, secrets: Callable[[], Iterable[Secret]] = tuple, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._secrets = secrets
        self._index: CallIndex | None = None
        self._sorted: tuple[int, bool] | None = None  # column, descending
        self.model = CallModel(self)
        self._build()
        self.filter.textChanged.connect(self._refilter)
        self.filter.results_asked.connect(self.table.setFocus)
        self.table.activated.connect(self._go_to)
        self.table.clicked.connect(self._clicked)
        self.table.customContextMenuRequested.connect(self._menu)
        self.table.copy_asked.connect(partial(self.copy, "csv"))
        self.table.horizontalHeader().sectionClicked.connect(self._sort)

    def _build(self) -> None:
        self.filter = styled(SearchField("Filter by tool, argument, status…", "Filter calls"), "field")
        self.filter.setMaximumWidth(320)
        self.count = CountLabel("Calls")
        self.export_button = styled(QToolButton(), "quiet")
        self.export_button.setText("Export")
        self.export_button.setProperty("arrow", True)
        self.export_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.export_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.export_button.setAccessibleName("Export the calls shown")
        menu = QMenu(self.export_button)
        menu.addAction("Save as JSON…").triggered.connect(partial(self._export, "json"))
        menu.addAction("Save as CSV…").triggered.connect(partial(self._export, "csv"))
        menu.addSeparator()
        menu.addAction("Copy as JSON").triggered.connect(partial(self.copy, "json", everything=True))
        menu.addAction("Copy as CSV").triggered.connect(partial(self.copy, "csv", everything=True))
        self.export_button.setMenu(menu)
        self.table = CallTable(self.model)
        self.empty = empty_words(EMPTY)
        self._stack = in_pages(self.empty, self.table)
        self._stack.setContentsMargins(9, 0, 0, 0)
        bar = in_row((self.filter, 2), (self.count, 3), self.export_button, margins=(12, 4, 12, 4), spacing=8)
        in_column(bar, (self._stack, 1), parent=self, margins=0, spacing=0)

    def _begin(self, session: Session) -> None:
        self._index = CallIndex(session)
        self._show([])

    def _refilter(self) -> None:
        self.throttle.poke()

    def _read(self) -> None:
        """Read new calls, filter, sort and show them."""
        index = self._index
        if index is None:
            return
        if self._stale:
            self._stale = False
            index.update_entries()
        entries = index.entries
        if words := self.filter.text().lower().split():
            entries = [entry for entry in entries if matches(entry, words)]
        if self._sorted is not None:
            entries = in_order(entries, self._sorted[0], descending=self._sorted[1])
        self._show(entries)

    def _show(self, entries: list[CallEntry]) -> None:
        everything = self._index.entries if self._index is not None else []
        self.model.set_entries(list(entries))
        self.empty.setText(NO_MATCH if everything else EMPTY)
        self._stack.setCurrentWidget(self.table if entries else self.empty)
        self.export_button.setEnabled(bool(entries))
        self.count.set_count(_count_words(entries, everything))

    def _go_to(self, index: QModelIndex) -> None:
        self.card_asked.emit(self.model.entries[index.row()])

    def _ask_events(self, index: QModelIndex, _checked: bool = False) -> None:
        entry = self.model.entries[index.row()]
        self.events_asked.emit(entry.turn_id, entry.call.id)

    def _clicked(self, index: QModelIndex) -> None:
        if not QGuiApplication.keyboardModifiers():  # with Ctrl or Shift, rows are selected
            self._go_to(index)

    def _sort(self, column: int) -> None:
        """Sort by a column, then in reverse, then in the order of the calls again."""
        header = self.table.horizontalHeader()
        orders: list[tuple[int, bool] | None] = [(column, False), (column, True), None]
        place = orders.index(self._sorted) if self._sorted is not None and self._sorted in orders else -1
        self._sorted = orders[place + 1]
        header.setSortIndicatorShown(self._sorted is not None)
        if self._sorted is not None:
            order = Qt.SortOrder.DescendingOrder if self._sorted[1] else Qt.SortOrder.AscendingOrder
            header.setSortIndicator(column, order)
        self.throttle.poke()

    def _selected(self) -> list[CallEntry]:
        rows = sorted({index.row() for index in self.table.selectionModel().selectedRows()})
        return [self.model.entries[row] for row in rows]

    def copy(self, kind: str, _checked: bool = False, *, everything: bool = False) -> None:
        """Copy the selected rows, or all that are shown, as `csv` or `json`."""
        entries = list(self.model.entries) if everything else self._selected()
        if entries:
            self._put_on_clipboard(_text(entries, kind))

    def _copy_arguments(self) -> None:
        self._put_on_clipboard("\n".join(entry.call.arguments for entry in self._selected()))

    def _put_on_clipboard(self, text: str) -> None:
        QGuiApplication.clipboard().setText(redact(text, redactor_of(self._secrets())))

    def _export(self, kind: str, _checked: bool = False) -> None:
        entries = list(self.model.entries)
        title = f"Save {quantity(len(entries), 'call')} as {kind.upper()}"
        work = save_as(
            self, title, f"calls.{kind}", kind, partial(_text, entries, kind), self._secrets(), self.count.say
        )
        spawn(work, name="export calls")

    def _menu(self, place: QPoint) -> None:
        index = self.table.indexAt(place)
        if not index.isValid():
            return
        menu = QMenu(self.table)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Go to call").triggered.connect(partial(self._go_to, index))
        menu.addAction("Show its events").triggered.connect(partial(self._ask_events, index))
        menu.addSeparator()
        menu.addAction("Copy arguments").triggered.connect(self._copy_arguments)
        menu.addAction("Copy as CSV").triggered.connect(partial(self.copy, "csv"))
        menu.addAction("Copy as JSON").triggered.connect(partial(self.copy, "json"))
        menu.popup(self.table.viewport().mapToGlobal(place))


class CallTable(RowsTable):
    """A table of calls: Enter opens one, Ctrl+C copies the selected rows."""

    def __init__(self, model: CallModel) -> None:
        super().__init__(model, "Calls of the experiment", ABOUT_TABLE, ROW_HEIGHT)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.horizontalHeader().setSectionsClickable(True)
        self.horizontalHeader().setToolTip(tip("Click to sort"))
        self.set_widths(WIDTHS)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.give_rest(ARGUMENTS, WIDTHS[ARGUMENTS])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.activated.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)


def _text(entries: list[CallEntry], kind: str) -> str:
    return calls_json(entries) if kind == "json" else calls_csv(entries)


def _count_words(entries: list[CallEntry], everything: list[CallEntry]) -> str:
    """Return the number of calls, of results if a call has several, of invalid calls and of those without a result."""
    if not everything:
        return ""
    visible, total = _count_calls(entries), _count_calls(everything)
    words = [
        quantity(total, "call") if len(entries) == len(everything) else f"{visible:,} of {quantity(total, 'call')}"
    ]
    if len(entries) > visible:
        words.append(f"{sum(entry.result is not None for entry in entries):,} results")
    invalid = sum(entry.verdict.code.wrong for entry in entries)
    waiting = sum(entry.result is None and entry.on_path for entry in entries)
    if invalid:
        words.append(f"{invalid:,} invalid")
    if waiting:
        words.append(f"{waiting:,} need{'s' * (waiting == 1)} a result")
    return " · ".join(words)


def _count_calls(entries: list[CallEntry]) -> int:
    """Return the number of calls; a call has an entry for each of its results."""
    return len({(entry.turn_id, id(entry.call)) for entry in entries})
