"""Editors in a turn's card: of its text, of whole tool calls, and of the call that a result answers.

The session stores which editors are open and what is in them; here they are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel, QVBoxLayout, QWidget

from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role
from playground.engine.session.drafts import EditKey, OpenEdit, What
from playground.engine.session.edits import text_of
from playground.ui.features.conversation.answers_row import AnswersRow
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.calls.call_form import CallForm
from playground.ui.features.conversation.inline_editor import InlineEditor, TextEditing, branch_note
from playground.ui.features.conversation.turn_header import TurnHeader
from playground.ui.features.conversation.turn_parts import PartContext, TurnParts, part_view_of
from playground.ui.widgets.form_parts import paragraph, push_button
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.role_words import ROLE_WORDS


class CallEditor(QWidget):
    """Edit a whole tool call, with Save and Cancel."""

    saved = Signal()
    edited = Signal()
    cancelled = Signal()
    height_changed = Signal()

    def __init__(self, call: ToolCall, tools: tuple[ToolDefinition, ...]) -> None:
        super().__init__()
        self.form = CallForm(removable=False)
        self.form.set_tools(tools)
        self.form.set_call(call)
        self.form.edited.connect(self.edited)
        self._problem = paragraph("", "flag-error")
        self._problem.hide()
        save, cancel = push_button("Save", "primary"), push_button("Cancel")
        save.setToolTip("Ctrl+Enter")
        cancel.setToolTip("Escape")
        save.clicked.connect(self.saved)
        cancel.clicked.connect(self.cancelled)
        self.form.submitted.connect(self.saved)
        self.form.cancelled.connect(self.cancelled)
        self.form.height_changed.connect(self.height_changed)
        self._note = branch_note()
        buttons = in_row(save, cancel, 1, spacing=6)
        in_column(self.form, self._problem, buttons, self._note, of=self, margins=(0, 4, 0, 4), spacing=6)
        self.setFocusProxy(self.form)

    def event(self, event: QEvent) -> bool:
        """Take the keys of the editor before shortcuts of the window."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and self._signal_of(event) is not None
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if (signal := self._signal_of(event)) is not None:
            signal.emit()
        else:
            super().keyPressEvent(event)

    def _signal_of(self, event: QKeyEvent) -> SignalInstance | None:
        """Return what a key does in any field: Escape cancels, Ctrl+Enter saves."""
        if event.key() == Qt.Key.Key_Escape:
            return self.cancelled
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        return self.saved if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier else None

    def show_problem(self, problem: str) -> None:
        """Say why the call could not be saved."""
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))
        self.height_changed.emit()

    def show_branching(self, branches: bool) -> None:
        """Say whether saving makes a branch."""
        if branches is self._note.isHidden():
            self._note.setVisible(branches)
            self.height_changed.emit()

    @property
    def call(self) -> ToolCall:
        """The call as it is written."""
        return self.form.call

    def set_call(self, call: ToolCall) -> None:
        """Replace what is written."""
        self.form.set_call(call)


