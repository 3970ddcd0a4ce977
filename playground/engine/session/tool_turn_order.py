"""Where the answer to a call stands: behind the turn that made the call, the answers in the order of the calls.

Pure functions over transcripts.
"""

from __future__ import annotations

import time

from playground.domain.transcript import Role, Transcript, Turn


def placed(transcript: Transcript, tip: str | None, maker: str, turn: Turn) -> Transcript:
    """``transcript`` with the tool turn ``turn``, which answers a call of the turn ``maker``, on the branch to ``tip``.

    Where it comes last on the branch it follows ``tip``, and the head moves along if it stood there. Raises
    ValueError when ``maker`` is not on the branch.
    """
    branch = transcript.lineage(tip)
    ids = [one.id for one in branch]
    at = ids.index(maker)
    order = {call.id: number for number, call in enumerate(branch[at].calls)}
    number = _number(turn, order)
    after = at + 1
    while after < len(branch) and branch[after].role is Role.TOOL and _number(branch[after], order) <= number:
        after += 1
    if after < len(branch):
        return transcript.insert(turn, before=branch[after].id)
    head = turn.id if transcript.head == tip else transcript.head
    return Transcript({**transcript.turns, turn.id: turn.model_copy(update={"parent": tip})}, head)


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
