"""The form of the current case: fields for its values, and its own messages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from playground.domain.hidden import show_hidden
from playground.engine.session.plan import Case
from playground.jsonkit.texts import cut
from playground.ui.features.evaluate.panels.case_model import ASKS, Column
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.role_words import ROLE_WORDS
from playground.ui.widgets.scroll_page import FittingArea

TALLEST, LEAST = 300, 90  # pixels
MOST_LINES = 8
MOST_FIELDS = 24
MOST_TURNS = 12
_TURN = 400  # characters


class CaseForm(FittingArea):
    """The form. ``edited`` carries the column and its new text."""

    edited = Signal(object, str)

    def __init__(self) -> None:
        super().__init__(most=TALLEST, least=LEAST)
        self._columns: tuple[Column, ...] = ()
        self._case = ""
        self._showing = False
        self.fields: dict[Column, GrowingField] = {}
        self.turns = text_label("", "small", wrap=True)

    def show_case(self, case: Case, columns: Sequence[Column], values: dict[str, str]) -> None:
        """Show a case; fields whose text is the same are left alone, so that typing goes on."""
        form_columns = tuple(column for column in columns if column.name != ASKS or column.variable)[:MOST_FIELDS]
        if form_columns != self._columns:
            self._make(form_columns)
        self._showing = True
        for column, field in self.fields.items():
            text = column.text_of(case) or ""
            if field.text() != text:
                field.set_text(text)
            default = values.get(column.name, "") if column.variable else ""
            field.setPlaceholderText(show_hidden(cut(default, 200)) or ("no value" if column.variable else ""))
        self._showing = False
        self._case = case.id
        lines = [f"{ROLE_WORDS[turn.role]}: {cut(' '.join(turn.text.split()), _TURN)}" for turn in case.turns]
        more = [f"and {len(lines) - MOST_TURNS:,} more messages"] if len(lines) > MOST_TURNS else []
        self.turns.setText(show_hidden("\n".join([*lines[:MOST_TURNS], *more])))
        self.turns.setVisible(bool(lines))
        self.updateGeometry()

    def _make(self, columns: tuple[Column, ...]) -> None:
        self._columns, self.fields = columns, {}
        self.turns = text_label("", "small", wrap=True)
        content = QWidget()
        layout = in_column(self.turns, parent=content, margins=(0, 4, 4, 4), spacing=3)
        for column in columns:
            field = self.fields[column] = styled(GrowingField(most=MOST_LINES, compact=True), "field")
            field.setAccessibleName(f"{column.title} of this case")
            field.textChanged.connect(partial(self._typed, column))
            field.height_changed.connect(self.updateGeometry)
            layout.addWidget(text_label(show_hidden(column.title), "small"))
            layout.addWidget(field)
        layout.addStretch(1)
        self.hold(content)

    def _typed(self, column: Column) -> None:
        if not self._showing:
            self.edited.emit(column, self.fields[column].text())
