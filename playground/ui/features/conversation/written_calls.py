"""Tool calls and results that a person writes: which there are to answer, and what is done to them."""

from __future__ import annotations

from functools import partial

from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn
from playground.engine.session.edits import Answerable, answerable, answers_none, calls_first, without_call
from playground.ui.features.conversation.stage import Stage
from playground.ui.features.conversation.turn_edits import TurnEdits
from playground.ui.widgets.notice_bar import Choice


class WrittenCalls:
    """Edits are made by ``edits``, which points out thinking that they make stale."""

    def __init__(self, pane: Stage, edits: TurnEdits) -> None:
        self._pane = pane
        self._edits = edits

    # For cards

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The tools on offer."""
        return self._pane.session.settings.tools

    def above(self, turn_id: str = "") -> list[Answerable]:
        """The calls that a result in that turn may answer; without a turn, one that is about to be added."""
        transcript = self._pane.session.transcript
        turn = transcript.turns.get(turn_id)
        return answerable(transcript.lineage(turn.parent) if turn is not None else transcript.path)

    def delete_call(self, turn_id: str, call_id: str) -> None:
        """Take a call out, with its results."""
        session = self._pane.session
        answered = session.debugger.result(turn_id, call_id) is not None
        done = "Call deleted, with its result." if answered else "Call deleted."
        self._edits.make(turn_id, partial(session.turns.delete_call, turn_id, call_id), done)

    def give_call(self, turn_id: str, at: int, call_id: str) -> None:
        """Let a result of a tool turn answer that call."""
        session = self._pane.session
        self._edits.make(turn_id, partial(session.turns.give_call, turn_id, at, call_id))

    # For the pane

    def cure(self, reason: str, turn: Turn | None) -> Choice | None:
        """The button that mends what a run was refused for, where that is about calls; ``turn`` is being written."""
        path = self._pane.session.transcript.path
        if reason == without_call((*path, *([turn] if turn is not None else []))):
            return "Choose its call", partial(self.choose_call, self._lost())
        if turn is not None and reason == calls_first((turn,)):
            return "Add the turn", self._pane.add_draft
        return None

    def choose_call(self, turn_id: str = "") -> None:
        """Have the call chosen that a tool turn answers: that turn, else the one with the focus, else the first without
        a call, else the one that is being written."""
        pane, turns = self._pane, self._pane.session.transcript.turns
        focused = pane.view.focused_turn()
        if not turn_id and focused is not None and turns[focused].role is Role.TOOL:
            turn_id = focused
        card = pane.view.card(turn_id or self._lost())
        if card is not None:
            card.editing.choose_call()
        elif not pane.choose_written_call():
            pane.notice.say("No tool turn stands by itself: each result is with the call it answers.", stays=False)

    def _lost(self) -> str:
        """The first tool turn that answers no call."""
        return next((turn.id for turn in self._pane.session.transcript.path if answers_none(turn)), "")

    def write_call(self) -> None:
        """Write a tool call for the assistant turn that has the focus, or for the last one."""
        pane, path = self._pane, self._pane.session.transcript.path
        last = next((turn.id for turn in reversed(path) if turn.role is Role.ASSISTANT), "")
        card = pane.view.card(pane.view.focused_turn() or last)
        if card is None or card.turn.role is not Role.ASSISTANT or card.row.growing:
            pane.notice.say("Only an assistant turn calls tools. Choose one, or write one below.", stays=False)
        else:
            card.editing.add_call()
