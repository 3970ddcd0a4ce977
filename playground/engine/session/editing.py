"""What stands in the editors that are open in the turns of one experiment: part of it, as the draft in the composer is.

It is told, saved and brought back as that is. Whatever uses turns keeps what stands in their editors first, so that
what is on the screen is what is sent; until then it only looks as if (``as_kept``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from playground.domain.parts import ToolCall
from playground.domain.transcript import Transcript
from playground.engine.session import open_edits
from playground.engine.session.changes import DraftChanged
from playground.engine.session.edits import Edits
from playground.engine.session.open_edits import EditKey, OpenEdit, OpenEdits, What
from playground.engine.session.turn_edits import followed, standing

if TYPE_CHECKING:
    from playground.engine.gateways.profiles import Profile

#: Stands for the head of the transcript where a turn id is asked for; no turn has it.
HEAD = ""


class Editing(Edits):
    """The part of a session between its edits and its runs. ``editing`` is what stands in the open editors."""

    def __init__(self, profile_id: str, protocol: str, model: str, profile_of: Callable[[str], Profile] | None) -> None:
        super().__init__(profile_id, protocol, model, profile_of)
        self.editing: OpenEdits = {}
        self._kept: tuple[Transcript, OpenEdits, str | None, Transcript, str | None] | None = None  # see ``as_kept``
        self._copies: dict[str, str] = {}  # made by the last edit, for a branch

    def set_editing(self, edit: OpenEdit) -> None:
        """An editor is open, and this stands in it."""
        if self.editing.get(edit.key) != edit:
            self.editing = {**self.editing, edit.key: edit}
            self.tell(DraftChanged())

    def end_editing(self, *keys: EditKey) -> None:
        """These editors are open no more; what stands in them is forgotten."""
        left = {key: edit for key, edit in self.editing.items() if key not in keys}
        if len(left) != len(self.editing):
            self.editing = left
            self.tell(DraftChanged())

    def keep_editing(self, key: EditKey) -> None:
        """Keep what stands in an editor, an edit like any other, and close it.

        Raises ValueError as ``hand_made.finished`` does, and then it stays open.
        """
        if key in self.editing:
            self._keep(self.editing[key])

    def _keep(self, edit: OpenEdit) -> dict[str, str]:
        """The same. Returns the ids of the turns that were copied for a branch, and those of their copies."""
        self._copies, turn, call = {}, edit.turn, edit.call
        if open_edits.differs(self.transcript, edit):
            if edit.text is not None and edit.what is What.TEXT:
                turn = self.edit_text(turn, edit.text)
            elif edit.text is not None:
                turn = self.edit_call(turn, call, edit.text)
            elif edit.written is not None and call:
                turn, call = self.replace_call(turn, call, edit.written)
            elif edit.written is not None:
                turn = self.add_calls(turn, (edit.written,))
        self.end_editing(edit.key, EditKey(turn, edit.what, call))
        return self._copies

    def keep_open(self, at: str | None = HEAD) -> dict[str, str]:
        """Keep what stands in the editors of the turns down to ``at``, an edit each: they are about to be used.

        Returns the ids of turns that were copied for branches, and of their copies (see ``turn_edits.standing``).
        Raises ValueError where one cannot be kept; those before it have been.
        """
        copies: dict[str, str] = {}
        while edits := self._open_to(at):
            made = self._keep(edits[0])
            at, copies = standing(self.transcript, made, at), followed(copies, made)
        return copies

    def keep_what_can_be(self) -> None:
        """Keep what stands in the editors of the path; what cannot be kept stays open."""
        tried: set[EditKey] = set()
        while edits := [edit for edit in self._open_to(HEAD) if edit.key not in tried]:
            tried.add(edits[0].key)
            with contextlib.suppress(ValueError):
                self._keep(edits[0])

    def as_kept(self, at: str | None = HEAD) -> tuple[Transcript, str | None]:
        """The turns as they will be once those down to ``at`` are used, with what stands in their editors as far as it
        can be kept; and from where to ask then."""
        if not self.editing:
            return self.transcript, at
        known = self._kept
        if known is None or known[0] is not self.transcript or known[1] is not self.editing or known[2] != at:
            kept, then = open_edits.all_kept(self.transcript, self.editing, at, self.growing)
            known = self._kept = (self.transcript, self.editing, at, kept, then)
        return known[3], known[4]

    def unkept(self, at: str | None = HEAD) -> str:
        """Why what stands in an open editor on the way to ``at`` cannot be kept; empty where it can."""
        return open_edits.problem(self.transcript, self.editing, at) if self.editing else ""

    def _open_to(self, at: str | None) -> list[OpenEdit]:
        if not self.editing:
            return []
        path = self.transcript.path if at == HEAD else self.transcript.lineage(at)
        return open_edits.of_turns(self.editing, path)

    # What is being written goes along

    def copied(self, copies: Mapping[str, str]) -> None:
        """Turns are copied for a branch, which is shown from now on."""
        self._copies = dict(copies)
        if any(edit.turn in copies for edit in self.editing.values()):
            self._renamed(
                edit.model_copy(update={"turn": copies.get(edit.turn, edit.turn)}) for edit in self.editing.values()
            )

    def replace_call(self, turn_id: str, call_id: str, call: ToolCall, *, in_place: bool = False) -> tuple[str, str]:
        turn, made = super().replace_call(turn_id, call_id, call, in_place=in_place)
        if made != call_id and any((key.turn, key.call) == (turn, call_id) for key in self.editing):
            self._renamed(
                edit.model_copy(update={"call": made}) if (edit.turn, edit.call) == (turn, call_id) else edit
                for edit in self.editing.values()
            )
        return turn, made

    def _renamed(self, edits: Iterable[OpenEdit]) -> None:
        self.editing = {edit.key: edit for edit in edits}
        self.tell(DraftChanged())
