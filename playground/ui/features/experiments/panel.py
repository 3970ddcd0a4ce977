"""Panel of experiments: button for a new one, search, filters, and the list by days or the search results.

The panel shows the experiments passed to it and emits the user's requests; it has no access to store or sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QLineEdit,
    QListView,
    QMenu,
    QPushButton,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from playground.engine.library.experiment_summary import ExperimentSummary
from playground.engine.library.store import Filters, SearchResult
from playground.engine.requests.protocol_info import TITLES
from playground.jsonkit.texts import cut, quantity
from playground.ui.features.experiments.drawing import Rows
from playground.ui.features.experiments.model import ROW, ExperimentsModel
from playground.ui.features.experiments.rows import SHOWN, Hit, Line, More, Row, rows_found, rows_of
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import paragraph, styled
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import discard, in_pages, in_row
from playground.ui.widgets.opening_label import OpeningLabel
from playground.ui.widgets.plain_text import show_prose, tip
from playground.ui.widgets.search_field import SearchField

SEARCH_MS = 50  # after the last key press
STEP_MS = 140  # a held key moves through the list without opening every experiment

RENAME, DELETE, DUPLICATE, PIN, ARCHIVE = "rename", "delete", "duplicate", "pin", "archive"

USUAL = Filters(archived=False)
_MAX_MODEL = 24  # characters of a model name on a chip
#: Filters that are on or off: attribute, active value, label.
_SWITCHES: tuple[tuple[str, bool, str], ...] = (
    ("has_error", True, "Has an error"),
    ("has_tools", True, "Has tools"),
    ("archived", True, "Archived"),
)


class FilterChips(QWidget):
    """Chips of the active filters. The owner places ``button``, which opens the menu of filters."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.filters = USUAL
        self._models: tuple[str, ...] = ()
        self.button = IconButton("filter", "Filter the experiments")
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.menu = QMenu(self.button)
        self.menu.aboutToShow.connect(self._fill)
        self.button.setMenu(self.menu)
        self.chips: list[QPushButton] = []
        self._flow = FlowLayout(self, gap=4)
        self._show()

    def set_models(self, models: Iterable[str]) -> None:
        """Set the models to choose from."""
        self._models = tuple(sorted({model for model in models if model}))

    def set_filters(self, filters: Filters) -> None:
        """Apply filters."""
        if filters != self.filters:
            self.filters = filters
            self._show()
            self.changed.emit()

    def clear(self) -> None:
        """Reset the filters; archived experiments are hidden."""
        self.set_filters(USUAL)

    def _fill(self) -> None:
        menu = self.menu
        menu.clear()
        models = menu.addMenu("Model")
        models.setEnabled(bool(self._models))
        for model in self._models:
            self._add(models, show_prose(model).replace("&", "&&"), "model", model, "")
        for name, title in TITLES.items():
            self._add(menu, title, "protocol", name, "")
        menu.addSeparator()
        for attribute, value, words in _SWITCHES:
            self._add(menu, words, attribute, value, getattr(USUAL, attribute))
        menu.addSeparator()
        menu.addAction("No filter").triggered.connect(self.clear)

    def _add(self, menu: QMenu, words: str, attribute: str, value: Any, off: Any) -> QAction:
        action = menu.addAction(words)
        action.setCheckable(True)
        on = getattr(self.filters, attribute) == value
        action.setChecked(on)
        action.triggered.connect(partial(self._set, attribute, off if on else value))
        return action

    def _set(self, attribute: str, value: Any, _checked: bool = False) -> None:
        self.set_filters(replace(self.filters, **{attribute: value}))

    def _show(self) -> None:
        discard(self._flow, *self.chips)
        self.chips = []
        model, protocol = self.filters.model, self.filters.protocol
        if model:
            words = show_prose(cut(model, _MAX_MODEL))
            self._chip(words, f"the model {show_prose(model)}", "model", "")
        if protocol:
            self._chip(TITLES.get(protocol, protocol), TITLES.get(protocol, protocol), "protocol", "")
        for attribute, value, words in _SWITCHES:
            if getattr(self.filters, attribute) == value:
                self._chip(words, words, attribute, getattr(USUAL, attribute))
        self.setVisible(bool(self.chips))

    def _chip(self, words: str, description: str, attribute: str, off: Any) -> None:
        chip = styled(QPushButton(f"{words} ×".replace("&", "&&"), self), "pill")
        chip.setAccessibleName(f"Remove the filter: {description}")
        chip.setToolTip(tip(f"Remove the filter: {description}"))
        chip.clicked.connect(partial(self._set, attribute, off))
        chip.show()
        self.chips.append(chip)
        self._flow.addWidget(chip)


