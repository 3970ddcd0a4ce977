"""The default response to tool calls, its limit, and the way to the responses of each tool: controls for a form."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy

from playground.domain.debugging import Answer, Debugging, Policy
from playground.ui.features.debugger.fields import NumberField
from playground.ui.features.debugger.texts import POLICIES, rule_words
from playground.ui.widgets.choice_fields import CompactCombo
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.plain_text import shown_name, tip

HELP = "Response to tool calls without a response of their own. Not sent."
LIMIT_HELP = "Max requests per run (0 = unlimited)"
MAX_NAMED = 12


class DefaultRuleFields(QObject):
    """`policy`, `limit` and `rules` are the controls. `changed` carries the new value, `rules_asked` a tool's name."""

    changed = Signal(object)
    rules_asked = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._debugging = Debugging()
        self.policy = CompactCombo()
        self.policy.setAccessibleName("When the model calls a tool")
        self.policy.setAccessibleDescription(HELP)
        self.policy.setToolTip(tip(HELP))
        for value, words in POLICIES:
            self.policy.addItem(words, value.value)
        self.limit = NumberField(LIMIT_HELP, "none", whole=True, most=1_000_000)
        self.limit.setAccessibleName("Max requests per run")
        self.rules = styled(QPushButton("Edit…"), "field")
        self.rules.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.rules.setAccessibleName("Tool responses")
        self.policy.activated.connect(self._choose)
        self.limit.edited.connect(self._set_limit)
        self.rules.clicked.connect(self._open_rules)
        self.show_value(self._debugging)

    def show_value(self, debugging: Debugging) -> None:
        """Show rules without a signal."""
        self._debugging = debugging
        self.policy.setCurrentIndex([value for value, _ in POLICIES].index(debugging.default.policy))
        self.policy.updateGeometry()
        self.limit.show_value(debugging.step_limit)
        rules = debugging.rules
        self.rules.setText(f"{len(rules)} · Edit…" if rules else "Edit…")
        named = [f"{shown_name(name)}: {rule_words(rule)}" for name, rule in list(rules.items())[:MAX_NAMED]]
        words = "\n".join(named) or "Every tool follows the default."
        self.rules.setToolTip(tip(words))
        self.rules.setAccessibleDescription(words)

    def _choose(self, index: int) -> None:
        policy = Policy(self.policy.itemData(index))
        default = self._debugging.default.model_copy(update={"policy": policy})
        self._set(self._debugging.with_default(default))
        without_rows = policy is Policy.TABLE and not default.rows
        if without_rows or (policy is Policy.FIXED and default.fixed == Answer()):
            self._open_rules()

    def _set_limit(self) -> None:
        self._set(self._debugging.model_copy(update={"step_limit": int(self.limit.value)}))

    def _set(self, debugging: Debugging) -> None:
        if debugging != self._debugging:
            self._debugging = debugging
            self.changed.emit(debugging)

    def _open_rules(self) -> None:
        self.rules_asked.emit("")
