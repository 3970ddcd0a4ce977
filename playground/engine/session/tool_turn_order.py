"""Where the answer to a call stands: behind the turn that made the call, the answers in the order of the calls.

Pure functions over transcripts.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from itertools import accumulate, takewhile

from playground.domain.transcript import Role, Transcript, Turn


def placed(transcript: Transcript, tip: str | None, maker: str, *turns: Turn) -> Transcript:
    """``transcript`` with these tool turns, which answer calls of the turn ``maker``, on the branch to ``tip``.

    One that comes last on the branch follows ``tip``, and the head moves along if it stood there. Raises
    ValueError when ``maker`` is not on the branch.
    """
    branch = transcript.lineage(tip)
    at = [one.id for one in branch].index(maker)
    order = {call.id: number for number, call in enumerate(branch[at].calls)}
    round_ = list(takewhile(lambda one: one.role is Role.TOOL, branch[at + 1 :]))
    rest = branch[at + 1 + len(round_) :]
    behind = list(accumulate((_number(one, order) for one in round_), max))  # the last call answered up to each
    for turn in turns:  # there may be thousands
        number = _number(turn, order)
        place = bisect_right(behind, number)
        round_.insert(place, turn)
        behind.insert(place, number)
    known = dict(transcript.turns)
    known.update((turn.id, turn) for turn in turns)
    above = maker
    for one in (*round_, *rest[:1]):
        if known[one.id].parent != above:
            known[one.id] = one.model_copy(update={"parent": above})
        above = one.id
    return Transcript(known, above if transcript.head == tip and not rest else transcript.head)


def _number(turn: Turn, order: dict[str, int]) -> int:
    """The place of the call that a tool turn answers; before all others where it answers none of them."""
    return max((order.get(result.call_id, -1) for result in turn.results), default=-1)


def below(transcript: Transcript, tip: str) -> str:
    """``tip``, or the last of the tool turns that follow it on the path: answers given by hand count as well."""
    path = transcript.path
    at = next((number for number, turn in enumerate(path) if turn.id == tip), None)
    if at is None:
        return tip
    while at + 1 < len(path) and path[at + 1].role is Role.TOOL:
        at += 1
    return path[at].id


def seconds_since(turn: Turn) -> float | None:
    """Seconds since a turn was received whole; None where that is not known."""
    timing = turn.outcome.timing if turn.outcome is not None else None
    if timing is None or timing.end is None:
        return None
    return max(time.time() - timing.started_at - timing.end, 0.0)
