"""Results of tool calls in the side panel: the default with the limit of requests, and the rule of one tool.

Both views get a ``Debugging`` and hand back another one. Mock rows, replies and breakpoints are edited in a dialog.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QWidget

from playground.domain.debugging import Answer, Debugging, Policy, ToolRule
from playground.domain.hints import hints_of, setting
from playground.ui.features.debugger.texts import POLICIES, rule_words
from playground.ui.widgets.choice_fields import CompactCombo
from playground.ui.widgets.form_parts import push_button, say, text_label, thin_line
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import shown_name, tip
from playground.ui.widgets.rows.form import Form, form_for

TOOL_HELP = "How calls of this tool get their results. The rule is not sent to the model."
NO_SERVER = "This tool does not come from a tool server."
MOST_NAMED = 12
POLICY_HINT: Final = setting(
    "When the model calls a tool",
    editor="pick",
    choices=POLICIES,
    start=Policy.PAUSE.value,
    help="Tools with a rule of their own use that one. This is not sent to the model.",
)
_POLICIES = [policy for policy, _ in POLICIES]
_WORDS = dict(POLICIES)


class RuleSummary(NamedTuple):
    """The rule of a tool: its policy in words, the rule in a line, and whether it is the tool's own."""

    policy: str
    rule: str
    is_own: bool


def rule_summary_of(debugging: Debugging, name: str) -> RuleSummary:
    """Return how the calls of a tool are answered."""
    rule = debugging.rule(name)
    return RuleSummary(_WORDS[rule.policy], rule_words(rule), name in debugging.rules)


def lacks_reply(rule: ToolRule) -> bool:
    """Return whether the reply of a rule is still to be written."""
    return (rule.policy is Policy.TABLE and not rule.rows) or (rule.policy is Policy.FIXED and rule.fixed == Answer())


class ResultRulesView(QWidget):
    """Base of the views. ``changed`` carries the edited rules, ``rules_asked`` the tool to edit; "" is the default."""

    changed = Signal(object)
    rules_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._debugging = Debugging()

    def show_debugging(self, debugging: Debugging) -> None:
        """Show rules without reporting a change."""
        self._debugging = debugging
        self._show()

    def _show(self) -> None:
        raise NotImplementedError

    def _change(self, debugging: Debugging, edited: str | None = None) -> None:
        """Report other rules; ask for the dialog if the reply of the rule ``edited`` is still to be written."""
        if debugging != self._debugging:
            self._debugging = debugging
            self._show()
            self.changed.emit(debugging)
        if edited is not None and lacks_reply(debugging.rule(edited)):
            self.rules_asked.emit(edited)


class ResultDefaults(ResultRulesView):
    """The rule of tools without one of their own, and the limit of requests."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        hints = {"default.policy": POLICY_HINT, "step_limit": hints_of(Debugging)["step_limit"]}
        self.form: Form[Debugging] = form_for(Debugging, hints=hints, is_wide=False)
        self.rules = push_button("Tool results…", "quiet")
        self.rules.setAccessibleName("Tool results")
        head = in_row(text_label("Results", "group"), 1, self.rules, spacing=8)
        rows = in_column(head, self.form, margins=(16, 6, 12, 10), spacing=6)
        in_column(thin_line(), rows, parent=self, margins=0, spacing=0)
        self.form.set_value(self._debugging)
        self.form.changed.connect(self._take)
        self.rules.clicked.connect(lambda: self.rules_asked.emit(""))
        self._show()

    def _show(self) -> None:
        if self.form.value != self._debugging:
            self.form.set_value(self._debugging)
        rules = self._debugging.rules
        self.rules.setText(f"Tool results ({len(rules)})…" if rules else "Tool results…")
        names = [f"{shown_name(name)}: {rule_words(rule)}" for name, rule in list(rules.items())[:MOST_NAMED]]
        words = "\n".join(names) or "No tool has a rule of its own yet."
        self.rules.setToolTip(tip(words))
        self.rules.setAccessibleDescription(words)

    def _take(self, debugging: Debugging, _errors: dict[str, str]) -> None:
        is_other_policy = debugging.default.policy is not self._debugging.default.policy
        self._change(debugging, "" if is_other_policy else None)


class ToolResultRow(ResultRulesView):
    """The rule of one tool: a choice with the default first, its rows and breakpoints in words, and a button."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = ""
        self._has_server = False
        self.policy = CompactCombo()
        self.policy.setAccessibleName("Results for this tool")
        self.policy.setAccessibleDescription(TOOL_HELP)
        self.policy.setToolTip(tip(TOOL_HELP))
        self.policy.activated.connect(self._choose_policy)
        self.edit_button = push_button("Edit…", "quiet")
        self.edit_button.setAccessibleName("Edit results of this tool")
        self.edit_button.setToolTip("Edit mock rows, the fixed reply and breakpoints")
        self.words = text_label("", "small", wrap=True)
        self.words.setObjectName("toolResult")
        caption = text_label("When called", "group")
        caption.setBuddy(self.policy)
        row = in_row(caption, self.policy, 1, self.edit_button, spacing=8)
        in_column(row, self.words, parent=self, margins=0, spacing=2)
        self.edit_button.clicked.connect(lambda: self.rules_asked.emit(self._name))
        self._show()

    def show_tool(self, name: str, *, has_server: bool) -> None:
        """Show the rule of another tool; only a tool of a server can have its calls sent to one."""
        if (name, has_server) != (self._name, self._has_server):
            self._name, self._has_server = name, has_server
            self._show()

    def _show(self) -> None:
        default, rule = self._debugging.default, self._debugging.rule(self._name)
        is_own = self._name in self._debugging.rules
        items = [f"Default: {_WORDS[default.policy]}", *_WORDS.values()]
        if [self.policy.itemText(index) for index in range(self.policy.count())] != items:
            self.policy.clear()
            self.policy.addItems(items)
        model = self.policy.model()
        if isinstance(model, QStandardItemModel):
            server = model.item(1 + _POLICIES.index(Policy.SERVER))
            server.setEnabled(self._has_server)
            server.setToolTip("" if self._has_server else NO_SERVER)
        self.policy.setCurrentIndex(1 + _POLICIES.index(rule.policy) if is_own else 0)
        self.policy.setEnabled(bool(self._name))
        words = rule_words(rule)
        say(self.words, words if words != _WORDS[rule.policy] else "")

    def _choose_policy(self, index: int) -> None:
        if index == 0:
            self._change(self._debugging.with_rule(self._name, None))
            return
        rule = self._debugging.rule(self._name).model_copy(update={"policy": _POLICIES[index - 1]})
        self._change(self._debugging.with_rule(self._name, rule), self._name)
