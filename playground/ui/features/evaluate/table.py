"""The table of an evaluation: cases × columns, filtered, found, sorted; what is chosen in it is chosen for all views.

Rows are as high as each other, and nothing is made for those that are not seen: very many scroll like a few.
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
from playground.ui.features.evaluate.look import Look
from playground.ui.features.evaluate.table_cells import CellDelegate
from playground.ui.features.evaluate.table_header import AnswersHeader, ColumnHead, head_of
from playground.ui.features.evaluate.table_model import FIGURES, NAME, AnswersModel, Filter, Index, Order, arranged
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.page_parts import empty_words, look_like_rows

if TYPE_CHECKING:
    from playground.engine.evaluation.provider import Answer
    from playground.engine.evaluation.resolved import EvalVariant

OFTEN_MS, TYPED_MS = 100, 150  # between two times that cells, or rows, are shown anew
CASE_LEAST, CASE_MOST, COLUMN_LEAST = 130, 240, 180  # pixels
FILTERS: Final = tuple(Filter)
NO_CASES: Final = "There is no case yet. Type one in Cases at the side, take one from the conversation, or import some."
NO_COLUMNS: Final = "There is no variant. Add one in Variants at the side, or let the experiment as set take part."
NONE_FOUND: Final = "No case and no answer has these words."
NONE_THERE: Final = {
    Filter.FAILING: "No answer failed a check, and none failed to come.",
    Filter.DIFFERING: "No case passed in one variant and failed in another.",
    Filter.STALE: "No answer is stale: all that are kept are to what would be asked now.",
}


class AnswersTable(QWidget):
    """``opened``: what is chosen is to be looked at closely (Enter, a double click).

    ``counts`` tells how many cases each ``Filter`` has, in their order; None where that is not known yet.
    """

    opened = Signal()
    counts = Signal(list)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._filter = Filter.ALL
        self._text = ""
        self._order: Order | None = None
        self._stale: dict[tuple[str, str], list[Answer]] = {}
        self._arranging = 0
        self._results: Results | None = None  # those that are shown
        self._seen: frozenset[str] | None = None  # the cases of the filter, when rows were arranged last
        self.model = AnswersModel(self)
        self.view = _View(self.model)
        self.empty = empty_words(NO_CASES)
        self.empty.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.empty.hide()
        in_column((self.empty, 1), of=self.view.viewport(), margins=0)  # below the heads, which go on telling
        in_column(self.view, of=self, margins=0)
        self._cells = Throttle(self.view.show_touched, self, OFTEN_MS)
        self._rows = Throttle(self._arrange, self, TYPED_MS)
        self.view.picked.connect(self._picked)
        self.view.opened.connect(self.opened)
        self.view.header.menu_asked.connect(self._show_menu)
        look.planned.connect(self._planned)
        look.arrived.connect(self._arrived)
        look.figured.connect(self._figured)
        look.moved.connect(self._moved)
        look.chosen.connect(self._show_chosen)
        self.setFocusProxy(self.view)
        if look.ready:
            self._planned()

    # What is shown

    @property
    def filter(self) -> Filter:
        """Which cases are shown."""
        return self._filter

    @property
    def order(self) -> Order | None:
        """What the rows are sorted by; None: they stand as in the plan."""
        return self._order

    def set_filter(self, kind: Filter) -> None:
        """Show these cases alone."""
        if kind is not self._filter:
            self._filter = kind
            self._arrange()

    def find_text(self, text: str) -> None:
        """Show those cases alone that have these words, or an answer that begins with them; none: all."""
        if text != self._text:
            self._text = text
            self._rows.poke()

    def sort(self, order: Order | None) -> None:
        """Sort by a figure; None: as they stand in the plan."""
        self._order = order
        self._show_order()
        self._arrange()

    def _planned(self) -> None:
        look = self._look
        self._stale = {}
        for answer in look.stale:
            self._stale.setdefault((answer.case, answer.column), []).append(answer)
        columns = len(look.resolved.columns)
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
        if self._order is not None and not self._look.under_way:
            self._rows.poke()  # rows keep their places while answers come

    def _within(self) -> frozenset[str] | None:
        """The cases of the filter; None for all."""
        findings = self._look.findings
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
        within, results = self._within(), self._look.results
        if not self._text.strip() and self._order is None:
            cases = results.resolved.cases
            rows = [at for at, case in enumerate(cases) if within is None or case.id in within]
            self._show_rows(results, rows, within)
            return
        copied = Results(results.resolved, results.answers)
        work = partial(arranged, copied, within, self._text, self._order)
        spawn(self._arrange_aside(self._arranging, results, within, work), name="arrange the cases")

    async def _arrange_aside(
        self, number: int, results: Results, within: frozenset[str] | None, work: partial[list[int]]
    ) -> None:
        rows = await asyncio.to_thread(work)
        if number == self._arranging and results is self._look.results and not self._look.left:
            self._show_rows(results, rows, within)

    def _show_rows(self, results: Results, rows: list[int], within: frozenset[str] | None) -> None:
        self._seen = within
        if results is not self._results:
            self._results = results
            problems = {one.id: one.words for one in reversed(self._look.problems) if one.place == "cases"}
            self.view.keep_place(partial(self.model.show, results, rows, self._stale, problems))
            resolved = results.resolved
            self.view.fit(checked=bool(resolved.plan.checks) or any(case.checks for case in resolved.cases))
        elif rows != self.model.rows:
            self.view.keep_place(partial(self.model.show_rows, rows))
        self._show_empty(bool(rows))
        self._show_chosen()

    def _show_empty(self, any_rows: bool) -> None:
        resolved = self._look.resolved
        words = NO_CASES if not resolved.cases else NO_COLUMNS if not resolved.columns else ""
        if not words and not any_rows:
            words = NONE_FOUND if self._text.strip() else NONE_THERE.get(self._filter, "")
        self.empty.setText(words)
        self.empty.setVisible(bool(words))

    def _tell_counts(self) -> None:
        look, findings = self._look, self._look.findings
        ids = {case.id for case in look.resolved.cases} if self._stale else set()
        stale = len({case for case, _ in self._stale} & ids)
        failing = len(findings.failing) if findings is not None else None
        differing = len(findings.differing) if findings is not None else None
        self.counts.emit([len(look.resolved.cases), failing, differing, stale])

    # Heads of columns

    def _show_heads(self) -> None:
        look = self._look
        resolved, findings = look.resolved, look.findings
        names = list(resolved.cases[0].values) if resolved.cases else []
        expects = any(case.expected for case in resolved.cases[:100])
        heads = [ColumnHead("Case", " · ".join([", ".join(names), *(["expected"] if expects else [])]).strip(" ·"))]
        known = {found.column.id: found for found in findings.columns} if findings is not None else {}
        for column in resolved.columns:
            against = [one for one in findings.comparisons if one.column.id == column.id] if findings else []
            words = [column.settings.model or "no model", *resolved.words(column, self._gateway)]
            heads.append(head_of(column.title, " · ".join(words), known.get(column.id), against))
        self.view.header.show_heads(heads)

    def _gateway(self, profile_id: str) -> str:
        profile_of = self._look.resolved.profile_of
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
        """What the rows can be sorted by in a column."""
        menu = QMenu(self)
        offered = FIGURES if section else {NAME: ("Name", False)}
        for figure, (title, down) in offered.items():
            is_on = self._order is not None and self._order[:2] == (figure, section)
            wanted = Order(figure, section, not self._order.down if is_on and self._order is not None else down)
            action = menu.addAction(f"{title}, {'largest' if wanted.down else 'smallest'} first" if section else title)
            action.setCheckable(True)
            action.setChecked(is_on)
            action.triggered.connect(partial(self.sort, wanted))
        menu.addSeparator()
        plain = menu.addAction("As in the plan")
        plain.setCheckable(True)
        plain.setChecked(self._order is None)
        plain.triggered.connect(partial(self.sort, None))
        return menu

    # Answers that come

    def _arrived(self, answers: Sequence[Answer]) -> None:
        results = self._results
        if results is None or results is not self._look.results:
            return
        touched = [place for answer in answers for place in results.asked_by(answer.digest)]
        if self.view.touch(touched):
            self._cells.poke()

    # What is chosen

    def _picked(self, case: Case, column: EvalVariant | None, repeat: int) -> None:
        self._look.choose(case, column, repeat)

    def _show_chosen(self) -> None:
        look = self._look
        row = self.model.row_of(look.case) if look.case is not None else None
        self.view.show_current(row, self.model.column_of(look.column))


class _View(QTableView):
    """``picked``: a person chose a case, a column of it or None, and a repeat."""

    picked = Signal(object, object, int)
    opened = Signal()

    def __init__(self, model: AnswersModel) -> None:
        super().__init__()
        self._model = model
        self._by_hand = True
        self._fitting = False
        self._widths_set = False  # by hand
        self._touched: set[tuple[int, int]] = set()  # rows and columns that are seen and have more
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

    # Room

    def fit(self, *, checked: bool) -> None:
        """Rows as high as they have to be, with a line for what failed where something is ``checked``."""
        self.cells.checked = checked
        rows = self.verticalHeader()
        if rows.defaultSectionSize() != self.cells.row_height:
            rows.setMinimumSectionSize(self.cells.row_height)
            rows.setDefaultSectionSize(self.cells.row_height)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """The columns share the room there is, until somebody gives one another width."""
        count, room = self.header.count() - 1, self.viewport().width()
        if count < 1 or self._widths_set:
            return
        self._fitting = True
        first = min(max(room // 6, CASE_LEAST), CASE_MOST)
        self.header.resizeSection(0, first)
        for at in range(count):
            left = (room - first) * at // count
            self.header.resizeSection(at + 1, max((room - first) * (at + 1) // count - left, COLUMN_LEAST))
        self._fitting = False

    def _resized(self, _section: int, _before: int, _now: int) -> None:
        self._widths_set = self._widths_set or not self._fitting

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def keep_place(self, change: Callable[[], None]) -> None:
        """Let the model have other rows; what stood at the top stays there, if it is still among them."""
        bar, height = self.verticalScrollBar(), max(self.verticalHeader().defaultSectionSize(), 1)
        top, off = divmod(bar.value(), height)
        case = self._model.case(top) if top < self._model.rowCount() else None
        columns = self._model.columnCount()
        self._by_hand = False
        self._fitting = True
        try:
            change()
        finally:
            self._by_hand, self._fitting = True, False
        self._touched.clear()
        if self._model.columnCount() != columns:
            self._widths_set = False
            self._fit_columns()
        row = self._model.row_of(case) if case is not None else None
        if row is not None and (row or off):
            self.updateGeometries()
            bar.setValue(row * height + off)

    # What comes

    def touch(self, places: Iterable[tuple[Case, EvalVariant]]) -> bool:
        """There is more in these cells. Returns whether one of them is seen."""
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        last = last if last >= 0 else self._model.rowCount() - 1
        for case, column in places:
            self._model.forget(case, column)
            row = self._model.row_of(case)
            if row is not None and first <= row <= last:
                self._touched.add((row, self._model.column_of(column)))
        return bool(self._touched)

    def show_touched(self) -> None:
        """Draw the cells that have more."""
        for row, column in self._touched:
            self.update(self._model.index(row, column))
        self._touched.clear()

    # What is chosen

    def show_current(self, row: int | None, column: int) -> None:
        """Choose a cell, as nobody's hand; None: nothing."""
        index = self._model.index(row, column) if row is not None else QModelIndex()
        if index == self.currentIndex():
            return
        self._by_hand = False
        try:
            self.setCurrentIndex(index)
        finally:
            self._by_hand = True

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if self._by_hand and current.isValid():
            self._pick(current, 0)

    def _pick(self, index: Index, repeat: int) -> None:
        row, number = index.row(), index.column()
        repeat = repeat or (self._model.shown(row, number).repeat if number else 0) or 1
        self.picked.emit(self._model.case(row), self._model.column(number), repeat)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a mark chooses that repeat."""
        super().mousePressEvent(event)
        at = event.position().toPoint()
        index = self.indexAt(at)
        if index.isValid() and index.column() and event.button() == Qt.MouseButton.LeftButton:
            marks = self._model.shown(index.row(), index.column()).marks
            if repeat := self.cells.mark_at(self.visualRect(index), at, len(marks)):
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
