"""Scenes of files, presets and variables."""

from __future__ import annotations

import json
from typing import TypeVar

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog

from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.files.export import HTML
from playground.engine.files.presets import from_session
from playground.ui.features.files.export_dialog import ExportDialog
from playground.ui.features.files.import_dialog import ImportMessagesDialog
from playground.ui.features.presets.presets_dialog import PresetsDialog
from playground.ui.features.variables.variables_bar import VariablesBar
from playground.ui.shell.features import PRESETS, VARIABLES
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import SceneError, Stage

D = TypeVar("D", bound=QDialog)

QUESTIONS = (
    ("Which city is the capital of Australia?", "Canberra. It was chosen in 1908 as a compromise."),
    ("Translate “the early bird catches the worm” into German.", "Morgenstund hat Gold im Mund."),
    ("Write a haiku about packet loss.", "A word leaves the port"),
)
SCHEMA = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": {"type": "object"}}}
TOOL = ToolDefinition(name="get_weather", description="The weather in a city now.", parameters={"type": "object"})


def _lines() -> str:
    records = [
        {
            "messages": [
                {"role": "system", "content": "You answer in one sentence."},
                {"role": "user", "content": question},
                {"role": "assistant", "content": answer, "weight": 1},
            ],
            "source": "handwritten",
        }
        for question, answer in QUESTIONS
    ]
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)


async def _dialog(stage: Stage, kind: type[D]) -> D:
    """The dialog of that kind, once it is open."""

    def found() -> list[D]:
        return [w for w in QApplication.topLevelWidgets() if isinstance(w, kind) and w.isVisible()]

    await stage.until(lambda: bool(found()), kind.__name__)
    return found()[0]


async def _import(stage: Stage, text: str) -> ImportMessagesDialog:
    stage.act("file.import")
    dialog = await _dialog(stage, ImportMessagesDialog)
    QGuiApplication.clipboard().setText(text)
    dialog.paste()
    await stage.until(lambda: dialog.source.text() == "The clipboard" and dialog.verdict.text() != "Reading…", "an end")
    return dialog


@scene(sizes=BOTH)
async def import_dialog(stage: Stage) -> None:
    """Three conversations in a text of JSON Lines: what each holds, what is left out, two of them picked."""
    dialog = await _import(stage, _lines())
    dialog.pick(0, 2)


@scene(sizes=BOTH)
async def export_dialog(stage: Stage) -> None:
    """The formats, each with a word on what it is for, and what goes along."""
    stage.fresh("demo-chat")
    await stage.ask("Tell me about tides.")
    await stage.session.regenerate(stage.session.transcript.path[-1].id)
    stage.act("file.export")
    dialog = await _dialog(stage, ExportDialog)
    dialog.choose(HTML, whole_tree=True)


def _presets(stage: Stage) -> None:
    """Three presets, and an experiment that is none of them."""
    session, store = stage.session, stage.app.actions.of(PRESETS).store
    session.turns.add_turn(make_turn(Role.SYSTEM, "You are terse. Answer in at most two sentences."))
    session.set_parameters(session.settings.current.with_value("temperature", 0.2).with_value("seed", 7))
    store.put(from_session(session, "Terse and steady"))
    session.change(tools=(TOOL,))
    session.set_parameters(session.settings.current.with_value("response_format", SCHEMA))
    store.put(from_session(session, "Strict JSON with weather", with_model=True))
    session.change(tools=())
    session.set_parameters(session.settings.current.with_value("temperature", 1.4))
    store.put(from_session(session, "Wild ideas"))


@scene(sizes=BOTH)
async def presets(stage: Stage) -> None:
    """The presets to look at: what is in the one selected, and what can be done with it."""
    stage.fresh("demo-chat")
    _presets(stage)
    stage.act("presets.look")
    dialog = await _dialog(stage, PresetsDialog)
    dialog.list.setCurrentRow(1)


def _bar(stage: Stage) -> VariablesBar:
    return stage.app.actions.of(VARIABLES).bar


async def _with_variables(stage: Stage, **values: str) -> VariablesBar:
    stage.fresh("demo-chat")
    session = stage.session
    session.turns.add_turn(make_turn(Role.SYSTEM, "You write for {{audience}}. Answer in {{language}}."))
    session.change(variables=values)
    stage.window.pane.composer.set_text("Explain {{topic}} to {{audience}} in three sentences.")
    bar = _bar(stage)
    await stage.until(lambda: len(bar.rows) == 3, "three variables")
    return bar


@scene(sizes=BOTH)
async def variables(stage: Stage) -> None:
    """Every variable has a value; the system turn as it is sent, and the message below the table."""
    await _with_variables(stage, audience="children of ten", language="plain English", topic="how tides work")
    card = stage.window.pane.view.card(stage.session.transcript.path[0].id)
    if card is None:
        raise SceneError("no card")
    card._header.sent.click()
