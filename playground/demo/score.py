"""A plan as a sequence of beats: one for each piece to be sent, with the trouble asked for in its place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from playground.demo import tokens
from playground.demo.ask import Call
from playground.demo.cheats import Directives
from playground.demo.plan import Plan


@dataclass(frozen=True)
class Beat:
    """One thing to send (or to do): ``text`` of reasoning, content or the arguments of ``call`` number ``at``."""

    kind: Literal["reasoning", "text", "call", "arguments", "stall", "cut", "error", "garble"]
    choice: int = 0
    text: str = ""
    at: int = 0
    call: Call | None = None
    seconds: float = 0.0


def beats(plans: tuple[Plan, ...], directives: Directives) -> Iterator[Beat]:
    """The beats of all plans, taken in turn, with the trouble asked for in the middle."""
    rows = [list(_of(plan, choice)) for choice, plan in enumerate(plans)]
    woven = [beat for turn in itertools.zip_longest(*rows) for beat in turn if beat is not None]
    middle = (len(woven) + 1) // 2
    yield from woven[:middle]
    if directives.has("stall"):
        yield Beat("stall", seconds=directives.number("stall", 5.0))
    if directives.has("cut"):
        yield Beat("cut")
        return
    if directives.has("error"):
        yield Beat("error", seconds=directives.number("error", 0.0))
        return
    if directives.has("garble"):
        yield Beat("garble")
    yield from woven[middle:]


def _of(plan: Plan, choice: int) -> Iterator[Beat]:
    for piece in tokens.split(plan.reasoning):
        yield Beat("reasoning", choice, piece)
    for piece in tokens.split(plan.content):
        yield Beat("text", choice, piece)
    for at, call in enumerate(plan.calls):
        yield Beat("call", choice, at=at, call=call)
        for piece in tokens.split(call.arguments):
            yield Beat("arguments", choice, piece, at)
