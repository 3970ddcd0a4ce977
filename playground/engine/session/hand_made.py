"""Turns, calls and results that a person writes: which call a result answers, the ids of calls, what a draft becomes.

Pure functions over transcripts. The protocols want the answers to calls directly behind the turn that made them, so a
result is put there once it is known which call it is for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from playground.domain.parts import Part, ToolCall, ToolResult
from playground.domain.transcript import Role, Transcript, Turn, make_turn, new_id, waiting_in
from playground.engine.session.draft import Draft
from playground.engine.session.tool_turn_order import placed
from playground.engine.session.turn_texts import call_with_arguments

SHORT = 40  # characters of a result by which its turn is named


class Answerable(NamedTuple):
    """A call that a result may answer. ``waits`` says that none does so far."""

    turn_id: str
    call: ToolCall
    waits: bool


def answerable(above: Iterable[Turn]) -> list[Answerable]:
    """The calls in ``above``: those that wait in their order, then the others, newest first; each id once."""
    turns = tuple(above)
    waiting = [Answerable(turn_id, call, True) for turn_id, call in waiting_in(turns)]
    known = {entry.call.id for entry in waiting}
    rest: list[Answerable] = []
    for turn in reversed(turns):
        for call in reversed(turn.calls):
            if call.id not in known:
                known.add(call.id)
                rest.append(Answerable(turn.id, call, False))
    return [*waiting, *rest]


def answers_none(turn: Turn) -> bool:
    """Whether it is a tool turn that does not say which call it answers; no gateway takes one."""
    if turn.role is not Role.TOOL:
        return False
    results = turn.results
    return not results or any(not result.call_id.strip() for result in results)


def without_call(turns: Iterable[Turn]) -> str:
    """Why turns cannot be sent as long as a tool turn among them answers no call; empty when none does so."""
    tool = Role.TOOL  # looked up once: there may be ten thousand turns
    turn = next((turn for turn in turns if turn.role is tool and answers_none(turn)), None)
    if turn is None:
        return ""
    words = " ".join((turn.results[0].text if turn.results else turn.text)[: SHORT * 4].split())
    name = f"“{words[:SHORT].rstrip()}{'…' * (len(words) > SHORT)}”" if words else "without text"
    return f"The tool turn {name} does not say which call it answers. Give it its call."


def calls_first(turns: Iterable[Turn]) -> str:
    """Why turns that are about to be added cannot be sent with them: they call tools, and results have to follow."""
    names = [call.name for turn in turns for call in turn.calls]
    return f"Add the turn first: a result has to follow its call of {', '.join(names[:3])}." if names else ""


# ---- ids -------------------------------------------------------------------------------------------------------------


def own_id() -> str:
    """An id for a call that a person makes; both protocols take it."""
    return f"call_{new_id()}"


def finished(calls: Iterable[ToolCall], beside: Collection[str] = ()) -> tuple[ToolCall, ...]:
    """Calls as they can stand in a turn: an id is made for each without one. ``beside`` are the ids of its other calls.

    Raises ValueError in words for one without a name, and for an id that another one has.
    """
    out: list[ToolCall] = []
    taken = set(beside)
    for call in calls:
        name, call_id = call.name.strip(), call.id.strip()
        if not name:
            raise ValueError("A call needs the name of the tool that it calls.")
        if call_id in taken:
            raise ValueError(f"Two calls have the id {call_id}: their results could not be told apart.")
        update = {"name": name, "id": call_id or own_id()}
        out.append(call.model_copy(update=update if call_id else {**update, "id_is_ours": True}))
        taken.add(out[-1].id)
    return tuple(out)


# ---- what is written -------------------------------------------------------------------------------------------------


def written(draft: Draft, transcript: Transcript) -> Turn | None:
    """The turn that a draft becomes; None where nothing is written. Raises ValueError in words where it cannot be one.

    A result without a chosen call answers the first one that waits.
    """
    text = draft.text if draft.text.strip() else ""
    if draft.role is Role.TOOL:
        if draft.images:
            raise ValueError("A tool result holds text only. Choose another role, or remove the images.")
        if not (text or draft.answers):
            return None
        waiting = transcript.unanswered()
        call_id = _typed(draft.answers, transcript.path) or (waiting[0].id if waiting else "")
        return make_turn(Role.TOOL, "", ToolResult(call_id=call_id, text=text, by="you"))
    parts: list[Part] = [*draft.images]
    if draft.role is Role.ASSISTANT:
        parts += finished(draft.calls)
    return make_turn(draft.role, text, *parts) if text or parts else None


def draft_of(turn: Turn) -> Draft:
    """What would be written for a turn, as far as a draft has a place for it: the reverse of ``written``."""
    images = tuple(part for part in turn.parts if part.kind == "image")
    if turn.role is Role.TOOL and turn.results:
        result = turn.results[0]
        return Draft(text=result.text, role=turn.role, answers=result.call_id)
    return Draft(text=turn.text, role=turn.role, images=images, calls=turn.calls)


# ---- edits -----------------------------------------------------------------------------------------------------------


def with_more_calls(transcript: Transcript, turn_id: str, calls: Iterable[ToolCall]) -> Transcript:
    """Calls behind what a turn holds. Raises ValueError as ``finished`` does, KeyError for an unknown turn."""
    turn = transcript.turns[turn_id]
    more = finished(calls, [call.id for call in turn.calls])
    return transcript.replace(turn.model_copy(update={"parts": (*turn.parts, *more)}))


def with_call(transcript: Transcript, turn_id: str, call_id: str, call: ToolCall) -> Transcript:
    """Another call in the place of one; the results that answered it answer the new one, on every branch.

    What the model sent is kept beside the arguments while they differ. Raises ValueError as ``finished`` does, KeyError
    for an unknown turn.
    """
    turn = transcript.turns[turn_id]
    at, old = next((n, part) for n, part in enumerate(turn.parts) if part.kind == "tool_call" and part.id == call_id)
    ours = old.id_is_ours and call.id == old.id
    new = call_with_arguments(old, call.arguments, sent=turn.outcome is not None)
    call = new.model_copy(update={"name": call.name, "id": call.id, "id_is_ours": ours})
    (made,) = finished([call], [other.id for other in turn.calls if other.id != call_id])
    same = {name: getattr(old, name) for name in ("name", "id") if getattr(old, name) == getattr(call, name)}
    call = made.model_copy(update=same)  # what was not touched is as it came, odd spaces included
    parts: tuple[Part, ...] = (*turn.parts[:at], call, *turn.parts[at + 1 :])
    transcript = transcript.replace(turn.model_copy(update={"parts": parts}))
    if call.id != call_id:
        for answer in _round(transcript, turn_id):
            parts = tuple(
                part.model_copy(update={"call_id": call.id})
                if part.kind == "tool_result" and part.call_id == call_id
                else part
                for part in answer.parts
            )
            if parts != answer.parts:
                transcript = transcript.replace(answer.model_copy(update={"parts": parts}))
    return transcript


def less_one_call(transcript: Transcript, turn_id: str, call_id: str) -> Transcript:
    """A turn without one of its calls, and without the results that answered it, on every branch.

    Raises KeyError for an unknown turn.
    """
    turn = transcript.turns[turn_id]
    kept = tuple(part for part in turn.parts if not (part.kind == "tool_call" and part.id == call_id))
    return unanswered(transcript, turn_id, call_id).replace(turn.model_copy(update={"parts": kept}))


def unanswered(transcript: Transcript, turn_id: str, call_id: str) -> Transcript:
    """A turn's call waits again: without the results that answered it, on every branch.

    Raises KeyError for an unknown turn.
    """
    for answer in list(_round(transcript, turn_id)):
        rest = tuple(part for part in answer.parts if not (part.kind == "tool_result" and part.call_id == call_id))
        if not rest:
            transcript = transcript.remove(answer.id)
        elif rest != answer.parts:
            transcript = transcript.replace(transcript.turns[answer.id].model_copy(update={"parts": rest}))
    return transcript


def linked(transcript: Transcript, turn_id: str, at: int, call_id: str) -> Transcript:
    """The result at position ``at`` of a tool turn answers that call from now on.

    A turn of one result goes behind the turn that made the call, where that waits above it. Raises KeyError for an
    unknown turn, IndexError for a result that is not there.
    """
    turn = transcript.turns[turn_id]
    above = transcript.lineage(turn.parent)
    call_id = _typed(call_id, above)
    if turn.results:
        old = turn.results[at]
        new = old.model_copy(update={"call_id": call_id})
        parts: tuple[Part, ...] = tuple(new if part is old else part for part in turn.parts)
    else:
        parts = (ToolResult(call_id=call_id, text=turn.text, by="you"),)
    turn = turn.model_copy(update={"parts": parts})
    maker = next((entry.turn_id for entry in answerable(above) if entry.waits and entry.call.id == call_id), None)
    beside = _after(above, maker)
    if maker is None or len(turn.parts) > 1 or all(one.role is Role.TOOL for one in beside):
        return transcript.replace(turn)
    if all(one.id != turn_id for one in transcript.path):
        return transcript.replace(turn)
    rest = transcript.remove(turn_id)
    return placed(rest, rest.head, maker, turn)


def _typed(call_id: str, above: Iterable[Turn]) -> str:
    """An id as it is meant: that of a call as it is, whatever stands around another one not."""
    return call_id if any(call.id == call_id for turn in above for call in turn.calls) else call_id.strip()


def _after(turns: tuple[Turn, ...], turn_id: str | None) -> tuple[Turn, ...]:
    at = next((number for number, turn in enumerate(turns) if turn.id == turn_id), len(turns))
    return turns[at + 1 :]


def _round(transcript: Transcript, turn_id: str) -> Iterator[Turn]:
    """The tool turns that follow a turn at once, on every branch."""
    left = list(transcript.children(turn_id))
    while left:
        turn = transcript.turns[left.pop()]
        if turn.role is Role.TOOL:
            yield turn
            left += transcript.children(turn.id)
