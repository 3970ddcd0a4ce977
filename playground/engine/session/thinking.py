"""Signed thinking and what makes it invalid: pure functions over transcripts.

The native messages protocol takes thinking blocks back only as they were received, and newer models bind them to the
unchanged system prompt, tools and messages before them. Nothing here drops anything by itself: a person decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain
from operator import attrgetter

from playground.domain.parts import Image, Part, Reasoning, ToolCall, ToolResult
from playground.domain.transcript import Role, Transcript, Turn
from playground.engine.session.branching import beside

_PARTS = attrgetter("parts")
_SYSTEM = (Role.SYSTEM, Role.DEVELOPER)


def signed(turn: Turn) -> bool:
    """Whether a turn holds thinking that goes back byte for byte: signed or redacted."""
    return any(_is_signed(part) for part in turn.parts)


def signed_turns(transcript: Transcript) -> tuple[str, ...]:
    """Ids of the turns with signed thinking, those on the path first. A change of the tools makes all of them stale."""
    thoughts = [part for part in chain.from_iterable(map(_PARTS, transcript.turns.values())) if type(part) is Reasoning]
    if not any(map(_is_signed, thoughts)):
        return ()  # as in most of them, of thousands of turns
    found = {turn_id for turn_id, turn in transcript.turns.items() if signed(turn)}
    on_path = [turn.id for turn in transcript.path]
    return tuple([key for key in dict.fromkeys((*on_path, *transcript.turns)) if key in found])


def invalidated(before: Transcript, after: Transcript) -> tuple[str, ...]:
    """Ids of the turns in ``after`` whose signed thinking no longer fits what stands before it, path first.

    A turn counts when its system prompt, the turns before it or its own role were changed between ``before`` and
    ``after``, on whatever branch it stands. Turns that are new or whose thinking itself is new do not count.
    """
    if not (keys := signed_turns(after)):
        return ()
    path_is_bound = _system(before.path) != _system(after.path)
    on_path = {turn.id for turn in after.path}
    known: dict[str, bool] = {}
    out = []
    for key in keys:
        old, turn = before.turns.get(key), after.turns[key]
        if old is None or not signed(old):
            continue
        if key in on_path:
            other_system = path_is_bound
        else:
            other_system = _system(_lineage(before, key)) != _system(_lineage(after, key))
        displaced = turn.role is not Role.ASSISTANT and old.role is Role.ASSISTANT
        if displaced or other_system or not _same_above(before, after, key, known):
            out.append(key)
    return tuple(out)


def without_thinking(turn: Turn) -> Turn:
    """The turn without its signed thinking; reasoning of other kinds stays."""
    return turn.model_copy(update={"parts": tuple(part for part in turn.parts if not _is_signed(part))})


def drop(transcript: Transcript, turn_ids: Collection[str]) -> Transcript:
    """The same tree without the signed thinking of these turns. Raises KeyError for an unknown id."""
    for turn_id in turn_ids:
        transcript = transcript.replace(without_thinking(transcript.turns[turn_id]))
    return transcript


def branch(before: Transcript, after: Transcript, stale: Collection[str]) -> Transcript:
    """``before`` with the path of ``after`` as a branch beside it; the copy has no thinking that is stale.

    The two share what stands before the first turn that was changed or whose thinking is stale. Every turn from there
    on is copied under a new id, and the last of them is the head.
    """
    return beside(before, [without_thinking(turn) if turn.id in stale else turn for turn in after.path]).transcript


def _is_signed(part: Part) -> bool:
    return type(part) is Reasoning and (part.signature is not None or part.redacted is not None)


def _system(turns: Iterable[Turn]) -> list[tuple[object, ...]]:
    """The system prompt of a conversation: those turns all go to the top, wherever they stand."""
    return [_sent(turn) for turn in turns if turn.role in _SYSTEM]


def _lineage(transcript: Transcript, turn_id: str) -> list[Turn]:
    """The turns above one, nearest first."""
    out: list[Turn] = []
    at = transcript.turns[turn_id].parent
    while at is not None:
        out.append(transcript.turns[at])
        at = transcript.turns[at].parent
    return out


def _same_above(before: Transcript, after: Transcript, turn_id: str, known: dict[str, bool]) -> bool:
    """Whether the messages above a turn are the same in both. ``known`` keeps what was found out on the way."""
    trail: list[str] = []
    at = turn_id
    while at not in known:
        trail.append(at)
        old, new = _message_above(before, at), _message_above(after, at)
        if old is None or new is None:
            known[at] = old is new
        elif old.id != new.id or old.role is not new.role or _sent(old) != _sent(new):
            known[at] = False
        else:
            at = new.id
    for turn in trail:
        known[turn] = known[at]
    return known[at]


def _message_above(transcript: Transcript, turn_id: str) -> Turn | None:
    """The nearest turn above one that is not part of the system prompt."""
    at = transcript.turns[turn_id].parent
    while at is not None and transcript.turns[at].role in _SYSTEM:
        at = transcript.turns[at].parent
    return transcript.turns[at] if at is not None else None


def _sent(turn: Turn) -> tuple[object, ...]:
    """The parts of a turn as the protocol sees them: without what is noted here beside images, calls and results."""
    return tuple(_sent_part(part) for part in turn.parts)


def _sent_part(part: Part) -> object:
    match part:
        case Image():
            return part.url
        case ToolCall():
            return part.id, part.name, part.arguments
        case ToolResult():
            return part.call_id, part.text, part.is_error, part.images
        case _:
            return part
