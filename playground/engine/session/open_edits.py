"""What stands in the editors that are open in turns, and what the turns would be with it. Values and pure functions.

A session holds these beside the draft of the composer: they are told, saved and brought back as that is. Kept, one is
an edit like any other (see ``playground.engine.session.turns``); until then no turn is different.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from playground.domain.parts import ToolCall
from playground.domain.transcript import Transcript, Turn
from playground.domain.values import LongText, Value
from playground.engine.session import hand_made
from playground.engine.session.turn_edits import (
    TurnEdit,
    arguments_edited,
    call_replaced,
    carried_out,
    standing,
    text_edited,
)
from playground.engine.session.turn_texts import text_of


class What(StrEnum):
    """What of a turn is edited: its content (of a tool turn its result), the arguments of a call, or a whole call.

    ``request`` is the body of the next request, and ``title`` that of the experiment: of no turn.
    """

    TEXT = "text"
    ARGUMENTS = "arguments"
    CALL = "call"  # or one more
    REQUEST = "request"  # of no turn, and applied only when a person says so
    TITLE = "title"  # of no turn


OF_NO_TURN = frozenset({What.REQUEST, What.TITLE})


class EditKey(NamedTuple):
    """Which editor: there is at most one for each. ``call`` is the id of a call, empty for one that is new."""

    turn: str
    what: What = What.TEXT
    call: str = ""


class OpenEdit(Value):
    """What stands in one editor: ``text``, or ``written`` for a whole call; without both nothing was changed in it.

    ``call`` is the id of a call, empty for one that is new.
    """

    turn: str
    what: What = What.TEXT
    call: str = ""
    text: LongText | None = None
    written: ToolCall | None = None

    @property
    def key(self) -> EditKey:
        """Which editor it stands in."""
        return EditKey(self.turn, self.what, self.call)

    @property
    def changed(self) -> bool:
        """Whether anything is to be kept."""
        return self.text is not None or self.written is not None


#: The editor of the next request's body.
REQUEST = EditKey("", What.REQUEST)

#: The editor of the experiment's title.
TITLE = EditKey("", What.TITLE)

#: The editors that are open, by their keys, in the order in which they were opened.
OpenEdits = Mapping[EditKey, OpenEdit]


def of_turns(edits: OpenEdits, turns: Iterable[Turn]) -> list[OpenEdit]:
    """Those of these turns, in the order of the turns."""
    if not edits:
        return []
    by_turn: dict[str, list[OpenEdit]] = {}
    for edit in edits.values():
        by_turn.setdefault(edit.turn, []).append(edit)
    return [edit for turn in turns for edit in by_turn.get(turn.id, ())]


def differs(transcript: Transcript, edit: OpenEdit) -> bool:
    """Whether the turns would be different with it. One about something that is not there makes no difference."""
    turn = transcript.turns.get(edit.turn)
    if turn is None or not edit.changed or edit.what in OF_NO_TURN:
        return False
    if edit.what is What.TEXT:
        return edit.text != text_of(turn)
    call = next((call for call in turn.calls if call.id == edit.call), None)
    if edit.what is What.ARGUMENTS:
        return call is not None and call.arguments != edit.text
    return call is not None or not edit.call


def edit_of(transcript: Transcript, edit: OpenEdit) -> TurnEdit | None:
    """What it makes of the turns; None for nothing. Raises ValueError where a call that is written cannot be one."""
    if not differs(transcript, edit):
        return None
    turn = edit.turn
    if edit.what is What.TEXT:
        return text_edited(transcript, turn, edit.text or "")
    if edit.what is What.ARGUMENTS:
        return arguments_edited(transcript, turn, edit.call, edit.text or "", in_place=False)
    if edit.written is None:
        return None
    if edit.call:
        return call_replaced(transcript, turn, edit.call, edit.written, in_place=False)
    return TurnEdit(turn, hand_made.with_more_calls(transcript, turn, (edit.written,)))


def all_kept(
    transcript: Transcript,
    edits: OpenEdits,
    at: str | None = "",
    growing: Collection[str] = (),
    *,
    strict: bool = False,
) -> tuple[Transcript, str | None]:
    """The turns when those down to ``at`` (empty: to the head) have been kept, one after another, as a session does it;
    and from where to ask then. What cannot be kept is left out; ``strict``: raises ValueError in words.
    """
    left = list(edits.values())
    while True:
        path = transcript.path if at == "" else transcript.lineage(at)
        edit = next(iter(of_turns({one.key: one for one in left}, path)), None)
        if edit is None:
            return transcript, at
        left.remove(edit)
        try:
            made = edit_of(transcript, edit)
        except ValueError:
            if strict:
                raise
            continue
        if made is not None:
            transcript, copies = carried_out(transcript, made, growing)
            at = standing(transcript, copies, at)
            left = [moved(one, edit, made.made or edit.call, copies) for one in left]


def moved(edit: OpenEdit, kept: OpenEdit, call: str, copies: Mapping[str, str]) -> OpenEdit:
    """An editor after another one was kept: on the copy of its turn, and with the id that its call has now."""
    other = (edit.turn, edit.call) == (kept.turn, kept.call) and kept.what is What.CALL and kept.call
    turn = copies.get(edit.turn, edit.turn)
    return edit.model_copy(update={"turn": turn, "call": call if other else edit.call})


def problem(transcript: Transcript, edits: OpenEdits, at: str | None = "") -> str:
    """Why one of those down to ``at`` cannot be kept, in a sentence; empty where all can."""
    try:
        all_kept(transcript, edits, at, strict=True)
    except ValueError as error:
        return f"A call that is being written cannot be kept: finish it, or cancel it. {error}"
    return ""