class ExperimentsPanel(QWidget):
    """List of experiments with search and filters.

    ``action_requested`` carries an action such as ``RENAME`` and the id of an experiment, ``opened`` the ids of an
    experiment and of a turn, which may be empty. ``renamed`` carries an id and the new title, ``typing`` the unfinished
    title after each key; ``typed`` ends the edit. ``searched`` is emitted when words or filters change; with words, the
    owner then calls ``show_results``.
    """

    new_asked = Signal()
    action_requested = Signal(str, str)
    opened = Signal(str, str)
    renamed = Signal(str, str)
    typing = Signal(str, str)
    typed = Signal()
    became_visible = Signal()
    searched = Signal()
    leave_requested = Signal()  # Esc: back to the conversation
    trash_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("experiments")
        self._experiments: Sequence[ExperimentSummary] = ()
        self._results: Sequence[SearchResult] | None = None
        self._current = ""
        self._max_rows = SHOWN
        self._opening = False
        self.setMinimumWidth(196)
        self.setProperty("kind", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.model = ExperimentsModel(self)
        self.model.renamed.connect(self.renamed)
        self._build()
        self._search_soon = self._timer(SEARCH_MS, self.searched)
        self._open_soon = self._timer(STEP_MS, None)
        self._open_soon.timeout.connect(self._open_current)
        self.search.textChanged.connect(self._typed)
        self.chips.changed.connect(self._filtered)
        self.refresh()

    def _timer(self, after: int, signal: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(after)
        if signal is not None:
            timer.timeout.connect(signal)
        return timer

    def _build(self) -> None:
        self._new = QPushButton("New experiment")
        self._new.setIcon(icon("plus"))
        self._new.setStyleSheet("text-align: left;")
        self._new.clicked.connect(self.new_asked)
        self.search = SearchField("Search experiments…")
        self.search.results_asked.connect(self._enter_list)
        self.search.installEventFilter(self)
        self.chips = FilterChips()
        self.list = ExperimentsView(self.model)
        self.list.rows.typed.connect(self.typing)
        self.list.editor_closed.connect(self.typed)
        self.list.clicked.connect(self._clicked)
        self.list.activated.connect(self._activated)
        self.list.moved.connect(self._start_opening)
        self.list.deleted.connect(partial(self._request_current, DELETE))
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.installEventFilter(self)
        self.empty = paragraph("", "muted")
        self.opening = OpeningLabel()
        for label in (self.empty, self.opening):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
            label.setContentsMargins(8, 24, 8, 8)
        self._stack = in_pages(self.list, self.empty, self.opening)
        row = in_row((self.search, 1), self.chips.button, spacing=4)
        self.trash_button = styled(QPushButton("Trash"), "quiet")
        self.trash_button.setIcon(icon("delete", "muted"))
        self.trash_button.setStyleSheet("text-align: left;")
        self.trash_button.clicked.connect(self.trash_asked)
        main_page = QWidget()
        self._pages = QStackedLayout(self)
        self._pages.addWidget(main_page)
        layout = QVBoxLayout(main_page)
        layout.setContentsMargins(10, 5, 10, 6)
        layout.setSpacing(10)
        layout.addWidget(self._new)
        layout.addLayout(row)
        layout.addWidget(self.chips)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.trash_button)

    # Contents

    @property
    def words(self) -> str:
        """The search text; empty without a search."""
        return self.search.text().strip()

    @property
    def filters(self) -> Filters:
        """The active filters."""
        return self.chips.filters

    def show_experiments(self, experiments: Sequence[ExperimentSummary], current: str) -> None:
        """Show experiments, newest first, and select the current one."""
        self._experiments, self._current = experiments, current
        self.chips.set_models(experiment.model for experiment in experiments)
        self.refresh()

    def set_trash(self, count: int) -> None:
        """Show the number of experiments in the trash."""
        self.trash_button.setText(f"Trash ({count})" if count else "Trash")
        self.trash_button.setAccessibleName(f"Trash, {quantity(count, 'experiment')}")

    def show_page(self, page: QWidget | None) -> None:
        """Show a page instead of the list, or the list again for None."""
        if page is None:
            self._pages.setCurrentIndex(0)
            return
        if self._pages.indexOf(page) < 0:
            self._pages.addWidget(page)
        self._pages.setCurrentWidget(page)

    def set_opening(self, opening: bool) -> None:
        """Show that the experiments are still loading."""
        if opening is not self._opening:
            self._opening = opening
            self.opening.set_opening(opening)
            self.refresh()

    def show_results(self, results: Sequence[SearchResult]) -> None:
        """Show the results of the search."""
        if self.words:
            self._results = results
            self.refresh()

    def refresh(self) -> None:
        """Update the list from experiments, filters and results."""
        rows: list[Row]
        if self.words and self._results is not None:
            rows = rows_found(self._results, self._max_rows)
        else:
            rows = rows_of(filter(self.filters.take, self._experiments), most=self._max_rows, current=self._current)
        has_experiments = any(isinstance(row, Line) for row in rows)
        self.empty.setText("" if has_experiments else self._empty_text())
        self._stack.setCurrentWidget(self.opening if self._opening else self.list if has_experiments else self.empty)
        self.model.set_rows(rows)
        self._mark_current()

    def _empty_text(self) -> str:
        if self.words:
            return "No results (all words must match, each at the beginning of a word)."
        if self.chips.chips:
            return "No experiment passes the filters."
        return "No experiments yet."

    def _mark_current(self) -> None:
        """Select the current experiment, unless the user moves through the list or edits a title."""
        index = self.list.currentIndex()
        row = index.data(ROW) if index.isValid() else None
        row_id = row.experiment.id if isinstance(row, Line) else row.experiment_id if isinstance(row, Hit) else ""
        if row_id == self._current or self._open_soon.isActive() or self.list.editing:
            return
        place = self.model.place(self._current)
        if place.isValid():
            self.list.setCurrentIndex(place)
        else:
            self.list.clearSelection()
            self.list.setCurrentIndex(QModelIndex())

    # User actions

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.became_visible.emit()

    def look_for(self) -> None:
        """Go to the search field."""
        self.show_page(None)
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def begin_rename(self, experiment_id: str, typed: str | None = None) -> bool:
        """Edit a title in the list, starting with the unfinished title ``typed``. Return whether the list shows it."""
        place = self.model.place(experiment_id)
        if place.isValid():
            self.list.setCurrentIndex(place)
            self.list.scrollTo(place)
            self.list.edit(place)
            field = self.list.findChild(QLineEdit)
            if typed is not None and field is not None:
                field.setText(typed)
                field.setModified(True)
        return place.isValid()

    def _typed(self) -> None:
        if not self.words:
            self._results = None
            self._search_soon.stop()
            self.refresh()
        self._search_soon.start()

    def _filtered(self) -> None:
        self.refresh()
        self.searched.emit()

    def _clicked(self, index: QModelIndex) -> None:
        self._open_soon.stop()
        self._open(index)

    def _activated(self, index: QModelIndex) -> None:
        self._open_soon.stop()
        is_entry = not isinstance(index.data(ROW), More)
        self._open(index)
        if is_entry:
            self.leave_requested.emit()

    def _start_opening(self) -> None:
        self._open_soon.start()

    def _open_current(self) -> None:
        self._open(self.list.currentIndex())

    def _open(self, index: QModelIndex) -> None:
        row = index.data(ROW) if index.isValid() else None
        if isinstance(row, Line) and row.experiment.id != self._current:
            self.opened.emit(row.experiment.id, "")
        elif isinstance(row, Hit):
            self.opened.emit(row.experiment_id, row.turn_id)
        elif isinstance(row, More):
            self._show_more(index.row())

    def _show_more(self, row: int) -> None:
        self._max_rows += SHOWN
        self.refresh()
        self.list.setCurrentIndex(self.model.index(row))  # the first new row

    def _request_action(self, action: str, experiment_id: str, _checked: bool = False) -> None:
        self.action_requested.emit(action, experiment_id)

    def _request_current(self, action: str) -> None:
        row = self.list.currentIndex().data(ROW)
        if isinstance(row, Line):
            self.action_requested.emit(action, row.experiment.id)

    def _menu(self, position: QPoint) -> None:
        index = self.list.indexAt(position)
        row = index.data(ROW) if index.isValid() else None
        if not isinstance(row, Line):
            return
        experiment = row.experiment
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action, words in (
            (RENAME, "Rename"),
            (PIN, "Unpin" if experiment.pinned else "Pin"),
            (DUPLICATE, "Duplicate"),
            (ARCHIVE, "Put back from the archive" if experiment.archived else "Archive"),
            (DELETE, "Delete"),
        ):
            if action == DELETE:
                menu.addSeparator()
            menu.addAction(words).triggered.connect(partial(self._request_action, action, experiment.id))
        menu.popup(self.list.viewport().mapToGlobal(position))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move from the top of the list to the search field; Escape clears the search, then leaves the panel."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if watched is self.list and event.key() == Qt.Key.Key_Up and self.list.at_top:
                self.look_for()
                return True
            if event.key() == Qt.Key.Key_Escape:
                if self.search.text():
                    self.search.clear()
                else:
                    self.leave_requested.emit()
                return True
        return super().eventFilter(watched, event)

    def _enter_list(self) -> None:
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        self.list.enter()


class ExperimentsView(QListView):
    """List view of experiments. ``moved`` is emitted when a key changes the current row, ``deleted`` when Delete is
    pressed, ``editor_closed`` when the edit of a title ends.
    """

    moved = Signal()
    deleted = Signal()
    editor_closed = Signal()

    def __init__(self, model: ExperimentsModel) -> None:
        super().__init__()
        self.setModel(model)
        self.rows = Rows(self)
        self.setItemDelegate(self.rows)
        self.setAccessibleName("Experiments")
        self.setAccessibleDescription("Arrow keys open, Enter goes to the conversation, F2 renames, Delete deletes.")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Fixed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setMouseTracking(True)
        self.verticalScrollBar().setSingleStep(20)
        self._width = 0

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        super().closeEditor(editor, hint)
        self.editor_closed.emit()

    @property
    def editing(self) -> bool:
        """True while a title is edited; changing the current row would end the edit."""
        return self.state() == QAbstractItemView.State.EditingState

    @property
    def at_top(self) -> bool:
        """True if no selectable row is above the current one."""
        model, current = self.model(), self.currentIndex().row()
        return not any(model.flags(model.index(row, 0)) & Qt.ItemFlag.ItemIsEnabled for row in range(current))

    def enter(self) -> None:
        """Make the first selectable row current if there is no current row."""
        if not self.currentIndex().isValid():
            model = self.model()
            for row in range(model.rowCount()):
                if model.flags(model.index(row, 0)) & Qt.ItemFlag.ItemIsEnabled:
                    self.setCurrentIndex(model.index(row, 0))
                    self.moved.emit()
                    return

    def keyPressEvent(self, event: QKeyEvent) -> None:
        before = self.currentIndex()
        if self.editing:  # keys that the editor of a title ignores
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Delete:
            self.deleted.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and before.isValid():
            self.activated.emit(before)
        else:
            super().keyPressEvent(event)
            if self.currentIndex() != before:
                self.moved.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != self._width:  # The height of the rows depends on the width.
            self._width = event.size().width()
            self.scheduleDelayedItemsLayout()
