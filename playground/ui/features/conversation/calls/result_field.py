"""The field in which a call's result is entered or inserted, with the buttons that send it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from playground.domain.debugging import Answer
from playground.domain.tools import ToolDefinition
from playground.engine.questions.kinds import SampleOf
from playground.jsonkit.reading import READ_AT_MOST, problem_at
from playground.jsonkit.texts import cut
from playground.ui.features.conversation.calls.call_commands import MAX_TYPED, CallCommands, CallState
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import paragraph, push_button, styled, text_label
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.widget_questions import WidgetQuestions

PLACEHOLDER, PLACEHOLDER_INSERTED = "Enter a result", "Inserted, see below"
MISSING = "Enter or insert a result first"
SERVER_KEY = "Ctrl+Shift+Enter"
MAX_PREVIEW = 48  # characters of a result in the menu
#: The beginning of JSON; a line such as `[Picture, not sent]` is none.
_JSON_START = re.compile(r'\s*(\{|\[\s*([\[\]{"\d-]|true\b|false\b|null\b|$))')


class _Field(GrowingField):
    """A growing field that reports Ctrl+Shift+Enter as `server_called`."""

    server_called = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() & both == both:
            self.server_called.emit()
        else:
            super().keyPressEvent(event)


class ResultField(QWidget):
    """Enter the result of the call that `key` gives as (turn id, call id).

    A result that is inserted from the menu is shown for review first; typing replaces it.
    """

    height_changed = Signal()

    def __init__(self, commands: CallCommands, key: Callable[[], tuple[str, str]]) -> None:
        super().__init__()
        self._commands = commands
        self._key = key
        self._tool: ToolDefinition | None = None
        self._name = ""
        self._prepared: Answer | None = None
        self._sample = WidgetQuestions(self)
        self._sample.answered.connect(self._insert_sample)
        self.insert_button = styled(QToolButton(), "quiet")
        self.insert_button.setText("Insert")
        self.insert_button.setProperty("arrow", "true")
        self.insert_button.setAccessibleName("Insert a result")
        self.insert_button.setToolTip("Insert a sample, a mock row or a failure; nothing is sent")
        self.insert_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.insert_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        menu = QMenu(self.insert_button)
        menu.aboutToShow.connect(self._fill_menu)
        self.insert_button.setMenu(menu)
        self.field = _Field(code=True, most=14)
        self.field.setPlaceholderText(PLACEHOLDER)
        self.field.setAccessibleName("Result of the call")
        self.field.submitted.connect(self._send)
        self.field.cancelled.connect(commands.stop)
        self.field.server_called.connect(self._call_server)
        self.field.height_changed.connect(self.height_changed)
        self.field.textChanged.connect(self._typed)
        self._description = paragraph("", "small")
        self._description.setObjectName("preparedResult")
        self._description.hide()
        self._check = paragraph("", "flag-error")
        self._check.hide()
        self.send_button = _button("Send result", self._send, "primary")
        self.error_button = _button("Send as error", self._send_error)
        self.lanes_button = _button("Send to all lanes", self._send_to_lanes)
        self.lanes_button.hide()
        self.server_button = _button("Call server", self._call_server)
        self.server_button.hide()
        self._server_can_be_called = False
        head = in_row(text_label("Result", "muted"), self.insert_button, 1, margins=0, spacing=6)
        buttons = QWidget()
        flow = FlowLayout(buttons)
        for button in (self.send_button, self.error_button, self.lanes_button, self.server_button):
            flow.addWidget(button)
        in_column(head, self.field, self._description, self._check, buttons, parent=self, margins=0, spacing=4)
        self.setFocusProxy(self.field)
        self._offer()

    @property
    def text(self) -> str:
        """The text in the field."""
        return self.field.text()

    @property
    def head_height(self) -> int:
        """The height of the line with the caption, in pixels."""
        return self.insert_button.sizeHint().height()

    def show_tool(self, name: str, tool: ToolDefinition | None) -> None:
        """Offer samples for this tool."""
        self._name, self._tool = name, tool

    def show_state(self, state: CallState) -> None:
        """Show the draft, and offer the server and the other lanes."""
        prepared = state.prepared
        if prepared != self._prepared:
            self._prepared = prepared
            self._description.setText(_describe(prepared) if prepared is not None else "")
            self._description.setVisible(prepared is not None)
            self.field.setPlaceholderText(PLACEHOLDER if prepared is None else PLACEHOLDER_INSERTED)
        text = state.draft if prepared is None else prepared.text if _fits_field(prepared) else ""
        if text != self.text:
            with QSignalBlocker(self.field):
                self.field.set_text(text)
            self._judge()
        is_late = prepared is not None and (prepared.never or bool(prepared.delay))
        self.lanes_button.setVisible(bool(state.other_lanes) and not is_late)
        server = state.server
        self.server_button.setVisible(server is not None and server.ticket is None)
        self._server_can_be_called = server is not None and server.ticket is None and not server.refusal
        self.server_button.setEnabled(self._server_can_be_called)
        if server is not None:
            description = f"Call {server.name}; its answer is put here, and nothing is sent ({SERVER_KEY})"
            self.server_button.setToolTip(tip(server.refusal or description))
            self.server_button.setAccessibleDescription(server.refusal)
        self._offer()
        self.height_changed.emit()

    def _offer(self) -> None:
        """Enable the send buttons if there is a result."""
        can_send = bool(self.text.strip()) or self._prepared is not None
        for button, description in (
            (self.send_button, "Send this result (Ctrl+Enter)"),
            (self.error_button, "Send this text as the tool's error"),
            (self.lanes_button, "Answer the same call in every lane that waits for it"),
        ):
            button.setEnabled(can_send)
            button.setToolTip(description if can_send else MISSING)
            button.setAccessibleDescription("" if can_send else MISSING)

    # The menu

    def _fill_menu(self) -> None:
        menu = self.insert_button.menu()
        menu.clear()
        if self._tool is not None and self._tool.output:
            menu.addAction("Sample from the result schema").triggered.connect(self._insert_sample)
        if last := self._commands.last_result(self._name):
            self._add(menu, "Last result", Answer(text=last))
        for label, answer in self._commands.mock_rows(self._name):
            self._add(menu, label, answer)
        menu.addSeparator()
        for label, answer in self._commands.failures():
            self._add(menu, label, answer)

    def _add(self, menu: QMenu, label: str, answer: Answer) -> None:
        text = f"{answer.size:,} characters" if answer.size else answer.text[: MAX_PREVIEW * 4]
        preview = cut(show_hidden(" ".join(text.split())), MAX_PREVIEW)
        entry = f"{label}: {preview}" if preview else f"{label} result" if not answer.never else label
        menu.addAction(entry.replace("&", "&&")).triggered.connect(partial(self._insert, answer))

    def _insert(self, answer: Answer, _checked: bool = False) -> None:
        plain = not (answer.never or answer.delay or answer.is_error) and bool(answer.text) and _fits_field(answer)
        if plain:
            self._commands.set_draft(*self._key(), answer.text)
        else:
            self._commands.insert(*self._key(), answer)
        self.field.setFocus()

    def _insert_sample(self) -> None:
        schema = self._tool.output if self._tool is not None else None
        if not schema:
            return
        sample = self._sample.ask(SampleOf(schema), alone=True)
        if sample:
            self._commands.set_draft(*self._key(), sample)
            self.field.setFocus()
        elif sample is not None:
            self._show_check("No sample fits the result schema.")

    # Typing and sending

    def _typed(self) -> None:
        self._commands.set_draft(*self._key(), self.text)
        self._judge()
        self._offer()

    def _judge(self) -> None:
        """Show the syntax error of a result that begins like JSON; it can be sent unchanged."""
        words = ""
        if _JSON_START.match(self.text) and len(self.text) <= READ_AT_MOST:
            problem = problem_at(self.text)
            if problem is not None:
                words = f"Line {problem.line}: not JSON, {problem.message}. It is sent as it is."
        self._show_check(words)

    def _show_check(self, words: str) -> None:
        if self._check.text() != words:
            self._check.setText(words)
            self._check.setVisible(bool(words))
            self.height_changed.emit()

    def _send(self) -> None:
        if self.send_button.isEnabled():
            self._commands.send(*self._key())

    def _send_error(self) -> None:
        self._commands.send(*self._key(), as_error=True)

    def _send_to_lanes(self) -> None:
        self._commands.send_to_lanes(*self._key())

    def _call_server(self) -> None:
        if self._server_can_be_called:
            self._commands.call_server(*self._key())


def _fits_field(answer: Answer) -> bool:
    return not answer.size and len(answer.text) <= MAX_TYPED


def _describe(answer: Answer) -> str:
    """Describe an inserted result and how it will be sent."""
    if answer.never:
        return "No reply: simulates a timeout until Stop."
    text = "Empty result" if not answer.text else "This result"
    if not _fits_field(answer):
        text = f"A result of {answer.size or len(answer.text):,} characters"
    as_error = ", sent as an error" if answer.is_error else ""
    delay = f", sent after {answer.delay:g} s" if answer.delay else ""
    return f"{text}{as_error}{delay}. Typing replaces it."


def _button(text: str, command: Callable[[], None], kind: str = "") -> QPushButton:
    button = push_button(text, kind)
    button.clicked.connect(command)
    return button
