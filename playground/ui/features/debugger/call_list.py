"""The Calls tab: every call of the experiment in a table, to filter, to go to, to copy and to export.

It reads the session and tells it nothing. Hidden, it does no work; seen, it works a few milliseconds at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QStackedWidget,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from playground.engine.inspect.calls import CallEntry, CallIndex, calls_csv, calls_json
from playground.engine.session.changes import PathChanged, RunStateChanged, SettingsChanged, TurnChanged
from playground.engine.session.session import Session
from playground.ui.features.debugger.call_model import ARGUMENTS, CallModel, in_order, matches
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.page_parts import empty_words, look_like_rows, set_row_height
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.save_text import save_as
from playground.ui.widgets.session_page import SessionPage

ROW_HEIGHT = 22
WIDTHS = (66, 118, 150, 176, 124, 78)
EMPTY = "No calls yet. When the model calls a tool, every call stands here, on every branch."
NO_MATCH = "No call matches the filter."


class CallList(SessionPage):
    """``card_asked`` carries the ``CallEntry`` to go to."""

    FOLLOWED = (PathChanged, TurnChanged, RunStateChanged, SettingsChanged)
    card_asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._index: CallIndex | None = None
        self._sorted: tuple[int, bool] | None = None  # column, descending
        self.model = CallModel(self)
        self._build()
        self.filter.textChanged.connect(self._refilter)
        self.table.activated.connect(self._go_to)
        self.table.clicked.connect(self._clicked)
        self.table.customContextMenuRequested.connect(self._menu)
        self.table.copy_asked.connect(partial(self.copy, "csv"))
        self.table.horizontalHeader().sectionClicked.connect(self._sort)

    def _build(self) -> None:
        self.filter = QLineEdit()
        self.filter.setProperty("kind", "field")
        self.filter.setPlaceholderText("Filter: tool, argument, verdict, answer…")
        self.filter.setAccessibleName("Filter the calls")
        self.filter.setClearButtonEnabled(True)
        self.filter.setMaximumWidth(320)
        self.count = ElidedLabel("Calls", elide=Qt.TextElideMode.ElideRight)
        self.export_button = QToolButton()
        self.export_button.setText("Export")
        self.export_button.setProperty("kind", "quiet")
        self.export_button.setProperty("arrow", True)
        self.export_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.export_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.export_button.setAccessibleName("Export the calls that are shown")
        menu = QMenu(self.export_button)
        menu.addAction("Save as JSON…").triggered.connect(partial(self._export, "json"))
        menu.addAction("Save as CSV…").triggered.connect(partial(self._export, "csv"))
        menu.addSeparator()
        menu.addAction("Copy as JSON").triggered.connect(partial(self.copy, "json", everything=True))
        menu.addAction("Copy as CSV").triggered.connect(partial(self.copy, "csv", everything=True))
        self.export_button.setMenu(menu)
        self.table = CallTable(self.model)
        self.empty = empty_words(EMPTY)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.table)
        self._stack.setContentsMargins(9, 0, 0, 0)
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 4, 12, 4)
        bar.setSpacing(8)
        bar.addWidget(self.filter, 2)
        bar.addWidget(self.count, 3)
        bar.addWidget(self.export_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self._stack, 1)

    # Following the session

    def _begin(self, session: Session) -> None:
        self._index = CallIndex(session)
        self._show([])

    def _refilter(self) -> None:
        self.slices.poke()

    def _read(self) -> Iterator[None]:
        """The work: read what is new, filter, sort, show."""
        index = self._index
        if index is None:
            return
        if self._stale:
            self._stale = False
            yield from index.update_entries()
        shown = index.entries
        if words := self.filter.text().lower().split():
            shown = []
            for entry in index.entries:
                if matches(entry, words):
                    shown.append(entry)
                yield
        if self._sorted is not None:
            shown = in_order(shown, self._sorted[0], descending=self._sorted[1])
            yield
        self._show(shown)

    def _show(self, entries: list[CallEntry]) -> None:
        everything = self._index.entries if self._index is not None else []
        self.model.set_entries(list(entries))
        self.empty.setText(NO_MATCH if everything else EMPTY)
        self._stack.setCurrentWidget(self.table if entries else self.empty)
        self.export_button.setEnabled(bool(entries))
        self.count.set_text(_counted(entries, len(everything)))

    # Doing

    def _go_to(self, index: QModelIndex) -> None:
        self.card_asked.emit(self.model.entries[index.row()])

    def _clicked(self, index: QModelIndex) -> None:
        if not QGuiApplication.keyboardModifiers():  # with one, rows are being chosen
            self._go_to(index)

    def _sort(self, column: int) -> None:
        """By that column, the other way round, then in the order of the calls again."""
        header = self.table.horizontalHeader()
        ways: list[tuple[int, bool] | None] = [(column, False), (column, True), None]
        self._sorted = ways[(ways.index(self._sorted) + 1) % 3] if self._sorted in ways and self._sorted else ways[0]
        header.setSortIndicatorShown(self._sorted is not None)
        if self._sorted is not None:
            order = Qt.SortOrder.DescendingOrder if self._sorted[1] else Qt.SortOrder.AscendingOrder
            header.setSortIndicator(column, order)
        self.slices.poke()

    def _chosen(self) -> list[CallEntry]:
        rows = sorted({index.row() for index in self.table.selectionModel().selectedRows()})
        return [self.model.entries[row] for row in rows]

    def copy(self, kind: str, _checked: bool = False, *, everything: bool = False) -> None:
        """Put the chosen rows, or all that are shown, on the clipboard as ``csv`` or ``json``."""
        entries = list(self.model.entries) if everything else self._chosen()
        if entries:
            QGuiApplication.clipboard().setText(_text(entries, kind))

    def _copy_arguments(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(entry.call.arguments for entry in self._chosen()))

    def _export(self, kind: str, _checked: bool = False) -> None:
        entries = list(self.model.entries)
        title = f"Save {_plural(len(entries))} as {kind.upper()}"
        work = save_as(self, title, f"calls.{kind}", kind, partial(_text, entries, kind), self.count.set_text)
        spawn(work, name="export calls")

    def _menu(self, at: QPoint) -> None:
        index = self.table.indexAt(at)
        if not index.isValid():
            return
        menu = QMenu(self.table)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Go to the call").triggered.connect(partial(self._go_to, index))
        menu.addSeparator()
        menu.addAction("Copy the arguments").triggered.connect(self._copy_arguments)
        menu.addAction("Copy as CSV").triggered.connect(partial(self.copy, "csv"))
        menu.addAction("Copy as JSON").triggered.connect(partial(self.copy, "json"))
        menu.popup(self.table.viewport().mapToGlobal(at))


class CallTable(QTableView):
    """Rows of one height, made only where they are seen; Enter goes, Ctrl+C copies."""

    copy_asked = Signal()

    def __init__(self, model: CallModel) -> None:
        super().__init__()
        self.setModel(model)
        self.setAccessibleName("Calls of the experiment")
        self.setAccessibleDescription("Enter goes to the call. Ctrl+C copies the chosen rows as CSV.")
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        look_like_rows(self)
        set_row_height(self, ROW_HEIGHT)
        columns = self.horizontalHeader()
        columns.setSectionsClickable(True)
        columns.setMinimumSectionSize(40)
        columns.setToolTip(tip("Click to sort"))
        for column, width in enumerate(WIDTHS):
            columns.resizeSection(column, width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The arguments take the room there is; where that is little, the table is wider than the view."""
        super().resizeEvent(event)
        header = self.horizontalHeader()
        others = sum(header.sectionSize(column) for column in range(header.count()) if column != ARGUMENTS)
        header.resizeSection(ARGUMENTS, max(WIDTHS[ARGUMENTS], self.viewport().width() - others))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.activated.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)


def _text(entries: list[CallEntry], kind: str) -> str:
    return calls_json(entries) if kind == "json" else calls_csv(entries)


def _counted(entries: list[CallEntry], everything: int) -> str:
    """How many calls are shown, and what stands out among them."""
    if not everything:
        return ""
    words = [_plural(everything) if len(entries) == everything else f"{len(entries):,} of {_plural(everything)}"]
    wrong = sum(entry.verdict.code.wrong for entry in entries)
    waiting = sum(entry.result is None and entry.on_path for entry in entries)
    if wrong:
        words.append(f"{wrong:,} {'does' if wrong == 1 else 'do'} not fit")
    if waiting:
        words.append(f"{waiting:,} without an answer")
    return " · ".join(words)


def _plural(count: int) -> str:
    return f"{count:,} call{'s' * (count != 1)}"
