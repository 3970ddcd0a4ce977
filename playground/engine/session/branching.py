"""Branches of a conversation: an edit of an answered turn becomes a branch, so that old answers keep their questions.

Turns that belong to the edited turn are copied with it: further messages and results up to the first answer; below a
system turn also written examples, up to the first received turn. Pure functions over transcripts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from playground.domain.parts import Text
from playground.domain.transcript import Role, Transcript, Turn, common_prefix, make_turn, new_id

_REPLIES = (Role.ASSISTANT, Role.TOOL)


class Branch(NamedTuple):
    """A transcript with a new branch, and the new ids of the copied turns by their old ids."""

    transcript: Transcript
    copies: Mapping[str, str]


def has_answers(transcript: Transcript, turn_id: str, call_id: str = "") -> bool:
    """Return whether a turn, or the call of that id in it, has a reply on any branch.

    Every turn below an assistant or tool turn is a reply to it; below other turns, assistant and tool turns are.
    Results directly after their calls count for the call that they answer only. A failed empty turn does not count.
    Raises KeyError for an unknown turn.
    """
    is_reply = transcript.turns[turn_id].role in _REPLIES
    queue = [(key, is_reply) for key in transcript.children(turn_id)]
    while queue:
        key, follows_calls = queue.pop()
        turn, children = transcript.turns[key], transcript.children(key)
        if follows_calls and turn.role is Role.TOOL:
            if call_id and any(result.call_id == call_id for result in turn.results):
                return True
        elif turn.outcome is not None and not turn.parts and not children:
            continue
        elif is_reply or turn.role in _REPLIES:
            return True
        queue += [(child, follows_calls and turn.role is Role.TOOL) for child in children]
    return False


def branch(before: Transcript, after: Transcript, turn_id: str, receiving: Collection[str] = ()) -> Branch:
    """Add the edit of a turn, which made `after` of `before`, to `before` as a branch; its end is the head.

    Turns in `receiving` are still streaming; they remain on their branch.
    """
    before, after = select_through(before, turn_id), select_through(after, turn_id)
    path = list(after.path)
    count = (after.place(turn_id) or 0) + 1
    role = path[count - 1].role
    while count < len(path) and not _is_answer(path[count], role) and path[count].id not in receiving:
        count += 1
    return fork(before, path[:count])


def fork(before: Transcript, path: Collection[Turn]) -> Branch:
    """Add another path to a transcript; the turns with which both paths begin are shared, the others copied."""
    turns = list(path)
    count, shorter = common_prefix(before.path, turns), min(len(before.path), len(turns))
    while count < shorter and before.path[count] == turns[count]:
        count += 1
    shared = turns[count - 1].id if count else None
    copies = {turn.id: new_id() for turn in turns[count:]}
    copied = [turn.model_copy(update={"id": copies[turn.id]}) for turn in turns[count:]]
    return Branch(before.truncate_after(shared).append(*copied), copies)


def resend_from(transcript: Transcript, turn_id: str) -> str:
    """Return the turn from which to send after an edit of `turn_id`: the last written one of its exchange.

    Raises KeyError for an unknown turn.
    """
    path = select_through(transcript, turn_id).path
    start = last = next(index for index, turn in enumerate(path) if turn.id == turn_id)
    for index in range(start + 1, len(path)):
        if _is_answer(path[index], path[start].role):
            break
        if path[index].role is not Role.ASSISTANT:
            last = index
    return path[last].id


def select_through(transcript: Transcript, turn_id: str) -> Transcript:
    """Return the transcript with a path that contains that turn."""
    return transcript if transcript.place(turn_id) is not None else transcript.select(turn_id)


def _is_answer(turn: Turn, edited: Role) -> bool:
    """Return whether a turn ends the exchange of an edited turn of that role above it."""
    is_example = edited.is_instruction and turn.outcome is None
    return turn.role is Role.ASSISTANT and not is_example


# ---- the system turn -------------------------------------------------------------------------------------------------


def leading_instructions(turns: Sequence[Turn]) -> int:
    """Return the number of system and developer turns before all others."""
    return next((index for index, turn in enumerate(turns) if not turn.role.is_instruction), len(turns))


def system_turn(transcript: Transcript) -> Turn | None:
    """Return the system turn, the first of the path; None without one."""
    path = transcript.path
    return path[0] if path and path[0].role.is_instruction else None


def system_text(transcript: Transcript) -> str:
    """Return the text of the system turn; empty without one."""
    turn = system_turn(transcript)
    return turn.text if turn is not None else ""


def turn_with_system_text(turn: Turn | None, text: str) -> Turn:
    """Return a system turn with another text, a new one for None; its other parts remain."""
    turn = turn if turn is not None else make_turn(Role.SYSTEM)
    parts = tuple(part for part in turn.parts if not isinstance(part, Text))
    return turn.model_copy(update={"parts": (Text(text=text), *parts)})


def with_system_text(transcript: Transcript, text: str) -> Transcript:
    """Put the conversation under another system turn, on a branch up to the first answer; an empty text removes it."""
    if system_text(transcript) == text:
        return transcript
    first = system_turn(transcript)
    turns = transcript.path[1:] if first is not None else transcript.path
    received = next((index for index, turn in enumerate(turns) if turn.outcome is not None), len(turns))
    system = (turn_with_system_text(first, text),) if text else ()
    return fork(transcript, (*system, *turns[:received])).transcript
