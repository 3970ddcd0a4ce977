"""Responses to tool calls: the default of an experiment and its limit of requests, below the tools.

Gets a ``Debugging`` and hands back another one.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from playground.domain.debugging import Answer, Debugging, Policy
from playground.ui.features.debugger.fields import NumberField
from playground.ui.features.debugger.texts import POLICIES, rule_words
from playground.ui.widgets.choice_fields import CompactCombo
from playground.ui.widgets.form_parts import styled, text_label, thin_line
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import shown_name, tip

POLICY_LABEL = "When the model calls a tool"
POLICY_HELP = "Tools with a response of their own use that one. This is not sent to the model."
LIMIT_LABEL = "Max requests per run"
LIMIT_HELP = "Requests that a run sends without a stop. 0: unlimited."
MOST_REQUESTS = 1_000_000
MOST_NAMED = 12


class ResponseDefaults(QWidget):
    """``changed`` gives the new value; ``rules_asked`` asks for the responses of each tool."""

    changed = Signal(object)
    rules_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._debugging = Debugging()
        self.policy = CompactCombo()
        self.policy.setAccessibleName(POLICY_LABEL)
        self.policy.setAccessibleDescription(POLICY_HELP)
        self.policy.setToolTip(tip(POLICY_HELP))
        for value, words in POLICIES:
            self.policy.addItem(words, value.value)
        self.limit = NumberField(LIMIT_LABEL, "unlimited", whole=True, most=MOST_REQUESTS, help_text=LIMIT_HELP)
        self.rules = styled(QPushButton("Tool responses…"), "quiet")
        self.rules.setAccessibleName("Tool responses")
        policy_label, limit_label = text_label(POLICY_LABEL, wrap=True), text_label(LIMIT_LABEL, wrap=True)
        policy_label.setBuddy(self.policy)
        limit_label.setBuddy(self.limit)
        rows = in_column(
            in_row(text_label("Responses", "group"), 1, self.rules, spacing=8),
            in_row((policy_label, 1), self.policy, spacing=8),
            in_row((limit_label, 1), self.limit, spacing=8),
            margins=(16, 6, 12, 10),
            spacing=6,
        )
        in_column(thin_line(), rows, of=self, margins=0, spacing=0)
        self.policy.activated.connect(self._choose_policy)
        self.limit.edited.connect(self._set_limit)
        self.rules.clicked.connect(self._open_rules)
        self.show_value(self._debugging)

    def show_value(self, debugging: Debugging) -> None:
        """Show the rules without reporting a change."""
        self._debugging = debugging
        self.policy.setCurrentIndex([value for value, _ in POLICIES].index(debugging.default.policy))
        self.policy.updateGeometry()
        self.limit.show_value(debugging.step_limit)
        rules = debugging.rules
        self.rules.setText(f"Tool responses ({len(rules)})…" if rules else "Tool responses…")
        names = [f"{shown_name(name)}: {rule_words(rule)}" for name, rule in list(rules.items())[:MOST_NAMED]]
        words = "\n".join(names) or "No tool has a response of its own yet."
        self.rules.setToolTip(tip(words))
        self.rules.setAccessibleDescription(words)

    def _choose_policy(self, index: int) -> None:
        policy = Policy(self.policy.itemData(index))
        default = self._debugging.default.model_copy(update={"policy": policy})
        self._change(self._debugging.with_default(default))
        is_empty = (policy is Policy.TABLE and not default.rows) or (
            policy is Policy.FIXED and default.fixed == Answer()
        )
        if is_empty:  # the reply is still to be written
            self._open_rules()

    def _set_limit(self) -> None:
        self._change(self._debugging.model_copy(update={"step_limit": int(self.limit.value())}))

    def _change(self, debugging: Debugging) -> None:
        if debugging != self._debugging:
            self._debugging = debugging
            self.changed.emit(debugging)

    def _open_rules(self) -> None:
        self.rules_asked.emit("")
