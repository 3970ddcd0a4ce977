"""Unsaved text: the composer's draft, and the open editors in turns.

Both are told, stored and restored with the experiment. Everything that uses turns first keeps their open edits, so that
what is visible is what is sent; until then `Editors.preview` shows the turns with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from playground.domain.accumulator import GrowingChoice
from playground.domain.parts import Image, Part, ToolCall, ToolResult
from playground.domain.roles import Role
from playground.domain.transcript import Transcript, Turn, make_turn
from playground.domain.values import LongText, Value
from playground.engine.session import edits as turn_edits
from playground.engine.session.changes import CallEdited, CallKey, Change, DraftChanged, Observers, TurnsCopied
from playground.engine.session.turns import Turns

# ---- the composer ----------------------------------------------------------------------------------------------------


class Draft(Value):
    """Content of the composer. “answers” is the id of the call that a tool turn is to answer; “calls” go with an
    assistant turn, and may lack their names and ids.
    """

    text: LongText = ""
    role: Role = Role.USER
    images: tuple[Image, ...] = ()
    answers: str = ""
    calls: tuple[ToolCall, ...] = ()

    @property
    def empty(self) -> bool:
        """Return whether it holds nothing."""
        return not (self.text or self.images or self.answers or self.calls)


def turn_of_draft(draft: Draft, transcript: Transcript) -> Turn | None:
    """Return the turn that a draft becomes; None for an empty one.

    A result without a chosen call answers the first waiting one. Raises ValueError with a sentence for a draft that
    cannot be a turn.
    """
    text = draft.text if draft.text.strip() else ""
    if draft.role is Role.TOOL:
        if draft.images:
            raise ValueError("A tool result holds text only. Choose another role, or remove the images.")
        if not (text or draft.answers):
            return None
        waiting = transcript.unanswered()
        chosen = turn_edits.matching_call_id(draft.answers, transcript.path)
        call_id = chosen or (waiting[0].id if waiting else "")
        return make_turn(Role.TOOL, "", ToolResult(call_id=call_id, text=text, by="you"))
    parts: list[Part] = [*draft.images]
    if draft.role is Role.ASSISTANT:
        parts += turn_edits.complete_calls(draft.calls)
    return make_turn(draft.role, text, *parts) if text or parts else None


def draft_of(turn: Turn) -> Draft:
    """Return a turn as a draft, as far as a draft can hold it: the reverse of `turn_of_draft`."""
    images = tuple(part for part in turn.parts if part.kind == "image")
    if turn.role is Role.TOOL and turn.results:
        result = turn.results[0]
        return Draft(text=result.text, role=turn.role, answers=result.call_id)
    return Draft(text=turn.text, role=turn.role, images=images, calls=turn.calls)


# ---- open editors ----------------------------------------------------------------------------------------------------


class What(StrEnum):
    """Content of an editor: text of a turn (of a tool turn its result), arguments of a call, or a whole call.

    ``request`` is the body of the next request, and ``title`` that of the experiment: of no turn.
    """

    TEXT = "text"
    ARGUMENTS = "arguments"
    CALL = "call"  # or a new one
    REQUEST = "request"  # applied only when a person says so
    TITLE = "title"


_OF_NO_TURN = frozenset({What.REQUEST, What.TITLE})


class EditKey(NamedTuple):
    """Identity of an editor. ``call`` is the id of a call, empty for a new one."""

    turn: str
    what: What = What.TEXT
    call: str = ""


class OpenEdit(Value):
    """Content of one editor: ``text``, or ``written`` for a whole call; without both nothing was changed in it.

    ``call`` is the id of a call, empty for a new one.
    """

    turn: str
    what: What = What.TEXT
    call: str = ""
    text: LongText | None = None
    written: ToolCall | None = None

    @property
    def key(self) -> EditKey:
        """Identity of the editor."""
        return EditKey(self.turn, self.what, self.call)

    @property
    def changed(self) -> bool:
        """Return whether there is anything to keep."""
        return self.text is not None or self.written is not None


#: The editor of the next request's body.
REQUEST = EditKey("", What.REQUEST)
#: The editor of the experiment's title.
TITLE = EditKey("", What.TITLE)
#: Open editors by their keys, in the order in which they were opened.
OpenEdits = Mapping[EditKey, OpenEdit]


@dataclass(slots=True)
class Drafts:
    """The drafts of an experiment: the content of the composer, and the open edits."""

    composer: Draft = field(default_factory=Draft)
    open: OpenEdits = field(default_factory=dict)


#: The head of the transcript, in place of the id of a turn.
HEAD = ""


def edit_of(transcript: Transcript, edit: OpenEdit) -> turn_edits.Edit | None:
    """Return the edit of the turn; None where it changes nothing or its turn or call is gone.

    Raises ValueError for an invalid call.
    """
    turn = transcript.turns.get(edit.turn)
    if turn is None or not edit.changed or edit.what in _OF_NO_TURN:
        return None
    if edit.what is What.TEXT:
        if edit.text == turn_edits.text_of(turn):
            return None
        return turn_edits.replace_turn(transcript, turn_edits.with_text(turn, edit.text or ""))
    call = next((call for call in turn.calls if call.id == edit.call), None)
    if edit.what is What.ARGUMENTS:
        if call is None or call.arguments == edit.text:
            return None
        edited = turn_edits.with_arguments(turn, edit.call, edit.text or "")
        return turn_edits.replace_turn(transcript, edited, edit.call)
    if edit.written is None or (edit.call and call is None):
        return None
    if edit.call:
        return turn_edits.replace_call(transcript, turn.id, edit.call, edit.written)
    return turn_edits.replace_turn(transcript, turn_edits.with_more_calls(turn, (edit.written,)))


def position_after(transcript: Transcript, copies: Mapping[str, str], position: str | None) -> str | None:
    """Return the turn to send from after edits: the copy of `position`, or the head if neither is on the path."""
    if not position or not copies:
        return position
    position = copies.get(position, position)
    return position if any(turn.id == position for turn in transcript.path) else transcript.head


def _keep_down_to(
    keeper: Editors | _Preview, position: str | None, *, strict: bool = True
) -> tuple[dict[str, str], str | None]:
    """Keep the open edits of the turns down to `position`, one after another.

    Returns the new ids of copied turns by their old ids, and the position afterwards. Raises ValueError at the first
    invalid edit if `strict`, otherwise skips it.
    """
    copies: dict[str, str] = {}
    skipped: set[EditKey] = set()
    while keeper.open:
        transcript = keeper.transcript
        path = transcript.path if position == HEAD else transcript.lineage(position)
        order = {turn.id: index for index, turn in enumerate(path)}
        edits = [edit for key, edit in keeper.open.items() if edit.turn in order and key not in skipped]
        if not edits:
            break
        edit = min(edits, key=lambda edit: order[edit.turn])
        try:
            new = keeper.keep(edit)
        except ValueError:
            if strict:
                raise
            skipped.add(edit.key)
            continue
        position = position_after(keeper.transcript, new, position)
        copies = {**{old: new.get(copy, copy) for old, copy in copies.items()}, **new}
    return copies, position


class _Preview:
    """Keeps open edits in a transcript of its own."""

    def __init__(self, transcript: Transcript, edits: OpenEdits, receiving: Mapping[str, GrowingChoice]) -> None:
        self.transcript = transcript
        self.open = edits
        self._receiving = receiving

    def keep(self, edit: OpenEdit) -> Mapping[str, str]:
        """Apply an edit and close its editor."""
        change = edit_of(self.transcript, edit)
        self.open = {key: item for key, item in self.open.items() if key != edit.key}
        if change is None:
            return {}
        self.transcript, copies, turn_id = turn_edits.apply(self.transcript, change, self._receiving)
        self.open = _renamed(self.open, copies, (turn_id, change.old_call), change.new_call)
        return copies


def _renamed(edits: OpenEdits, copies: Mapping[str, str], call: CallKey = ("", ""), new_call: str = "") -> OpenEdits:
    """Return the edits on the copies of their turns, and with the new id of a renamed call."""
    result: dict[EditKey, OpenEdit] = {}
    for edit in edits.values():
        turn = copies.get(edit.turn, edit.turn)
        update = {"turn": turn, "call": new_call if new_call and (turn, edit.call) == call else edit.call}
        renamed = edit.model_copy(update=update)
        result[renamed.key] = renamed
    return result


class Editors:
    """The open editors in the turns of an experiment, as seen in one lane. All lanes have the same editors."""

    def __init__(self, drafts: Drafts, turns: Turns, observers: Observers) -> None:
        self._drafts = drafts
        self._turns = turns
        self._observers = observers
        self._preview: tuple[Transcript, OpenEdits, str | None, Transcript, str | None] | None = None
        observers.subscribe(self._follow, TurnsCopied, CallEdited)

    @property
    def transcript(self) -> Transcript:
        """The transcript of the lane."""
        return self._turns.transcript

    @property
    def open(self) -> OpenEdits:
        """The open edits by their keys."""
        return self._drafts.open

    def _set_open(self, edits: OpenEdits) -> None:
        self._drafts.open = edits
        self._observers.tell(DraftChanged())

    def set_editing(self, edit: OpenEdit) -> None:
        """Open an editor, or replace its content."""
        if self.open.get(edit.key) != edit:
            self._set_open({**self.open, edit.key: edit})

    def end_editing(self, *keys: EditKey) -> None:
        """Close editors and forget their content."""
        remaining = {key: edit for key, edit in self.open.items() if key not in keys}
        if len(remaining) != len(self.open):
            self._set_open(remaining)

    def keep_editing(self, key: EditKey) -> None:
        """Keep the content of an editor as an edit, and close it.

        Raises ValueError as `edits.complete_calls` does, and then it remains open.
        """
        if key in self.open:
            self.keep(self.open[key])

    def keep(self, edit: OpenEdit) -> Mapping[str, str]:
        """Keep an open edit. Returns the new ids of copied turns. Raises ValueError as `keep_editing` does."""
        change = edit_of(self.transcript, edit)
        if change is None:
            self.end_editing(edit.key)
            return {}
        applied = self._turns.apply(change)
        self.end_editing(edit.key, EditKey(applied.turn_id, edit.what, change.new_call or edit.call))
        return applied.copies

    def keep_open(self, position: str | None = HEAD) -> dict[str, str]:
        """Keep the open edits of the turns down to `position`, an undo step each.

        Returns the new ids of copied turns by their old ids. Raises ValueError at the first invalid edit.
        """
        return _keep_down_to(self, position)[0]

    def keep_valid(self) -> None:
        """Keep the open edits of the path; invalid ones remain open."""
        _keep_down_to(self, HEAD, strict=False)

    def reopen(self, edits: OpenEdits) -> None:
        """Open edits again that another lane has kept, if they are about a turn of the path."""
        path = {turn.id for turn in self.transcript.path}
        closed = {key: edit for key, edit in edits.items() if edit.turn in path and key not in self.open}
        if closed:
            self._drafts.open = {**self.open, **closed}

    def preview(self, position: str | None = HEAD) -> tuple[Transcript, str | None]:
        """Return the turns with the valid open edits down to `position`, and the position in them."""
        if not self.open:
            return self.transcript, position
        cached = self._preview
        if cached is None or cached[0] is not self.transcript or cached[1] is not self.open or cached[2] != position:
            keeper = _Preview(self.transcript, self.open, self._turns.growing)
            after = _keep_down_to(keeper, position, strict=False)[1]
            cached = self._preview = (self.transcript, self.open, position, keeper.transcript, after)
        return cached[3], cached[4]

    def problem(self, position: str | None = HEAD) -> str:
        """Return why an open edit down to `position` is invalid, in a sentence; empty if none is."""
        try:
            _keep_down_to(_Preview(self.transcript, self.open, self._turns.growing), position)
        except ValueError as error:
            return f"A call that is being written cannot be saved. Finish or cancel it. {error}"
        return ""

    def _follow(self, change: Change) -> None:
        """Move open edits to the copies of their turns, and to the new id of their call."""
        if isinstance(change, TurnsCopied):
            renamed = _renamed(self.open, change.copies)
        elif isinstance(change, CallEdited):
            renamed = _renamed(self.open, {}, (change.now[0], change.was[1]), change.now[1])
        else:
            return
        if renamed != self.open:
            self._set_open(renamed)
