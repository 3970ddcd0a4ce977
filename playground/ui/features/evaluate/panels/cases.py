"""The cases of an evaluation: an editable table, rows pasted from a spreadsheet, imported files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from PySide6.QtCore import QItemSelectionRange, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QPushButton, QTableView, QWidget

from playground.domain.transcript import new_id
from playground.domain.variables import as_written, names_in
from playground.engine.evaluation.imports.table import variable_name
from playground.engine.evaluation.variants import case_of
from playground.engine.session.plan import MOST_CASES, Case
from playground.jsonkit.texts import listed
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.features.evaluate.panels.case_form import CaseForm
from playground.ui.features.evaluate.panels.case_model import ASKS, CaseModel, Column, ColumnFinder, as_rows, pasted
from playground.ui.widgets.dialogs import line_dialog
from playground.ui.widgets.form_parts import push_button, say, styled, text_label
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import ask, spawn
from playground.ui.widgets.theme import tokens

EDIT = Qt.ItemDataRole.EditRole
ROW = 26  # pixels
COLUMN, WIDEST = 96, 260  # pixels
_HOW = "Each case sends the conversation. Write {{name}} there to give each case a value here."
_MANY = f"An evaluation has {MOST_CASES:,} cases at most. Nothing was added."
_FEW_PROBLEMS = 2


class _Header(QHeaderView):
    """A header that is quick with many cases: Qt's own reads every selected cell of a column to draw its name."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)

    def paintSection(self, painter: QPainter, rect: QRect, index: int) -> None:
        t, text = tokens(), str(self.model().headerData(index, Qt.Orientation.Horizontal) or "")
        painter.fillRect(rect, QColor(t.surface))
        painter.setPen(QColor(t.line))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.setPen(QColor(t.muted))
        inner = rect.adjusted(6, 0, -6, -1)
        words = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)


class CaseTable(QTableView):
    """The table of cases, with copy, paste and delete by keyboard."""

    pasted = Signal(str)
    emptied = Signal()
    deleted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        delete = event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
        if event.matches(QKeySequence.StandardKey.Paste):
            self.pasted.emit(QGuiApplication.clipboard().text())
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif delete and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.deleted.emit()
        elif delete:
            self.emptied.emit()
        else:
            super().keyPressEvent(event)

    @property
    def ranges(self) -> list[QItemSelectionRange]:
        """The ranges of selected cells."""
        selection = self.selectionModel().selection()
        return [selection.at(number) for number in range(selection.count())]

    def copy(self) -> None:
        """Copy the selected cells as tab-separated text."""
        rows: dict[int, dict[int, str]] = {}
        for selected in self.ranges:
            for row in range(selected.top(), selected.bottom() + 1):
                texts = [
                    self.model().index(row, column).data(EDIT)
                    for column in range(selected.left(), selected.right() + 1)
                ]
                rows.setdefault(row, {}).update(enumerate(texts, selected.left()))
        if rows:
            ordered = [[text for _, text in sorted(rows[row].items())] for row in sorted(rows)]
            QGuiApplication.clipboard().setText(as_rows(ordered))


