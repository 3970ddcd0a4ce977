"""Edits of turns that cards ask for, and the editors open in them, for the session that a pane shows.

An edit of a turn with answers makes a branch. What an edit brings besides is said: thinking that it makes stale, and
where the old answers are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from playground.domain.errors import RunRefusedError
from playground.domain.parts import Image
from playground.domain.transcript import Role
from playground.engine.session.drafts import EditKey, OpenEdit
from playground.ui.features.conversation.inline_editor import InlineEditor
from playground.ui.features.conversation.stage import Stage
from playground.ui.features.conversation.thinking_guard import ThinkingGuard
from playground.ui.widgets.loop import spawn

BRANCHED = "Kept on a new branch. The old answers stay with the old words: ‹ › on the turn goes from one to the other."


class TurnEdits:
    """Edits are made through ``guard``, which points out thinking that they make stale; ``fixed``: there are none."""

    def __init__(self, pane: Stage, guard: ThinkingGuard, *, fixed: bool = False) -> None:
        self.fixed = fixed
        self._pane = pane
        self._guard = guard

    # For cards

    def branches(self, turn_id: str, call_id: str = "") -> bool:
        """Whether an edit of a turn, or of a call of it, leaves what is there on a branch of its own."""
        session = self._pane.session
        return turn_id in session.transcript.turns and session.turns.branches(turn_id, call_id)

    def get(self, key: EditKey) -> OpenEdit | None:
        """What stands in an editor; None where it is not open."""
        return self._pane.session.editors.open.get(key)

    def of(self, turn_id: str) -> list[OpenEdit]:
        """The editors that are open in a turn, in the order in which they were opened."""
        return [edit for edit in self._pane.session.editors.open.values() if edit.turn == turn_id]

    def put(self, edit: OpenEdit) -> None:
        """An editor is open, and this stands in it."""
        self._pane.session.editors.set_editing(edit)

    def cancel(self, key: EditKey) -> None:
        """Close an editor; what stands in it is forgotten."""
        self._pane.session.editors.end_editing(key)

    def keep(self, key: EditKey) -> str:
        """Keep what stands in an editor, and close it. Returns why that cannot be, or nothing."""
        try:
            self.make(key.turn, partial(self._pane.session.editors.keep_editing, key))
        except ValueError as error:
            return str(error)
        return ""

    def run(self, turn_id: str, text: str) -> None:
        """Give a turn other words and ask from there."""
        pane, session = self._pane, self._pane.session
        pane.notice.hide()

        async def go() -> None:
            try:
                await session.run_edited(turn_id, text)
            except RunRefusedError as error:
                pane.say_refused(str(error))

        pane.view.jump_to_latest()
        spawn(go(), name="run")

    def image(self, turn_id: str, at: int, image: Image | None) -> None:
        """Put another image in the place of one; None takes it out."""
        edit = partial(self._pane.session.turns.set_image, turn_id, at, image)
        self.make(turn_id, edit, "Image removed." if image is None else "")

    def role(self, turn_id: str, role: Role) -> None:
        """Give a turn another role."""
        self.make(turn_id, partial(self._pane.session.turns.change_role, turn_id, role))

    def make(self, turn_id: str, edit: Callable[[], object], done: str = "") -> None:
        """Carry out an edit of a turn. What came of it is said: ``done``, or that there is a branch now.

        Raises what ``edit`` does.
        """
        pane, session = self._pane, self._pane.session
        beside = len(session.transcript.siblings(turn_id))
        if self._guard.edit(session, edit):
            return
        turns = session.transcript
        branched = turn_id in turns.turns and len(turns.siblings(turn_id)) > beside
        if branched:
            pane.view.jump_to_latest()
        if branched or done:
            pane.notice.say(" ".join(filter(None, (done, BRANCHED * branched))), "Undo", pane.undo, stays=False)

    # For the pane

    def run_open(self) -> None:
        """Keep the words in the open editor and run; without one, edit the turn that has the focus, or the last one
        that was written."""
        pane = self._pane
        editors = [one for one in pane.view.findChildren(InlineEditor) if one.runs and one.isVisible()]
        if editors:
            next((one for one in editors if one.isAncestorOf(pane.focusWidget())), editors[0]).run_asked.emit()
            return
        written = next((one.id for one in reversed(pane.session.transcript.path) if one.outcome is None), "")
        card = pane.view.card(pane.view.focused_turn() or written)
        if card is None or card.row.growing:
            pane.notice.say("There is no turn to edit yet.", stays=False)
        else:
            card.editing.begin()
            pane.notice.say("Change the words, then Alt+Enter runs from there.", stays=False)
