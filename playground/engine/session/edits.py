"""Edits of turns, as values. `apply` is the only place that decides between changing a turn in place and branching.

Edits know nothing of undo, editors or lanes. Protocols want the results of
calls directly after the turn that made them: `place_results` and `LinkResult` put them there.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import NamedTuple

from playground.domain.parts import Image, Part, Text, ToolCall, ToolResult
from playground.domain.transcript import Role, Transcript, Turn, new_id, waiting_in
from playground.engine.session.branching import branch, has_answers

#: Characters of a result by which its turn is named.
SHORT = 40


class Edit(NamedTuple):
    """An edit of a turn, with the transcript after making it in place.

    `call_id` is the call that the model reads differently now; its results count as answers to the turn. `old_call` and
    `new_call` are the ids of an edited call before and after.
    """

    turn_id: str
    transcript: Transcript
    call_id: str = ""
    old_call: str = ""
    new_call: str = ""


class Applied(NamedTuple):
    """Result of `apply`: the transcript, the new ids of copied turns by their old ids, and the id of the turn."""

    transcript: Transcript
    copies: Mapping[str, str]
    turn_id: str


def apply(transcript: Transcript, edit: Edit, receiving: Collection[str] = ()) -> Applied:
    """Apply an edit; branch if the turn, or the edited call, has answers.

    On a branch an edited call waits for a new result. Turns in `receiving` are still streaming; they remain on their
    branch.
    """
    if edit.transcript.turns == transcript.turns:
        return Applied(transcript, {}, edit.turn_id)
    if not has_answers(transcript, edit.turn_id, edit.call_id):
        return Applied(edit.transcript, {}, edit.turn_id)
    after = without_results(edit.transcript, edit.turn_id, edit.new_call) if edit.call_id else edit.transcript
    branched, copies = branch(transcript, after, edit.turn_id, receiving)
    return Applied(branched, copies, copies[edit.turn_id])


def replace_turn(transcript: Transcript, turn: Turn, call_id: str = "") -> Edit:
    """Replace a turn by another version of it; `call_id` is a call whose arguments are edited, if any."""
    return Edit(turn.id, transcript.replace(turn), call_id, call_id, call_id)


def replace_call(transcript: Transcript, turn_id: str, call_id: str, call: ToolCall) -> Edit:
    """Replace a call; its results follow it. The received arguments are kept as long as they differ.

    Raises ValueError as `complete_calls` does, KeyError for an unknown turn.
    """
    turn = transcript.turns[turn_id]
    index, old = next((n, part) for n, part in enumerate(turn.parts) if part.kind == "tool_call" and part.id == call_id)
    is_ours = old.id_is_ours and call.id == old.id
    edited = call_with_arguments(old, call.arguments, received=turn.outcome is not None)
    edited = edited.model_copy(update={"name": call.name, "id": call.id, "id_is_ours": is_ours})
    (new,) = complete_calls([edited], [part.id for part in turn.calls if part.id != call_id])
    unchanged = {name: getattr(old, name) for name in ("name", "id") if getattr(old, name) == getattr(edited, name)}
    new = new.model_copy(update=unchanged)  # odd spaces of a received call remain
    parts = (*turn.parts[:index], new, *turn.parts[index + 1 :])
    after = transcript.replace(turn.model_copy(update={"parts": parts}))
    if new.id != call_id:
        after = _with_results_of(after, turn_id, call_id, new.id)
    is_changed = (new.name, new.arguments) != (old.name, old.arguments)
    return Edit(turn_id, after, call_id if is_changed else "", call_id, new.id)


def remove_call(transcript: Transcript, turn_id: str, call_id: str) -> Edit:
    """Remove a call and its results, on every branch. Raises KeyError for an unknown turn."""
    turn = transcript.turns[turn_id]
    parts = tuple(part for part in turn.parts if not (part.kind == "tool_call" and part.id == call_id))
    after = without_results(transcript, turn_id, call_id)
    return Edit(turn_id, after.replace(turn.model_copy(update={"parts": parts})))


def link_result(transcript: Transcript, turn_id: str, index: int, call_id: str) -> Edit:
    """Let the result at `index` of a tool turn answer a call.

    A turn of one result moves behind the turn that made the call, if that waits above it. Raises KeyError for an
    unknown turn, IndexError for an unknown result.
    """
    turn = transcript.turns[turn_id]
    above = transcript.lineage(turn.parent)
    call_id = matching_call_id(call_id, above)
    if turn.results:
        old = turn.results[index]
        new = old.model_copy(update={"call_id": call_id})
        parts: tuple[Part, ...] = tuple(new if part is old else part for part in turn.parts)
    else:
        parts = (ToolResult(call_id=call_id, text=turn.text, by="you"),)
    turn = turn.model_copy(update={"parts": parts})
    maker = next((entry.turn_id for entry in answerable(above) if entry.waits and entry.call.id == call_id), None)
    start = next((n for n, item in enumerate(above) if item.id == maker), len(above))
    is_placed = all(item.role is Role.TOOL for item in above[start + 1 :])
    is_on_path = any(item.id == turn_id for item in transcript.path)
    if maker is None or len(turn.parts) > 1 or is_placed or not is_on_path:
        return replace_turn(transcript, turn)
    rest = transcript.remove(turn_id)
    return Edit(turn_id, place_results(rest, rest.head, maker, turn))


# ---- parts of one turn -----------------------------------------------------------------------------------------------


def text_of(turn: Turn) -> str:
    """Return the text that is edited in a turn: its content, or the first result of a tool turn."""
    return turn.results[0].text if turn.role is Role.TOOL and turn.results else turn.text


def with_text(turn: Turn, text: str) -> Turn:
    """Return the turn with another text, a tool turn with another result; other parts remain."""
    if turn.role is Role.TOOL and turn.results:
        old = turn.results[0]
        by = old.by if old.text == text or not old.by else "you"
        parts: tuple[Part, ...] = (old.model_copy(update={"text": text, "by": by}), *turn.parts[1:])
    else:
        parts = _replace_texts(turn.parts, text)
    return turn.model_copy(update={"parts": parts})


def with_arguments(turn: Turn, call_id: str, arguments: str) -> Turn:
    """Return the turn with other raw arguments in one call."""
    parts = tuple(
        call_with_arguments(part, arguments, received=turn.outcome is not None)
        if isinstance(part, ToolCall) and part.id == call_id
        else part
        for part in turn.parts
    )
    return turn.model_copy(update={"parts": parts})


def with_more_calls(turn: Turn, calls: Iterable[ToolCall]) -> Turn:
    """Return the turn with more calls after its other parts. Raises ValueError as `complete_calls` does."""
    more = complete_calls(calls, [call.id for call in turn.calls])
    return turn.model_copy(update={"parts": (*turn.parts, *more)})


def call_with_arguments(call: ToolCall, arguments: str, *, received: bool) -> ToolCall:
    """Return the call with other arguments; those of a `received` call are kept as long as they differ."""
    before = call.arguments if call.received is None else call.received
    original = before if (received or call.received is not None) and arguments != before else None
    return call.model_copy(update={"arguments": arguments, "received": original})


def _replace_texts(parts: tuple[Part, ...], text: str) -> tuple[Part, ...]:
    """Replace all text parts by one text, at the position of the first.

    Unchanged texts at both ends remain as they are, with their extra members.
    """
    texts = [part for part in parts if isinstance(part, Text)]
    first, last = 0, len(texts)
    while first < last and text.startswith(texts[first].text):
        text = text[len(texts[first].text) :]
        first += 1
    while first < last and text.endswith(texts[last - 1].text):
        last -= 1
        text = text[: len(text) - len(texts[last].text)]
    if text and first == last and first:  # text added to a part, or between two, joins the part before it
        first -= 1
        text = texts[first].text + text
    elif text and first == last and texts:
        last = 1
        text += texts[0].text
    changed = texts[first:last]
    result: list[Part] = []
    for part in parts:
        if changed and part is changed[0]:
            new = part.model_copy(update={"text": text}) if len(changed) == 1 else Text(text=text)
            result += [new] if text else []
        elif not any(part is item for item in changed):
            result.append(part)
    if text and not texts:
        index = next((n for n, part in enumerate(result) if isinstance(part, ToolCall)), len(result))
        result.insert(index, Text(text=text))
    return tuple(result)


def with_image(turn: Turn, index: int, image: Image | None) -> Turn:
    """Return the turn with another image at `index` among its images; None removes it. Raises IndexError."""
    position = [number for number, part in enumerate(turn.parts) if isinstance(part, Image)][index]
    new = (image,) if image is not None else ()
    return turn.model_copy(update={"parts": (*turn.parts[:position], *new, *turn.parts[position + 1 :])})


def with_more_images(turn: Turn, images: Sequence[Image]) -> Turn:
    """Return the turn with more images after its own; a tool turn has them in its last result.

    Raises ValueError for a tool turn without a result.
    """
    parts = list(turn.parts)
    if turn.role is Role.TOOL:
        index = max((number for number, part in enumerate(parts) if isinstance(part, ToolResult)), default=-1)
        if index < 0:
            raise ValueError("This message has no result for an image.")
        result = turn.results[-1]
        parts[index] = result.model_copy(update={"images": (*result.images, *images)})
    else:
        index = max((number for number, part in enumerate(parts) if isinstance(part, Image)), default=len(parts) - 1)
        parts[index + 1 : index + 1] = images
    return turn.model_copy(update={"parts": tuple(parts)})


def with_swapped_images(turn: Turn, swaps: Mapping[str, Image]) -> Turn:
    """Return the turn with other images in place of those with the given URLs."""

    def swap(part: Part) -> Part:
        if isinstance(part, Image):
            return swaps.get(part.url, part)
        if isinstance(part, ToolResult) and part.images:
            return part.model_copy(update={"images": tuple(swaps.get(image.url, image) for image in part.images)})
        return part

    return turn.model_copy(update={"parts": tuple(map(swap, turn.parts))})


def with_role(transcript: Transcript, turn_id: str, role: Role) -> Turn:
    """Return a turn with another role. Content becomes a result when it becomes a tool turn, and the reverse."""
    turn = transcript.turns[turn_id]
    parts = turn.parts
    if role is Role.TOOL:
        waiting = [call for call in transcript.unanswered() if call not in turn.calls]
        parts = (ToolResult(call_id=waiting[0].id if waiting else "", text=turn.text),)
    elif turn.role is Role.TOOL:
        parts = tuple(Text(text=result.text) for result in turn.results)
    else:
        parts = tuple(part for part in turn.parts if part.kind != "tool_call")  # assistant turns only
    return turn.model_copy(update={"role": role, "parts": parts})


# ---- calls and their results -----------------------------------------------------------------------------------------


def own_id() -> str:
    """Return a new id for a call made by a person; both protocols accept it."""
    return f"call_{new_id()}"


def complete_calls(calls: Iterable[ToolCall], used: Collection[str] = ()) -> tuple[ToolCall, ...]:
    """Return calls that can be part of a turn, with new ids where they have none; `used` are ids of its other calls.

    Raises ValueError with a sentence for a call without a name and for an id used twice.
    """
    result: list[ToolCall] = []
    ids = set(used)
    for call in calls:
        name, call_id = call.name.strip(), call.id.strip()
        if not name:
            raise ValueError("A call needs the name of the tool that it calls.")
        if call_id in ids:
            raise ValueError(f"Two calls have the id {call_id}, so their results would be ambiguous.")
        update = {"name": name, "id": call_id or own_id()}
        result.append(call.model_copy(update=update if call_id else {**update, "id_is_ours": True}))
        ids.add(result[-1].id)
    return tuple(result)


class Answerable(NamedTuple):
    """A call that a result may answer; `waits` says that it has none."""

    turn_id: str
    call: ToolCall
    waits: bool


def answerable(above: Iterable[Turn]) -> list[Answerable]:
    """Return the calls in `above`: waiting ones in their order, then the others, newest first; each id once."""
    turns = tuple(above)
    waiting = [Answerable(turn_id, call, True) for turn_id, call in waiting_in(turns)]
    ids = {entry.call.id for entry in waiting}
    answered: list[Answerable] = []
    for turn in reversed(turns):
        for call in reversed(turn.calls):
            if call.id not in ids:
                ids.add(call.id)
                answered.append(Answerable(turn.id, call, False))
    return [*waiting, *answered]


def answers_none(turn: Turn) -> bool:
    """Return whether it is a tool turn without the id of its call; no gateway accepts one."""
    if turn.role is not Role.TOOL:
        return False
    results = turn.results
    return not results or any(not result.call_id.strip() for result in results)


def without_call(turns: Iterable[Turn]) -> str:
    """Return why turns cannot be sent while a tool turn among them answers no call; empty if none does so."""
    turn = next((turn for turn in turns if answers_none(turn)), None)
    if turn is None:
        return ""
    words = " ".join((turn.results[0].text if turn.results else turn.text)[: SHORT * 4].split())
    name = f"“{words[:SHORT].rstrip()}{'…' * (len(words) > SHORT)}”" if words else "without text"
    return f"The tool message {name} does not say which call it answers. Give it its call."


def calls_first(turns: Iterable[Turn]) -> str:
    """Return why new turns cannot be sent at once: they call tools, and results have to follow; else empty."""
    names = [call.name for turn in turns for call in turn.calls]
    return f"Add the message first: a result has to follow its call of {', '.join(names[:3])}." if names else ""


def matching_call_id(call_id: str, above: Iterable[Turn]) -> str:
    """Return an id as typed if a call has it, else without surrounding spaces."""
    return call_id if any(call.id == call_id for turn in above for call in turn.calls) else call_id.strip()


def without_results(transcript: Transcript, turn_id: str, call_id: str) -> Transcript:
    """Remove the results of a call on every branch, so that it waits again. Raises KeyError for an unknown turn."""
    for turn in list(_result_turns(transcript, turn_id)):
        parts = tuple(part for part in turn.parts if not (part.kind == "tool_result" and part.call_id == call_id))
        if not parts:
            transcript = transcript.remove(turn.id)
        elif parts != turn.parts:
            transcript = transcript.replace(transcript.turns[turn.id].model_copy(update={"parts": parts}))
    return transcript


def _with_results_of(transcript: Transcript, turn_id: str, old: str, new: str) -> Transcript:
    """Let the results of a call answer the call with its new id, on every branch."""
    for turn in list(_result_turns(transcript, turn_id)):
        parts = tuple(
            part.model_copy(update={"call_id": new}) if part.kind == "tool_result" and part.call_id == old else part
            for part in turn.parts
        )
        if parts != turn.parts:
            transcript = transcript.replace(turn.model_copy(update={"parts": parts}))
    return transcript


def _result_turns(transcript: Transcript, turn_id: str) -> Iterator[Turn]:
    """Yield the tool turns directly after a turn, on every branch."""
    queue = list(transcript.children(turn_id))
    while queue:
        turn = transcript.turns[queue.pop()]
        if turn.role is Role.TOOL:
            yield turn
            queue += transcript.children(turn.id)


def place_results(transcript: Transcript, tip: str | None, maker: str, *turns: Turn) -> Transcript:
    """Insert tool turns that answer calls of the turn `maker`, in the order of the calls, on the branch to `tip`.

    The last one follows `tip`, and the head moves if it was there. Raises ValueError if `maker` is not on the branch.
    """
    branch_turns = transcript.lineage(tip)
    start = [turn.id for turn in branch_turns].index(maker) + 1
    order = {call.id: number for number, call in enumerate(branch_turns[start - 1].calls)}
    results = list(takewhile(lambda turn: turn.role is Role.TOOL, branch_turns[start:]))
    following = branch_turns[start + len(results) :]
    numbers = list(accumulate((_call_number(turn, order) for turn in results), max))
    for turn in turns:  # possibly thousands
        number = _call_number(turn, order)
        position = bisect_right(numbers, number)
        results.insert(position, turn)
        numbers.insert(position, number)
    tree = {**transcript.turns, **{turn.id: turn for turn in turns}}
    parent = maker
    for turn in (*results, *following[:1]):
        if tree[turn.id].parent != parent:
            tree[turn.id] = turn.model_copy(update={"parent": parent})
        parent = turn.id
    return Transcript(tree, parent if transcript.head == tip and not following else transcript.head)


def _call_number(turn: Turn, order: dict[str, int]) -> int:
    """Return the number of the call that a tool turn answers; -1 if it answers none of them."""
    return max((order.get(result.call_id, -1) for result in turn.results), default=-1)


def end_of_results(transcript: Transcript, tip: str) -> str:
    """Return `tip`, or the last of the tool turns that follow it on the path."""
    path = transcript.path
    index = next((number for number, turn in enumerate(path) if turn.id == tip), None)
    if index is None:
        return tip
    while index + 1 < len(path) and path[index + 1].role is Role.TOOL:
        index += 1
    return path[index].id


def seconds_since(turn: Turn) -> float | None:
    """Return the seconds since a turn was completely received; None if unknown."""
    timing = turn.outcome.timing if turn.outcome is not None else None
    if timing is None or timing.end is None:
        return None
    return max(time.time() - timing.started_at - timing.end, 0.0)