class CasesPanel(QWidget):
    """The panel of cases. ``import_asked`` is emitted to import a file."""

    import_asked = Signal()

    def __init__(self, evaluation: EvaluationModel) -> None:
        super().__init__()
        self.setObjectName("casesPanel")
        self._evaluation = evaluation
        self._added: dict[str, None] = {}  # variables added by the user that no message mentions yet
        self._shown: tuple[object, ...] = ()
        self._column_finder = ColumnFinder()
        self.add = QPushButton("Case")
        self.add.setIcon(icon("plus"))
        self.add.setAccessibleName("Add cases")
        menu = QMenu(self.add)
        menu.addAction("Empty case").triggered.connect(self.add_empty)
        menu.addAction("From the conversation").triggered.connect(self.add_conversation)
        menu.addAction("Paste from a spreadsheet").triggered.connect(self.paste_clipboard)
        menu.addSeparator()
        menu.addAction("Add variable…").triggered.connect(self.ask_variable)
        self.add.setMenu(menu)
        self.bring = push_button("Import…")
        self.bring.setToolTip("From CSV, JSON, YAML or a promptfoo configuration")
        self.bring.clicked.connect(self.import_asked)
        self._words = text_label("", "small", wrap=True)
        self._problem = text_label("", "flag-error", wrap=True)
        self.model = CaseModel(self)
        self.model.typed.connect(self._typed)
        self.table = styled(CaseTable(), "cells")
        self.table.setCornerButtonEnabled(False)
        self.table.setHorizontalHeader(_Header(self.table))
        self.table.setModel(self.model)
        self.table.setAccessibleName("Cases")
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.table.setWordWrap(False)
        self.table.setShowGrid(True)
        self.table.setTabKeyNavigation(True)
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.table.verticalHeader().setDefaultSectionSize(ROW)
        self.table.horizontalHeader().setDefaultSectionSize(COLUMN)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._open_menu)
        self.table.pasted.connect(self.paste)
        self.table.emptied.connect(self._empty)
        self.table.deleted.connect(self.delete_rows)
        self.table.doubleClicked.connect(self._go_to_form)
        self.table.selectionModel().currentChanged.connect(self._show_form)
        self.form = CaseForm()
        self.form.edited.connect(self._typed_below)
        self.form.hide()
        self._menu = QMenu(self)
        tools = in_row(self.add, self.bring, 1, margins=(16, 12, 16, 0), spacing=6)
        messages = in_column(self._words, self._problem, margins=(16, 0, 16, 0), spacing=4)
        below = in_column(self.form, margins=(16, 0, 16, 8))
        in_column(tools, messages, (self.table, 1), below, parent=self, margins=0, spacing=8)
        evaluation.planned.connect(self._show)
        evaluation.chosen.connect(self._show_chosen)
        self._show()

    # Table and form

    def _show(self) -> None:
        plan, settings = self._evaluation.plan, self._evaluation.session.settings
        mentioned = names_in(self._evaluation.resolved.turns)
        problems = {
            problem.id: problem.words for problem in reversed(self._evaluation.problems) if problem.place == "cases"
        }
        state = (plan.cases, mentioned, tuple(self._added))
        before = self.model.columns
        if state == self._shown:
            columns = before
        else:
            columns = self._column_finder.columns(plan.cases, mentioned, self._added)
            self._shown = state
        self.model.show_cases(plan.cases, columns, settings.variables, problems)
        if columns != before:
            self._show_widths()
        own = all(case.turns for case in plan.cases) and bool(plan.cases)
        words = f"Values of {listed([as_written(name) for name in mentioned[:4]])}" if mentioned else _HOW
        say(self._words, "" if own else words)
        named = [words for words in problems.values() if words][:_FEW_PROBLEMS] if plan.cases else []
        remaining = len(problems) - len(named)
        more = [f"{remaining:,} other cases have problems; their numbers are red."] if named and remaining > 0 else []
        say(self._problem, "\n".join([*named, *more]))
        self._show_form()

    def _show_widths(self) -> None:
        header = self.table.horizontalHeader()
        for index, column in enumerate(self.model.columns):
            hint = header.fontMetrics().horizontalAdvance(column.title[:40]) + 28
            header.resizeSection(index, min(max(hint, COLUMN if column.name != ASKS else 2 * COLUMN), WIDEST))

    def _show_chosen(self) -> None:
        """Select the case that is selected in the other views."""
        case = self._evaluation.case
        row = next(
            (row for row, listed_case in enumerate(self.model.cases) if case is not None and listed_case.id == case.id),
            -1,
        )
        if row >= 0 and row != self.table.currentIndex().row():
            self.table.setCurrentIndex(self.model.index(row, max(self.table.currentIndex().column(), 0)))

    @property
    def current(self) -> Case | None:
        """The current case; None in the row for a new one."""
        return self.model.case(self.table.currentIndex().row())

    def _show_form(self) -> None:
        case = self.current
        if case is not None:
            self.form.show_case(case, self.model.columns, self._evaluation.session.settings.variables)
        self.form.setVisible(case is not None)

    def _go_to_form(self) -> None:
        """Focus the field below for a text of several lines."""
        index = self.table.currentIndex()
        if not self.model.flags(index) & Qt.ItemFlag.ItemIsEditable:
            field = self.form.fields.get(self.model.columns[index.column()])
            if field is not None:
                field.setFocus()

    # Changes

    def _put(self, cases: Sequence[Case], *, typed: bool = False) -> None:
        if len(cases) > MOST_CASES:
            self._evaluation.refused.emit(_MANY)
            return
        (self._evaluation.change if typed else self._evaluation.change_apart)(cases=tuple(cases))
        self._show()

    def _typed(self, row: int, column: Column, text: str) -> None:
        cases = list(self._evaluation.plan.cases)
        if row < len(cases):
            cases[row] = column.put(cases[row], text)
        elif text:
            cases.append(column.put(Case(), text))
        self._put(cases)

    def _typed_below(self, column: Column, text: str) -> None:
        row = self.table.currentIndex().row()
        cases = list(self._evaluation.plan.cases)
        if row < len(cases):
            cases[row] = column.put(cases[row], text)
            self._put(cases, typed=True)

    def add_empty(self, _checked: bool = False) -> None:
        """Add an empty case and select it."""
        self._put((*self._evaluation.plan.cases, Case()))
        index = self.model.index(len(self.model.cases) - 1, 0)
        self.table.setCurrentIndex(index)
        self.table.setFocus()

    def add_conversation(self, _checked: bool = False) -> None:
        """Add the conversation as a case; its last answer is the expected one."""
        path = self._evaluation.session.transcript.path
        try:
            case = case_of(self._evaluation.session, path[-1].id) if path else None
        except ValueError as error:
            self._evaluation.refused.emit(str(error))
            return
        if case is None:
            self._evaluation.refused.emit("The conversation is empty.")
        else:
            self._put((*self._evaluation.plan.cases, case))

    def ask_variable(self, _checked: bool = False) -> None:
        """Ask for the name of a new variable."""
        spawn(self._ask_variable(), name="add a variable")

    async def _ask_variable(self) -> None:
        dialog = line_dialog(self, "Add variable", "Name, as in {{name}}", "", "Add")
        if await ask(dialog) and dialog.textValue().strip():
            self._added[variable_name(dialog.textValue())] = None
            self._show()
        dialog.deleteLater()

    def paste_clipboard(self, _checked: bool = False) -> None:
        """Paste rows from the clipboard."""
        self.paste(QGuiApplication.clipboard().text())

    def paste(self, text: str) -> None:
        """Paste rows at the current cell like a spreadsheet, or below all cases; missing rows are added.

        A first row with the names of columns selects the columns.
        """
        if text:
            current = self.table.currentIndex()
            top, first_column = (current.row(), current.column()) if current.isValid() else (len(self.model.cases), 0)
            spawn(self._paste(text, top, first_column), name="paste cases")

    async def _paste(self, text: str, top: int, first_column: int) -> None:
        before = self._evaluation.plan.cases
        cases, without = await asyncio.to_thread(pasted, text, before, self.model.columns, top, first_column)
        if self._evaluation.plan.cases is not before:
            self._evaluation.refused.emit("The cases have changed meanwhile. Paste again.")
            return
        self._put(cases)
        if without and len(cases) <= MOST_CASES:
            self._evaluation.refused.emit(
                f"{without} cells of a row have no column and were left out. "
                "Add variables for them first, or name them in a first row."
            )

    def _rows(self) -> list[int]:
        rows = {row for selected in self.table.ranges for row in range(selected.top(), selected.bottom() + 1)}
        return sorted(row for row in rows if row < len(self.model.cases))

    def _empty(self) -> None:
        cases = list(self._evaluation.plan.cases)
        for selected in self.table.ranges:
            for row in range(selected.top(), min(selected.bottom() + 1, len(cases))):
                for column in self.model.columns[selected.left() : selected.right() + 1]:
                    if column.text_of(cases[row]):
                        cases[row] = column.put(cases[row], "")
        self._put(cases)

    def delete_rows(self, _checked: bool = False) -> None:
        """Delete the selected cases. Can be undone."""
        deleted = set(self._rows())
        self._put([case for row, case in enumerate(self._evaluation.plan.cases) if row not in deleted])

    def duplicate_rows(self, _checked: bool = False) -> None:
        """Add copies of the selected cases at the end."""
        cases = self._evaluation.plan.cases
        self._put((*cases, *(cases[row].model_copy(update={"id": new_id()}) for row in self._rows())))

    def _look_at(self, _checked: bool = False) -> None:
        columns = self._evaluation.resolved.columns
        if (case := self.current) is not None and columns and case.id in self._evaluation.resolved.numbers:
            self._evaluation.choose(case, columns[0])

    def _open_menu(self, position: QPoint) -> None:
        rows = self._rows()
        selected = f"{len(rows):,} cases" if len(rows) > 1 else "this case"
        entries: tuple[tuple[str, Callable[[bool], None], bool] | None, ...] = (
            ("Show its answers", self._look_at, self.current is not None),
            None,
            ("Paste", self.paste_clipboard, True),
            (f"Duplicate {selected}", self.duplicate_rows, bool(rows)),
            (f"Delete {selected}", self.delete_rows, bool(rows)),
        )
        self._menu.clear()
        for entry in entries:
            if entry is None:
                self._menu.addSeparator()
            else:
                action = self._menu.addAction(entry[0])
                action.setEnabled(entry[2])
                action.triggered.connect(entry[1])
        self._menu.popup(self.table.viewport().mapToGlobal(position))
