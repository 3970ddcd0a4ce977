"""Scenes of texts too large to be drawn whole: folded to their beginning, and opened part by part."""

from __future__ import annotations

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.transcript import Role, Transcript, make_turn
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
async def long_conversation(stage: Stage) -> None:
    """The oldest loaded messages of a long conversation, and the ways to earlier ones and to the latest."""
    roles = (Role.USER, Role.ASSISTANT)
    turns = [make_turn(roles[number % 2], f"Message {number}") for number in range(250)]
    stage.session.turns.rewrite(Transcript().append(*turns))
    await stage.scroll_to_top()


async def _answered(stage: Stage) -> str:
    stage.open_sample()
    session = stage.session
    session.change(model="demo-tools")
    call = ToolCall(id="call_log", name="get_weather", arguments='{"city": "Lisbon", "unit": "celsius"}')
    turn_id = session.turns.add_turn(make_turn(Role.ASSISTANT, "I read the log.", call))
    session.turns.add_turn(make_turn(Role.TOOL, "", ToolResult(call_id="call_log", text=LOG)))
    await stage.settle()
    return turn_id
