"""A tool call: its arguments as they form, what is wrong with them, what was changed in them, and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QMenu, QToolButton, QVBoxLayout, QWidget

from playground.domain.debugging import Answer as Reply
from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.engine.questions.kinds import ArgumentsFit
from playground.engine.session.drafts import EditKey, What
from playground.jsonkit.problems import Problem, not_checked
from playground.ui.features.conversation.alternative_switch import AlternativeSwitch
from playground.ui.features.conversation.calls.argument_tree import ArgumentTree
from playground.ui.features.conversation.calls.call_text import (
    ASKING,
    FREE_TEXT,
    PRETTY_LIMIT,
    answered_words,
    brief_json,
    changed_lines,
    clipped,
    counted,
    is_laid_out,
    judged,
    pretty_json,
    shown_arguments,
    waiting_words,
)
from playground.ui.features.conversation.calls.looks import CallFrame, Caption, column, half, quiet, row
from playground.ui.features.conversation.calls.result_field import ResultField
from playground.ui.features.conversation.commands import CallState, EditCommands
from playground.ui.features.conversation.inline_editor import InlineEditor
from playground.ui.features.conversation.rows import Answer
from playground.ui.features.conversation.text_check import TextCheck
from playground.ui.features.conversation.text_place import TextEditing
from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import look, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.mark_label import Chip, MarkLabel
from playground.ui.widgets.plain_text import few_lines_of, short_name, shown_name, tip
from playground.ui.widgets.theme import code_font

if TYPE_CHECKING:
    from playground.ui.features.conversation.calls.server_part import ServerPart

#: What an entry is called, its words, and when it is there: "waiting", with several "results", with a "server" that
#: its tool is of or that answered it, or "" for always.
ENTRIES = (
    ("all", "Send the same to all calls", "waiting"),
    ("all_errors", "Send the same to all, as errors", "waiting"),
    ("remember", "Remember this answer", ""),
    ("answers", "Compare several answers…", ""),
    ("compare", "Open in Compare", "results"),
    ("edit", "Edit its name, id and arguments…", ""),
    ("delete", "Delete this call", ""),
    ("rules", "Rules for this tool…", ""),
    ("raw", "Arguments exactly as they came", ""),
    ("frame", "Show the frame that carried it", ""),
    ("tape", "Show what was said with its server", "server"),
)
READ = ("raw", "frame")  # those that change nothing


class CallMenu(IconButton):
    """``chosen`` tells the entry; ``offer`` says what the call is like now. ``fixed``: it is only to be read."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None, *, fixed: bool = False) -> None:
        super().__init__("more", "More for this call", parent)
        self._fixed = fixed
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._now = {"": True}
        self._raw = False
        menu = QMenu(self)
        menu.aboutToShow.connect(self._fill)
        self.setMenu(menu)

    def offer(self, *, waiting: bool, results: bool, server: bool, raw: bool) -> None:
        """Which entries are there from now on, and whether the exact text is shown."""
        self._now, self._raw = {"": True, "waiting": waiting, "results": results, "server": server}, raw

    def _fill(self) -> None:
        menu = self.menu()
        menu.clear()
        for name, words, when in ENTRIES:
            if not self._now.get(when) or (self._fixed and name not in READ):
                continue
            action = menu.addAction(words)
            if name == "raw":
                action.setCheckable(True)
                action.setChecked(self._raw)
            action.triggered.connect(partial(self._tell, name))

    def _tell(self, name: str, _checked: bool = False) -> None:
        self.chosen.emit(name)


