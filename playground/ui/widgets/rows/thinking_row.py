"""Extended thinking: off, adaptive, or enabled with a budget; any other object is shown as JSON and kept."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from playground.domain.hints import Hint
from playground.jsonkit.values import JSON
from playground.ui.widgets.choice_fields import ChoiceField, ValueField
from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.numbers import read_number
from playground.ui.widgets.rows.row import FieldRow, as_text

#: The ``type`` that is sent, by its label.
KINDS = {"off": "disabled", "adaptive": "adaptive", "enabled": "enabled"}
LEAST_BUDGET = 1024


class ThinkingRow(FieldRow):
    """A choice, and a field for the budget below it while thinking is enabled."""

    def __init__(self, name: str, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self.field = ChoiceField()
        self.field.set_choices(tuple(KINDS))
        self.field.picked.connect(self._set_kind)
        self.head.addWidget(self.field)
        self.budget = ValueField()
        self.budget.setPlaceholderText("tokens")
        self.budget.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.budget.textEdited.connect(self._set_budget)
        self.budget.cleared.connect(self._clear_budget)
        words = text_label("Budget of tokens", "muted")
        words.setBuddy(self.budget)
        self._budget_line = QWidget()
        in_row((words, 1), self.budget, parent=self._budget_line, margins=(0, 6, 0, 0))
        self.body.addWidget(self._budget_line)
        self._introduce(self.field)
        self.budget.setAccessibleName(f"{hint.label}, budget of tokens")
        self._show(None)

    def main_field(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        kind, budget = _read(value)
        self.field.show_text(kind)
        self.budget.setText("" if budget is None else str(budget))
        self._budget_line.setVisible(kind == "enabled")

    def _set_kind(self, text: str | None) -> None:
        if text == "enabled":
            value: JSON = {"type": "enabled", "budget_tokens": LEAST_BUDGET}
            self._show(value)
            self._tell(value)
        elif text is None or text in KINDS:
            self._budget_line.hide()
            self._tell({"type": KINDS[text]} if text else None)
        else:
            self._budget_line.hide()
            self._set_typed(text)

    def _clear_budget(self) -> None:
        self.budget.clear()
        self._set_budget("")

    def _set_budget(self, text: str) -> None:
        try:
            budget = read_number(text, True) if text.strip() else None
        except ValueError as error:
            self._tell(None, str(error))
            return
        self._tell({"type": "enabled"} if budget is None else {"type": "enabled", "budget_tokens": budget})


def _read(value: JSON) -> tuple[str, JSON]:
    """Return the label of a value and its budget; for an unknown shape, the value as JSON."""
    if value is None:
        return "", None
    if isinstance(value, dict) and set(value) <= {"type", "budget_tokens"}:
        for words, kind in KINDS.items():
            if value.get("type") == kind and (kind == "enabled" or "budget_tokens" not in value):
                return words, value.get("budget_tokens")
    return as_text(value), None
