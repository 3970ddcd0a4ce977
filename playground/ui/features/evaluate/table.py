"""The table of an evaluation: cases × variants with filter, search, order, and what to do while there are no cases.

All rows have the same height, and only visible cells are computed, so that very many rows scroll like a few.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QPushButton, QTableView, QWidget

from playground.engine.evaluation.results import Results
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.features.evaluate.table_model import (
    FIGURES,
    NAME,
    AnswersModel,
    Filter,
    Index,
    Order,
    arrange,
    column_heads,
)
from playground.ui.features.evaluate.table_painting import AnswersHeader, CellDelegate
from playground.ui.widgets.form_parts import push_button
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.page_parts import empty_words, look_like_rows

if TYPE_CHECKING:
    from playground.engine.evaluation.provider import Answer

ROWS_MS = 150  # between two updates of the rows
CASE_LEAST, CASE_MOST, COLUMN_LEAST = 130, 240, 180  # pixels
FILTERS: Final = tuple(Filter)
NO_CASES: Final = "An evaluation sends each case to each variant and checks the answers.\nAdd a case to start."
NO_COLUMNS: Final = "No variants. Add one under Variants, or include the current settings."
NO_MATCH: Final = "No case and no answer contains these words."
NO_CASES_OF_FILTER: Final = {
    Filter.FAILING: "No answer failed a check, and no request failed.",
    Filter.DIFFERING: "No case passed in one variant and failed in another.",
    Filter.STALE: "No outdated answers.",
}


class Start(NamedTuple):
    """A button that is shown while there are no cases and ``is_available`` returns true."""

    label: str
    start: Callable[[], object]
    is_available: Callable[[], bool] = lambda: True


class _Empty(QWidget):
    """The words over an empty table, with buttons to start from."""

    def __init__(self, starts: Sequence[Start]) -> None:
        super().__init__()
        self.words = empty_words(NO_CASES)
        self._starts: list[tuple[QPushButton, Start]] = []
        for number, start in enumerate(starts):
            button = push_button(start.label, "primary" if number == 0 else "")
            button.clicked.connect(lambda _checked=False, start=start: start.start())
            self._starts.append((button, start))
        buttons = in_row(1, *(button for button, _ in self._starts), 1, spacing=8)
        in_column(1, self.words, buttons, 2, parent=self, margins=(8, 0, 8, 0), spacing=0)
        self.hide()

    def show_words(self, words: str, *, starts: bool) -> None:
        """Show why the table is empty, with the buttons; hide for no words."""
        self.words.setText(words)
        for button, start in self._starts:
            button.setVisible(starts and start.is_available())
        self.setVisible(bool(words))


class AnswersTable(QTableView):
    """The table with its filter.

    ``counts`` carries the number of cases of each ``Filter``, or None while a number is not known.
    """

    counts = Signal(list)

    def __init__(self, evaluation: EvaluationModel, starts: Sequence[Start] = ()) -> None:
        super().__init__()
        self._evaluation = evaluation
        self._filter = Filter.ALL
        self._text = ""
        self._order: Order | None = None
        self._stale: dict[tuple[str, str], list[Answer]] = {}
        self._arrangements = 0
        self._results: Results | None = None  # in the table
        self._filtered: frozenset[str] | None = None  # the cases of the filter in the rows
        self._is_fitting = False
        self._widths_set = False  # by the user
        self.cells = AnswersModel(self)
        self.header = AnswersHeader(self.cells, self)
        self._delegate = CellDelegate(self.cells, self)
        self._set_up()
        self.empty = _Empty(starts)
        in_column((self.empty, 1), parent=self.viewport(), margins=0)  # below the header
        self._rows_throttle = Throttle(self._arrange, self, ROWS_MS)
        evaluation.planned.connect(self._show_plan)
        evaluation.arrived.connect(self._show_answers)
        evaluation.figured.connect(self._show_findings)
        evaluation.moved.connect(self._sort_again)
        evaluation.chosen.connect(self._show_chosen)
        if evaluation.ready:
            self._show_plan()

    def _set_up(self) -> None:
        self.setHorizontalHeader(self.header)
        self.setModel(self.cells)
        look_like_rows(self)
        self.setAccessibleName("Cases and their answers")
        self.setAccessibleDescription(
            "Arrow keys choose an answer, Enter opens it below. The menu key sorts by a metric of the column."
        )
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setWordWrap(False)
        self.setItemDelegate(self._delegate)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.header.sectionResized.connect(self._section_resized)
        self.header.sectionClicked.connect(self.open_sorting_menu)

    # Filter and order

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
            self._rows_throttle.poke()

    def sort(self, order: Order | None) -> None:
        """Sort the rows; None for the order of the plan."""
        self._order = order
        if order is None:
            self.header.show_sorted(-1, down=False, words="")
        else:
            words = FIGURES[order.figure][0].lower() if order.figure in FIGURES else order.figure
            self.header.show_sorted(order.column, down=order.down, words=words)
        self._arrange()

    def _sort_again(self) -> None:
        if self._order is not None and not self._evaluation.under_way:
            self._rows_throttle.poke()  # rows keep their places while answers arrive

    def open_sorting_menu(self, section: int) -> None:
        """Open the menu of a column below its header."""
        menu = self.sorting_menu(section)
        menu.aboutToHide.connect(menu.deleteLater)
        left = max(self.header.sectionViewportPosition(section), 0)
        menu.popup(self.header.viewport().mapToGlobal(QPoint(left, self.header.height())))

    def sorting_menu(self, section: int) -> QMenu:
        """Return the menu of the metrics to sort by in a column."""
        menu = QMenu(self)
        offered = FIGURES if section else {NAME: ("Name", False)}
        for figure, (title, down) in offered.items():
            current = self._order if self._order is not None and self._order[:2] == (figure, section) else None
            order = Order(figure, section, not current.down if current is not None else down)
            action = menu.addAction(f"{title}, {'largest' if order.down else 'smallest'} first" if section else title)
            action.setCheckable(True)
            action.setChecked(current is not None)
            action.triggered.connect(partial(self.sort, order))
        menu.addSeparator()
        plain = menu.addAction("Order of the plan")
        plain.setCheckable(True)
        plain.setChecked(self._order is None)
        plain.triggered.connect(partial(self.sort, None))
        return menu

    # Plan and findings

    def _show_plan(self) -> None:
        evaluation = self._evaluation
        self._stale = {}
        for answer in evaluation.stale:
            self._stale.setdefault((answer.case, answer.column), []).append(answer)
        if self._order is not None and self._order.column > len(evaluation.resolved.columns):
            self.sort(None)
        self.cells.show_heads(column_heads(evaluation.resolved, evaluation.findings))
        self._arrange()
        self._emit_counts()

    def _show_findings(self) -> None:
        self.cells.show_heads(column_heads(self._evaluation.resolved, self._evaluation.findings))
        self._emit_counts()
        if self._cases_of_filter() != self._filtered:
            self._rows_throttle.poke()

    def _emit_counts(self) -> None:
        evaluation, findings = self._evaluation, self._evaluation.findings
        stale = len({case for case, _ in self._stale if case in evaluation.resolved.numbers})
        failing = len(findings.failing) if findings is not None else None
        differing = len(findings.differing) if findings is not None else None
        self.counts.emit([len(evaluation.resolved.cases), failing, differing, stale])

    def _show_answers(self, answers: Sequence[Answer]) -> None:
        """Paint the visible cells that have new answers."""
        results, height = self._evaluation.results, self.viewport().height()
        first, last = self.rowAt(0), self.rowAt(height - 1)
        for answer in answers:
            for case, column in results.asked_by(answer.digest):
                row = self.cells.row_of(case)
                if row is not None and first <= row and (row <= last or last < 0):
                    self.update(self.cells.index(row, self.cells.column_of(column)))

    # Rows

    def _cases_of_filter(self) -> frozenset[str] | None:
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
        """Show the rows of the filter, the words and the order; found in a worker thread if it is long work."""
        self._arrangements += 1
        filtered, results = self._cases_of_filter(), self._evaluation.results
        if self._text.strip() or self._order is not None:
            work = partial(arrange, results.copy(), filtered, self._text, self._order)
            spawn(self._arrange_in_thread(self._arrangements, results, filtered, work), name="arrange the cases")
        else:
            cases = results.resolved.cases
            rows = [index for index, case in enumerate(cases) if filtered is None or case.id in filtered]
            self._show_rows(results, rows, filtered)

    async def _arrange_in_thread(
        self, number: int, results: Results, filtered: frozenset[str] | None, work: Callable[[], list[int]]
    ) -> None:
        rows = await asyncio.to_thread(work)
        if number == self._arrangements and results is self._evaluation.results and not self._evaluation.closed:
            self._show_rows(results, rows, filtered)

    def _show_rows(self, results: Results, rows: list[int], filtered: frozenset[str] | None) -> None:
        self._filtered = filtered
        if results is not self._results:
            self._results = results
            problems = [problem for problem in reversed(self._evaluation.problems) if problem.place == "cases"]
            words = {problem.id: problem.words for problem in problems}
            self._keep_place(partial(self.cells.show, results, rows, self._stale, words))
            plan = results.resolved.plan
            self._fit_rows(checked=bool(plan.checks) or any(case.checks for case in plan.cases))
        elif rows != self.cells.rows:
            self._keep_place(partial(self.cells.show_rows, rows))
        self._show_empty(any_rows=bool(rows))
        self._show_chosen()

    def _show_empty(self, *, any_rows: bool) -> None:
        resolved = self._evaluation.resolved
        words = NO_CASES if not resolved.cases else NO_COLUMNS if not resolved.columns else ""
        if not words and not any_rows:
            words = NO_MATCH if self._text.strip() else NO_CASES_OF_FILTER.get(self._filter, "")
        self.empty.show_words(words, starts=not resolved.cases)

    def _keep_place(self, change: Callable[[], None]) -> None:
        """Change the rows of the model, and keep the case at the top there if it is still in the table."""
        bar, height = self.verticalScrollBar(), max(self.verticalHeader().defaultSectionSize(), 1)
        top, offset = divmod(bar.value(), height)
        case = self.cells.case(top) if top < self.cells.rowCount() else None
        columns, self._is_fitting = self.cells.columnCount(), True
        change()
        self._is_fitting = False
        if self.cells.columnCount() != columns:
            self._widths_set = False
            self._fit_columns()
        row = self.cells.row_of(case) if case is not None else None
        if row is not None and (row or offset):
            self.updateGeometries()
            bar.setValue(row * height + offset)

    # Sizes

    def _fit_rows(self, *, checked: bool) -> None:
        """Set the height of rows, with a line for failed checks if answers are ``checked``."""
        self._delegate.checked = checked
        rows, height = self.verticalHeader(), self._delegate.row_height
        if rows.defaultSectionSize() != height:
            rows.setMinimumSectionSize(height)
            rows.setDefaultSectionSize(height)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Share the width among the columns, until the user resizes one."""
        count, room = self.header.count() - 1, self.viewport().width()
        if count < 1 or self._widths_set:
            return
        self._is_fitting = True
        first = min(max(room // 6, CASE_LEAST), CASE_MOST)
        self.header.resizeSection(0, first)
        for number in range(count):
            start, end = ((room - first) * place // count for place in (number, number + 1))
            self.header.resizeSection(number + 1, max(end - start, COLUMN_LEAST))
        self._is_fitting = False

    def _section_resized(self, _section: int, _before: int, _now: int) -> None:
        self._widths_set = self._widths_set or not self._is_fitting

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    # Selection

    def _show_chosen(self) -> None:
        evaluation = self._evaluation
        row = self.cells.row_of(evaluation.case) if evaluation.case is not None else None
        column = self.cells.column_of(evaluation.column)
        index = self.cells.index(row, column) if row is not None else QModelIndex()
        if index != self.currentIndex():
            self.setCurrentIndex(index)

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if not current.isValid():
            return
        case, column = self._evaluation.case, self._evaluation.column
        if case is None or (self.cells.row_of(case), self.cells.column_of(column)) != (current.row(), current.column()):
            self._choose(current, 0)

    def _choose(self, index: Index, repeat: int) -> None:
        row, number = index.row(), index.column()
        repeat = repeat or (self.cells.content(row, number).repeat if number else 0) or 1
        self._evaluation.choose(self.cells.case(row), self.cells.column(number), repeat)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the repeat of a mark that is clicked."""
        super().mousePressEvent(event)
        position = event.position().toPoint()
        index = self.indexAt(position)
        if index.isValid() and index.column() and event.button() == Qt.MouseButton.LeftButton:
            marks = self.cells.content(index.row(), index.column()).marks
            if repeat := self._delegate.mark_at(self.visualRect(index), position, len(marks)):
                self._choose(index, repeat)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._choose(self.currentIndex(), self._evaluation.repeat)
        elif event.key() == Qt.Key.Key_Menu:
            self.open_sorting_menu(max(self.currentIndex().column(), 0))
        else:
            super().keyPressEvent(event)
