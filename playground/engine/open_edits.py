"""What stands in the editors that are open in turns, and what the turns would be with it. Values and pure functions.

A session holds these beside the draft of the composer: they are told, saved and brought back as that is. Kept, one is
an edit like any other (see ``playground.engine.edits``); until then no turn is different.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from playground.domain.parts import ToolCall
from playground.domain.transcript import Transcript, Turn
from playground.domain.values import Value
from playground.engine import hand_made
from playground.engine.branching import Branched
from playground.engine.turn_edits import TurnEdit, arguments_edited, call_replaced, carried_out, followed, text_edited
from playground.engine.turn_texts import text_of


class What(StrEnum):
    """What of a turn is edited."""

    TEXT = "text"  # its content; of a tool turn its result
    ARGUMENTS = "arguments"  # of one of its calls
    CALL = "call"  # a whole call, or one more


class EditKey(NamedTuple):
    """Which editor: there is at most one for each. ``call`` is the id of a call, empty for one that is new."""

    turn: str
    what: What = What.TEXT
    call: str = ""


class OpenEdit(Value):
    """What stands in one editor: ``text``, or ``written`` for a whole call; None while nothing was changed in it."""

    turn: str
    what: What = What.TEXT
    call: str = ""
    text: str | None = None
    written: ToolCall | None = None

    @property
    def key(self) -> EditKey:
        """Which editor it stands in."""
        return EditKey(self.turn, self.what, self.call)

    @property
    def changed(self) -> bool:
        """Whether anything is to be kept."""
        return self.text is not None or self.written is not None


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
    if turn is None or not edit.changed:
        return False
    if edit.what is What.TEXT:
        return edit.text != text_of(turn)
    call = next((call for call in turn.calls if call.id == edit.call), None)
    if edit.what is What.ARGUMENTS:
        return call is not None and call.arguments != edit.text
    return call is not None or not edit.call


def applied(transcript: Transcript, edit: OpenEdit, growing: Collection[str] = ()) -> Branched:
    """The turns with it. Raises ValueError in words where a call that is written cannot be one."""
    if not differs(transcript, edit):
        return Branched(transcript, {})
    turn = edit.turn
    if edit.what is What.TEXT:
        made = text_edited(transcript, turn, edit.text or "")
    elif edit.what is What.ARGUMENTS:
        made = arguments_edited(transcript, turn, edit.call, edit.text or "", in_place=False)
    elif edit.written is None:
        return Branched(transcript, {})
    elif edit.call:
        made = call_replaced(transcript, turn, edit.call, edit.written, in_place=False)
    else:
        made = TurnEdit(turn, hand_made.with_more_calls(transcript, turn, (edit.written,)))
    return carried_out(transcript, made, growing)


def all_applied(
    transcript: Transcript, edits: Iterable[OpenEdit], growing: Collection[str] = (), *, strict: bool = False
) -> Branched:
    """The turns with all of them that can be kept; ``strict``: raises ValueError for one that cannot.

    One about a turn that is on no branch that is shown then stays as it is.
    """
    copies: dict[str, str] = {}
    for edit in edits:
        turn = copies.get(edit.turn, edit.turn)
        if copies and all(one.id != turn for one in transcript.path):
            continue
        try:
            made = applied(transcript, edit.model_copy(update={"turn": turn}), growing)
        except ValueError:
            if strict:
                raise
            continue
        transcript, copies = made.transcript, followed(copies, made.copies)
    return Branched(transcript, copies)


def problem(transcript: Transcript, edits: Iterable[OpenEdit]) -> str:
    """Why one of them cannot be kept, in a sentence; empty where all can."""
    try:
        all_applied(transcript, edits, strict=True)
    except ValueError as error:
        return f"A call that is being written cannot be kept: finish it, or cancel it. {error}"
    return ""
