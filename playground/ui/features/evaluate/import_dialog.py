"""Import of cases: the role of each column, a preview, and the rows that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHeaderView,
    QLineEdit,
    QTableView,
    QWidget,
)

from playground.domain.checks.check import Check
from playground.engine.evaluation.imports.promptfoo import Configuration, imported_cases, read_file, read_text
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
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.import_dialog import ImportDialog, ImportKind, Preview, Source
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.scroll_page import DownArea

MOST_COLUMNS = 60  # with a form row; the roles of the others are guessed
MOST_PREVIEW = 100  # rows
VARIABLE, EXPECTS, NAMES, TURNS, CHECKS, NOTHING = range(6)
_ROLES: Final = ("variable", "expected answer", "name", "conversation", "check", "ignored")


@dataclass(frozen=True, slots=True)
class ReadCases:
    """The cases of a source; ``table`` is None for a configuration, which has no columns to choose."""

    cases: Cases
    table: Table | None = None


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


class ImportCasesDialog(ImportDialog[ReadCases]):
    """Import of cases; ``imported`` carries an ``Imported``. ``existing`` is the number of cases now."""

    kind = ImportKind(
        title="Import cases",
        placeholder=(
            "Paste or drop here: a table with a line of column names (CSV or TSV), JSON or JSON Lines with an object a "
            "case, or a promptfoo configuration."
        ),
        files=f"Cases ({' '.join(f'*{suffix}' for suffix in SUFFIXES)})",
        noun="case",
        size=(860, 680),
        reads_files=True,
        refused=(CasesError,),
    )

    def __init__(self, existing: int, parent: QWidget) -> None:
        self._parse = lru_cache(maxsize=1)(_parse)  # a table is read once for all its mappings
        self._table: Table | None = None  # whose columns have form rows
        self._table_source: Source | None = None
        self.rows: list[_ColumnRow] = []
        self._rest: ColumnMapping = ColumnMapping()  # of columns without a form row
        self.columns = DownArea()
        self.columns.setMinimumHeight(120)
        self.model = CaseModel(self.columns, free=False)
        self.table = _preview_table(self.model)
        self.without = QCheckBox()
        self.instead = QCheckBox(
            f"Replace the {existing:,} existing cases" if existing > 1 else "Replace the existing case"
        )
        ticks = QWidget()
        in_column(self.without, self.instead, parent=ticks, margins=0, spacing=4)
        super().__init__(parent, options=(self.columns,), choices=(ticks,))
        self.setObjectName("importCasesDialog")
        self.instead.setVisible(bool(existing))
        self.without.toggled.connect(self.update_button)

    def reader(self) -> Callable[[Source], Preview[ReadCases]]:
        """Return the function that reads cases, with the roles of the columns that are shown."""
        if self._table_source != self.source:
            return partial(_read, self._parse, None)
        try:
            return partial(_read, self._parse, self.mapping())
        except CasesError as error:
            return partial(_refuse, error)

    def preview_area(self) -> QWidget:
        """Return the table of the first cases."""
        self.preview.setParent(self)
        self.preview.hide()
        return self.table

    def show_content(self, content: ReadCases | None) -> None:
        """Show the columns and the first cases."""
        if content is not None and content.table is not None and content.table is not self._table:
            self._table, self._table_source = content.table, self.source
            self._show_columns(content.table, guess(content.table))
        self.columns.setVisible(self._table is not None and self._table_source == self.source)
        cases = content.cases.cases[:MOST_PREVIEW] if content is not None else ()
        self.model.show_cases(cases, ColumnFinder().columns(cases), {}, {})
        bad = len(content.cases.bad) if content is not None else 0
        self.without.setText(f"Skip the {bad:,} rows that cannot be read" if bad > 1 else "Skip the unreadable row")
        self.without.setVisible(bool(bad))

    def count(self) -> int:
        """Return the number of cases that can be imported."""
        if self.content is None or (self.content.cases.bad and not self.without.isChecked()):
            return 0
        return len(self.content.cases.cases)

    def add_content(self, content: ReadCases, checked: tuple[int, ...]) -> None:
        """Import the cases."""
        cases = imported_cases(content.cases)
        self.accept()
        self.imported.emit(Imported(cases.cases, cases.checks, cases.variants, self.instead.isChecked()))

    # Columns

    def _show_columns(self, table: Table, mapping: ColumnMapping) -> None:
        outer = {name.partition(".")[0] for name in mapping.variables if name not in table.columns}
        names = dict.fromkeys((*(name for name in table.columns if name not in outer), *mapping.variables))
        roles = {mapping.expected: EXPECTS, mapping.name: NAMES, mapping.turns: TURNS}
        roles |= dict.fromkeys(mapping.checks, CHECKS)
        first = table.rows[0].cells if table.rows else {}
        content = QWidget()
        grid = QGridLayout(content)
        grid.setContentsMargins(0, 0, 8, 0)
        grid.setHorizontalSpacing(10)
        for column, stretch in ((0, 2), (2, 2), (3, 3)):
            grid.setColumnStretch(column, stretch)
        self.rows = []
        for place, name in enumerate(list(names)[:MOST_COLUMNS]):
            role = roles.get(name, VARIABLE if name in mapping.variables else NOTHING)
            inner = first.get(name.partition(".")[0]) if name not in first else None
            value = inner.get(name.partition(".")[2]) if isinstance(inner, dict) else first.get(name)
            row = _ColumnRow(name, role, mapping.variables.get(name, variable_name(name)), text_of(value))
            row.role.currentIndexChanged.connect(lambda _role, row=row: self._role_set(row))
            row.variable.textEdited.connect(self.read_soon)
            for grid_column, widget in enumerate((row.title, row.role, row.variable, row.example)):
                grid.addWidget(widget, place, grid_column)
            self.rows.append(row)
        grid.setRowStretch(len(self.rows), 1)
        self.columns.setWidget(content)
        rest = list(names)[MOST_COLUMNS:]
        variables = {name: mapping.variables[name] for name in rest if name in mapping.variables}
        self._rest = ColumnMapping(variables, checks=tuple(name for name in rest if name in mapping.checks))

    def _role_set(self, row: _ColumnRow) -> None:
        """Let only one column be the expected answer, the name or the conversation."""
        role = row.role.currentIndex()
        row.variable.setVisible(role == VARIABLE)
        for candidate in self.rows:
            if candidate is not row and role in (EXPECTS, NAMES, TURNS) and candidate.role.currentIndex() == role:
                candidate.role.setCurrentIndex(NOTHING)
        self.read_soon()

    def mapping(self) -> ColumnMapping:
        """Return the roles of the columns. Raises CasesError for an invalid or repeated name of a variable."""
        variables = dict(self._rest.variables)
        checks = [row.column for row in self.rows if row.role.currentIndex() == CHECKS] + [*self._rest.checks]
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


def _preview_table(model: CaseModel) -> QTableView:
    table = styled(QTableView(), "cells")
    table.setCornerButtonEnabled(False)
    table.setModel(model)
    table.setAccessibleName("Preview of the first cases")
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    table.verticalHeader().setDefaultSectionSize(24)
    table.horizontalHeader().setStretchLastSection(True)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    return table


def _parse(source: Source) -> Table | Configuration:
    return read_file(source.path) if source.path is not None else read_text(source.text)


def _read(
    parse: Callable[[Source], Table | Configuration], mapping: ColumnMapping | None, source: Source
) -> Preview[ReadCases]:
    content = parse(source)
    if isinstance(content, Configuration):
        read = ReadCases(content)
    else:
        read = ReadCases(to_cases(content, mapping or guess(content)), content)
    cases = read.cases
    counts = [_counted(len(cases.cases), "case")]
    if isinstance(cases, Configuration):
        counts += [_counted(len(cases.checks), "check"), _counted(len(cases.variants), "variant")]
    if own := sum(len(case.checks) for case in cases.cases):
        counts.append(f"{_counted(own, 'check')} of single cases")
    unreadable = f"; {_counted(len(cases.bad), 'row')} cannot be read" if cases.bad else ""
    return Preview(read, f"{', '.join(counts)}{unreadable}.", notes=(*map(str, cases.bad), *cases.notes))


def _refuse(error: CasesError, source: Source) -> Preview[ReadCases]:
    raise error


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count != 1 else ''}"


def open_import(evaluation: EvaluationModel, window: QWidget) -> ImportCasesDialog:
    """Open the import dialog."""
    dialog = ImportCasesDialog(len(evaluation.plan.cases), window)
    dialog.imported.connect(partial(_take, evaluation))
    dialog.finished.connect(dialog.deleteLater)
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
