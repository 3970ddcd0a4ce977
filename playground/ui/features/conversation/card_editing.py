"""What is written in a turn's card: its text, calls of it, and which call its result answers.

Which editors are open, and what stands in them, is the session's; here they are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget

from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role
from playground.engine.session.drafts import EditKey, OpenEdit, What
from playground.engine.session.edits import Answerable, text_of
from playground.ui.features.conversation.answers_row import AnswersRow
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.calls.call_form import CallForm
from playground.ui.features.conversation.card_parts import CardParts
from playground.ui.features.conversation.inline_editor import InlineEditor, branch_note
from playground.ui.features.conversation.part_views import Drawing, calls_in, drawn_by
from playground.ui.features.conversation.text_place import TextEditing
from playground.ui.features.conversation.turn_header import TurnHeader
from playground.ui.widgets.form_parts import paragraph
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.role_words import ROLE_WORDS


class CallEditor(QWidget):
    """``call`` is what is written; ``kept`` and ``cancelled`` say what becomes of it, ``edited`` tells a change."""

    kept = Signal()
    edited = Signal()
    cancelled = Signal()
    height_changed = Signal()

    def __init__(self, call: ToolCall, tools: tuple[ToolDefinition, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.form = CallForm(removable=False)
        self.form.set_tools(tools)
        self.form.set_call(call)
        self.form.edited.connect(self.edited)
        self._problem = paragraph("", "flag-error")
        self._problem.hide()
        keep, cancel = QPushButton("Keep"), QPushButton("Cancel")
        keep.setProperty("kind", "primary")
        keep.setToolTip("Ctrl+Enter in the arguments")
        cancel.setToolTip("Escape in the arguments")
        keep.clicked.connect(self.kept)
        cancel.clicked.connect(self.cancelled)
        self.form.submitted.connect(self.kept)
        self.form.cancelled.connect(self.cancelled)
        self.form.height_changed.connect(self.height_changed)
        buttons = in_row(keep, cancel, 1, spacing=6)
        column = in_column(self.form, self._problem, buttons, of=self, margins=(0, 4, 0, 4), spacing=6)
        self._note = branch_note()
        column.addWidget(self._note)
        self.setFocusProxy(self.form)

    @property
    def problem(self) -> str:
        """Why it was not kept; empty where nobody tried."""
        return self._problem.text()

    def say(self, words: str) -> None:
        """Why it was not kept."""
        self._problem.setText(words)
        self._problem.setVisible(bool(words))
        self.height_changed.emit()

    def show_branching(self, branches: bool) -> None:
        """Say, or do not, that keeping the call leaves answers on a branch."""
        if branches is self._note.isHidden():
            self._note.setVisible(branches)
            self.height_changed.emit()

    @property
    def call(self) -> ToolCall:
        """What is written."""
        return self.form.call

    def set_call(self, call: ToolCall) -> None:
        """Put back what was written before, without telling."""
        self.form.set_call(call)


class CardEditing:
    """``body`` holds the card's parts, and the editor below them or in the place of the call it is about.

    ``top`` holds what stands above the parts.
    """

    def __init__(
        self, card: Drawing, parts: CardParts, header: TurnHeader, body: QVBoxLayout, top: QVBoxLayout
    ) -> None:
        self._card = card
        self._parts = parts
        self._commands = commands = card.commands
        self._header = header
        self._body = body
        self._top = top
        self._text = TextEditing(commands, self._text_opened, self._text_closed, runs=True)
        self._calls: dict[str, CallEditor] = {}  # by the id of the call under edit; empty for one that is new
        self._rows: list[AnswersRow] = []
        header.edit_asked.connect(self.begin)

    @property
    def open(self) -> bool:
        """Whether something is written here that is not kept yet."""
        return self._text.editor is not None or bool(self._calls)

    @property
    def offers(self) -> list[tuple[str, Callable[[], None]]]:
        """What the menu of the turn has besides: words, and what is done."""
        role = self._card.turn.role
        if self._card.row.growing or self._commands.read_only:
            return []
        images: tuple[str, Callable[[], None]] = ("Add images…", self.add_images)
        match role:
            case Role.USER:
                return [images]
            case Role.ASSISTANT:
                return [("Add a tool call…", self.add_call)]
            case Role.TOOL:
                return [("Choose the call it answers…", self.choose_call), images]
        return []

    def add_images(self) -> None:
        """Choose images for the turn."""
        self._commands.pictures.choose(self._card.turn.id)

    def takes(self, mime: QMimeData, now: bool) -> bool:
        """Whether a paste or drop holds images for the turn; ``now`` they are put into it."""
        return not self._card.row.growing and self._commands.pictures.take(self._card.turn.id, mime, now=now)

    def shows(self, view: QWidget) -> bool:
        """Whether a part of the card is to be seen beside the editor that is open."""
        if isinstance(view, CallCard):
            return view.call.id not in self._calls
        bare = drawn_by(view).in_place or (isinstance(view, QLabel) and not self._card.turn.parts)
        return self._text.editor is None or not bare

    def follow(self) -> None:
        """The card shows another turn, the same one changed, or other editors are open in it."""
        if self._card.row.growing:
            return
        turn = self._card.turn
        self._text.follow(EditKey(turn.id), partial(text_of, turn), f"Edit the {ROLE_WORDS[turn.role].lower()} turn")
        self._follow_calls()
        for call in calls_in(self._parts.views):
            call.follow_editors()
        for view in self._parts.views:
            view.setVisible(self.shows(view))
        self._follow_results()

    def _follow_results(self) -> None:
        turn = self._card.turn
        results = turn.results if turn.role is Role.TOOL else ()
        wanted = max(len(results), 1) if turn.role is Role.TOOL else 0
        for row in self._rows[wanted:]:
            self._rows.remove(row)
            row.hide()
            row.deleteLater()
        while len(self._rows) < wanted:
            row = AnswersRow(self._above)
            row.setEnabled(not self._commands.read_only)
            row.chosen.connect(partial(self._give, row))
            self._rows.append(row)
            self._top.addWidget(row)
        for number, row in enumerate(self._rows):
            row.set_name(f"Result {number + 1}" if wanted > 1 else "")
            row.show_call(results[number].call_id if results else "")

    def _above(self) -> list[Answerable]:
        return list(self._commands.answerable_calls(self._card.turn.id))

    def _give(self, row: AnswersRow, call_id: str) -> None:
        self._commands.set_answered_call(self._card.turn.id, self._rows.index(row), call_id)

    def choose_call(self) -> None:
        """Bring the calls to choose from under the cursor, at the first result that has none."""
        results = self._card.turn.results
        lost = next((number for number, result in enumerate(results) if not result.call_id.strip()), 0)
        if lost < len(self._rows):
            self._rows[lost].choose()

    # The text

    def begin(self) -> None:
        """Edit the text in place."""
        self._text.begin()

    def _text_opened(self, editor: InlineEditor) -> None:
        editor.field.elsewhere = self.takes
        self._body.addWidget(editor)
        self._header.edit.setEnabled(False)
        self._opened(editor)

    def _text_closed(self, focused: bool) -> None:
        self._header.edit.setEnabled(True)
        self._closed(focused)

    # A call

    def add_call(self) -> None:
        """Write one more call."""
        self._begin_call("", None)

    def edit_call(self, call_id: str) -> None:
        """Write another name, id and arguments for a call, with the arguments that are being written."""
        edits, call = self._commands, self._call(call_id)
        if call is None:
            return
        arguments = EditKey(self._card.turn.id, What.ARGUMENTS, call_id)
        typed = edits.editor(arguments)
        edits.cancel_editor(arguments)
        text = typed.text if typed is not None else None
        self._begin_call(call_id, _written(call, text) if text is not None else None)

    def _begin_call(self, call_id: str, written: ToolCall | None) -> None:
        if call_id not in self._calls:
            edit = OpenEdit(turn=self._card.turn.id, what=What.CALL, call=call_id, written=written)
            self._commands.put_editor(edit)
            self.follow()
        if call_id in self._calls:
            self._calls[call_id].setFocus()

    def _call(self, call_id: str) -> ToolCall | None:
        """The call as it is without what is being written; one that is new has nothing."""
        if not call_id:
            return ToolCall(id="", name="", arguments="")
        return next((call for call in self._card.turn.calls if call.id == call_id), None)

    def _follow_calls(self) -> None:
        turn = self._card.turn
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
            shown = call if edit.written is None else edit.written
            if call_id not in self._calls:
                self._open_call(call_id, shown)
            elif not _same(self._calls[call_id].call, shown):
                self._calls[call_id].set_call(shown)
            self._calls[call_id].show_branching(self._commands.branches(turn.id, call_id))
            at = next((n for n, view in enumerate(self._parts.views) if _is_call(view, call_id)), -1)
            if at >= 0 and self._body.indexOf(self._calls[call_id]) != at + 1:
                self._body.insertWidget(at + 1, self._calls[call_id])

    def _open_call(self, call_id: str, shown: ToolCall) -> None:
        editor = self._calls[call_id] = CallEditor(shown, self._commands.tools)
        editor.setProperty("turn", self._card.turn.id)
        editor.edited.connect(partial(self._call_typed, call_id))
        editor.kept.connect(partial(self._keep_call, call_id))
        editor.cancelled.connect(partial(self._cancel_call, call_id))
        self._body.addWidget(editor)
        self._opened(editor)

    def _call_typed(self, call_id: str) -> None:
        call, written = self._call(call_id), self._calls[call_id].call
        same = call is not None and _same(call, written)
        self._put_call(call_id, None if same else written)

    def _put_call(self, call_id: str, written: ToolCall | None) -> None:
        turn_id = self._card.turn.id
        self._commands.put_editor(OpenEdit(turn=turn_id, what=What.CALL, call=call_id, written=written))

    def _keep_call(self, call_id: str) -> None:
        editor = self._calls[call_id]
        if not call_id:  # even with nothing in it: then it is said what is missing
            self._put_call(call_id, editor.call)
        if problem := self._commands.save_editor(EditKey(self._card.turn.id, What.CALL, call_id)):
            editor.say(problem)
        else:
            self.follow()

    def _cancel_call(self, call_id: str) -> None:
        self._commands.cancel_editor(EditKey(self._card.turn.id, What.CALL, call_id))
        self.follow()

    # Both

    def _opened(self, editor: InlineEditor | CallEditor) -> None:
        editor.height_changed.connect(self._card.frame.height_changed)
        self._card.frame.height_changed.emit()

    def _closed(self, focused: bool) -> None:
        if focused:
            self._card.frame.setFocus()
        self._card.frame.height_changed.emit()


def _written(call: ToolCall, arguments: str) -> ToolCall:
    return ToolCall(id=call.id, name=call.name, arguments=arguments)


def _same(call: ToolCall, other: ToolCall) -> bool:
    """Whether two calls are written alike."""
    return (call.id, call.name, call.arguments) == (other.id, other.name, other.arguments)


def _is_call(view: QWidget, call_id: str) -> bool:
    return isinstance(view, CallCard) and view.call.id == call_id
