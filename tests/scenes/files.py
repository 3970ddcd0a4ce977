"""Scenes of files, presets and variables."""

from __future__ import annotations

import json

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView

from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.files.presets import from_session
from playground.ui.shell.features import PRESETS, VARIABLES
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import Stage

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


@scene(sizes=BOTH)
async def import_dialog(stage: Stage) -> None:
    """Three conversations in a text of JSON Lines: what each holds, what is left out."""
    stage.act("file.import")
    dialog = await stage.dialog("Import messages")
    QGuiApplication.clipboard().setText(_lines())
    stage.find(QAbstractButton, "Paste", dialog).click()
    lists = stage.person.find
    await stage.until(lambda: bool(lists(QAbstractItemView, "Conversations found; Space", dialog)), "conversations")


@scene(sizes=BOTH)
async def export_dialog(stage: Stage) -> None:
    """The formats, each with a word on what it is for, and what goes along."""
    stage.fresh("demo-chat")
    await stage.ask("Tell me about tides.")
    await stage.session.regenerate(stage.session.transcript.path[-1].id)
    stage.act("file.export")
    await stage.dialog("Export")


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
    stage.select("Presets", "Strict JSON", await stage.dialog("Presets"))


@scene(sizes=BOTH)
async def variables(stage: Stage) -> None:
    """Every variable has a value; the system turn as it is sent, and the message below the table."""
    values = {"audience": "children of ten", "language": "plain English", "topic": "how tides work"}
    stage.fresh("demo-chat")
    stage.session.turns.add_turn(make_turn(Role.SYSTEM, "You write for {{audience}}. Answer in {{language}}."))
    stage.session.change(variables=values)
    stage.window.pane.composer.set_text("Explain {{topic}} to {{audience}} in three sentences.")
    bar = stage.app.actions.of(VARIABLES).bar
    await stage.until(lambda: len(bar.rows) == 3, "three variables")
    card = stage.person.conversation.message(0)
    await stage.until(lambda: bool(card.find(QAbstractButton, "as sent")), "the button")
    card.get(QAbstractButton, "as sent").click()
