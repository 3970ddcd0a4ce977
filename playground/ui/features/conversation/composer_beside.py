"""What stands beside the text being written, by its role: the call that a result answers, the calls of an answer.

Made when a role first needs it, after the window's first paint.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from playground.domain.parts import ToolCall
from playground.domain.roles import Role
from playground.domain.tools import ToolDefinition
from playground.ui.features.conversation.answers_row import AnswersRow, Calls
from playground.ui.features.conversation.calls.call_form import CallForm
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import discard, in_column
from playground.ui.widgets.scroll_page import FittingArea

MOST, LEAST = 230, 96  # pixels; more calls scroll
MOST_FORMS = 40  # calls that have a form; a draft from elsewhere may hold any number


class ComposerBeside(QWidget):
    """``answers`` and ``calls`` are what is written. ``submitted``: Ctrl+Enter in a call's arguments."""

    edited = Signal()
    submitted = Signal()

    def __init__(self, above: Calls, tools: tuple[ToolDefinition, ...]) -> None:
        """``above`` gives the calls that a result may answer."""
        super().__init__()
        self._above = above
        self._tools = tools
        self._role = Role.USER
        self.answers = ""
        self.forms: list[CallForm] = []
        self._rest: tuple[ToolCall, ...] = ()  # calls without a form
        self._more = text_label("", "small")
        self.row = AnswersRow(above, at_once=True)
        self.row.chosen.connect(self._call_chosen)
        self._list = in_column(margins=0, spacing=6)
        self._calls = QWidget()
        in_column(self._list, self._more, of=self._calls, margins=0)
        self._scroll = FittingArea(most=MOST, least=LEAST)
        self._scroll.hold(self._calls)
        self._scroll.setAccessibleName("Calls of the message")
        self.add = styled(QPushButton("Tool call"), "quiet")
        self.add.setIcon(icon("plus"))
        self.add.setAccessibleName("Add a tool call")
        self.add.setToolTip("A call that this turn makes: a tool, an id, arguments")
        self.add.clicked.connect(self._add_asked)
        in_column(self.row, self._scroll, (self.add, 0, Qt.AlignmentFlag.AlignLeft), of=self, margins=0, spacing=4)
        self.show_role(Role.USER)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls as they are written, finished or not."""
        return (*(form.call for form in self.forms), *self._rest)

    def show_role(self, role: Role) -> None:
        """Show what goes with a text of that role. What was written for another one waits until its role is back."""
        self._role = role
        self.row.setVisible(role is Role.TOOL)
        self.add.setVisible(role is Role.ASSISTANT)
        self.setVisible(role in (Role.TOOL, Role.ASSISTANT))
        self._fit()
        self.follow()

    def put(self, answers: str, calls: tuple[ToolCall, ...]) -> None:
        """Show these, without telling."""
        self.answers = answers
        calls, self._rest = calls[:MOST_FORMS], calls[MOST_FORMS:]
        self._more.setText(f"and {len(self._rest):,} more calls")
        self._more.setVisible(bool(self._rest))
        for form in self.forms[len(calls) :]:
            self._take_out(form)
        while len(self.forms) < len(calls):
            self._add()
        for form, call in zip(self.forms, calls, strict=True):
            form.set_call(call)
        self._number()
        self.follow()

    def set_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """The tools on offer."""
        self._tools = tools
        for form in self.forms:
            form.set_tools(tools)

    def follow(self) -> None:
        """Other calls may wait now."""
        if self._role is Role.TOOL:
            first = next((entry.call.id for entry in self._above() if entry.waits), "")
            self.row.show_call(self.answers, "" if self.answers else first)

    def _call_chosen(self, call_id: str) -> None:
        self.answers = call_id
        self.edited.emit()
        self.follow()

    def _add_asked(self) -> None:
        form = self._add()
        self._number()
        form.setFocus()
        self._calls.adjustSize()
        self._scroll.ensureWidgetVisible(form)
        self.edited.emit()

    def _add(self) -> CallForm:
        form = CallForm()
        form.set_tools(self._tools)
        form.edited.connect(self.edited)
        form.submitted.connect(self.submitted)
        form.height_changed.connect(self._fit)
        form.removed.connect(lambda: self._remove(form))
        self.forms.append(form)
        self._list.addWidget(form)
        return form

    def _remove(self, form: CallForm) -> None:
        at = self.forms.index(form)
        self._take_out(form)
        self._number()
        left = self.forms[min(at, len(self.forms) - 1)] if self.forms else self.add
        left.setFocus()
        self.edited.emit()

    def _take_out(self, form: CallForm) -> None:
        self.forms.remove(form)
        discard(self._list, form)

    def _number(self) -> None:
        for number, form in enumerate(self.forms, 1):
            form.set_number(number, len(self.forms))
        self._fit()

    def _fit(self) -> None:
        self._scroll.setVisible(self._role is Role.ASSISTANT and bool(self.forms))
        self._scroll.updateGeometry()
