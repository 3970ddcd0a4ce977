"""Cases out of a file, looked over before anything is taken: what each column is, rows that are none, what is left out.

The file is read beside the window's thread, and so are the cases made of it, again for each other choice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
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
from playground.engine.evaluation.imports.files import imported_cases, read_file
from playground.engine.evaluation.imports.promptfoo import Configuration
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
from playground.ui.features.evaluate.look import Look
from playground.ui.features.evaluate.panels.case_model import CaseModel, Held
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
MOST_COLUMNS = 60  # that can be set; the others are what they are taken for
MOST_PREVIEW, MOST_LINES = 100, 200  # rows
VARIABLE, EXPECTS, NAMES, TURNS, CHECKS, NOTHING = range(6)
_ROLES: Final = ("a variable", "what is expected", "its name", "the conversation", "a check", "left out")


@dataclass(frozen=True, slots=True)
class Imported:
    """What is to be taken over; ``instead``: in the place of the cases that are there."""

    cases: tuple[Case, ...]
    checks: tuple[Check, ...] = ()
    variants: tuple[Variant, ...] = ()
    instead: bool = False


class _ColumnRow:
    """What becomes of one column."""

    def __init__(self, column: str, role: int, variable: str, example: str) -> None:
        self.column = column
        self.title = ElidedLabel("Column", colour="text")
        self.title.set_text(show_hidden(column))
        self.role: QComboBox = CompactCombo(140, 170)
        self.role.addItems(_ROLES)
        self.role.setCurrentIndex(role)
        self.role.setAccessibleName(f"What {column} is")
        self.variable = QLineEdit(variable)
        self.variable.setAccessibleName(f"Variable of {column}")
        self.variable.setVisible(role == VARIABLE)
        self.example = ElidedLabel("First row", elide=Qt.TextElideMode.ElideRight)
        self.example.set_text(example[:200])


class ImportCasesDialog(QDialog):
    """``imported`` carries an ``Imported``. ``there`` is how many cases there are already."""

    imported = Signal(object)

    def __init__(self, path: Path, there: int, parent: QWidget) -> None:
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
        self.preview.setAccessibleName("The first cases as they will be")
        self.preview.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.preview.setWordWrap(False)
        self.preview.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.preview.verticalHeader().setDefaultSectionSize(24)
        self.preview.horizontalHeader().setStretchLastSection(True)
        self.preview.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.said = QPlainTextEdit(readOnly=True)
        self.said.setAccessibleName("What cannot be taken")
        self.said.setMaximumHeight(110)
        self.said.hide()
        self.without = QCheckBox()
        self.without.toggled.connect(self._count)
        self.instead = QCheckBox(
            f"In place of the {there:,} that are there" if there > 1 else "In place of the one there"
        )
        self.instead.setVisible(bool(there))
        self.take = styled(QPushButton("Import"), "primary")
        self.take.clicked.connect(self._import)
        cancel = push_button("Cancel")
        cancel.clicked.connect(self.reject)
        left = Qt.AlignmentFlag.AlignLeft
        ticks = in_column((self.without, 0, left), (self.instead, 0, left), spacing=4)
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
            found = await asyncio.to_thread(read_file, self._path)
        except CasesError as error:
            if not self._left:
                self._refuse(str(error))
            return
        if self._left:
            return
        if isinstance(found, Configuration):
            self.found = found
            self._show_found()
        else:
            self.table = found
            self._show_columns(found, guess(found))
            self._make_soon()

    def _refuse(self, words: str) -> None:
        self.found = None
        self.verdict.setText(show_hidden(words))
        dress(self.verdict, "error")
        self._count()

    # What columns are

    def _show_columns(self, table: Table, mapping: ColumnMapping) -> None:
        outer = {name.partition(".")[0] for name in mapping.variables if name not in table.columns}
        names = dict.fromkeys((*(one for one in table.columns if one not in outer), *mapping.variables))
        roles = {mapping.expected: EXPECTS, mapping.name: NAMES, mapping.turns: TURNS}
        roles |= dict.fromkeys(mapping.checks, CHECKS)
        first = table.rows[0].cells if table.rows else {}
        for place, name in enumerate(list(names)[:MOST_COLUMNS]):
            role = roles.get(name, VARIABLE if name in mapping.variables else NOTHING)
            inner = first.get(name.partition(".")[0]) if name not in first else None
            value = inner.get(name.partition(".")[2]) if isinstance(inner, dict) else first.get(name)
            row = _ColumnRow(name, role, mapping.variables.get(name, variable_name(name)), text_of(value))
            row.role.currentIndexChanged.connect(lambda _role, of=row: self._role_set(of))
            row.variable.textEdited.connect(self._again.poke)
            for at, widget in enumerate((row.title, row.role, row.variable, row.example)):
                self._grid.addWidget(widget, place, at)
            self.rows.append(row)
        rest = list(names)[MOST_COLUMNS:]
        self._rest = {name: mapping.variables[name] for name in rest if name in mapping.variables}
        self._rest_checks = [name for name in rest if name in mapping.checks]
        self.columns.show()

    def _role_set(self, row: _ColumnRow) -> None:
        """Let a column be the only one that is expected, the name or the conversation."""
        role = row.role.currentIndex()
        row.variable.setVisible(role == VARIABLE)
        for other in self.rows:
            if other is not row and role in (EXPECTS, NAMES, TURNS) and other.role.currentIndex() == role:
                other.role.setCurrentIndex(NOTHING)
        self._again.poke()

    def mapping(self) -> ColumnMapping:
        """As it is set. Raises CasesError for a name that no variable can have, or that two have."""
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
                raise CasesError(f"“{name}” is no name of a variable: letters, digits, - and _, a letter first.")
            if name == EXPECTED:
                raise CasesError(f"{{{{{EXPECTED}}}}} stands for what is expected. Choose that for “{row.column}”.")
            if name in variables.values():
                raise CasesError(f"Two columns are “{name}”. Give one of them another name.")
            variables[row.column] = name
        return ColumnMapping(variables, single.get(EXPECTS), single.get(NAMES), single.get(TURNS), tuple(checks))

    # What comes of it

    def _make_soon(self) -> None:
        if self.table is not None and not self._left:
            self._looks += 1
            spawn(self._make(self.table, self._looks), name="make cases")

    async def _make(self, table: Table, number: int) -> None:
        try:
            found = await asyncio.to_thread(to_cases, table, self.mapping())
        except CasesError as error:
            if number == self._looks:
                self._refuse(str(error))
            return
        if number == self._looks:
            self.found = found
            self._show_found()

    def _show_found(self) -> None:
        found = self.found
        if found is None:
            return
        counts = [_counted(len(found.cases), "case")]
        if isinstance(found, Configuration):
            counts += [_counted(len(found.checks), "check"), _counted(len(found.variants), "variant")]
        if own := sum(len(case.checks) for case in found.cases):
            counts.append(f"{_counted(own, 'check')} of single cases")
        left = f"; {len(found.bad):,} rows cannot be read" if found.bad else ""
        self.verdict.setText(", ".join(counts) + left + ".")
        dress(self.verdict, "muted")
        first = found.cases[:MOST_PREVIEW]
        self.model.show_cases(first, Held().columns(first), {}, {})
        lines = [str(one) for one in found.bad[:MOST_LINES]]
        if len(found.bad) > MOST_LINES:
            lines.append(f"and {len(found.bad) - MOST_LINES:,} more")
        lines += found.notes
        self.said.setPlainText(show_hidden("\n".join(lines)))
        self.said.setVisible(bool(lines))
        self.without.setText(f"Leave out the {len(found.bad):,} rows that cannot be read")
        self.without.setVisible(bool(found.bad))
        self._count()

    def _count(self) -> None:
        found = self.found
        count = len(found.cases) if found is not None else 0
        self.without.setVisible(found is not None and bool(found.bad))
        self.take.setText(f"Import {count:,} cases" if count > 1 else "Import a case" if count else "Import")
        self.take.setEnabled(bool(count) and (found is None or not found.bad or self.without.isChecked()))

    def _import(self) -> None:
        found = self.found
        if found is None:
            return
        taken = imported_cases(found)
        self.accept()
        self.imported.emit(Imported(taken.cases, taken.checks, taken.variants, self.instead.isChecked()))


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count != 1 else ''}"


async def import_cases(look: Look, window: QWidget) -> None:
    """Ask for a file, and let its cases be looked over and taken."""
    path = await ask_which(window, "Import cases", "", f"{KINDS};;All files (*)")
    if path is not None:
        open_import(look, path, window)


def open_import(look: Look, path: Path, window: QWidget) -> ImportCasesDialog:
    """Let the cases of a file be looked over and taken."""
    dialog = ImportCasesDialog(path, len(look.plan.cases), window)
    dialog.imported.connect(lambda found: _take(look, found))
    dialog.open()
    return dialog


def _take(look: Look, found: Imported) -> None:
    plan = look.plan
    before: Sequence[Case] = () if found.instead else plan.cases
    if len(before) + len(found.cases) > MOST_CASES:
        look.refused.emit(f"An evaluation has {MOST_CASES:,} cases at most. Nothing was taken over.")
        return
    look.change_apart(
        cases=(*before, *found.cases),
        checks=(*plan.checks, *found.checks),
        variants=(*plan.variants, *found.variants),
    )