class CallCard(CallFrame):
    """One call: one that waits has a place for its result, an answered one shows it. Signals bear its id first."""

    answered = Signal(str, str, bool)  # result, is error
    answered_all = Signal(str, bool)  # result, is error: for every call that waits
    answered_lanes = Signal(str, str, bool)  # result, is error: for every lane that made the same call
    drafted = Signal(str, str)  # what is typed as the result
    prepared = Signal(str, object)  # an Answer that was chosen
    prepared_sent = Signal(str, bool)  # whether as an error in any case
    stop_asked = Signal()
    stepped = Signal(str)
    answers_asked = Signal(str)
    remember_asked = Signal(str)
    rules_asked = Signal(str)  # the name of the tool
    frame_asked = Signal(str)
    tape_asked = Signal(str)
    edit_asked = Signal(str)
    delete_asked = Signal(str)
    result_deleted = Signal(str)  # turn id of the result
    result_chosen = Signal(str)  # turn id of another result of the same call
    compare_asked = Signal(str)  # turn id of the result that others stand beside
    server_asked = Signal(str)
    ask_cancelled = Signal(str)
    restored = Signal(str)  # what the server answered is to stand in the field again
    picture_dropped = Signal(str, int)
    image_opened = Signal(object)  # an Image
    link_asked = Signal(str)  # an address

    def __init__(
        self,
        choices: Callable[[str], list[tuple[str, Reply]]],
        edits: EditCommands,
        turn_id: Callable[[], str],
        parent: QWidget | None = None,
    ) -> None:
        """``choices`` gives the answers offered for a call of the tool of that name, ``turn_id`` whose call it is."""
        super().__init__(parent)
        self.setObjectName("callCard")
        self._choices = choices
        self._turn_id = turn_id
        self._fixed = edits.fixed
        self._arguments_place = TextEditing(edits, self._arguments_opened, self._arguments_closed, code=True)
        self._result_place = TextEditing(edits, self._result_opened, self._result_closed, code=True, runs=True)
        self.call = ToolCall(id="", name="", arguments="")
        self._answer: Answer | None = None
        self._state = CallState()
        self._tool: ToolDefinition | None = None
        self._waiting = False
        self._growing = True
        self._drawn = 0
        self._came: tuple[object, ...] = ()  # what was drawn last: id, name, number of fragments, what is wrong
        self._given: tuple[object, ...] = ()  # what was shown last, whole
        self.tree: ArgumentTree | None = None  # made when needed, like the field: thousands of cards need neither
        self.field: ResultField | None = None
        self.server: ServerPart | None = None
        self.alternatives: AlternativeSwitch | None = None
        self._shown = "arguments"  # or "raw", "changes"
        self._name = text_label("", "call-name")
        self._id = ElidedLabel("Call id")
        for label in (self._name, self._id):
            label.setFont(code_font())
        self._verdict, self._repeated = Chip(), Chip()
        self._verdict.setObjectName("argumentsCheck")
        self._repeated.say("same call again")
        self._repeated.set_mark("refresh", "muted")
        self._repeated.hide()
        self._status = MarkLabel()
        self._status.setProperty("kind", "call-status")
        self._check = TextCheck(ArgumentsFit, self)
        self._check.checked.connect(self._show_again)
        self._arguments = TextView(mode="raw")
        self._arguments.setAccessibleName("Arguments")
        self._edit = quiet("edit", "Edit the arguments")
        self._changes = quiet("changes", "Show what was changed in what the model sent")
        self._changes.setCheckable(True)
        self._result = TextView(mode="raw")
        self._result.setAccessibleName("Result")
        self._why = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._why.setProperty("kind", "small")
        self._change = quiet("edit", "Edit the result")
        self._remove = quiet("delete", "Delete the result, so that the call waits again")
        self._left_title = Caption("Arguments")
        self._right_title = Caption("Result")
        self.more = CallMenu(fixed=edits.fixed)
        self._arrange()
        self._connect()

    def _arrange(self) -> None:
        head = in_row(margins=(10, 4, 10, 4), spacing=8)
        for widget in (self._name, self._id):
            head.addWidget(widget)
        for label in (self._verdict, self._repeated):
            head.addWidget(label, 0, Qt.AlignmentFlag.AlignVCenter)
        head.addStretch(1)
        head.addWidget(self._status)
        head.addWidget(self.more)
        self._left = half()
        self._left.addLayout(row(self._left_title, self._edit, self._changes))
        self._left.addWidget(self._arguments)
        self._left.addStretch(1)
        self._right = half()
        for title in (self._left_title, self._right_title):  # on one line, whatever stands beside them
            title.setMinimumHeight(self._change.sizeHint().height())
        self._right_head = QWidget()
        self._right_row = row(self._right_title, self._change, self._remove)
        self._right_head.setLayout(self._right_row)
        self._right.addWidget(self._right_head)
        self._right.addWidget(self._result)
        self._right.addWidget(self._why)
        self._right.addStretch(1)
        self.body.addWidget(column(self._left), 1)
        self.body.addWidget(column(self._right), 1)
        in_column(head, self.rule, self.body, of=self, margins=1, spacing=0)

    def _connect(self) -> None:
        for part in (self._arguments, self._result):
            part.height_changed.connect(self.height_changed)
        self._edit.clicked.connect(self._arguments_place.begin)
        self._changes.clicked.connect(self._show_changes)
        self._change.clicked.connect(self._result_place.begin)
        self._remove.clicked.connect(self._delete_result)
        self.more.chosen.connect(self._chosen)
        self.narrowed.connect(self._make_room)

    def _make_room(self, narrow: bool) -> None:
        self._id.setVisible(not narrow)
        self._refresh()

    def _need_tree(self) -> ArgumentTree:
        if self.tree is None:
            self.tree = ArgumentTree()
            self.tree.height_changed.connect(self.height_changed)
            self._left.insertWidget(1, self.tree)
        return self.tree

    def _need_field(self) -> ResultField:
        if self.field is None:
            self.field = ResultField()
            self.field.choices = self._offered
            self.field.set_draft(self._state.draft, self._state.prepared)
            self.field.height_changed.connect(self.height_changed)
            self.field.sent.connect(self._send)
            self.field.drafted.connect(self._draft)
            self.field.chosen.connect(lambda answer: self.prepared.emit(self.call.id, answer))
            self.field.prepared_sent.connect(lambda is_error: self.prepared_sent.emit(self.call.id, is_error))
            self.field.stop_asked.connect(self.stop_asked)
            self.field.step_asked.connect(self._step)
            self.field.lanes_asked.connect(self._send_in_lanes)
            self.field.server_asked.connect(lambda: self.server_asked.emit(self.call.id))
            self._right.insertWidget(2, self.field)
        return self.field

    def _need_server(self) -> ServerPart:
        if self.server is None:
            from playground.ui.features.conversation.calls.server_part import ServerPart

            self.server = ServerPart(fixed=self._fixed)
            self.server.height_changed.connect(self.height_changed)
            self.server.cancelled.connect(lambda: self.ask_cancelled.emit(self.call.id))
            served = self.server.served
            served.taken.connect(self._draft)
            served.restored.connect(lambda: self.restored.emit(self.call.id))
            served.dropped.connect(lambda at: self.picture_dropped.emit(self.call.id, at))
            served.opened.connect(self.image_opened)
            served.link_asked.connect(self.link_asked)
            self._right.insertWidget(self._right.indexOf(self._why) + 1, self.server)
        return self.server

    # Content

    def draw_growing_call(
        self,
        call_id: str,
        name: str,
        fragments: Sequence[str],
        tool: ToolDefinition | None = None,
        *,
        free_text: bool = False,
    ) -> None:
        """More of the call has arrived; ``fragments`` are all pieces of its arguments so far."""
        tree = self._need_tree()
        came = (call_id, name, len(fragments), tree.problems)
        if self._growing and came == self._came:
            return
        self._came = came
        if not self._growing or not self._drawn:
            tree.begin(tool.parameters if tool is not None else None)
            self._result.set_text("")
        self.call = ToolCall(id=call_id, name=name, arguments="", free_text=free_text)
        self._name.setText(shown_name(name) or "…")
        self._id.set_text(call_id)
        if len(fragments) > self._drawn:
            self._result.append("".join(fragments[self._drawn :]))
            self._drawn = len(fragments)
            if not free_text:
                tree.read_fragments(fragments)
        self._growing = True
        self._refresh()

    def settle(self) -> None:
        """The call has arrived whole; the turn it belongs to goes on."""
        if self.tree is not None:
            self.tree.finish(truncated=False)

    def show_call(
        self, call: ToolCall, tool: ToolDefinition | None, answer: Answer | None, *, waiting: bool, cut: bool = False
    ) -> None:
        """Show a whole call. ``tool`` is the one of its name, if any; ``cut`` says that the answer broke off.

        A turn is shown again with each result that comes: its other calls stay as they are.
        """
        given = (call, tool, answer, waiting, cut)
        if not self._growing and given == self._given:
            return
        self._given = given
        if answer is None or self._answer is None or answer.result != self._answer.result:
            self._result.set_text(brief_json(answer.result.text) or "(empty)" if answer is not None else "")
        self.call, self._answer, self._tool = call, answer, tool
        self.setProperty("callId", call.id)
        self._show_alternatives()
        waits = waiting and answer is None and not self._fixed
        self._growing, self._waiting, self._drawn = False, waits, 0
        self._name.setText(shown_name(call.name) or "(no name)")
        self._id.set_text(f"{call.id} (made here)" if call.id_is_ours else call.id)
        if call.received is None and self._shown == "changes":
            self._shown = "arguments"
        elif call.received is not None and self._shown == "arguments":
            self._shown = "changes"
        self._judge_again()
        self._show_arguments(cut=cut)
        self.show_beside(call, *([answer.result] if answer is not None else []))
        self._refresh()

    def _show_alternatives(self) -> None:
        answer = self._answer
        if answer is not None and len(answer.alternatives) > 1 and self.alternatives is None:
            self.alternatives = AlternativeSwitch("result")
            self.alternatives.chosen.connect(self.result_chosen)
            self._right_row.insertWidget(self._right_row.indexOf(self._change), self.alternatives)
        if self.alternatives is not None:
            self.alternatives.show_alternatives(
                *((answer.turn_id, answer.alternatives) if answer is not None else ("", ()))
            )

    def _show_arguments(self, *, cut: bool = False) -> None:
        call, problems = self.call, self._problems(self.call.arguments) or []
        broken = any(not problem.path and problem.message.startswith("not JSON") for problem in problems)
        if broken:
            schema = self._tool.parameters if self._tool is not None else None
            self._need_tree().show_whole(call.arguments, schema, truncated=cut)
        if self.tree is not None:
            self.tree.setVisible(broken)
        changed = self._shown == "changes" and call.received is not None
        if changed and len(call.arguments) <= PRETTY_LIMIT:
            self._arguments.set_lines(call.arguments, changed_lines(call.received or "", call.arguments))
        elif (self._shown == "raw" and not changed) or call.free_text or not is_laid_out(call.arguments):
            self._arguments.set_text(call.arguments)  # a piece at a time
        else:
            lines = shown_arguments(call.arguments, problems, answered=self._answer is not None)
            self._arguments.set_lines(call.arguments, lines)

    def show_state(self, state: CallState) -> None:
        """What the debugger knows of the call now."""
        if state == self._state:
            return
        self._state = state
        if self.field is not None:
            self.field.set_draft(state.draft, state.prepared)
        self._refresh()

    def _problems(self, arguments: str) -> list[Problem] | None:
        if self.call.free_text:
            return []
        return self._check.problems(arguments, self._tool.parameters if self._tool is not None else None)

    @property
    def _said_in_lines(self) -> bool:
        """Whether the arguments that are shown say what is wrong with them."""
        is_read = self._shown == "arguments" and self._arguments_place.editor is None
        return is_read and not self.call.free_text and is_laid_out(self.call.arguments)

    def _judge_again(self) -> None:
        """Say what is thought of the arguments, or of what is typed in their place."""
        editor = self._arguments_place.editor
        self._judge(editor.text if editor is not None else self.call.arguments)

    def _judge(self, arguments: str) -> None:
        problems = self._problems(arguments)
        words, kind, says = (
            FREE_TEXT if self.call.free_text else judged(problems, arguments, known=self._tool is not None)
        )
        if problems and self._said_in_lines and not not_checked(problems):
            words = counted(problems)
        self._verdict.say(words, kind)
        self._verdict.setToolTip(tip(says))
        self._verdict.setVisible(bool(words))

    def _refresh(self) -> None:
        answered, waiting, growing = self._answer is not None, self._waiting, self._growing
        coming = waiting and self._state.remaining is not None
        if growing and self.tree is not None:
            self.tree.setVisible(not self.call.free_text)
            problems = self.tree.problems
            self._verdict.say(clipped(problems[0].message) if problems else "", "chip-error" if problems else "chip")
        self._status.setText(self._status_words())
        look(self._status, "call-waits" if waiting else "call-status")
        asked = self._is_asked
        self._status.set_mark("pause" if waiting and not (growing or answered or coming or asked) else "", "tool")
        self._repeated.setVisible(bool(self._state.warning))
        self._repeated.setToolTip(tip(self._state.warning))
        self._arguments.setVisible(not growing and self._arguments_place.editor is None)
        self._right_title.setText("As it comes" if growing else "Result")
        self._right_head.setVisible(answered or growing)
        self._result.setVisible((answered or growing) and self._result_place.editor is None)
        for button in (self._change, self._remove):
            button.setVisible(answered and not self._fixed)
        pressed = self._pressed
        if waiting or self.field is not None:
            field = self._need_field()
            field.setVisible(waiting)
            field.setEnabled(not coming)
            field.offer_lanes(self._state.elsewhere)
            server = self._state.server
            field.offer_server(server.name if server else "", server.refusal if server else "", asked=asked)
            self._left_title.setMinimumHeight(field.head_height if waiting else 0)  # both captions on one line
        self._why.setText(few_lines_of(self._state.reason))
        self._why.setVisible(waiting and bool(self._state.reason) and not asked)
        self._show_server()
        self._pass_focus(pressed)
        self._edit.setVisible(not growing and not self._fixed)
        self.more.setVisible(not growing)
        several = self._answer is not None and len(self._answer.alternatives) > 1
        served = self._state.server is not None or (self._answer is not None and self._answer.result.served is not None)
        self.more.offer(waiting=waiting, results=several, server=served, raw=self._shown == "raw")
        self._changes.setVisible(self.call.received is not None)
        self._changes.setChecked(self._shown == "changes")
        self._verdict.setVisible(bool(self._verdict.text()))
        self.setAccessibleName(f"Tool call {short_name(self.call.name)}, {self._status.text()}")
        self.lit, self.halved = waiting, growing or waiting or answered
        self.update()
        self.height_changed.emit()

    @property
    def _is_asked(self) -> bool:
        """Whether a server is asked for the call now."""
        server = self._state.server
        return self._waiting and server is not None and server.ticket is not None

    def _show_server(self) -> None:
        """What is known of a tool server here; nothing is made for a call that has to do with none."""
        result, state = self._answer.result if self._answer is not None else None, self._state
        came = result is not None and bool(result.served is not None or result.images)
        if came or (result is None and self._waiting and (self._is_asked or state.served is not None or state.images)):
            self._need_server().show_part(state, result, self._tool)
        elif self.server is not None:
            self.server.show_part(CallState(), None, None)

    @property
    def _pressed(self) -> QWidget | None:
        """The button with the focus that asks the server, or asks it no longer: one goes when the other comes."""
        buttons = [self.field.ask_button] if self.field is not None else []
        buttons += [self.server.asked.cancel_button] if self.server is not None else []
        return next((button for button in buttons if button.hasFocus()), None)

    def _pass_focus(self, pressed: QWidget | None) -> None:
        """Left to itself the focus goes on to the next button, which sends an error: a second press would do that."""
        if pressed is None or pressed.isVisibleTo(self) or self.field is None or not self._waiting:
            return
        if self._is_asked and self.server is not None:
            self.server.asked.cancel_button.setFocus()
        else:
            self.field.setFocus()

    def _status_words(self) -> str:
        if self._growing:
            return "arriving…"
        if self._answer is not None or not self._waiting:
            return answered_words(self._answer.result if self._answer is not None else None)
        if self._is_asked:
            return ASKING if not self.narrow else "asking…"
        return waiting_words(self._state.remaining, narrow=self.narrow)

    # Doing

    def focus_result(self) -> None:
        """Put the cursor where the result is typed."""
        if self.field is not None:
            self.field.setFocus()

    @property
    def texts(self) -> tuple[TextView, ...]:
        """The texts shown: the arguments, and the result once there is one."""
        return (self._arguments, self._result) if self._answer is not None else (self._arguments,)

    @property
    def reusable(self) -> bool:
        """Whether it may show another call, as a new card would: nothing is typed, chosen or waited for."""
        return not self._waiting and not self._growing and not self.edited and self._shown == "arguments"

    @property
    def waiting(self) -> bool:
        """Whether the call waits for a result."""
        return self._waiting

    def _send(self, text: str, is_error: bool) -> None:
        self.answered.emit(self.call.id, text, is_error)

    def _offered(self) -> list[tuple[str, Reply]]:
        return self._choices(self.call.name)

    def _draft(self, text: str) -> None:
        self.drafted.emit(self.call.id, text)

    def _step(self) -> None:
        self.stepped.emit(self.call.id)

    @property
    def _given_text(self) -> str:
        """What would be sent: what is prepared, else what is typed."""
        prepared = self._state.prepared
        return prepared.body if prepared is not None else self.field.text if self.field is not None else ""

    def _send_in_lanes(self) -> None:
        prepared = self._state.prepared
        self.answered_lanes.emit(self.call.id, self._given_text, prepared is not None and prepared.is_error)

    def _chosen(self, what: str) -> None:
        """An entry of the menu."""
        match what:
            case "all" | "all_errors":
                self.answered_all.emit(self._given_text, what == "all_errors")
            case "rules":
                self.rules_asked.emit(self.call.name)
            case "compare" if self._answer is not None:
                self.compare_asked.emit(self._answer.turn_id)
            case "remember" | "answers" | "edit" | "delete" | "frame" | "tape":
                getattr(self, f"{what}_asked").emit(self.call.id)
            case "raw":
                self._shown = "arguments" if self._shown == "raw" else "raw"
                self._show_again()

    def _show_changes(self) -> None:
        self._shown = "changes" if self._changes.isChecked() else "arguments"
        self._show_again()

    def _show_again(self) -> None:
        self._show_arguments()
        self._judge_again()
        self._refresh()

    def follow_editors(self) -> None:
        """Other editors may be open here, or something else stand in them."""
        call, answer = self.call, self._answer
        key = EditKey(self._turn_id(), What.ARGUMENTS, call.id) if not self._growing else None
        self._arguments_place.follow(key, lambda: pretty_json(call.arguments), "Arguments of the call")
        key = EditKey(answer.turn_id) if answer is not None else None
        self._result_place.follow(key, lambda: answer.result.text if answer is not None else "", "Result of the call")

    def _arguments_opened(self, editor: InlineEditor) -> None:
        editor.edited.connect(self._judge_again)
        self._put_editor(self._left, self._arguments, editor)
        self._judge_again()

    def _result_opened(self, editor: InlineEditor) -> None:
        self._put_editor(self._right, self._result, editor)

    def _put_editor(self, column: QVBoxLayout, shown: TextView, editor: InlineEditor) -> None:
        column.insertWidget(column.indexOf(shown) + 1, editor)
        editor.height_changed.connect(self.height_changed)
        self._refresh()

    def _arguments_closed(self, focused: bool) -> None:
        self._judge_again()
        self._editor_closed(self._edit, focused)

    def _result_closed(self, focused: bool) -> None:
        self._editor_closed(self._change, focused)

    def _editor_closed(self, after: QWidget, focused: bool) -> None:
        if focused:
            (self.field if self._waiting and self.field is not None else after).setFocus()
        self._refresh()

    def _delete_result(self) -> None:
        if self._answer is not None:
            self.result_deleted.emit(self._answer.turn_id)

    @property
    def edited(self) -> bool:
        """Whether something is open here that is not kept yet."""
        return self._arguments_place.editor is not None or self._result_place.editor is not None
