"""An edit of a turn that was answered becomes a branch: the old answers stay with the words that they answered.

What belongs to the edited turn goes along as copies: further words and results up to the first answer, and below a
system prompt examples that were written as well, up to the first turn that was received. Pure functions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from playground.domain.parts import Text
from playground.domain.transcript import Role, Transcript, Turn, common_prefix, make_turn, new_id

_REPLIES = (Role.ASSISTANT, Role.TOOL)
_SYSTEM = (Role.SYSTEM, Role.DEVELOPER)


class Branched(NamedTuple):
    """A transcript with a new branch, and the ids of the turns that were copied for it, each with its copy's."""

    transcript: Transcript
    copies: Mapping[str, str]


def has_answers(transcript: Transcript, turn_id: str, call_id: str = "") -> bool:
    """Whether somebody has replied to what stands in a turn, or to the call of that id in it, on whatever branch.

    Any turn below an assistant or a tool turn is a reply to it; below the others a turn of the assistant or of a tool
    is, received or written. Results that stand behind their calls are about those: they count for the call that they
    answer only. A failed turn in which nothing arrived is none. Raises KeyError for an unknown turn.
    """
    replies = transcript.turns[turn_id].role in _REPLIES
    left = [(key, replies) for key in transcript.children(turn_id)]
    while left:
        key, in_round = left.pop()
        turn, below = transcript.turns[key], transcript.children(key)
        if in_round and turn.role is Role.TOOL:
            if call_id and any(result.call_id == call_id for result in turn.results):
                return True
        elif turn.outcome is not None and not turn.parts and not below:
            continue
        elif replies or turn.role in _REPLIES:
            return True
        left += [(child, in_round and turn.role is Role.TOOL) for child in below]
    return False


def branched(before: Transcript, after: Transcript, turn_id: str, growing: Collection[str] = ()) -> Branched:
    """``before`` with the edit of a turn that made ``after`` of it as a branch beside that turn; its end is the head.

    ``growing`` are turns that are being received.
    """
    before, after = _through(before, turn_id), _through(after, turn_id)
    rest = list(after.path)
    count = (after.place(turn_id) or 0) + 1
    edited = rest[count - 1].role
    while count < len(rest) and not _is_answer(rest[count], edited) and rest[count].id not in growing:
        count += 1
    return beside(before, rest[:count])


def beside(before: Transcript, path: Collection[Turn]) -> Branched:
    """``before`` with another path beside its own; what the two begin with is shared, the rest is copied."""
    rest = list(path)
    count, shorter = common_prefix(before.path, rest), min(len(before.path), len(rest))
    while count < shorter and before.path[count] == rest[count]:
        count += 1
    shared = rest[count - 1].id if count else None
    rest = rest[count:]
    copies = {turn.id: new_id() for turn in rest}
    made = [turn.model_copy(update={"id": copies[turn.id]}) for turn in rest]
    return Branched(before.truncate_after(shared).append(*made), copies)


def system_text(transcript: Transcript) -> str:
    """What the system turn says, the first of the path; empty without one."""
    path = transcript.path
    return path[0].text if path and path[0].role in _SYSTEM else ""


def under_system(transcript: Transcript, text: str) -> Transcript:
    """The conversation under another system turn, on a branch of its own: with what was written up to the first answer.

    An empty text: under none.
    """
    if system_text(transcript) == text:
        return transcript
    path = transcript.path
    first = path[0] if path and path[0].role in _SYSTEM else None
    rest = path[1:] if first is not None else path
    received = next((number for number, turn in enumerate(rest) if turn.outcome is not None), len(rest))
    top = first if first is not None else make_turn(Role.SYSTEM)
    others = tuple(part for part in top.parts if not isinstance(part, Text))
    above = (top.model_copy(update={"parts": (Text(text=text), *others)}),) if text else ()
    return beside(transcript, (*above, *rest[:received])).transcript


def asking(transcript: Transcript, turn_id: str) -> str:
    """The turn from which the model is to be asked after an edit of that one: the last that was written below it on
    its branch, without answers at the end. Raises KeyError for an unknown turn."""
    path = _through(transcript, turn_id).path
    at = last = next(number for number, turn in enumerate(path) if turn.id == turn_id)
    for number in range(at + 1, len(path)):
        if _is_answer(path[number], path[at].role):
            break
        if path[number].role is not Role.ASSISTANT:
            last = number
    return path[last].id


def _is_answer(turn: Turn, to: Role) -> bool:
    """Whether a turn ends what belongs to one of that role above it."""
    example = to in _SYSTEM and turn.outcome is None
    return turn.role is Role.ASSISTANT and not example


def _through(transcript: Transcript, turn_id: str) -> Transcript:
    """The transcript with a path that goes through that turn."""
    return transcript if transcript.place(turn_id) is not None else transcript.select(turn_id)
