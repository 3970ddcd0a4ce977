"""Scenes of tool calls: forming, paused, edited, answered, on their way."""

from __future__ import annotations

from playground.domain.debugging import ResultDraft
from tests.scenes.registry import WIDE, scene
from tests.scenes.stage import Stage
from tests.support.editors import edit_call


async def _three(stage: Stage, more: str = "", *, wait: bool = True) -> None:
    stage.open_sample()
    await stage.ask(f"Compare the weather in Lisbon, Oslo and Rome. !calls=3 {more}", wait=wait)


@scene(tokens_per_second=14, sizes=WIDE)
async def call_forming(stage: Stage) -> None:
    """Arguments arrive: the tree on the left, the text as it comes on the right."""
    await _three(stage, "!broken", wait=False)
    view = stage.window.pane.view

    def formed() -> bool:
        cards = [card for turn in view.cards.values() for card in turn.calls]
        return len(cards) > 1 and cards[1].tree is not None and len(cards[1].tree.toPlainText().splitlines()) > 1

    await stage.until(formed, "the second call to form")


@scene()
async def paused_with_error(stage: Stage) -> None:
    """Three calls wait; the second does not fit its schema; the bar shows the state."""
    await _three(stage, "!broken=2")
    await stage.scroll_to_turn(-1)


@scene()
async def call_edited(stage: Stage) -> None:
    """The broken call was edited: what changed, and a result half typed for it."""
    await _three(stage, "!broken=2")
    (_, _), (turn_id, call), _ = stage.session.debugger.waiting
    edit_call(stage.session, turn_id, call.id, '{"city": "Oslo", "unit": "celsius"}')
    stage.session.debugger.notes.set_draft(turn_id, call.id, ResultDraft(text='{"temp": 9, "sky": "ra'))
    await stage.scroll_to_turn(-1)
