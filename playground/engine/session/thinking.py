"""Sealed reasoning and the edits that invalidate it. Pure functions over transcripts.

The native messages protocol takes thinking blocks back only as they were received, and newer models bind them to the
unchanged system prompt, tools and messages before them. Encrypted reasoning of the Responses protocol is bound to its
model, account and conversation. Nothing is dropped automatically: a person decides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from playground.domain.parts import Image, Part, Reasoning, ToolCall, ToolResult
from playground.domain.transcript import Role, Transcript, Turn
from playground.engine.session.branching import fork
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol


def sealed(turn: Turn) -> bool:
    """Return whether a turn holds signed, redacted or encrypted reasoning."""
    return without_thinking(turn) is not turn


def signed(turn: Turn) -> bool:
    """Return whether a turn holds thinking that is sent back byte for byte: signed or redacted."""
    return any(_is_signed(part) for part in turn.parts)


def signed_turns(transcript: Transcript) -> tuple[str, ...]:
    """Return the ids of turns with signed thinking, those on the path first. Any change of tools invalidates them."""
    return _matching(transcript, signed)


def _matching(transcript: Transcript, matches: Callable[[Turn], bool]) -> tuple[str, ...]:
    keys = {turn_id for turn_id, turn in transcript.turns.items() if matches(turn)}
    if not keys:
        return ()
    on_path = [turn.id for turn in transcript.path]
    return tuple(key for key in dict.fromkeys((*on_path, *transcript.turns)) if key in keys)


def invalidated(before: Transcript, after: Transcript) -> tuple[str, ...]:
    """Return the ids of turns in `after` whose sealed reasoning does not fit what precedes it any more, path first.

    A turn counts if its system prompt, a turn before it or its own role changed between `before` and `after`, on any
    branch. New turns and turns with new reasoning do not count.
    """
    keys = _matching(after, sealed)
    path_differs = bool(keys) and _system_prompt(before.path) != _system_prompt(after.path)
    on_path = {turn.id for turn in after.path}
    cache: dict[str, bool] = {}
    stale = []
    for key in keys:
        old, turn = before.turns.get(key), after.turns[key]
        if old is None or not sealed(old):
            continue
        if key in on_path:
            prompt_differs = path_differs
        else:
            prompt_differs = _system_prompt(_ancestors(before, key)) != _system_prompt(_ancestors(after, key))
        role_differs = turn.role is not Role.ASSISTANT and old.role is Role.ASSISTANT
        if role_differs or prompt_differs or not _same_above(before, after, key, cache):
            stale.append(key)
    return tuple(stale)


def without_thinking(turn: Turn) -> Turn:
    """Return the turn without its sealed reasoning; other reasoning remains. The turn itself if it has none."""
    if signed(turn):
        turn = turn.model_copy(update={"parts": tuple(part for part in turn.parts if not _is_signed(part))})
    for name in PROTOCOLS:
        turn = get_protocol(name).without_sealed_reasoning(turn)
    return turn


def drop(transcript: Transcript, turn_ids: Collection[str]) -> Transcript:
    """Remove the sealed reasoning of these turns. Raises KeyError for an unknown id."""
    for turn_id in turn_ids:
        transcript = transcript.replace(without_thinking(transcript.turns[turn_id]))
    return transcript


def branch(before: Transcript, after: Transcript, stale: Collection[str]) -> Transcript:
    """Add the path of `after` to `before` as a branch whose copies have no stale thinking.

    The two share the turns before the first one that was changed or whose thinking is stale.
    """
    return fork(before, [without_thinking(turn) if turn.id in stale else turn for turn in after.path]).transcript


def _is_signed(part: Part) -> bool:
    return type(part) is Reasoning and (part.signature is not None or part.redacted is not None)


def _system_prompt(turns: Iterable[Turn]) -> list[tuple[object, ...]]:
    """Return the system prompt of a conversation: all its instruction turns, wherever they are."""
    return [_wire_parts(turn) for turn in turns if turn.role.is_instruction]


def _ancestors(transcript: Transcript, turn_id: str) -> list[Turn]:
    """Return the turns above one, nearest first."""
    return list(reversed(transcript.lineage(transcript.turns[turn_id].parent)))


def _same_above(before: Transcript, after: Transcript, turn_id: str, cache: dict[str, bool]) -> bool:
    """Return whether the messages above a turn are equal in both transcripts."""
    trail: list[str] = []
    while turn_id not in cache:
        trail.append(turn_id)
        old, new = _message_above(before, turn_id), _message_above(after, turn_id)
        if old is None or new is None:
            cache[turn_id] = old is new
        elif old.id != new.id or old.role is not new.role or _wire_parts(old) != _wire_parts(new):
            cache[turn_id] = False
        else:
            turn_id = new.id
    cache.update(dict.fromkeys(trail, cache[turn_id]))
    return cache[turn_id]


def _message_above(transcript: Transcript, turn_id: str) -> Turn | None:
    """Return the nearest turn above one that is no instruction."""
    parent = transcript.turns[turn_id].parent
    while parent is not None and transcript.turns[parent].role.is_instruction:
        parent = transcript.turns[parent].parent
    return transcript.turns[parent] if parent is not None else None


def _wire_parts(turn: Turn) -> tuple[object, ...]:
    """Return the parts of a turn as a protocol sees them, without notes of this program."""
    return tuple(_wire_part(part) for part in turn.parts)


def _wire_part(part: Part) -> object:
    match part:
        case Image():
            return part.url
        case ToolCall():
            return part.id, part.name, part.arguments
        case ToolResult():
            return part.call_id, part.text, part.is_error, part.images
        case _:
            return part
