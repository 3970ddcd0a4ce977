"""Editors in a turn's card: of its text, of whole tool calls, and of the call that a result answers.

The session stores which editors are open and what is in them; here they are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QMimeData
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from playground.domain.parts import ToolCall
from playground.domain.transcript import Role
from playground.engine.session.drafts import EditKey, OpenEdit, What
from playground.engine.session.edits import text_of
from playground.ui.features.conversation.answers_row import AnswersRow
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.editors import CallEditor, Editing, InlineEditor
from playground.ui.features.conversation.part_view import PartContext, PartView
from playground.ui.features.conversation.turn_header import TurnHeader
from playground.ui.features.conversation.turn_parts import TurnParts
from playground.ui.widgets.layouts import discard
from playground.ui.widgets.role_words import ROLE_WORDS


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
        self._text = Editing[str](context.commands, self._make_text_editor, self._text_closed, self.follow)
        self._calls: dict[str, Editing[ToolCall]] = {}  # by the id of the call; empty for a new one
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
        self._text.follow(EditKey(turn.id), partial(text_of, turn))
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
        is_text = isinstance(view, PartView) and view.is_edited_in_place
        return self._text.editor is None or not (is_text or is_placeholder)

    # The call that a result answers

    def _follow_results(self) -> None:
        turn = self._context.turn
        results = turn.results if turn.role is Role.TOOL else ()
        count = max(len(results), 1) if turn.role is Role.TOOL else 0
        discard(self._top, *self._rows[count:])
        del self._rows[count:]
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

    def _make_text_editor(self, text: str) -> InlineEditor:
        role = ROLE_WORDS[self._context.turn.role].lower()
        editor = InlineEditor(text, f"Edit the {role} message", runs=True)
        editor.field.elsewhere = self.takes
        self._header.edit.setEnabled(False)
        self._place(editor)
        return editor

    def _text_closed(self, focused: bool) -> None:
        self._header.edit.setEnabled(True)
        self._closed(focused)

    # Whole calls

    def add_call(self) -> None:
        """Write a new call."""
        self._begin_call("", None)

    def edit_call(self, call_id: str) -> None:
        """Edit a whole call, beginning with the arguments that are being typed."""
        key = EditKey(self._context.turn.id, What.ARGUMENTS, call_id)
        edit, call = self._commands.editor(key), self._call(call_id)
        self._commands.close_editor(key)
        if edit is not None and edit.text is not None:
            self._begin_call(call_id, ToolCall(id=call.id, name=call.name, arguments=edit.text))
        else:
            self._begin_call(call_id, None)

    def _begin_call(self, call_id: str, written: ToolCall | None) -> None:
        if call_id not in self._calls:
            turn_id = self._context.turn.id
            self._commands.put_editor(OpenEdit(turn=turn_id, what=What.CALL, call=call_id, written=written))
            self.follow()
        if call_id in self._calls:
            self._calls[call_id].begin()

    def _call(self, call_id: str) -> ToolCall:
        """Return a call without its edits; an empty one for a new call."""
        calls = (call for call in self._context.turn.calls if call_id and call.id == call_id)
        return next(calls, ToolCall(id="", name="", arguments=""))

    def _follow_calls(self) -> None:
        turn = self._context.turn
        calls = {"", *(call.id for call in turn.calls)}
        edits = [e.call for e in self._commands.editors_of(turn.id) if e.what is What.CALL and e.call in calls]
        for call_id in [call_id for call_id in self._calls if call_id not in edits]:
            self._calls.pop(call_id).follow(None, partial(self._call, call_id))
        for call_id in edits:
            editing = self._calls.get(call_id)
            if editing is None:
                editing = Editing[ToolCall](self._commands, self._make_call_editor, self._closed, self.follow)
                self._calls[call_id] = editing
            editing.follow(EditKey(turn.id, What.CALL, call_id), partial(self._call, call_id))
            views = enumerate(self._parts.views)
            index = next((n for n, view in views if isinstance(view, CallCard) and view.call.id == call_id), None)
            if index is not None and editing.editor is not None and self._body.indexOf(editing.editor) != index + 1:
                self._body.insertWidget(index + 1, editing.editor)

    def _make_call_editor(self, call: ToolCall) -> CallEditor:
        editor = CallEditor(call, self._commands.tools)
        self._place(editor)
        return editor

    # Both

    def _place(self, editor: InlineEditor | CallEditor) -> None:
        self._body.addWidget(editor)
        editor.height_changed.connect(self._context.frame.height_changed)
        self._context.frame.height_changed.emit()

    def _closed(self, focused: bool) -> None:
        if focused:
            self._context.frame.setFocus()
        self._context.frame.height_changed.emit()
