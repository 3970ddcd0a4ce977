"""What is written in a turn's card: its text, a call of it, and which call its result answers. One editor at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from playground.domain.parts import ToolCall
from playground.domain.transcript import Role
from playground.engine.hand_made import Answerable
from playground.ui.conversation.answers_row import AnswersRow
from playground.ui.conversation.calls.call_card import CallCard
from playground.ui.conversation.calls.call_editor import CallEditor
from playground.ui.conversation.commands import TurnCommands
from playground.ui.conversation.inline_editor import InlineEditor
from playground.ui.conversation.role_words import ROLE_WORDS
from playground.ui.conversation.text_view import TextView
from playground.ui.conversation.turn_header import TurnHeader
from playground.ui.conversation.verdict_view import VerdictView

if TYPE_CHECKING:
    from playground.ui.conversation.turn_card import TurnCard


class CardEditing:
    """``body`` holds the card's parts, and the editor below them or in the place of the call it is about."""

    def __init__(self, card: TurnCard, commands: TurnCommands, header: TurnHeader, body: QVBoxLayout) -> None:
        self._card = card
        self._commands = commands
        self._header = header
        self._body = body
        self._text: InlineEditor | None = None
        self._call: CallEditor | None = None
        self._call_id = ""  # of the call under edit; empty for one that is new
        self._rows: list[AnswersRow] = []
        header.edit_asked.connect(self.begin)

    @property
    def open(self) -> bool:
        """Whether something is written here that is not kept yet."""
        return self._text is not None or self._call is not None

    @property
    def offers(self) -> list[tuple[str, Callable[[], None]]]:
        """What the menu of the turn has besides: words, and what is done."""
        role = self._card.turn.role
        if self._card.row.growing or role not in (Role.ASSISTANT, Role.TOOL):
            return []
        if role is Role.ASSISTANT:
            return [("Add a tool call…", self.add_call)]
        return [("Choose the call it answers…", self.choose_call)]

    def shows(self, view: QWidget) -> bool:
        """Whether a part of the card is to be seen beside the editor that is open."""
        if self._text is not None:
            return not isinstance(view, TextView | VerdictView)
        return not (self._call is not None and isinstance(view, CallCard) and view.call.id == self._call_id)

    def follow(self) -> None:
        """The card shows another turn, or the same one changed."""
        turn = self._card.turn
        if (editor := self._text or self._call) is not None:
            editor.show_branching(self._commands.edits.branches(turn.id, self._call_id))
        if self._call is not None and self._call_id:
            at = next((n for n, view in enumerate(self._card.body) if _is_call(view, self._call_id)), -1)
            if at < 0:
                self.end()  # the call is gone
            else:
                self._body.insertWidget(at + 1, self._call)
        results = turn.results if turn.role is Role.TOOL else ()
        wanted = max(len(results), 1) if turn.role is Role.TOOL else 0
        for row in self._rows[wanted:]:
            self._rows.remove(row)
            row.hide()
            row.deleteLater()
        while len(self._rows) < wanted:
            row = AnswersRow(self._above)
            row.chosen.connect(partial(self._give, row))
            self._rows.append(row)
            self._card.top.addWidget(row)
        for number, row in enumerate(self._rows):
            row.set_name(f"Result {number + 1}" if wanted > 1 else "")
            row.show_call(results[number].call_id if results else "")

    def _above(self) -> list[Answerable]:
        return list(self._commands.hand.above(self._card.turn.id))

    def _give(self, row: AnswersRow, call_id: str) -> None:
        self._commands.hand.give_call(self._card.turn.id, self._rows.index(row), call_id)

    def choose_call(self) -> None:
        """Bring the calls to choose from under the cursor, at the first result that has none."""
        results = self._card.turn.results
        lost = next((number for number, result in enumerate(results) if not result.call_id.strip()), 0)
        if lost < len(self._rows):
            self._rows[lost].choose()

    # The text

    def begin(self) -> None:
        """Edit the text in place."""
        if self._text is not None:
            self._text.setFocus()
            return
        self.end()
        turn = self._card.turn
        text = turn.results[0].text if turn.role is Role.TOOL and turn.results else turn.text
        self._text = InlineEditor(text, f"Edit the {ROLE_WORDS[turn.role].lower()} turn", runs=True)
        self._text.kept.connect(self._keep_text)
        self._text.run_asked.connect(self._run_text)
        for view in self._card.body:
            if not self.shows(view) or (isinstance(view, QLabel) and not turn.parts):
                view.hide()
        self._body.addWidget(self._text)
        self._header.edit.setEnabled(False)
        self._begun(self._text)

    def _keep_text(self, text: str) -> None:
        self.end()
        self._commands.edits.text(self._card.turn.id, text)

    def _run_text(self, text: str) -> None:
        self.end()
        self._commands.edits.run(self._card.turn.id, text)

    # A call

    def add_call(self) -> None:
        """Write one more call."""
        self._open_call(ToolCall(id="", name="", arguments=""))

    def edit_call(self, call_id: str) -> None:
        """Write another name, id and arguments for a call."""
        call = next((call for call in self._card.turn.calls if call.id == call_id), None)
        if call is not None:
            self._open_call(call)

    def _open_call(self, call: ToolCall) -> None:
        if self._call is not None and self._call_id == call.id:
            self._call.setFocus()
            return
        self.end()
        self._call_id = call.id
        self._call = CallEditor(call, self._commands.hand.tools)
        self._call.kept.connect(self._keep_call)
        for view in self._card.body:
            view.setVisible(self.shows(view))
        self._body.addWidget(self._call)
        self.follow()
        self._begun(self._call)

    def _keep_call(self, call: ToolCall) -> None:
        turn_id, call_id, hand = self._card.turn.id, self._call_id, self._commands.hand
        problem = hand.replace_call(turn_id, call_id, call) if call_id else hand.add_call(turn_id, call)
        if problem and self._call is not None:
            self._call.say(problem)
        else:
            self.end()

    # Both

    def _begun(self, editor: InlineEditor | CallEditor) -> None:
        editor.show_branching(self._commands.edits.branches(self._card.turn.id, self._call_id))
        editor.cancelled.connect(self.end)
        editor.height_changed.connect(self._card.height_changed)
        editor.setFocus()
        self._card.height_changed.emit()

    def end(self) -> None:
        """Leave the editor without keeping what is written."""
        editor: QWidget | None = self._text or self._call
        if editor is None:
            return
        self._text, self._call, self._call_id = None, None, ""
        editor.hide()
        editor.deleteLater()
        self._header.edit.setEnabled(True)
        for view in self._card.body:
            view.show()
        self._card.setFocus()
        self._card.height_changed.emit()


def _is_call(view: QWidget, call_id: str) -> bool:
    return isinstance(view, CallCard) and view.call.id == call_id
