"""What happens on a tool call, in the rows of the Parameters panel: the default rule's choice, the limit, the way on.

The three controls stand in another panel's rows, so this is no widget itself. Gets a ``Debugging``, hands back another.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy

from playground.domain.debugging import Answer, Debugging, Policy
from playground.ui.features.debugger.number_field import NumberField
from playground.ui.features.debugger.texts import POLICIES, rule_words
from playground.ui.widgets.choice_fields import CompactCombo
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.plain_text import shown_name, tip

HELP = (
    "What happens when the model calls a tool. Tools with a rule of their own go by that.\n"
    "Not sent: it is the debugger's setting."
)
LIMIT_HELP = "Step limit: requests that go out without a stop; 0 or empty for as many as it takes"
MOST_NAMED = 12


class DefaultRuleFields(QObject):
    """``policy``, ``limit`` and ``rules`` are the controls. ``changed`` gives the new value, ``rules_asked`` a name."""

    changed = Signal(object)
    rules_asked = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._debugging = Debugging()
        self.policy = CompactCombo()
        self.policy.setAccessibleName("On a tool call")
        self.policy.setAccessibleDescription(HELP)
        self.policy.setToolTip(tip(HELP))
        for value, words in POLICIES:
            self.policy.addItem(words, value.value)
        self.limit = NumberField(LIMIT_HELP, "none", whole=True, most=1_000_000)
        self.limit.setAccessibleName("Step limit")
        self.rules = styled(QPushButton("Rules…"), "field")
        self.rules.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.policy.activated.connect(self._chosen)
        self.limit.edited.connect(self._limited)
        self.rules.clicked.connect(self._ask)
        self.show_value(self._debugging)

    def show_value(self, debugging: Debugging) -> None:
        """Show the rules without telling anyone."""
        self._debugging = debugging
        self.policy.setCurrentIndex([value for value, _ in POLICIES].index(debugging.default.policy))
        self.policy.updateGeometry()
        self.limit.show_value(debugging.step_limit)
        own = debugging.rules
        self.rules.setText(f"{len(own)} · Rules…" if own else "Rules…")
        named = [f"{shown_name(name)}: {rule_words(rule)}" for name, rule in list(own.items())[:MOST_NAMED]]
        words = "\n".join(named) or "No tool has a rule of its own yet."
        self.rules.setToolTip(tip(words))
        self.rules.setAccessibleName("Rules by tool")
        self.rules.setAccessibleDescription(words)

    def _chosen(self, at: int) -> None:
        policy = Policy(self.policy.itemData(at))
        default = self._debugging.default.model_copy(update={"policy": policy})
        self._tell(self._debugging.with_default(default))
        nothing = (policy is Policy.TABLE and not default.rows) or (
            policy is Policy.FIXED and default.fixed == Answer()
        )
        if nothing:  # there is nothing to answer with yet: that is where to go next
            self._ask()

    def _limited(self) -> None:
        self._tell(self._debugging.model_copy(update={"step_limit": int(self.limit.value)}))

    def _tell(self, debugging: Debugging) -> None:
        if debugging != self._debugging:
            self._debugging = debugging
            self.changed.emit(debugging)

    def _ask(self) -> None:
        self.rules_asked.emit("")
