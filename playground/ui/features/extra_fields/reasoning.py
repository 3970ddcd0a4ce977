"""When the reasoning of earlier turns is sent to the gateway again, and in which field.

The setting belongs to the gateway; a choice made here holds for the experiment.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QWidget

from playground.domain.request import REASONING_FIELDS, SEND_REASONING, ReasoningReturn, SendReasoning
from playground.ui.widgets.choice_fields import CompactCombo
from playground.ui.widgets.form_parts import look, paragraph, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import tip

HELP = (
    "Some models need the reasoning of their earlier messages, others refuse it.\n"
    "The default is in the gateway's settings; a choice made here holds for this experiment."
)
FIELD_HELP = "The field of the assistant message for the reasoning. Empty: the field it was received in."
AS_RECEIVED = "as received"


class IncludeReasoning(QWidget):
    """``changed`` gives the experiment's rule, None for the gateway's."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._own: ReasoningReturn | None = None
        self._inherited = ReasoningReturn()
        self.when, self.field = CompactCombo(widest=210), CompactCombo()
        self._label = paragraph("Include past reasoning")
        self.when.addItem("", None)
        for value, words in SEND_REASONING:
            self.when.addItem(words.capitalize(), value.value)
        self.field.setEditable(True)
        self.field.addItems(REASONING_FIELDS)
        self.field.setItemData(REASONING_FIELDS.index(""), AS_RECEIVED, Qt.ItemDataRole.AccessibleTextRole)
        line = self.field.lineEdit()
        if line is not None:
            line.setPlaceholderText(AS_RECEIVED)
            line.textEdited.connect(self._field_edited)
        self._field_row = QWidget()
        _fill_row(self._field_row, text_label("Reasoning field"), self.field, FIELD_HELP)
        row = QWidget()
        _fill_row(row, self._label, self.when, HELP)
        in_column(row, self._field_row, parent=self, margins=0, spacing=6)
        self.when.activated.connect(self._when_chosen)
        self.field.activated.connect(self._field_edited)

    @property
    def rule(self) -> ReasoningReturn:
        """The rule in force."""
        return self._own if self._own is not None else self._inherited

    def show_value(self, own: ReasoningReturn | None, inherited: ReasoningReturn, *, applies: bool) -> None:
        """Show the experiment's rule and the gateway's; ``applies`` is False for a protocol without such a rule."""
        self._own, self._inherited = own, inherited
        self.when.setItemText(0, f"Gateway default ({dict(SEND_REASONING)[inherited.when]})")
        self.when.setCurrentIndex(0 if own is None else self.when.findData(own.when.value))
        if self.field.currentText() != self.rule.field:
            self.field.setEditText(self.rule.field)
        look(self.when, "true" if own is None else "false", "inherits")
        look(self._label, "muted" if own is None else "")
        self.setVisible(applies)
        self._field_row.setVisible(self.rule.when is not SendReasoning.NEVER)

    def _when_chosen(self, index: int) -> None:
        value = self.when.itemData(index)
        self._change(None if value is None else ReasoningReturn(when=SendReasoning(value), field=self.rule.field))

    def _field_edited(self, *_: object) -> None:
        name = self.field.currentText().strip()
        if name != self.rule.field:
            self._change(ReasoningReturn(when=self.rule.when, field=name))

    def _change(self, rule: ReasoningReturn | None) -> None:
        self.show_value(rule, self._inherited, applies=True)
        self.changed.emit(rule)


def _fill_row(row: QWidget, label: QLabel, field: CompactCombo, description: str) -> None:
    label.setBuddy(field)
    field.setAccessibleName(label.text())
    field.setAccessibleDescription(description)
    field.setToolTip(tip(description))
    in_row((label, 1), field, parent=row, margins=0, spacing=8)
