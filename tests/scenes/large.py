"""Scenes of texts too large to be drawn whole: folded to their beginning, and opened part by part."""

from __future__ import annotations

from playground.domain.parts import Part, Reasoning, Text, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn, new_id
from playground.domain.usage import Timing, Usage
from tests.scenes.registry import scene
from tests.scenes.stage import Stage

LOG = "".join(
    f"2026-03-0{n % 9 + 1} 12:{n % 60:02}:07 worker[{n % 40}] request {n} answered in {n % 900} ms\n"
    for n in range(18_000)
)


@scene()
async def large_result(stage: Stage) -> None:
    """A result of a megabyte, folded to its beginning."""
    await _answered(stage)


@scene()
async def many_parts(stage: Stage) -> None:
    """A turn of reasoning, words and calls in turn: a page of its parts, leafed to the second one."""
    turn_id = _many_parts(stage)
    await stage.settle()
    card = stage.window.pane.view.card(turn_id)
    if card is not None:
        card.parts.row.buttons["after"].click()
    await stage.settle()
    stage.window.pane.view.jump_to_latest()
    await stage.settle()


def _many_parts(stage: Stage) -> str:
    stage.fresh("demo-chat")
    session = stage.session
    session.turns.add_turn(make_turn(Role.USER, "Think between all steps."))
    parts: list[Part] = []
    for n in range(1, 1_300):
        parts += [Reasoning(text=f"Step {n} needs a look at what came before it. " * (n % 4 + 1))]
        parts += [Text(text=f"Step **{n}** is done.")]
        if n % 7 == 0:
            parts += [ToolCall(id=f"call_{n}", name="get_weather", arguments='{"city": "Lisbon"}')]
    usage = Usage(prompt=40, completion=21_000, reasoning=17_500)
    timing = Timing(started_at=0, first_reasoning=0.4, reasoning_end=80.0, first_content=0.6, end=81.0)
    outcome = Outcome(ending=Ending.COMPLETE, model="demo-chat", finish_reason="tool_calls", usage=usage, timing=timing)
    return session.turns.add_turn(Turn(id=new_id(), role=Role.ASSISTANT, parts=tuple(parts), outcome=outcome))


async def _answered(stage: Stage) -> str:
    stage.open_sample()
    session = stage.session
    session.change(model="demo-tools")
    call = ToolCall(id="call_log", name="get_weather", arguments='{"city": "Lisbon", "unit": "celsius"}')
    turn_id = session.turns.add_turn(make_turn(Role.ASSISTANT, "I read the log.", call))
    session.turns.add_turn(make_turn(Role.TOOL, "", ToolResult(call_id="call_log", text=LOG)))
    await stage.settle()
    return turn_id
