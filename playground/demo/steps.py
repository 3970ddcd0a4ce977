"""A plan as a sequence of steps: one for each piece to send, with the faults on demand in between."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from playground.demo import tokens
from playground.demo.cheats import Directives
from playground.demo.generation import Call
from playground.demo.plan import Plan


@dataclass(frozen=True)
class Step:
    """One thing to send (or to do): ``text`` of reasoning, content or the arguments of the call at ``position``.

    A hosted tool is used in stages: 0 announces it, each later one is one event of its progress.
    """

    kind: Literal["reasoning", "text", "refusal", "call", "arguments", "hosted", "stall", "cut", "error", "garble"]
    choice: int = 0
    text: str = ""
    position: int = 0
    stage: int = 0
    call: Call | None = None
    seconds: float = 0.0


def steps(plans: tuple[Plan, ...], directives: Directives) -> Iterator[Step]:
    """Yield the steps of all plans in turn, with the faults on demand in the middle."""
    rows = [list(_steps_of(plan, choice)) for choice, plan in enumerate(plans)]
    woven = [step for turn in itertools.zip_longest(*rows) for step in turn if step is not None]
    middle = (len(woven) + 1) // 2
    yield from woven[:middle]
    if directives.has("stall"):
        yield Step("stall", seconds=directives.number("stall", 5.0))
    if directives.has("cut"):
        yield Step("cut")
        return
    for name in ("error", "nested", "failed"):
        if directives.has(name):
            yield Step("error", seconds=directives.number(name, 0.0))
            return
    if directives.has("garble"):
        yield Step("garble")
    yield from woven[middle:]


def _steps_of(plan: Plan, choice: int) -> Iterator[Step]:
    yield from _hosted_steps(plan, choice, leads=True)
    for piece in tokens.split(plan.reasoning):
        yield Step("reasoning", choice, piece)
    yield from _hosted_steps(plan, choice, leads=False)
    for piece in tokens.split(plan.refusal):
        yield Step("refusal", choice, piece)
    for piece in tokens.split(plan.content):
        yield Step("text", choice, piece)
    for position, call in enumerate(plan.calls):
        yield Step("call", choice, position=position, call=call)
        for piece in tokens.split(call.arguments):
            yield Step("arguments", choice, piece, position)


def _hosted_steps(plan: Plan, choice: int, leads: bool) -> Iterator[Step]:
    for position, use in enumerate(plan.hosted):
        if use.leads == leads:
            for stage in range(len(use.progress) + 1):
                yield Step("hosted", choice, position=position, stage=stage)
