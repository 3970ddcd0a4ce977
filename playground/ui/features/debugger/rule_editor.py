"""The editor of one rule: what happens when a tool is called, when it pauses all the same, and its answers.

It gets a ``ToolRule`` and hands back a new one; it holds no truth. What a choice makes meaningless is not shown.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QWidget

from playground.domain.debugging import Answer, AnswerRow, Policy, ToolRule
from playground.ui.features.debugger.answer_field import AnswerField
from playground.ui.features.debugger.answer_table import AnswerTable
from playground.ui.features.debugger.number_field import NumberField
from playground.ui.features.debugger.path_field import PathField
from playground.ui.widgets.form_parts import paragraph, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.segments import Segments

ORDER: Final = (Policy.PAUSE, Policy.TABLE, Policy.FIXED, Policy.SERVER)
TITLES: Final = ("Pause", "Table", "Fixed", "The server")
HINTS: Final = {
    Policy.PAUSE: "Every call waits for you. The rows below are at hand: Step and Continue use them.",
    Policy.TABLE: "The first row that fits answers the call at once. A call that no row fits waits for you.",
    Policy.FIXED: "Every call gets this answer at once.",
    Policy.SERVER: "The tool's server is asked. A tool that says it may change or delete things always waits for you. "
    "One that says it only reads runs by itself if its server is trusted; any other one only by a rule of its own.",
}


class RuleEditor(QWidget):
    """``set_rule`` shows a rule, ``changed`` tells the one a person made of it."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rule = ToolRule()
        self._latest: str | None = None
        self._showing = False
        self.policy = Segments(TITLES, "When this tool is called")
        self.hint = paragraph("", "small")
        self.conditions = QWidget()
        self.misfit = QCheckBox("the arguments do not fit the schema")
        self.path = PathField("Pause when this JSONPath matches", "never, or $[?@.city == 'Oslo']")
        self.nth = NumberField("Pause from this call of the tool on", "never", whole=True, most=1_000_000)
        self.server = QWidget()
        self.before = QCheckBox("before the server is asked")
        self.after = QCheckBox("when it has answered, before that is sent")
        self.fixed = AnswerField("Answer", least=4)
        self.table_title = text_label("Answer table", "group")
        self.table = AnswerTable()
        self._arrange()
        self._connect()
        self._dress()

    @property
    def rule(self) -> ToolRule:
        """The rule as edited."""
        return self._rule

    def set_rule(self, rule: ToolRule, latest: str | None = None) -> None:
        """Show a rule without telling anyone; ``latest`` are the raw arguments of the tool's latest call, if any."""
        self._rule, self._latest = rule, latest
        self._showing = True
        self.policy.set_index(ORDER.index(rule.policy))
        self.misfit.setChecked(rule.pause_on_misfit)
        self.path.show_path(rule.pause_on_path, latest)
        self.nth.show_value(rule.pause_from)
        self.before.setChecked(rule.before)
        self.after.setChecked(rule.after)
        self.fixed.set_answer(rule.fixed)
        self.table.set_rows(rule.rows, latest)
        self._showing = False
        self._dress()

    def _arrange(self) -> None:
        caption = text_label("When it is called", "group")
        pause = text_label("Pause all the same when", "group")
        line = in_row(self.policy, 1)
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(6)
        matches = QLabel("a JSONPath matches")
        matches.setBuddy(self.path)
        matches.setContentsMargins(0, 4, 0, 0)  # on the line of the field, below which more may be said
        grid.addWidget(matches, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.path, 0, 1)
        calls = QLabel("from call number")
        calls.setBuddy(self.nth)
        grid.addWidget(calls, 1, 0)
        grid.addWidget(self.nth, 1, 1, Qt.AlignmentFlag.AlignLeft)
        grid.setColumnStretch(1, 1)
        in_column(self.before, self.after, of=self.server, margins=0, spacing=6)
        in_column(pause, self.server, self.misfit, grid, of=self.conditions, margins=(0, 8, 0, 0), spacing=6)
        column = in_column(caption, line, self.hint, self.conditions, of=self, margins=0, spacing=6)
        column.addSpacing(8)
        column.addWidget(self.fixed)
        column.addWidget(self.table_title)
        column.addWidget(self.table)
        column.addStretch(1)

    def _connect(self) -> None:
        self.policy.chosen.connect(self._policy_chosen)
        self.misfit.toggled.connect(self._misfit_toggled)
        self.before.toggled.connect(lambda on: self._change(before=on))
        self.after.toggled.connect(lambda on: self._change(after=on))
        self.path.edited.connect(self._path_edited)
        self.nth.edited.connect(self._nth_edited)
        self.fixed.changed.connect(self._fixed_edited)
        self.table.changed.connect(self._rows_edited)

    def _policy_chosen(self, index: int) -> None:
        self._change(policy=ORDER[index])

    def _misfit_toggled(self, on: bool) -> None:
        self._change(pause_on_misfit=on)

    def _path_edited(self, path: str) -> None:
        self._change(pause_on_path=path)

    def _nth_edited(self) -> None:
        self._change(pause_from=int(self.nth.value()))

    def _fixed_edited(self, answer: Answer) -> None:
        self._change(fixed=answer)

    def _rows_edited(self, rows: tuple[AnswerRow, ...]) -> None:
        self._change(rows=rows)

    def _change(self, **changes: object) -> None:
        if self._showing:
            return
        rule = self._rule.model_copy(update=changes)
        self._rule, before = rule, self._rule
        self._dress()
        if rule != before:
            self.changed.emit(rule)

    def _dress(self) -> None:
        policy = self._rule.policy
        self.hint.setText(HINTS[policy])
        self.conditions.setVisible(policy is not Policy.PAUSE)
        self.server.setVisible(policy is Policy.SERVER)
        self.fixed.setVisible(policy is Policy.FIXED)
        from_table = policy in (Policy.PAUSE, Policy.TABLE)
        self.table.setVisible(from_table)
        self.table_title.setVisible(from_table)
