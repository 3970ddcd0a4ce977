"""The trash in the place of the list: what was deleted, found, brought back, or let go for good.

It is given what there is, and says what a person wants; it asks no question and knows no store.
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
    """``restored`` and ``erased`` carry the ids of experiments, ``emptied`` asks for all of them to go. ``searched``:
    the words are others, and ``show_found`` is to be called where there are any.
    """

    restored = Signal(object)
    erased = Signal(object)
    emptied = Signal()
    searched = Signal()
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._deleted: Sequence[Deleted] = ()
        self._found: Sequence[SearchResult] | None = None
        self._days: float | None = None
        self._most = SHOWN  # rows
        self.model = ExperimentsModel(self)
        self.list = ExperimentsView(self.model)
        self.list.setAccessibleName("Deleted experiments")
        self.list.setAccessibleDescription("Enter brings back what is chosen, Delete lets it go for good.")
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.activated.connect(self._activated)
        self.list.deleted.connect(self._erase)
        self.list.clicked.connect(self._show_more)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.installEventFilter(self)
        self.list.selectionModel().selectionChanged.connect(self._follow)
        self.search = SearchField("Search the trash…")
        self.search.results_asked.connect(self.enter)
        self.search.installEventFilter(self)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(SEARCH_MS)
        self._soon.timeout.connect(self.searched)
        self.search.textChanged.connect(self._typed)
        self.empty = paragraph("", "muted")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.empty.setContentsMargins(8, 24, 8, 8)
        self._says = paragraph("", "small")
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
        back.clicked.connect(self.left)
        title = paragraph("Trash", "heading")
        head = in_row(back, (title, 1), spacing=4)
        self._stack = in_pages(self.list, self.empty)
        buttons = QWidget()
        flow = FlowLayout(buttons)
        for button in (self.restore_button, self.erase_button, self.empty_button):
            flow.addWidget(button)
        in_column(head, self.search, (self._stack, 1), self._says, buttons, of=self, margins=(10, 5, 10, 8), spacing=10)

    # What is shown

    @property
    def words(self) -> str:
        """What is searched for; empty where nothing is."""
        return self.search.text().strip()

    @property
    def chosen(self) -> list[str]:
        """The ids of the experiments that are chosen, in the order of the list."""
        rows = [index.data(ROW) for index in sorted(self.list.selectedIndexes(), key=lambda index: index.row())]
        keys = [
            row.experiment.id if isinstance(row, Line) else row.experiment_id
            for row in rows
            if isinstance(row, Line | Hit)
        ]
        return list(dict.fromkeys(keys))

    def show_deleted(self, deleted: Sequence[Deleted], days: float | None) -> None:
        """What is in the trash, deleted last first, and after how many days it goes by itself; None: it does not."""
        self._deleted, self._days = deleted, days
        self._show()

    def show_found(self, found: Sequence[SearchResult]) -> None:
        """What was found of the words searched for."""
        if self.words:
            self._found = found
            self._show()

    def _show(self) -> None:
        rows = rows_found(self._found, self._most) if self.words and self._found is not None else self._by_day()
        shown = any(isinstance(row, Line) for row in rows)
        stays = "until you empty it" if self._days is None else f"for {days_words(self._days)}"
        nothing = f"The trash is empty. Deleted experiments stay here {stays}."
        self.empty.setText("Nothing found in the trash." if self._deleted else nothing)
        self._stack.setCurrentWidget(self.list if shown else self.empty)
        self._says.setText(f"Deleted experiments stay {stays}. Change this in the preferences.")
        self._says.setVisible(bool(self._deleted))
        self.model.set_rows(rows)
        self.empty_button.setEnabled(bool(self._deleted))
        self._follow()

    def _by_day(self) -> list[Row]:
        rows: list[Row] = []
        heading, now = "", time.time()
        for number, one in enumerate(self._deleted):
            if len(rows) >= self._most:
                return [*rows, More(len(self._deleted) - number)]
            day = f"Deleted {_lowered(day_name(one.at, now))}"
            if day != heading:
                heading = day
                rows.append(Heading(day))
            left = left_words(one.at, self._days, now)
            experiment = replace(
                one.experiment, summary=" · ".join(filter(None, (one.experiment.summary, left))), pinned=False
            )
            rows.append(Line(experiment, show_prose(experiment.title)))
        return rows

    def _activated(self, index: QModelIndex) -> None:
        if not self._show_more(index):
            self._restore()

    def _show_more(self, index: QModelIndex) -> bool:
        """Whether it is the row that says that there are more."""
        at, more = index.row(), isinstance(index.data(ROW), More)
        if more:
            self._most += SHOWN
            self._show()
            self.list.setCurrentIndex(self.model.index(at))
        return more

    def _follow(self) -> None:
        some = bool(self.chosen)
        self.restore_button.setEnabled(some)
        self.erase_button.setEnabled(some)

    def _typed(self) -> None:
        if not self.words:
            self._found = None
            self._soon.stop()
            self._show()
        else:
            self._soon.start()

    def enter(self) -> None:
        """Go to the list, where some experiment is chosen then."""
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        self.list.enter()
        at = self.list.currentIndex()
        if at.isValid() and not self.chosen:  # the focus alone chooses nothing
            self.list.selectionModel().select(at, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    # What is wanted

    def _restore(self) -> None:
        if chosen := self.chosen:
            self.restored.emit(chosen)

    def _erase(self) -> None:
        if chosen := self.chosen:
            self.erased.emit(chosen)

    def _menu(self, at: QPoint) -> None:
        index: QModelIndex = self.list.indexAt(at)
        if not isinstance(index.data(ROW) if index.isValid() else None, Line | Hit):
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Restore").triggered.connect(self._restore)
        menu.addAction("Delete for good…").triggered.connect(self._erase)
        menu.popup(self.list.viewport().mapToGlobal(at))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave with Escape, once the search field is empty."""
        press = event.type() == QEvent.Type.KeyPress
        if press and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if self.search.text():
                self.search.clear()
            else:
                self.left.emit()
            return True
        return super().eventFilter(watched, event)


def left_words(at: float, days: float | None, now: float) -> str:
    """How long what was deleted at that moment can still be brought back; empty where it stays."""
    if days is None:
        return ""
    left = ceil((at + days * DAY - now) / DAY)
    return f"{left} days left" if left > 1 else "goes within a day"


def days_words(days: float) -> str:
    """A number of days."""
    return "a day" if days == 1 else f"{days:.0f} days"


def _lowered(day: str) -> str:
    return day.lower() if day in ("Today", "Yesterday") else day