class TurnEditor:
    """Show the open editors of one card.

    `body` holds the card's parts and the editors below or in place of them, `top` what is above the parts.
    """

    def __init__(
        self, context: PartContext, parts: TurnParts, header: TurnHeader, body: QVBoxLayout, top: QVBoxLayout
    ) -> None:
        self._context = context
        self._commands = context.commands
        self._parts = parts
        self._header = header
        self._body = body
        self._top = top
        self._text = TextEditing(context.commands, self._text_opened, self._text_closed, runs=True)
        self._calls: dict[str, CallEditor] = {}  # by the id of the call; empty for a new one
        self._rows: list[AnswersRow] = []  # one for each result
        header.edit_asked.connect(self.begin)

    @property
    def open(self) -> bool:
        """Return whether an editor is open."""
        return self._text.editor is not None or bool(self._calls)

    @property
    def menu_entries(self) -> list[tuple[str, Callable[[], None]]]:
        """The editing commands for the role of the turn."""
        if self._context.row.growing or self._commands.read_only:
            return []
        edit: tuple[str, Callable[[], None]] = ("Edit", self.begin)
        images: tuple[str, Callable[[], None]] = ("Add images…", self.add_images)
        match self._context.turn.role:
            case Role.USER:
                return [edit, images]
            case Role.ASSISTANT:
                return [edit, ("Add a tool call…", self.add_call)]
            case Role.TOOL:
                return [edit, ("Choose the call it answers…", self.choose_call), images]
        return [edit]

    def add_images(self) -> None:
        """Choose images for the turn."""
        self._commands.pictures.choose(self._context.turn.id)

    def takes(self, mime: QMimeData, now: bool) -> bool:
        """Return whether a paste or drop has images for the turn; with `now`, add them."""
        return not self._context.row.growing and self._commands.pictures.take(self._context.turn.id, mime, now=now)

    def follow(self) -> None:
        """Show the editors that the session has open for the turn shown."""
        if self._context.row.growing:
            return
        turn = self._context.turn
        self._text.follow(EditKey(turn.id), partial(text_of, turn), f"Edit the {ROLE_WORDS[turn.role].lower()} turn")
        self._follow_calls()
        for call in self._parts.calls:
            call.follow_editors()
        for view in self._parts.views:
            view.setVisible(self._shows(view))
        self._follow_results()

    def _shows(self, view: QWidget) -> bool:
        """Return whether a part is visible beside the open editors."""
        if isinstance(view, CallCard):
            return view.call.id not in self._calls
        is_placeholder = isinstance(view, QLabel) and not self._context.turn.parts
        return self._text.editor is None or not (part_view_of(view).is_edited_in_place or is_placeholder)

    # The call that a result answers

    def _follow_results(self) -> None:
        turn = self._context.turn
        results = turn.results if turn.role is Role.TOOL else ()
        count = max(len(results), 1) if turn.role is Role.TOOL else 0
        for row in self._rows[count:]:
            self._rows.remove(row)
            row.hide()
            row.deleteLater()
        while len(self._rows) < count:
            row = AnswersRow(lambda: self._commands.answerable_calls(self._context.turn.id))
            row.setEnabled(not self._commands.read_only)
            row.chosen.connect(partial(self._set_answered_call, row))
            self._rows.append(row)
            self._top.addWidget(row)
        for number, row in enumerate(self._rows):
            row.set_name(f"Result {number + 1}" if count > 1 else "")
            row.show_call(results[number].call_id if results else "")

    def _set_answered_call(self, row: AnswersRow, call_id: str) -> None:
        self._commands.set_answered_call(self._context.turn.id, self._rows.index(row), call_id)

    def choose_call(self) -> None:
        """Open the list of calls at the first result that answers none."""
        results = self._context.turn.results
        index = next((number for number, result in enumerate(results) if not result.call_id.strip()), 0)
        if index < len(self._rows):
            self._rows[index].choose()

    # The text

    def begin(self) -> None:
        """Edit the text."""
        self._text.begin()

    def _text_opened(self, editor: InlineEditor) -> None:
        editor.field.elsewhere = self.takes
        self._body.addWidget(editor)
        self._header.edit.setEnabled(False)
        self._opened(editor)

    def _text_closed(self, focused: bool) -> None:
        self._header.edit.setEnabled(True)
        self._closed(focused)

    # Whole calls

    def add_call(self) -> None:
        """Write a new call."""
        self._begin_call("", None)

    def edit_call(self, call_id: str) -> None:
        """Edit a whole call, beginning with the arguments that are being typed."""
        call = self._call(call_id)
        if call is None:
            return
        key = EditKey(self._context.turn.id, What.ARGUMENTS, call_id)
        edit = self._commands.editor(key)
        self._commands.close_editor(key)
        typed = edit.text if edit is not None else None
        written = ToolCall(id=call.id, name=call.name, arguments=typed) if typed is not None else None
        self._begin_call(call_id, written)

    def _begin_call(self, call_id: str, written: ToolCall | None) -> None:
        if call_id not in self._calls:
            self._put_call(call_id, written)
            self.follow()
        if call_id in self._calls:
            self._calls[call_id].setFocus()

    def _call(self, call_id: str) -> ToolCall | None:
        """Return a call without its edits; an empty one for a new call."""
        if not call_id:
            return ToolCall(id="", name="", arguments="")
        return next((call for call in self._context.turn.calls if call.id == call_id), None)

    def _follow_calls(self) -> None:
        turn = self._context.turn
        edits = {edit.call: edit for edit in self._commands.editors_of(turn.id) if edit.what is What.CALL}
        for call_id, editor in list(self._calls.items()):
            if editor.property("turn") != turn.id or call_id not in edits or self._call(call_id) is None:
                del self._calls[call_id]
                focused = editor.isAncestorOf(QApplication.focusWidget() or editor)
                editor.blockSignals(True)
                editor.hide()
                editor.deleteLater()
                self._closed(focused)
        for call_id, edit in edits.items():
            call = self._call(call_id)
            if call is None:
                continue
            written = call if edit.written is None else edit.written
            if call_id not in self._calls:
                self._open_call(call_id, written)
            elif not _is_same(self._calls[call_id].call, written):
                self._calls[call_id].set_call(written)
            editor = self._calls[call_id]
            editor.show_branching(self._commands.branches(turn.id, call_id))
            views = self._parts.views
            index = next((n for n, v in enumerate(views) if isinstance(v, CallCard) and v.call.id == call_id), None)
            if index is not None and self._body.indexOf(editor) != index + 1:
                self._body.insertWidget(index + 1, editor)

    def _open_call(self, call_id: str, written: ToolCall) -> None:
        editor = self._calls[call_id] = CallEditor(written, self._commands.tools)
        editor.setProperty("turn", self._context.turn.id)
        editor.edited.connect(partial(self._call_typed, call_id))
        editor.saved.connect(partial(self._save_call, call_id))
        editor.cancelled.connect(partial(self._cancel_call, call_id))
        self._body.addWidget(editor)
        self._opened(editor)

    def _call_typed(self, call_id: str) -> None:
        call, written = self._call(call_id), self._calls[call_id].call
        self._put_call(call_id, None if call is not None and _is_same(call, written) else written)

    def _put_call(self, call_id: str, written: ToolCall | None) -> None:
        turn_id = self._context.turn.id
        self._commands.put_editor(OpenEdit(turn=turn_id, what=What.CALL, call=call_id, written=written))

    def _save_call(self, call_id: str) -> None:
        editor = self._calls[call_id]
        if not call_id:  # also an empty one, so that the problem says what is missing
            self._put_call(call_id, editor.call)
        if problem := self._commands.save_editor(EditKey(self._context.turn.id, What.CALL, call_id)):
            editor.show_problem(problem)
        else:
            self.follow()

    def _cancel_call(self, call_id: str) -> None:
        self._commands.cancel_editor(EditKey(self._context.turn.id, What.CALL, call_id))
        self.follow()

    # Both

    def _opened(self, editor: InlineEditor | CallEditor) -> None:
        editor.height_changed.connect(self._context.frame.height_changed)
        self._context.frame.height_changed.emit()

    def _closed(self, focused: bool) -> None:
        if focused:
            self._context.frame.setFocus()
        self._context.frame.height_changed.emit()


def _is_same(call: ToolCall, edited: ToolCall) -> bool:
    return (call.id, call.name, call.arguments) == (edited.id, edited.name, edited.arguments)
