"""When the reasoning of earlier turns goes back to the gateway, and under which name: two fields of one setting.

The setting belongs to the gateway; a choice made here holds for the experiment. The two fields stand in the rows of
another panel, so this is no widget itself.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLabel, QWidget

from playground.domain.request import ReasoningReturn, SendReasoning
from playground.ui.widgets.choice_fields import CompactCombo
from playground.ui.widgets.form_parts import look
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.reasoning_words import REASONING_FIELDS, SEND_REASONING

HELP = (
    "Some models want the reasoning of their earlier turns back, some refuse it.\n"
    "Set in the gateway's settings; a choice made here holds for this experiment."
)
FIELD_HELP = "The field of the assistant message that carries it. Empty: the one it came under."


class ReasoningReturnFields(QObject):
    """``when`` and ``field`` are the controls. ``changed`` gives the rule, None for the gateway's own."""

    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._own: ReasoningReturn | None = None
        self._inherited = ReasoningReturn()
        self.when, self.field = CompactCombo(), CompactCombo()
        for box, says in ((self.when, HELP), (self.field, FIELD_HELP)):
            box.setToolTip(tip(says))
            box.setAccessibleDescription(says)
        self.when.setAccessibleName("Send reasoning back")
        self.when.addItem("", None)
        for value, words in SEND_REASONING:
            self.when.addItem(words, value.value)
        self.field.setAccessibleName("Field for the reasoning")
        self.field.setEditable(True)
        self.field.addItems(REASONING_FIELDS)
        line = self.field.lineEdit()
        if line is not None:
            line.setPlaceholderText("as it came")
            line.textEdited.connect(self._field_edited)
        self.when.activated.connect(self._when_chosen)
        self.field.activated.connect(self._field_edited)

    @property
    def rule(self) -> ReasoningReturn:
        """The rule in force."""
        return self._own if self._own is not None else self._inherited

    def show_value(self, own: ReasoningReturn | None, inherited: ReasoningReturn, *, applies: bool) -> None:
        """Show the experiment's rule and the gateway's; ``applies`` says whether the protocol knows such a thing."""
        self._own, self._inherited = own, inherited
        words = dict(SEND_REASONING)
        self.when.setItemText(0, f"gateway: {words[inherited.when]}")
        self.when.setCurrentIndex(0 if own is None else self.when.findData(own.when.value))
        if self.field.currentText() != self.rule.field:
            self.field.setEditText(self.rule.field)
        inherits = "true" if own is None else "false"
        look(self.when, inherits, "inherits")
        for label in _row(self.when).findChildren(QLabel):
            look(label, "muted" if own is None else "")
        _row(self.when).setVisible(applies)
        _row(self.field).setVisible(applies and self.rule.when is not SendReasoning.NEVER)

    def _when_chosen(self, index: int) -> None:
        chosen = self.when.itemData(index)
        rule = None if chosen is None else ReasoningReturn(when=SendReasoning(chosen), field=self.rule.field)
        self._tell(rule)

    def _field_edited(self, *_: object) -> None:
        name = self.field.currentText().strip()
        if name != self.rule.field:
            self._tell(ReasoningReturn(when=self.rule.when, field=name))

    def _tell(self, rule: ReasoningReturn | None) -> None:
        self.show_value(rule, self._inherited, applies=True)
        self.changed.emit(rule)


def _row(field: QWidget) -> QWidget:
    """The row the field was put into; the field itself while it stands alone."""
    return field.parentWidget() or field
