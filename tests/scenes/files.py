"""Scenes of files, presets and variables."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton

from playground.domain.transcript import Role, make_turn
from playground.engine.files.presets import Preset
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import Stage


@scene()
async def presets(stage: Stage) -> None:
    """The presets, one of which was deleted and can be restored."""
    control = stage.app.actions.features.presets
    for number, name in enumerate(("Strict JSON", "Terse", "Long answers")):
        control.store.put(Preset(id=str(number), name=name, system="Be brief.", tools=(), parameters={"seed": number}))
    control.look()
    dialog = await stage.dialog("Presets")
    stage.select("Presets", "Terse", dialog)
    stage.find(QAbstractButton, "Delete this preset", dialog).click()
    await stage.settle()


@scene(sizes=BOTH)
async def variables(stage: Stage) -> None:
    """Every variable has a value; the system turn as it is sent, and the message below the table."""
    values = {"audience": "children of ten", "language": "plain English", "topic": "how tides work"}
    stage.fresh("demo-chat")
    stage.session.turns.add_turn(make_turn(Role.SYSTEM, "You write for {{audience}}. Answer in {{language}}."))
    stage.session.change(variables=values)
    stage.window.pane.composer.set_text("Explain {{topic}} to {{audience}} in three sentences.")
    bar = stage.app.actions.features.variables.bar
    await stage.until(lambda: len(bar.rows) == 3, "three variables")
    card = stage.person.conversation.message(0)
    await stage.until(lambda: bool(card.find(QAbstractButton, "Show the message as it is sent")), "the button")
    card.get(QAbstractButton, "Show the message as it is sent").click()
