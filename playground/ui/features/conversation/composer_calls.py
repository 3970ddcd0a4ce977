"""Tool calls in the composer, by the role of the message: the call that a result answers, the calls of an answer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from playground.domain.parts import ToolCall
from playground.domain.roles import Role
from playground.domain.tools import ToolDefinition
from playground.engine.session.edits import Answerable
from playground.ui.features.conversation.answers_row import AnswersRow, Calls
from playground.ui.features.conversation.calls.call_form import CallForm
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import discard, in_column
from playground.ui.widgets.scroll_page import FittingArea

TALLEST, LEAST = 230, 96  # pixels of the calls; more of them scroll
MOST_FORMS = 40  # calls that get a form; a draft of an imported file may have any number


class ComposerCalls(QWidget):
    """Editors of the calls of a message; ``submitted`` is Ctrl+Enter in the arguments."""

    edited = Signal()
    submitted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._above: Calls = list
        self._tools: tuple[ToolDefinition, ...] = ()
        self._role = Role.USER
        self.answered_id = ""  # of the call that the result answers
        self.forms: list[CallForm] = []
        self._without_form: tuple[ToolCall, ...] = ()
        self._more = text_label("", "small")
        self.answers = AnswersRow(self._answerable_calls, at_once=True)
        self.answers.chosen.connect(self._choose_call)
        self._list = in_column(margins=0, spacing=6)
        content = self._content = QWidget()
        in_column(self._list, self._more, parent=content, margins=0)
        self._scroll = FittingArea(most=TALLEST, least=LEAST)
        self._scroll.hold(content)
        self._scroll.setAccessibleName("Calls of the message")
        self.add = styled(QPushButton("Tool call"), "quiet")
        self.add.setIcon(icon("plus"))
        self.add.setAccessibleName("Add a tool call")
        self.add.setToolTip("A call that this message makes: tool, id and arguments")
        self.add.clicked.connect(self._add_call)
        rows = (self.answers, self._scroll, (self.add, 0, Qt.AlignmentFlag.AlignLeft))
        in_column(*rows, parent=self, margins=0, spacing=4)
        self.show_role(Role.USER)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The written calls, complete or not."""
        return (*(form.call for form in self.forms), *self._without_form)

    def show_role(self, role: Role) -> None:
        """Show the editors for a role; content for other roles is preserved."""
        self._role = role
        self.answers.setVisible(role is Role.TOOL)
        self.add.setVisible(role is Role.ASSISTANT)
        self.setVisible(role in (Role.TOOL, Role.ASSISTANT))
        self._fit()
        self._show_answered_call()

    def set_value(self, answered_id: str, calls: tuple[ToolCall, ...]) -> None:
        """Show the answered call and the written calls without reporting a change."""
        self.answered_id = answered_id
        calls, self._without_form = calls[:MOST_FORMS], calls[MOST_FORMS:]
        self._more.setText(f"and {len(self._without_form):,} more calls")
        self._more.setVisible(bool(self._without_form))
        for form in self.forms[len(calls) :]:
            self._discard(form)
        while len(self.forms) < len(calls):
            self._make_form()
        for form, call in zip(self.forms, calls, strict=True):
            form.set_call(call)
        self._number()
        self._show_answered_call()

    def set_context(self, above: Calls, tools: tuple[ToolDefinition, ...]) -> None:
        """Set where calls come from: ``above`` returns the calls to answer, ``tools`` are the experiment's."""
        self._above, self._tools = above, tools
        for form in self.forms:
            form.set_tools(tools)
        self._show_answered_call()

    def _answerable_calls(self) -> Sequence[Answerable]:
        return self._above()

    def _show_answered_call(self) -> None:
        if self._role is Role.TOOL:
            first = next((entry.call.id for entry in self._above() if entry.waits), "")
            self.answers.show_call(self.answered_id, "" if self.answered_id else first)

    def _choose_call(self, call_id: str) -> None:
        self.answered_id = call_id
        self.edited.emit()
        self._show_answered_call()

    def _add_call(self) -> None:
        form = self._make_form()
        self._number()
        form.setFocus()
        self._content.adjustSize()
        self._scroll.ensureWidgetVisible(form)
        self.edited.emit()

    def _make_form(self) -> CallForm:
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
        index = self.forms.index(form)
        self._discard(form)
        self._number()
        (self.forms[min(index, len(self.forms) - 1)] if self.forms else self.add).setFocus()
        self.edited.emit()

    def _discard(self, form: CallForm) -> None:
        self.forms.remove(form)
        discard(self._list, form)

    def _number(self) -> None:
        for number, form in enumerate(self.forms, 1):
            form.set_number(number, len(self.forms))
        self._fit()

    def _fit(self) -> None:
        self._scroll.setVisible(self._role is Role.ASSISTANT and bool(self.forms))
        self._scroll.updateGeometry()
