"""The table of an evaluation: cases × variants with filter, search and order.

All rows have the same height, and only visible cells are computed, so that very many rows scroll like a few.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView, QWidget

from playground.engine.evaluation.results import Results
from playground.engine.session.plan import Case
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.features.evaluate.table_cells import CellDelegate
from playground.ui.features.evaluate.table_header import AnswersHeader, ColumnHead, head_of
from playground.ui.features.evaluate.table_model import FIGURES, NAME, AnswersModel, Filter, Index, Order, arranged
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.page_parts import empty_words, look_like_rows

if TYPE_CHECKING:
    from playground.engine.evaluation.provider import Answer
    from playground.engine.evaluation.resolved import EvalVariant

OFTEN_MS, TYPED_MS = 100, 150  # between two updates of cells, or of rows
CASE_LEAST, CASE_MOST, COLUMN_LEAST = 130, 240, 180  # pixels
FILTERS: Final = tuple(Filter)
NO_CASES: Final = "No cases yet. Add one under Cases, make one of a message, or import a file."
NO_COLUMNS: Final = "No variants. Add one under Variants, or include the current settings."
NO_MATCH: Final = "No case and no answer contains these words."
NO_CASES_OF_FILTER: Final = {
    Filter.FAILING: "No answer failed a check, and no request failed.",
    Filter.DIFFERING: "No case passed in one variant and failed in another.",
    Filter.STALE: "No outdated answers.",
}


class AnswersTable(QWidget):
    """The table with its filter.

    ``opened`` is emitted on Enter or a double click. ``counts`` carries the number of cases of each ``Filter``, or None
    while a number is not known.
    """

    opened = Signal()
    counts = Signal(list)

    def __init__(self, evaluation: EvaluationModel) -> None:
        super().__init__()
        self._evaluation = evaluation
        self._filter = Filter.ALL
        self._text = ""
        self._order: Order | None = None
        self._stale: dict[tuple[str, str], list[Answer]] = {}
        self._arranging = 0
        self._results: Results | None = None  # in the table
        self._seen: frozenset[str] | None = None  # the cases of the filter in the rows
        self.model = AnswersModel(self)
        self.view = _View(self.model)
        self.empty = empty_words(NO_CASES)
        self.empty.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.empty.hide()
        in_column((self.empty, 1), of=self.view.viewport(), margins=0)  # below the header
        in_column(self.view, of=self, margins=0)
        self._cells = Throttle(self.view.show_touched, self, OFTEN_MS)
        self._rows = Throttle(self._arrange, self, TYPED_MS)
        self.view.picked.connect(self._picked)
        self.view.opened.connect(self.opened)
        self.view.header.menu_asked.connect(self._show_menu)
        evaluation.planned.connect(self._planned)
        evaluation.arrived.connect(self._arrived)
        evaluation.figured.connect(self._figured)
        evaluation.moved.connect(self._moved)
        evaluation.chosen.connect(self._show_chosen)
        self.setFocusProxy(self.view)
        if evaluation.ready:
            self._planned()

    # Filter and order

    @property
    def filter(self) -> Filter:
        """The current filter."""
        return self._filter

    @property
    def order(self) -> Order | None:
        """The order of the rows; None for that of the plan."""
        return self._order

    def set_filter(self, kind: Filter) -> None:
        """Show only the cases of a filter."""
        if kind is not self._filter:
            self._filter = kind
            self._arrange()

    def find_text(self, text: str) -> None:
        """Show only cases that contain these words, also in previews of answers; "" for all."""
        if text != self._text:
            self._text = text
            self._rows.poke()

    def sort(self, order: Order | None) -> None:
        """Sort the rows; None for the order of the plan."""
        self._order = order
        self._show_order()
        self._arrange()

    def _planned(self) -> None:
        evaluation = self._evaluation
        self._stale = {}
        for answer in evaluation.stale:
            self._stale.setdefault((answer.case, answer.column), []).append(answer)
        columns = len(evaluation.resolved.columns)
        if self._order is not None and self._order.column > columns:
            self._order = None
            self._show_order()
        self._show_heads()
        self._arrange()
        self._tell_counts()

    def _figured(self) -> None:
        self._show_heads()
        self._tell_counts()
        if self._within() != self._seen:
            self._rows.poke()

    def _moved(self) -> None:
        if self._order is not None and not self._evaluation.under_way:
            self._rows.poke()  # rows keep their places while answers arrive

    def _within(self) -> frozenset[str] | None:
        """Return the ids of the cases of the filter; None for all."""
        findings = self._evaluation.findings
        match self._filter:
            case Filter.STALE:
                return frozenset(case for case, _ in self._stale)
            case Filter.FAILING if findings is not None:
                return findings.failing
            case Filter.DIFFERING if findings is not None:
                return findings.differing
        return None

    def _arrange(self) -> None:
        self._arranging += 1
        within, results = self._within(), self._evaluation.results
        if not self._text.strip() and self._order is None:
            cases = results.resolved.cases
            rows = [index for index, case in enumerate(cases) if within is None or case.id in within]
            self._show_rows(results, rows, within)
            return
        copied = Results(results.resolved, results.answers)
        work = partial(arranged, copied, within, self._text, self._order)
        spawn(self._arrange_aside(self._arranging, results, within, work), name="arrange the cases")

    async def _arrange_aside(
        self, number: int, results: Results, within: frozenset[str] | None, work: partial[list[int]]
    ) -> None:
        rows = await asyncio.to_thread(work)
        if number == self._arranging and results is self._evaluation.results and not self._evaluation.closed:
            self._show_rows(results, rows, within)

    def _show_rows(self, results: Results, rows: list[int], within: frozenset[str] | None) -> None:
        self._seen = within
        if results is not self._results:
            self._results = results
            problems = {
                problem.id: problem.words for problem in reversed(self._evaluation.problems) if problem.place == "cases"
            }
            self.view.keep_place(partial(self.model.show, results, rows, self._stale, problems))
            resolved = results.resolved
            self.view.fit(checked=bool(resolved.plan.checks) or any(case.checks for case in resolved.cases))
        elif rows != self.model.rows:
            self.view.keep_place(partial(self.model.show_rows, rows))
        self._show_empty(bool(rows))
        self._show_chosen()

    def _show_empty(self, any_rows: bool) -> None:
        resolved = self._evaluation.resolved
        words = NO_CASES if not resolved.cases else NO_COLUMNS if not resolved.columns else ""
        if not words and not any_rows:
            words = NO_MATCH if self._text.strip() else NO_CASES_OF_FILTER.get(self._filter, "")
        self.empty.setText(words)
        self.empty.setVisible(bool(words))

    def _tell_counts(self) -> None:
        evaluation, findings = self._evaluation, self._evaluation.findings
        ids = {case.id for case in evaluation.resolved.cases} if self._stale else set()
        stale = len({case for case, _ in self._stale} & ids)
        failing = len(findings.failing) if findings is not None else None
        differing = len(findings.differing) if findings is not None else None
        self.counts.emit([len(evaluation.resolved.cases), failing, differing, stale])

    # Header

    def _show_heads(self) -> None:
        evaluation = self._evaluation
        resolved, findings = evaluation.resolved, evaluation.findings
        names = list(resolved.cases[0].values) if resolved.cases else []
        expects = any(case.expected for case in resolved.cases[:100])
        heads = [ColumnHead("Case", " · ".join([", ".join(names), *(["expected"] if expects else [])]).strip(" ·"))]
        results = {result.column.id: result for result in findings.columns} if findings is not None else {}
        for column in resolved.columns:
            against = (
                [comparison for comparison in findings.comparisons if comparison.column.id == column.id]
                if findings
                else []
            )
            words = [column.settings.model or "no model", *resolved.words(column, self._gateway)]
            heads.append(head_of(column.title, " · ".join(words), results.get(column.id), against))
        self.view.header.show_heads(heads)

    def _gateway(self, profile_id: str) -> str:
        profile_of = self._evaluation.resolved.profile_of
        try:
            return profile_of(profile_id).name if profile_of is not None else profile_id
        except LookupError:
            return "another gateway"

    def _show_order(self) -> None:
        order = self._order
        if order is None:
            self.view.header.show_sorted(-1, down=False, words="")
        else:
            words = FIGURES[order.figure][0].lower() if order.figure in FIGURES else order.figure
            self.view.header.show_sorted(order.column, down=order.down, words=words)

    def _show_menu(self, section: int, where: QPoint) -> None:
        menu = self.sorting_menu(section)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(where)

    def sorting_menu(self, section: int) -> QMenu:
        """Return the menu of the metrics to sort by in a column."""
        menu = QMenu(self)
        offered = FIGURES if section else {NAME: ("Name", False)}
        for figure, (title, down) in offered.items():
            is_on = self._order is not None and self._order[:2] == (figure, section)
            order = Order(figure, section, not self._order.down if is_on and self._order is not None else down)
            action = menu.addAction(f"{title}, {'largest' if order.down else 'smallest'} first" if section else title)
            action.setCheckable(True)
            action.setChecked(is_on)
            action.triggered.connect(partial(self.sort, order))
        menu.addSeparator()
        plain = menu.addAction("Order of the plan")
        plain.setCheckable(True)
        plain.setChecked(self._order is None)
        plain.triggered.connect(partial(self.sort, None))
        return menu

    # Answers

    def _arrived(self, answers: Sequence[Answer]) -> None:
        results = self._results
        if results is None or results is not self._evaluation.results:
            return
        touched = [place for answer in answers for place in results.asked_by(answer.digest)]
        if self.view.touch(touched):
            self._cells.poke()

    # Selection

    def _picked(self, case: Case, column: EvalVariant | None, repeat: int) -> None:
        self._evaluation.choose(case, column, repeat)

    def _show_chosen(self) -> None:
        evaluation = self._evaluation
        row = self.model.row_of(evaluation.case) if evaluation.case is not None else None
        self.view.show_current(row, self.model.column_of(evaluation.column))


class _View(QTableView):
    """The table view. ``picked`` carries the selected case, variant (or None) and repeat."""

    picked = Signal(object, object, int)
    opened = Signal()

    def __init__(self, model: AnswersModel) -> None:
        super().__init__()
        self._model = model
        self._is_user = True
        self._fitting = False
        self._widths_set = False  # by the user
        self._touched: set[tuple[int, int]] = set()  # visible cells with new content
        self.header = AnswersHeader(self)
        self.setHorizontalHeader(self.header)
        self.setModel(model)
        look_like_rows(self)
        self.setAccessibleName("Cases and their answers")
        self.setAccessibleDescription(
            "Arrow keys choose an answer, Enter opens it below. The menu key sorts by a figure of the column."
        )
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setWordWrap(False)
        self.cells = CellDelegate(model, self)
        self.setItemDelegate(self.cells)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.header.sectionResized.connect(self._resized)
        self.doubleClicked.connect(self.opened)

    # Sizes

    def fit(self, *, checked: bool) -> None:
        """Set the height of rows, with a line for failed checks if answers are ``checked``."""
        self.cells.checked = checked
        rows = self.verticalHeader()
        if rows.defaultSectionSize() != self.cells.row_height:
            rows.setMinimumSectionSize(self.cells.row_height)
            rows.setDefaultSectionSize(self.cells.row_height)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Share the width among the columns, until the user resizes one."""
        count, room = self.header.count() - 1, self.viewport().width()
        if count < 1 or self._widths_set:
            return
        self._fitting = True
        first = min(max(room // 6, CASE_LEAST), CASE_MOST)
        self.header.resizeSection(0, first)
        for number in range(count):
            start = (room - first) * number // count
            self.header.resizeSection(number + 1, max((room - first) * (number + 1) // count - start, COLUMN_LEAST))
        self._fitting = False

    def _resized(self, _section: int, _before: int, _now: int) -> None:
        self._widths_set = self._widths_set or not self._fitting

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def keep_place(self, change: Callable[[], None]) -> None:
        """Change the rows of the model, and keep the case at the top there if it is still in the table."""
        bar, height = self.verticalScrollBar(), max(self.verticalHeader().defaultSectionSize(), 1)
        top, off = divmod(bar.value(), height)
        case = self._model.case(top) if top < self._model.rowCount() else None
        columns = self._model.columnCount()
        self._is_user = False
        self._fitting = True
        try:
            change()
        finally:
            self._is_user, self._fitting = True, False
        self._touched.clear()
        if self._model.columnCount() != columns:
            self._widths_set = False
            self._fit_columns()
        row = self._model.row_of(case) if case is not None else None
        if row is not None and (row or off):
            self.updateGeometries()
            bar.setValue(row * height + off)

    # Updates

    def touch(self, places: Iterable[tuple[Case, EvalVariant]]) -> bool:
        """Note that cells have new content. Return whether one of them is visible."""
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        last = last if last >= 0 else self._model.rowCount() - 1
        for case, column in places:
            self._model.forget(case, column)
            row = self._model.row_of(case)
            if row is not None and first <= row <= last:
                self._touched.add((row, self._model.column_of(column)))
        return bool(self._touched)

    def show_touched(self) -> None:
        """Draw the visible cells that have new content."""
        for row, column in self._touched:
            self.update(self._model.index(row, column))
        self._touched.clear()

    # Selection

    def show_current(self, row: int | None, column: int) -> None:
        """Select a cell without emitting ``picked``; None for no cell."""
        index = self._model.index(row, column) if row is not None else QModelIndex()
        if index == self.currentIndex():
            return
        self._is_user = False
        try:
            self.setCurrentIndex(index)
        finally:
            self._is_user = True

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if self._is_user and current.isValid():
            self._pick(current, 0)

    def _pick(self, index: Index, repeat: int) -> None:
        row, number = index.row(), index.column()
        repeat = repeat or (self._model.content(row, number).repeat if number else 0) or 1
        self.picked.emit(self._model.case(row), self._model.column(number), repeat)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the repeat of a mark that is clicked."""
        super().mousePressEvent(event)
        position = event.position().toPoint()
        index = self.indexAt(position)
        if index.isValid() and index.column() and event.button() == Qt.MouseButton.LeftButton:
            marks = self._model.content(index.row(), index.column()).marks
            if repeat := self.cells.mark_at(self.visualRect(index), position, len(marks)):
                self._pick(index, repeat)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.opened.emit()
        elif event.key() == Qt.Key.Key_Menu:
            self.header.ask_menu(max(self.currentIndex().column(), 0))
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.viewport().update()
