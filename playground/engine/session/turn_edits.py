"""Edits of one turn as pure functions over the tree: what becomes of all turns, and whether that is to be a branch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from playground.domain.parts import ToolCall
from playground.domain.transcript import Transcript
from playground.engine.session import hand_made
from playground.engine.session.branching import Branched, branched, has_answers
from playground.engine.session.turn_texts import with_arguments, with_text


class TurnEdit(NamedTuple):
    """What an edit of ``turn_id`` makes of the turns. ``call_id`` is the call it is about, whose results count as
    answers then; ``was`` and ``made`` are the ids that a call had and has."""

    turn_id: str
    after: Transcript
    call_id: str = ""
    was: str = ""
    made: str = ""


def text_edited(transcript: Transcript, turn_id: str, text: str) -> TurnEdit:
    """Other content in a turn. Raises KeyError for an unknown one, as all of these do."""
    return TurnEdit(turn_id, transcript.replace(with_text(transcript.turns[turn_id], text)))


def arguments_edited(transcript: Transcript, turn_id: str, call_id: str, text: str, *, in_place: bool) -> TurnEdit:
    """Other raw arguments in a call; on a branch it waits for a result of its own."""
    after = transcript.replace(with_arguments(transcript.turns[turn_id], call_id, text))
    if not in_place and has_answers(transcript, turn_id, call_id):
        after = hand_made.unanswered(after, turn_id, call_id)
    return TurnEdit(turn_id, after, call_id, call_id, call_id)


def call_replaced(transcript: Transcript, turn_id: str, call_id: str, call: ToolCall, *, in_place: bool) -> TurnEdit:
    """Another call in the place of one; on a branch it waits where its name or arguments are others.

    Raises ValueError as ``hand_made.finished`` does.
    """
    calls = transcript.turns[turn_id].calls
    at = next(number for number, one in enumerate(calls) if one.id == call_id)
    after = hand_made.with_call(transcript, turn_id, call_id, call)
    made = after.turns[turn_id].calls[at]
    asks = call_id if (made.name, made.arguments) != (calls[at].name, calls[at].arguments) else ""
    if asks and not in_place and has_answers(transcript, turn_id, asks):
        after = hand_made.unanswered(after, turn_id, made.id)
    return TurnEdit(turn_id, after, asks, call_id, made.id)


def carried_out(before: Transcript, edit: TurnEdit, growing: Collection[str] = ()) -> Branched:
    """The turns with an edit, as a branch where the turn was answered. ``growing`` are turns being received."""
    if edit.after.turns != before.turns and has_answers(before, edit.turn_id, edit.call_id):
        return branched(before, edit.after, edit.turn_id, growing)
    return Branched(edit.after, {})


def followed(copies: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """The ids of turns and of their copies, where more copies were made, of copies as well."""
    return {**{old: more.get(new, new) for old, new in copies.items()}, **more}


def standing(transcript: Transcript, copies: Mapping[str, str], at: str | None) -> str | None:
    """Where to ask from after edits, instead of ``at``: its copy, or the head where neither is on the path now."""
    if not at or not copies:
        return at
    at = copies.get(at, at)
    return at if any(turn.id == at for turn in transcript.path) else transcript.head
