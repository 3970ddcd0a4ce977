"""Scenes of lanes side by side: answered, under way, failed, paused, many, with code and tables."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit

from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.session.session import Session
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import Stage


async def _compared(stage: Stage, *models: str) -> Lanes:
    """The page with a lane for each of these models beside the conversation's."""
    lanes = Lanes(stage.session)
    lanes.add_models(models)
    stage.act("compare.open")
    await stage.until(lambda: stage.window.pane.columns is not None, "the lanes")
    return lanes


async def _asked(stage: Stage, lanes: Lanes, text: str) -> None:
    stage.window.pane.composer.set_text(text)
    stage.window.pane.run()
    await stage.until(lambda: any(lane.transcript.turns for lane in lanes.all), "the question in the lanes")
    await stage.until(lambda: not lanes.all[0].experiment.busy and _answered(lanes.all), "answers in all lanes")


def _answered(lanes: tuple[Session, ...]) -> bool:
    requests = [lane for lane in lanes if lane.transcript.path]
    return all(lane.transcript.path[-1].outcome for lane in requests)


@scene(tokens_per_second=400, sizes=BOTH)
async def compare(stage: Stage) -> None:
    """Three lanes that answered: as set, warmer, and a reasoner in the other protocol's words."""
    stage.fresh("demo-chat")
    lanes = await _compared(stage, "demo-chat", "demo-reasoner")
    warm = lanes.all[1]
    warm.set_parameters(warm.settings.current.with_value("temperature", 1).with_value("top_p", 0.5))
    lanes.rename(warm, "warm")
    await _asked(stage, lanes, "Is it warmer in Lisbon or Oslo right now?")


@scene(sizes=BOTH)
async def compare_six(stage: Stage) -> None:
    """Six lanes: a strip of chips has their states; side panel and inspector name the lane in front."""
    stage.fresh("demo-chat")
    lanes = await _compared(stage, "demo-chat", "demo-reasoner", "demo-tools", "demo-chat", "demo-reasoner")
    lanes.rename(lanes.all[1], "warm")
    await _asked(stage, lanes, "Is it warmer in Lisbon or Oslo right now?")
    stage.act("compare.after")
    stage.act("view.inspector")
    stage.act("view.parameters")


@scene(sizes=BOTH)
async def compare_empty(stage: Stage) -> None:
    """Two lanes before anything is asked; the second has no turn, and speaks Messages: it says what it cannot carry."""
    stage.fresh("demo-chat")
    current = stage.session.settings.current
    stage.session.set_parameters(current.with_value("n", 2).with_value("frequency_penalty", 0.5))
    lanes = await _compared(stage, "demo-messages")
    stage.session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
    lanes.all[1].switch_protocol("messages")
    await stage.until(lambda: not stage.window.pane.view.isHidden(), "the turn")


@scene(sizes=BOTH)
async def compare_models(stage: Stage) -> None:
    """Models for more lanes are ticked in one go."""
    stage.fresh("demo-chat")
    await _compared(stage, "demo-chat")
    stage.act("compare.models")
    dialog = await stage.dialog("Add lanes of other models")
    search = stage.find(QLineEdit, inside=dialog)
    for text in ("demo-t", "typed/by-hand"):
        search.setText(text)
        search.returnPressed.emit()
    search.clear()
