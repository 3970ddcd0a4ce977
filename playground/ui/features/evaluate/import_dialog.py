"""Import of cases from a file: the role of each column, a preview, and the rows that cannot be read.

The file is read, and cases are made, in a worker thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QDialog,
    QGridLayout,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QTableView,
    QWidget,
)

from playground.domain.checks.check import Check
from playground.engine.evaluation.imports.promptfoo import Configuration, imported_cases, read_file
from playground.engine.evaluation.imports.table import (
    SUFFIXES,
    Cases,
    CasesError,
    ColumnMapping,
    Table,
    guess,
    text_of,
    to_cases,
    variable_name,
)
from playground.engine.session.plan import EXPECTED, MOST_CASES, Case
from playground.engine.session.variants import Variant
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.features.evaluate.panels.case_model import CaseModel, ColumnFinder
from playground.ui.widgets.choice_fields import CompactCombo
from playground.ui.widgets.dialogs import MARGINS, ask_which
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import look as dress
from playground.ui.widgets.form_parts import push_button, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.scroll_page import DownArea

WIDE, TALL = 860, 660  # pixels
KINDS: Final = f"Cases ({' '.join(f'*{suffix}' for suffix in SUFFIXES)})"
AGAIN_MS: Final = 150
MOST_COLUMNS = 60  # with a form row; the roles of the others are guessed
MOST_PREVIEW, MOST_LINES = 100, 200  # rows
VARIABLE, EXPECTS, NAMES, TURNS, CHECKS, NOTHING = range(6)
_ROLES: Final = ("variable", "expected answer", "name", "conversation", "check", "ignored")


@dataclass(frozen=True, slots=True)
class Imported:
    """The imported cases, checks and variants; ``instead`` replaces the existing cases."""

    cases: tuple[Case, ...]
    checks: tuple[Check, ...] = ()
    variants: tuple[Variant, ...] = ()
    instead: bool = False


class _ColumnRow:
    """The form row of one column of the file: its role and its variable."""

    def __init__(self, column: str, role: int, variable: str, example: str) -> None:
        self.column = column
        self.title = ElidedLabel("Column", colour="text")
        self.title.set_text(show_hidden(column))
        self.role: QComboBox = CompactCombo(140, 170)
        self.role.addItems(_ROLES)
        self.role.setCurrentIndex(role)
        self.role.setAccessibleName(f"Role of {column}")
        self.variable = QLineEdit(variable)
        self.variable.setAccessibleName(f"Variable of {column}")
        self.variable.setVisible(role == VARIABLE)
        self.example = ElidedLabel("First row", elide=Qt.TextElideMode.ElideRight)
        self.example.set_text(example[:200])


class ImportCasesDialog(QDialog):
    """The import dialog. ``imported`` carries an ``Imported``; ``existing`` is the number of cases now."""

    imported = Signal(object)

    def __init__(self, path: Path, existing: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Import cases")
        self.setObjectName("importCasesDialog")
        self._path, self._looks = path, 0
        self._left = False
        self.table: Table | None = None
        self.found: Cases | Configuration | None = None
        self.source = text_label(show_hidden(path.name), "heading")
        self.verdict = text_label("Reading…", "muted", wrap=True)
        self.verdict.setObjectName("importSummary")
        self.rows: list[_ColumnRow] = []
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(10)
        self._grid.setColumnStretch(0, 2)
        self._grid.setColumnStretch(2, 2)
        self._grid.setColumnStretch(3, 3)
        columns = QWidget()
        in_column(self._grid, 1, of=columns, margins=(0, 0, 8, 0))
        self.columns = DownArea(columns)
        self.columns.setMinimumHeight(120)
        self.columns.hide()
        self.model = CaseModel(self, free=False)
        self.preview = styled(QTableView(), "cells")
        self.preview.setCornerButtonEnabled(False)
        self.preview.setModel(self.model)
        self.preview.setAccessibleName("Preview of the first cases")
        self.preview.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.preview.setWordWrap(False)
        self.preview.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.preview.verticalHeader().setDefaultSectionSize(24)
        self.preview.horizontalHeader().setStretchLastSection(True)
        self.preview.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.said = QPlainTextEdit(readOnly=True)
        self.said.setAccessibleName("Problems")
        self.said.setMaximumHeight(110)
        self.said.hide()
        self.without = QCheckBox()
        self.without.toggled.connect(self._count)
        self.instead = QCheckBox(
            f"Replace the {existing:,} existing cases" if existing > 1 else "Replace the existing case"
        )
        self.instead.setVisible(bool(existing))
        self.take = styled(QPushButton("Import"), "primary")
        self.take.clicked.connect(self._import)
        cancel = push_button("Cancel")
        cancel.clicked.connect(self.reject)
        align = Qt.AlignmentFlag.AlignLeft
        ticks = in_column((self.without, 0, align), (self.instead, 0, align), spacing=4)
        top = in_column(self.source, self.verdict, spacing=4)
        buttons = in_row((ticks, 1), cancel, self.take, spacing=8)
        in_column(top, (self.columns, 2), (self.preview, 3), self.said, buttons, of=self, margins=MARGINS, spacing=8)
        room = parent.window().size()
        self.resize(min(WIDE, room.width() - 40), min(TALL, room.height() - 40))
        self._again = Throttle(self._make_soon, self, AGAIN_MS)
        self.finished.connect(self._leave)
        self._count()
        spawn(self._read(), name="read cases")

    def _leave(self) -> None:
        self._left = True
        self._looks += 1

    async def _read(self) -> None:
        try:
            content = await asyncio.to_thread(read_file, self._path)
        except CasesError as error:
            if not self._left:
                self._refuse(str(error))
            return
        if self._left:
            return
        if isinstance(content, Configuration):
            self.found = content
            self._show_found()
        else:
            self.table = content
            self._show_columns(content, guess(content))
            self._make_soon()

    def _refuse(self, words: str) -> None:
        self.found = None
        self.verdict.setText(show_hidden(words))
        dress(self.verdict, "error")
        self._count()

    # Columns

    def _show_columns(self, table: Table, mapping: ColumnMapping) -> None:
        outer = {name.partition(".")[0] for name in mapping.variables if name not in table.columns}
        names = dict.fromkeys((*(name for name in table.columns if name not in outer), *mapping.variables))
        roles = {mapping.expected: EXPECTS, mapping.name: NAMES, mapping.turns: TURNS}
        roles |= dict.fromkeys(mapping.checks, CHECKS)
        first = table.rows[0].cells if table.rows else {}
        for place, name in enumerate(list(names)[:MOST_COLUMNS]):
            role = roles.get(name, VARIABLE if name in mapping.variables else NOTHING)
            inner = first.get(name.partition(".")[0]) if name not in first else None
            value = inner.get(name.partition(".")[2]) if isinstance(inner, dict) else first.get(name)
            row = _ColumnRow(name, role, mapping.variables.get(name, variable_name(name)), text_of(value))
            row.role.currentIndexChanged.connect(lambda _role, row=row: self._role_set(row))
            row.variable.textEdited.connect(self._again.poke)
            for grid_column, widget in enumerate((row.title, row.role, row.variable, row.example)):
                self._grid.addWidget(widget, place, grid_column)
            self.rows.append(row)
        rest = list(names)[MOST_COLUMNS:]
        self._rest = {name: mapping.variables[name] for name in rest if name in mapping.variables}
        self._rest_checks = [name for name in rest if name in mapping.checks]
        self.columns.show()

    def _role_set(self, row: _ColumnRow) -> None:
        """Let only one column be the expected answer, the name or the conversation."""
        role = row.role.currentIndex()
        row.variable.setVisible(role == VARIABLE)
        for candidate in self.rows:
            if candidate is not row and role in (EXPECTS, NAMES, TURNS) and candidate.role.currentIndex() == role:
                candidate.role.setCurrentIndex(NOTHING)
        self._again.poke()

    def mapping(self) -> ColumnMapping:
        """Return the roles of the columns. Raises CasesError for an invalid or repeated name of a variable."""
        variables = dict(self._rest)
        checks = [row.column for row in self.rows if row.role.currentIndex() == CHECKS] + self._rest_checks
        single: dict[int, str] = {}
        for row in self.rows:
            role = row.role.currentIndex()
            if role != VARIABLE:
                single[role] = row.column
                continue
            name = row.variable.text().strip()
            if name != variable_name(name):
                raise CasesError(f"“{name}” cannot name a variable. Use letters, digits, - and _; begin with a letter.")
            if name == EXPECTED:
                raise CasesError(f"{{{{{EXPECTED}}}}} is the expected answer. Choose that role for “{row.column}”.")
            if name in variables.values():
                raise CasesError(f"Two columns are “{name}”. Give one of them another name.")
            variables[row.column] = name
        return ColumnMapping(variables, single.get(EXPECTS), single.get(NAMES), single.get(TURNS), tuple(checks))

    # Result

    def _make_soon(self) -> None:
        if self.table is not None and not self._left:
            self._looks += 1
            spawn(self._make(self.table, self._looks), name="make cases")

    async def _make(self, table: Table, number: int) -> None:
        try:
            cases = await asyncio.to_thread(to_cases, table, self.mapping())
        except CasesError as error:
            if number == self._looks:
                self._refuse(str(error))
            return
        if number == self._looks:
            self.found = cases
            self._show_found()

    def _show_found(self) -> None:
        result = self.found
        if result is None:
            return
        counts = [_counted(len(result.cases), "case")]
        if isinstance(result, Configuration):
            counts += [_counted(len(result.checks), "check"), _counted(len(result.variants), "variant")]
        if own := sum(len(case.checks) for case in result.cases):
            counts.append(f"{_counted(own, 'check')} of single cases")
        unreadable = f"; {len(result.bad):,} rows cannot be read" if result.bad else ""
        self.verdict.setText(", ".join(counts) + unreadable + ".")
        dress(self.verdict, "muted")
        first = result.cases[:MOST_PREVIEW]
        self.model.show_cases(first, ColumnFinder().columns(first), {}, {})
        lines = [str(row) for row in result.bad[:MOST_LINES]]
        if len(result.bad) > MOST_LINES:
            lines.append(f"and {len(result.bad) - MOST_LINES:,} more")
        lines += result.notes
        self.said.setPlainText(show_hidden("\n".join(lines)))
        self.said.setVisible(bool(lines))
        self.without.setText(f"Skip the {len(result.bad):,} rows that cannot be read")
        self.without.setVisible(bool(result.bad))
        self._count()

    def _count(self) -> None:
        result = self.found
        count = len(result.cases) if result is not None else 0
        self.without.setVisible(result is not None and bool(result.bad))
        self.take.setText(f"Import {count:,} cases" if count > 1 else "Import a case" if count else "Import")
        self.take.setEnabled(bool(count) and (result is None or not result.bad or self.without.isChecked()))

    def _import(self) -> None:
        result = self.found
        if result is None:
            return
        cases = imported_cases(result)
        self.accept()
        self.imported.emit(Imported(cases.cases, cases.checks, cases.variants, self.instead.isChecked()))


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count != 1 else ''}"


async def import_cases(evaluation: EvaluationModel, window: QWidget) -> None:
    """Ask for a file and open the import dialog."""
    path = await ask_which(window, "Import cases", "", f"{KINDS};;All files (*)")
    if path is not None:
        open_import(evaluation, path, window)


def open_import(evaluation: EvaluationModel, path: Path, window: QWidget) -> ImportCasesDialog:
    """Open the import dialog for a file."""
    dialog = ImportCasesDialog(path, len(evaluation.plan.cases), window)
    dialog.imported.connect(partial(_take, evaluation))
    dialog.open()
    return dialog


def _take(evaluation: EvaluationModel, result: Imported) -> None:
    plan = evaluation.plan
    before: Sequence[Case] = () if result.instead else plan.cases
    if len(before) + len(result.cases) > MOST_CASES:
        evaluation.refused.emit(f"An evaluation has {MOST_CASES:,} cases at most. Nothing was imported.")
        return
    evaluation.change_apart(
        cases=(*before, *result.cases),
        checks=(*plan.checks, *result.checks),
        variants=(*plan.variants, *result.variants),
    )
