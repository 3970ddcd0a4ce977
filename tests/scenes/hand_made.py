"""Scenes of what a person writes: results and the calls they answer, calls of an assistant turn."""

from __future__ import annotations

from playground.domain.parts import ToolCall
from playground.domain.transcript import Role
from playground.engine.session.drafts import Draft
from tests.scenes.registry import scene
from tests.scenes.stage import Stage

OSLO = '{"city": "Oslo", "unit": "celsius"}'


@scene()
async def writing_calls(stage: Stage) -> None:
    """An assistant turn being written, with two calls: one fits, one does not."""
    stage.open_sample()
    calls = (
        ToolCall(id="", name="get_weather", arguments=OSLO),
        ToolCall(id="call_2", name="get_weather", arguments='{"town": "Rome"}'),
    )
    stage.session.with_draft(Draft(text="I look both up.", role=Role.ASSISTANT, calls=calls))
    stage.window.pane.composer.set_draft(stage.session.draft)
