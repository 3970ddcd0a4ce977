"""Page of the trash, shown instead of the list: search, restore, and delete for good.

The page shows the experiments passed to it and emits the user's requests; its owner asks for confirmation.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QMenu,
    QPushButton,
    QWidget,
)

from playground.engine.library.experiment_summary import Deleted
from playground.engine.library.store import SearchResult
from playground.ui.features.experiments.model import ROW, ExperimentsModel
from playground.ui.features.experiments.panel import SEARCH_MS, ExperimentsView
from playground.ui.features.experiments.rows import SHOWN, Heading, Hit, Line, More, Row, day_name, rows_found
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import paragraph
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.plain_text import show_prose
from playground.ui.widgets.search_field import SearchField

DAY = 86400


class TrashPage(QWidget):
    """List of deleted experiments.

    ``restored`` and ``erased`` carry the ids of experiments; ``emptied`` requests to delete all of them. ``searched``
    is emitted when the search text changes; the owner then calls ``show_results``.
    """

    restored = Signal(object)
    erased = Signal(object)
    emptied = Signal()
    searched = Signal()
    back_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._deleted: Sequence[Deleted] = ()
        self._results: Sequence[SearchResult] | None = None
        self._days: float | None = None
        self._max_rows = SHOWN
        self.model = ExperimentsModel(self)
        self.list = ExperimentsView(self.model)
        self.list.setAccessibleName("Deleted experiments")
        self.list.setAccessibleDescription("Enter restores the selected experiments, Delete deletes them permanently.")
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.activated.connect(self._activated)
        self.list.deleted.connect(self._erase)
        self.list.clicked.connect(self._show_more)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.installEventFilter(self)
        self.list.selectionModel().selectionChanged.connect(self._enable_buttons)
        self.search = SearchField("Search the trash…")
        self.search.results_asked.connect(self.enter)
        self.search.installEventFilter(self)
        self._search_timer = QTimer(self)
        self._search_timer.setSingleShot(True)
        self._search_timer.setInterval(SEARCH_MS)
        self._search_timer.timeout.connect(self.searched)
        self.search.textChanged.connect(self._typed)
        self.empty = paragraph("", "muted")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.empty.setContentsMargins(8, 24, 8, 8)
        self._note = paragraph("", "small")
        self.restore_button = QPushButton("Restore")
        self.erase_button = QPushButton("Delete for good…")
        self.empty_button = QPushButton("Empty trash…")
        self.restore_button.clicked.connect(self._restore)
        self.erase_button.clicked.connect(self._erase)
        self.empty_button.clicked.connect(self.emptied)
        self._build()
        self._show()

    def _build(self) -> None:
        back = IconButton("chevron-left", "Back to the experiments")
        back.clicked.connect(self.back_requested)
        title = paragraph("Trash", "heading")
        head = in_row(back, (title, 1), spacing=4)
        self._stack = in_pages(self.list, self.empty)
        buttons = QWidget()
        flow = FlowLayout(buttons)
        for button in (self.restore_button, self.erase_button, self.empty_button):
            flow.addWidget(button)
        in_column(
            head, self.search, (self._stack, 1), self._note, buttons, parent=self, margins=(10, 5, 10, 8), spacing=10
        )

    # Contents

    @property
    def words(self) -> str:
        """The search text; empty without a search."""
        return self.search.text().strip()

    @property
    def chosen(self) -> list[str]:
        """The ids of the selected experiments, in the order of the list."""
        rows = [index.data(ROW) for index in sorted(self.list.selectedIndexes(), key=lambda index: index.row())]
        keys = [
            row.experiment.id if isinstance(row, Line) else row.experiment_id
            for row in rows
            if isinstance(row, Line | Hit)
        ]
        return list(dict.fromkeys(keys))

    def show_deleted(self, deleted: Sequence[Deleted], days: float | None) -> None:
        """Show the trash, last deleted first. Experiments are deleted after ``days``; None means never."""
        self._deleted, self._days = deleted, days
        self._show()

    def show_results(self, results: Sequence[SearchResult]) -> None:
        """Show the results of the search."""
        if self.words:
            self._results = results
            self._show()

    def _show(self) -> None:
        rows = rows_found(self._results, self._max_rows) if self.words and self._results is not None else self._by_day()
        has_experiments = any(isinstance(row, Line) for row in rows)
        duration = "until you empty it" if self._days is None else f"for {days_words(self._days)}"
        empty_text = f"The trash is empty. Deleted experiments stay here {duration}."
        self.empty.setText("Nothing found in the trash." if self._deleted else empty_text)
        self._stack.setCurrentWidget(self.list if has_experiments else self.empty)
        self._note.setText(f"Deleted experiments stay {duration}. Change this in the preferences.")
        self._note.setVisible(bool(self._deleted))
        self.model.set_rows(rows)
        self.empty_button.setEnabled(bool(self._deleted))
        self._enable_buttons()

    def _by_day(self) -> list[Row]:
        rows: list[Row] = []
        heading, now = "", time.time()
        for number, deleted in enumerate(self._deleted):
            if len(rows) >= self._max_rows:
                return [*rows, More(len(self._deleted) - number)]
            day = f"Deleted {_lower_day(day_name(deleted.time, now))}"
            if day != heading:
                heading = day
                rows.append(Heading(day))
            remaining = remaining_words(deleted.time, self._days, now)
            experiment = replace(
                deleted.experiment,
                summary=" · ".join(filter(None, (deleted.experiment.summary, remaining))),
                pinned=False,
            )
            rows.append(Line(experiment, show_prose(experiment.title)))
        return rows

    def _activated(self, index: QModelIndex) -> None:
        if not self._show_more(index):
            self._restore()

    def _show_more(self, index: QModelIndex) -> bool:
        """List more rows if the index is that of ``More``. Return whether it is."""
        row, is_more = index.row(), isinstance(index.data(ROW), More)
        if is_more:
            self._max_rows += SHOWN
            self._show()
            self.list.setCurrentIndex(self.model.index(row))
        return is_more

    def _enable_buttons(self) -> None:
        has_selection = bool(self.chosen)
        self.restore_button.setEnabled(has_selection)
        self.erase_button.setEnabled(has_selection)

    def _typed(self) -> None:
        if not self.words:
            self._results = None
            self._search_timer.stop()
            self._show()
        else:
            self._search_timer.start()

    def enter(self) -> None:
        """Focus the list and select its current experiment."""
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        self.list.enter()
        index = self.list.currentIndex()
        if index.isValid() and not self.chosen:  # The focus alone selects nothing.
            self.list.selectionModel().select(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    # Requests

    def _restore(self) -> None:
        if chosen := self.chosen:
            self.restored.emit(chosen)

    def _erase(self) -> None:
        if chosen := self.chosen:
            self.erased.emit(chosen)

    def _menu(self, position: QPoint) -> None:
        index: QModelIndex = self.list.indexAt(position)
        if not isinstance(index.data(ROW) if index.isValid() else None, Line | Hit):
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Restore").triggered.connect(self._restore)
        menu.addAction("Delete for good…").triggered.connect(self._erase)
        menu.popup(self.list.viewport().mapToGlobal(position))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let Escape clear the search, then leave the page."""
        press = event.type() == QEvent.Type.KeyPress
        if press and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if self.search.text():
                self.search.clear()
            else:
                self.back_requested.emit()
            return True
        return super().eventFilter(watched, event)


def remaining_words(deleted_at: float, days: float | None, now: float) -> str:
    """Return how long an experiment can still be restored; empty if it is never deleted."""
    if days is None:
        return ""
    remaining = ceil((deleted_at + days * DAY - now) / DAY)
    return f"{remaining} days left" if remaining > 1 else "goes within a day"


def days_words(days: float) -> str:
    """Return a number of days in words."""
    return "a day" if days == 1 else f"{days:.0f} days"


def _lower_day(day: str) -> str:
    return day.lower() if day in ("Today", "Yesterday") else day
