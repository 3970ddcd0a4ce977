"""What stands in the editors that are open in the turns of one experiment: part of it, as the draft in the composer is.

It is told, saved and brought back as that is. Whatever uses turns keeps what stands in their editors first, so that
what is on the screen is what is sent; until then it only looks as if (``as_kept``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from playground.domain.transcript import Transcript
from playground.engine.session import open_edits
from playground.engine.session.changes import CallEdited, Change, DraftChanged, Observers, TurnsCopied
from playground.engine.session.open_edits import EditKey, OpenEdit, OpenEdits
from playground.engine.session.turn_edits import followed, standing
from playground.engine.session.turns import Turns

#: Stands for the head of the transcript where a turn id is asked for; no turn has it.
HEAD = ""


class Editors:
    """``open`` is what stands in each of the open editors. Those of ``beside``, of another lane, are the same."""

    def __init__(self, turns: Turns, observers: Observers, beside: Editors | None = None) -> None:
        self._turns = turns
        self._observers = observers
        self._of = beside._main if beside is not None else None  # not itself, to be freed with its last user
        self._open: OpenEdits = {}
        self._kept: tuple[Transcript, OpenEdits, str | None, Transcript, str | None] | None = None  # see ``as_kept``
        self._copies: dict[str, str] = {}  # made by the last edit, for a branch
        observers.subscribe(self._follow, TurnsCopied, CallEdited)

    @property
    def _main(self) -> Editors:
        return self._of or self

    @property
    def open(self) -> OpenEdits:
        """What stands in each of them."""
        return self._main._open

    @open.setter
    def open(self, edits: OpenEdits) -> None:
        self._main._open = edits

    def set_editing(self, edit: OpenEdit) -> None:
        """An editor is open, and this stands in it."""
        if self.open.get(edit.key) != edit:
            self.open = {**self.open, edit.key: edit}
            self._observers.tell(DraftChanged())

    def end_editing(self, *keys: EditKey) -> None:
        """These editors are open no more; what stands in them is forgotten."""
        left = {key: edit for key, edit in self.open.items() if key not in keys}
        if len(left) != len(self.open):
            self.open = left
            self._observers.tell(DraftChanged())

    def keep_editing(self, key: EditKey) -> None:
        """Keep what stands in an editor, an edit like any other, and close it.

        Raises ValueError as ``hand_made.finished`` does, and then it stays open.
        """
        if key in self.open:
            self._keep(self.open[key])

    def _keep(self, edit: OpenEdit) -> dict[str, str]:
        """The same. Returns the ids of the turns that were copied for a branch, and those of their copies."""
        self._copies, turn, call = {}, edit.turn, ""
        if (made := open_edits.edit_of(self._turns.transcript, edit)) is not None:
            turn, call = self._turns.carry_out(made)
        self.end_editing(edit.key, EditKey(turn, edit.what, call or edit.call))
        return self._copies

    def keep_open(self, at: str | None = HEAD) -> dict[str, str]:
        """Keep what stands in the editors of the turns down to ``at``, an edit each: they are about to be used.

        Returns the ids of turns that were copied for branches, and of their copies (see ``turn_edits.standing``).
        Raises ValueError where one cannot be kept; those before it have been.
        """
        copies: dict[str, str] = {}
        while edits := self._open_to(at):
            made = self._keep(edits[0])
            at, copies = standing(self._turns.transcript, made, at), followed(copies, made)
        return copies

    def bring_back(self, edits: OpenEdits) -> None:
        """What another lane has kept of these since is open again, where it is about a turn of the path."""
        path = {turn.id for turn in self._turns.transcript.path}
        back = {key: edit for key, edit in edits.items() if edit.turn in path and key not in self.open}
        if back:
            self.open = {**self.open, **back}

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
        if not self.open:
            return self._turns.transcript, at
        known = self._kept
        if known is None or known[0] is not self._turns.transcript or known[1] is not self.open or known[2] != at:
            kept, then = open_edits.all_kept(self._turns.transcript, self.open, at, self._turns.growing)
            known = self._kept = (self._turns.transcript, self.open, at, kept, then)
        return known[3], known[4]

    def unkept(self, at: str | None = HEAD) -> str:
        """Why what stands in an open editor on the way to ``at`` cannot be kept; empty where it can."""
        return open_edits.problem(self._turns.transcript, self.open, at) if self.open else ""

    def _open_to(self, at: str | None) -> list[OpenEdit]:
        if not self.open:
            return []
        path = self._turns.transcript.path if at == HEAD else self._turns.transcript.lineage(at)
        return open_edits.of_turns(self.open, path)

    # What is being written goes along

    def _follow(self, change: Change) -> None:
        if isinstance(change, TurnsCopied):
            self._copies = copies = dict(change.copies)
            if any(edit.turn in copies for edit in self.open.values()):
                self._renamed(
                    edit.model_copy(update={"turn": copies.get(edit.turn, edit.turn)}) for edit in self.open.values()
                )
        elif isinstance(change, CallEdited):
            turn, made = change.now
            was = turn, change.was[1]
            if made != was[1] and any((key.turn, key.call) == was for key in self.open):
                self._renamed(
                    edit.model_copy(update={"call": made}) if (edit.turn, edit.call) == was else edit
                    for edit in self.open.values()
                )

    def _renamed(self, edits: Iterable[OpenEdit]) -> None:
        self.open = {edit.key: edit for edit in edits}
        self._observers.tell(DraftChanged())
