"""The card of a tool call: its arguments, their verdict and edits, and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from playground.domain.accumulator import GrowingCall, GrowingPart
from playground.domain.parts import ToolCall, ToolResult
from playground.domain.tools import ToolDefinition
from playground.engine.inspect.unknown_members import unknown_in_part
from playground.engine.questions.kinds import ArgumentsFit
from playground.engine.session.drafts import EditKey, What
from playground.jsonkit.problems import Problem
from playground.ui.features.conversation.calls.argument_tree import ArgumentTree
from playground.ui.features.conversation.calls.call_commands import CallState
from playground.ui.features.conversation.calls.call_text import (
    FREE_TEXT,
    PRETTY_LIMIT,
    brief_json,
    changed_lines,
    clipped,
    describe_result,
    is_laid_out,
    judged,
    pretty_json,
    shown_arguments,
    waiting_words,
)
from playground.ui.features.conversation.calls.result_field import ResultField
from playground.ui.features.conversation.calls.server_part import ServerPart
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.editors import Editing, InlineEditor
from playground.ui.features.conversation.folded_parts import MembersFold
from playground.ui.features.conversation.part_view import PartContext, PartView, Searched
from playground.ui.features.conversation.rows import Answer
from playground.ui.features.conversation.text_check import TextCheck
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.turn_header import AlternativeSwitch
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import look, paragraph, push_button, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.mark_label import Chip, MarkLabel
from playground.ui.widgets.plain_text import few_lines_of, short_name, shown_name, tip
from playground.ui.widgets.theme import code_font, tokens

NARROW = 500  # pixels below which the result is placed under the arguments
MIN_CHIP = 60  # pixels


class CallCard(QFrame, PartView[ToolCall]):
    """Show one call. A call that waits has a field for its result; an answered one shows the result.

    `turn_id` gives the turn of the call: a card may come to show another one. `edit_asked` asks for the editor of the
    whole call, by its id.
    """

    edit_asked = Signal(str)
    height_changed = Signal()

    def __init__(self, commands: TurnCommands, turn_id: Callable[[], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("callCard")
        self._commands = commands
        self._turn_id = turn_id
        self.call = ToolCall(id="", name="", arguments="")
        self._answer: Answer | None = None
        self._state = CallState()
        self._tool: ToolDefinition | None = None
        self._waiting = False
        self._growing = True
        self._drawn = 0  # fragments of the arguments that are shown
        self._drawn_state: tuple[object, ...] = ()  # of a growing call
        self._shown_state: tuple[object, ...] = ()  # of a whole call
        self._view = "arguments"  # or "raw", "changes"
        self.narrow = False
        self.tree: ArgumentTree | None = None  # made when needed, as most cards are of answered calls
        self.field: ResultField | None = None
        self.server: ServerPart | None = None
        self.alternatives: AlternativeSwitch | None = None
        self.folds: list[MembersFold] = []  # of members that nothing here knows
        self._check = TextCheck(ArgumentsFit, self)
        self._check.checked.connect(self._show_again)
        update = self.follow_editors
        self._arguments_editing = Editing[str](commands, self._make_arguments_editor, self._arguments_closed, update)
        self._result_editing = Editing[str](commands, self._make_result_editor, self._result_closed, update)
        self._make_header()
        self._make_arguments()
        self._make_result()
        self.body = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.body.setSpacing(0)
        self.body.addWidget(_half(self._left), 1)
        self.body.addWidget(_half(self._right), 1)
        in_column(self._header, self.rule, self.body, parent=self, margins=1, spacing=0)

    @classmethod
    def make(cls, context: PartContext, mode: str) -> CallCard:
        card = cls(context.commands, context.turn_id)
        card.edit_asked.connect(context.edit_call)
        card.height_changed.connect(context.frame.height_changed)
        return card

    def accepts(self, part: ToolCall) -> bool:
        return self.call.id == part.id

    def show_part(self, part: ToolCall) -> None:
        context = self.context
        cut = context.turn.truncated
        self.show_state(context.commands.calls.state(context.turn.id, part.id))
        self.show_call(part, context.tool(part.name), context.row.answers.get(part.id), waiting=not cut, cut=cut)

    def draw_growing_part(self, part: GrowingPart, seconds: str | None) -> None:
        if isinstance(part, GrowingCall):
            self._draw_growing_call(part, self.context.tool(part.name))
        if seconds is None and self.tree is not None:
            self.tree.finish(truncated=False)  # the call was received whole while its turn continues

    @property
    def busy(self) -> bool:
        """Return whether an editor is open."""
        return self._arguments_editing.editor is not None or self._result_editing.editor is not None

    def texts(self) -> Sequence[Searched]:
        displayed = (self._arguments, self._result) if self._answer is not None else (self._arguments,)
        return (*((text, None) for text in displayed), *((fold.text_view, fold) for fold in self.folds))

    def _make_header(self) -> None:
        self._name = text_label("", "call-name")
        self._id = ElidedLabel("Call id")
        for label in (self._name, self._id):
            label.setFont(code_font())
        self._verdict, self._repeated = Chip(), Chip()
        self._verdict.setObjectName("argumentsCheck")
        self._verdict.setMinimumWidth(MIN_CHIP)
        self._repeated.say("same call again")
        self._repeated.set_mark("refresh", "muted")
        self._repeated.hide()
        self._status = MarkLabel()
        self._status.setProperty("kind", "call-status")
        self._more = IconButton("more", "More for this call")
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self._more)
        menu.aboutToShow.connect(self._fill_menu)
        self._more.setMenu(menu)
        self._header = in_row(self._name, self._id, margins=(10, 4, 10, 4), spacing=8)
        for label in (self._verdict, self._repeated):
            self._header.addWidget(label, 0, Qt.AlignmentFlag.AlignVCenter)
        self._header.addStretch(1)
        self._header.addWidget(self._status)
        self._header.addWidget(self._more)
        self.rule = QFrame()
        self.rule.setProperty("kind", "line")

    def _make_arguments(self) -> None:
        self._left_title = text_label("Arguments", "muted")
        self._edit = _quiet_button("Edit", "Edit the arguments", self._arguments_editing.begin)
        self._changes = _quiet_button("Changes", "Show what was edited in the model's arguments", self._show_changes)
        self._changes.setCheckable(True)
        self._arguments = TextView(mode="raw")
        self._arguments.setAccessibleName("Arguments")
        self._arguments.height_changed.connect(self.height_changed)
        head = in_row(self._left_title, self._edit, self._changes, 1, margins=0, spacing=6)
        self._left = in_column(head, self._arguments, 1, margins=(10, 4, 10, 8), spacing=4)

    def _make_result(self) -> None:
        self._right_title = text_label("Result", "muted")
        self._edit_result = _quiet_button("Edit", "Edit the result", self._result_editing.begin)
        self._delete_result = _quiet_button(
            "Delete", "Delete the result, so that the call needs one again", self._delete_answer
        )
        for title in (self._left_title, self._right_title):  # on one line, whatever is beside them
            title.setMinimumHeight(self._edit_result.sizeHint().height())
        self._result = TextView(mode="raw")
        self._result.setAccessibleName("Result")
        self._result.height_changed.connect(self.height_changed)
        self._reason = paragraph("", "small")
        self._right_head = QWidget()
        buttons = (self._right_title, self._edit_result, self._delete_result, 1)
        self._right_row = in_row(*buttons, parent=self._right_head, margins=0, spacing=6)
        self._right = in_column(self._right_head, self._result, self._reason, 1, margins=(10, 4, 10, 8), spacing=4)

    def _need_tree(self) -> ArgumentTree:
        if self.tree is None:
            self.tree = ArgumentTree()
            self.tree.height_changed.connect(self.height_changed)
            self._left.insertWidget(1, self.tree)
        return self.tree

    def _need_field(self) -> ResultField:
        if self.field is None:
            self.field = ResultField(self._commands.calls, self._key)
            self.field.show_state(self._state)
            self.field.height_changed.connect(self.height_changed)
            self._right.insertWidget(2, self.field)
        return self.field

    def _need_server(self) -> ServerPart:
        if self.server is None:
            self.server = ServerPart(self._commands, self._key)
            self.server.height_changed.connect(self.height_changed)
            self._right.insertWidget(self._right.indexOf(self._reason) + 1, self.server)
        return self.server

    def _key(self) -> tuple[str, str]:
        return self._turn_id(), self.call.id

    # Content

    def _draw_growing_call(self, part: GrowingCall, tool: ToolDefinition | None) -> None:
        """Show a call that is being received."""
        tree, fragments = self._need_tree(), part.fragments
        state = (part.id, part.name, len(fragments), tree.problems)
        if self._growing and state == self._drawn_state:
            return
        self._drawn_state = state
        if not self._growing or not self._drawn:
            tree.begin(tool.parameters if tool is not None else None)
            self._result.set_text("")
        self.call = ToolCall(id=part.id, name=part.name, arguments="", free_text=part.free_text)
        self._name.setText(shown_name(part.name) or "…")
        self._id.set_text(part.id)
        if len(fragments) > self._drawn:
            self._result.append("".join(fragments[self._drawn :]))
            self._drawn = len(fragments)
            if not part.free_text:
                tree.read_fragments(fragments)
        self._growing = True
        self._refresh()

    def show_call(
        self, call: ToolCall, tool: ToolDefinition | None, answer: Answer | None, *, waiting: bool, cut: bool = False
    ) -> None:
        """Show a call that was received whole; `cut` says that the answer broke off inside it."""
        state = (call, tool, answer, waiting, cut)
        if not self._growing and state == self._shown_state:
            return
        self._shown_state = state
        if answer is None or self._answer is None or answer.result != self._answer.result:
            self._result.set_text(brief_json(answer.result.text) or "(empty)" if answer is not None else "")
        self.call, self._answer, self._tool = call, answer, tool
        self.setProperty("callId", call.id)
        self._show_alternatives()
        self._waiting = waiting and answer is None and not self._commands.read_only
        self._growing, self._drawn = False, 0
        self._name.setText(shown_name(call.name) or "(no name)")
        self._id.set_text(f"{call.id} (made here)" if call.id_is_ours else call.id)
        if call.received is None and self._view == "changes":
            self._view = "arguments"
        elif call.received is not None and self._view == "arguments":
            self._view = "changes"
        self._judge()
        self._show_arguments(cut=cut)
        self._show_unknown_members(call, *([answer.result] if answer is not None else []))
        self._refresh()

    def show_state(self, state: CallState) -> None:
        """Show what the debugger knows of the call."""
        if state == self._state:
            return
        self._state = state
        if self.field is not None:
            self.field.show_state(state)
        self._refresh()

    def _show_alternatives(self) -> None:
        answer = self._answer
        if answer is not None and len(answer.alternatives) > 1 and self.alternatives is None:
            self.alternatives = AlternativeSwitch("result")
            self.alternatives.chosen.connect(self._commands.select_alternative)
            self._right_row.insertWidget(self._right_row.indexOf(self._edit_result), self.alternatives)
        if self.alternatives is not None:
            turn_id, alternatives = (answer.turn_id, answer.alternatives) if answer is not None else ("", ())
            self.alternatives.show_alternatives(turn_id, alternatives)

    def _show_arguments(self, *, cut: bool = False) -> None:
        call, problems = self.call, self._problems(self.call.arguments) or []
        broken = any(not problem.path and problem.message.startswith("not JSON") for problem in problems)
        if broken:
            schema = self._tool.parameters if self._tool is not None else None
            self._need_tree().show_whole(call.arguments, schema, truncated=cut)
        if self.tree is not None:
            self.tree.setVisible(broken)
        changed = self._view == "changes" and call.received is not None
        if changed and len(call.arguments) <= PRETTY_LIMIT:
            self._arguments.set_lines(call.arguments, changed_lines(call.received or "", call.arguments))
        elif (self._view == "raw" and not changed) or call.free_text or not is_laid_out(call.arguments):
            self._arguments.set_text(call.arguments)
        else:
            lines = shown_arguments(call.arguments, problems)
            self._arguments.set_lines(call.arguments, lines)

    def _show_unknown_members(self, *parts: ToolCall | ToolResult) -> None:
        members = [group for part in parts for group in unknown_in_part(part)]
        for fold in self.folds[len(members) :]:
            fold.hide()
            fold.deleteLater()
        del self.folds[len(members) :]
        layout = self.layout()
        while layout is not None and len(self.folds) < len(members):
            fold = MembersFold()
            fold.setContentsMargins(10, 0, 10, 6)
            fold.height_changed.connect(self.height_changed)
            layout.addWidget(fold)
            self.folds.append(fold)
        for fold, group in zip(self.folds, members, strict=True):
            fold.show_part(group)

    # The verdict on the arguments

    def _problems(self, arguments: str) -> list[Problem] | None:
        if self.call.free_text:
            return []
        return self._check.problems(arguments, self._tool.parameters if self._tool is not None else None)

    def _judge(self) -> None:
        """Show the verdict on the arguments, or on those being typed."""
        editor = self._arguments_editing.editor
        arguments = editor.value if editor is not None else self.call.arguments
        verdict = FREE_TEXT
        if not self.call.free_text:
            verdict = judged(self._problems(arguments), arguments, has_tool=self._tool is not None)
        self._verdict.say(verdict.words, verdict.kind)
        self._verdict.setToolTip(tip(verdict.says))
        self._verdict.setVisible(bool(verdict.words))

    # State

    def _refresh(self) -> None:
        answered, growing = self._answer is not None, self._growing
        if growing and self.tree is not None:
            self.tree.setVisible(not self.call.free_text)
            problems = self.tree.problems
            self._verdict.say(clipped(problems[0].message) if problems else "", "chip-error" if problems else "chip")
        self._verdict.setVisible(bool(self._verdict.text()))
        self._status.setText(self._status_words())
        look(self._status, "call-waits" if self._waiting else "call-status")
        self._repeated.setVisible(bool(self._state.warning))
        self._repeated.setToolTip(tip(self._state.warning))
        self._arguments.setVisible(not growing and self._arguments_editing.editor is None)
        self._edit.setVisible(not growing and not self._commands.read_only)
        self._changes.setVisible(self.call.received is not None)
        self._changes.setChecked(self._view == "changes")
        self._right_title.setText("Raw text" if growing else "Result")
        self._right_head.setVisible(answered or growing)
        self._result.setVisible((answered or growing) and self._result_editing.editor is None)
        for button in (self._edit_result, self._delete_result):
            button.setVisible(answered and not self._commands.read_only)
        self._reason.setText(few_lines_of(self._state.reason))
        self._reason.setVisible(self._waiting and bool(self._state.reason) and not self._server_is_called)
        pressed = self._focused_server_button
        self._show_field()
        self._show_server()
        self._keep_focus(pressed)
        self._more.setVisible(not growing)
        name = f"Tool call {short_name(self.call.name)}, {self._status.text()}"
        if self._state.remaining is None and self.accessibleName() != name:  # a countdown is not announced
            self.setAccessibleName(name)
        self.update()
        self.height_changed.emit()

    def _status_words(self) -> str:
        if self._growing:
            return "Receiving…"
        if self._answer is not None or not self._waiting:
            return describe_result(self._answer.result if self._answer is not None else None)
        return "Calling server…" if self._server_is_called else waiting_words(self._state.remaining)

    def _show_field(self) -> None:
        if not self._waiting and self.field is None:
            return
        field = self._need_field()
        field.show_tool(self.call.name, self._tool)
        field.setVisible(self._waiting)
        field.setEnabled(self._state.remaining is None)
        self._left_title.setMinimumHeight(field.head_height if self._waiting else 0)

    @property
    def _server_is_called(self) -> bool:
        server = self._state.server
        return self._waiting and server is not None and server.ticket is not None

    def _show_server(self) -> None:
        result, state = self._answer.result if self._answer is not None else None, self._state
        is_served = result is not None and (result.served is not None or bool(result.images))
        is_pending = result is None and self._waiting
        if is_served or (is_pending and (self._server_is_called or state.served is not None or state.images)):
            self._need_server().show_part(state, result, self._tool)
        elif self.server is not None:
            self.server.show_part(CallState(), None, None)

    @property
    def _focused_server_button(self) -> QWidget | None:
        buttons = [self.field.server_button] if self.field is not None else []
        buttons += [self.server.progress.cancel_button] if self.server is not None else []
        return next((button for button in buttons if button.hasFocus()), None)

    def _keep_focus(self, pressed: QWidget | None) -> None:
        """Move the focus from a button that is hidden now; Qt would move it to one that sends something."""
        if pressed is None or pressed.isVisibleTo(self) or self.field is None or not self._waiting:
            return
        if self._server_is_called and self.server is not None:
            self.server.progress.cancel_button.setFocus()
        else:
            self.field.setFocus()

    def focus_result(self) -> None:
        """Put the cursor into the result field."""
        if self.field is not None:
            self.field.setFocus()

    @property
    def arguments_view(self) -> TextView:
        """The view of the arguments."""
        return self._arguments

    @property
    def captions(self) -> list[QLabel]:
        """The captions that are visible."""
        return [caption for caption in (self._left_title, self._right_title) if caption.isVisible()]

    @property
    def waiting(self) -> bool:
        """Return whether the call waits for a result."""
        return self._waiting

    # The menu

    def _fill_menu(self) -> None:
        menu, calls, key, answer = self._more.menu(), self._commands.calls, self._key(), self._answer
        menu.clear()

        def add(words: str, command: Callable[[], object]) -> None:
            menu.addAction(words).triggered.connect(lambda _checked: command())

        raw = menu.addAction("Raw arguments")
        raw.setCheckable(True)
        raw.setChecked(self._view == "raw")
        raw.triggered.connect(self._toggle_raw)
        add("Show its events", partial(self._commands.frames_asked.emit, *key))
        if self._commands.read_only:
            return
        served = self._state.server is not None or (answer is not None and answer.result.served is not None)
        if served:
            add("Show tool server messages", partial(self._commands.messages_asked.emit, *key))
        menu.addSeparator()
        if self._waiting:
            add("Step: answer this call, then stop", partial(calls.step, *key))
            add("Send the same to all calls", partial(calls.send_to_all, *key))
            add("Send the same to all, as errors", partial(calls.send_to_all, *key, as_error=True))
        add("Save as mock row", partial(calls.remember, *key))
        add("Compare several results…", partial(calls.compare_results, *key))
        if answer is not None and len(answer.alternatives) > 1:
            add("Open in Compare", partial(self._commands.alternatives_asked.emit, answer.turn_id))
        menu.addSeparator()
        add("Edit name, id and arguments…", partial(self.edit_asked.emit, self.call.id))
        add("Delete this call", partial(self._commands.delete_call, *key))
        menu.addSeparator()
        add("Tool results…", partial(calls.open_rules, self.call.name))

    def _toggle_raw(self) -> None:
        self._view = "arguments" if self._view == "raw" else "raw"
        self._show_again()

    def _show_changes(self) -> None:
        self._view = "changes" if self._changes.isChecked() else "arguments"
        self._show_again()

    def _show_again(self) -> None:
        self._show_arguments()
        self._judge()
        self._refresh()

    def _delete_answer(self) -> None:
        if self._answer is not None:
            self._commands.delete_turn(self._answer.turn_id)

    # Editors

    def follow_editors(self) -> None:
        """Show the editors that the session has open for this call."""
        call, answer = self.call, self._answer
        before = self._arguments_editing.editor, self._result_editing.editor
        key = EditKey(self._turn_id(), What.ARGUMENTS, call.id) if not self._growing else None
        self._arguments_editing.follow(key, lambda: pretty_json(call.arguments))
        key = EditKey(answer.turn_id) if answer is not None else None
        self._result_editing.follow(key, lambda: answer.result.text if answer is not None else "")
        if before != (self._arguments_editing.editor, self._result_editing.editor):
            self._judge()
            self._refresh()

    def _make_arguments_editor(self, text: str) -> InlineEditor:
        editor = InlineEditor(text, "Arguments of the call", code=True)
        editor.edited.connect(self._judge)
        return self._place_editor(self._left, self._arguments, editor)

    def _make_result_editor(self, text: str) -> InlineEditor:
        editor = InlineEditor(text, "Result of the call", code=True, runs=True)
        return self._place_editor(self._right, self._result, editor)

    def _place_editor(self, column: QVBoxLayout, text: TextView, editor: InlineEditor) -> InlineEditor:
        column.insertWidget(column.indexOf(text) + 1, editor)
        editor.height_changed.connect(self.height_changed)
        return editor

    def _arguments_closed(self, focused: bool) -> None:
        self._editor_closed(self._edit, focused)

    def _result_closed(self, focused: bool) -> None:
        self._editor_closed(self._edit_result, focused)

    def _editor_closed(self, button: QWidget, focused: bool) -> None:
        if focused:
            (self.field if self._waiting and self.field is not None else button).setFocus()

    # Look

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < NARROW
        if narrow != self.narrow:
            self.narrow = narrow
            direction = QBoxLayout.Direction
            self.body.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)
            self._id.setVisible(not narrow)
            self._refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QColor(t.tool if self._waiting else t.line))
        painter.setBrush(QColor(t.raised))
        painter.drawRoundedRect(frame, 7, 7)
        head = frame.adjusted(0.5, 0.5, -0.5, 0)
        head.setHeight(self.rule.y() - 1)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.code))
        painter.drawRoundedRect(head, 6, 6)
        painter.drawRect(head.adjusted(0, 7, 0, 0))
        if not self.narrow and (self._growing or self._waiting or self._answer is not None):
            x = self.width() // 2
            painter.setPen(QColor(t.line))
            painter.drawLine(x, self.rule.y() + 1, x, self.body.geometry().bottom() - 1)


def _half(layout: QVBoxLayout) -> QWidget:
    """Return half of the card, whatever width its content prefers."""
    half = QWidget()
    half.setLayout(layout)
    half.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return half


def _quiet_button(text: str, name: str, command: Callable[[], object]) -> QPushButton:
    button = push_button(text, "quiet")
    button.setToolTip(name)
    button.setAccessibleName(name)
    button.clicked.connect(lambda _checked: command())
    return button
