"""Scenes of files, presets and variables."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import mkdtemp
from typing import TypeVar

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QTreeView

from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.files.export import HTML
from playground.engine.files.presets import from_session
from playground.ui.features.files.export_dialog import ExportDialog
from playground.ui.features.files.import_dialog import ImportMessagesDialog
from playground.ui.features.presets.presets_dialog import PresetsDialog
from playground.ui.features.presets.save_dialog import SavePresetDialog
from playground.ui.features.variables.variables_bar import VariablesBar
from playground.ui.shell.features import FILES, PRESET_BAR, PRESETS, VARIABLES
from tests.scenes.registry import BOTH, WIDE, scene
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


def _folder() -> Path:
    return Path(mkdtemp(prefix="scenes-"))


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


@scene(sizes=WIDE)
async def import_dialog_refused(stage: Stage) -> None:
    """A text that is no JSON: where it breaks off."""
    await _import(stage, _lines().replace('"role": "user"', '"role": user', 1))


@scene(sizes=BOTH)
async def export_dialog(stage: Stage) -> None:
    """The formats, each with a word on what it is for, and what goes along."""
    stage.fresh("demo-chat")
    await stage.ask("Tell me about tides.")
    await stage.session.regenerate(stage.session.transcript.path[-1].id)
    stage.act("file.export")
    dialog = await _dialog(stage, ExportDialog)
    dialog.choose(HTML, whole_tree=True)


@scene(sizes=WIDE)
async def recent_files(stage: Stage) -> None:
    """The files opened last, in the menu."""
    home = Path.home()
    recent = stage.app.actions.of(FILES).recent
    names = ("weather.playground.json", "tides and moons.playground.json", "training/first batch.jsonl")
    for name in (*names, "a/long/way/down/to/a/folder/with/a/name/that/does/not/fit/talk.cassette.json"):
        recent.add_recent(home / "experiments" / name)
    recent.menu.popup(stage.window.mapToGlobal(stage.window.bar.geometry().bottomLeft()))


@scene(sizes=WIDE)
async def recent_file_gone(stage: Stage) -> None:
    """A file that was opened before is no longer there."""
    files = stage.app.actions.of(FILES)
    gone = _folder() / "weather.playground.json"
    files.recent.add_recent(gone)
    files.open_path(gone)
    await stage.until(lambda: "is not there" in stage.window.pane.notice.words, "a word on it")


@scene(sizes=BOTH)
async def drop_hint(stage: Stage) -> None:
    """A file is held above the window: what letting go would do."""
    await stage.sample()
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(Path.home() / "weather.playground.json"))])
    action, button, keys = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    event = QDragEnterEvent(QPointF(300, 300).toPoint(), action, mime, button, keys)
    QApplication.sendEvent(stage.window, event)


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


@scene(sizes=BOTH)
async def presets_menu(stage: Stage) -> None:
    """The button above the parameters, its menu open; the one in force has a mark."""
    stage.fresh("demo-chat")
    _presets(stage)
    bar = stage.window.panels.of(PRESET_BAR)
    bar.menu.popup(bar.button.mapToGlobal(bar.button.rect().bottomLeft()))


@scene(sizes=WIDE)
async def preset_save(stage: Stage) -> None:
    """A name that is taken: what will be in the preset, and that saving replaces."""
    stage.fresh("demo-chat")
    _presets(stage)
    stage.act("presets.save")
    dialog = await _dialog(stage, SavePresetDialog)
    dialog.name.setText("Wild ideas")
    dialog.with_model.setChecked(True)


@scene(sizes=WIDE)
async def preset_used(stage: Stage) -> None:
    """After one click: the parameters, the system turn, and the way back."""
    stage.fresh("demo-chat")
    _presets(stage)
    control = stage.app.actions.of(PRESETS)
    control.use(control.store.presets[1].id)


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


@scene(sizes=BOTH)
async def variables_unresolved(stage: Stage) -> None:
    """Run was pressed with two values missing: said, with both ways on."""
    await _with_variables(stage, audience="children of ten")
    stage.window.pane.run()
    await stage.until(lambda: len(stage.window.pane.notice.buttons) == 2, "two ways on")


@scene(sizes=BOTH)
async def variables_under_a_high_inspector(stage: Stage) -> None:
    """The inspector was drawn up as far as it goes, then variables came: the turns keep a height one can read in."""
    stage.fresh("demo-chat")
    await stage.ask("Tell me about tides.")
    await stage.ask("And what of the moon? !table")
    stage.window.resizeDocks([stage.window.bottom_dock], [2000], Qt.Orientation.Vertical)
    await _with_variables(stage, audience="children of ten")
    stage.window.pane.run()
    await stage.until(lambda: len(stage.window.pane.notice.buttons) == 2, "two ways on")
    bar = stage.window.pane.view.verticalScrollBar()
    await stage.settle()
    bar.setValue(bar.maximum() - 120)


@scene(sizes=WIDE)
async def file_opened_beside(stage: Stage) -> None:
    """A file of an experiment that is here and says something else; its gateway is not set up here."""
    stage.fresh("demo-chat")
    await stage.ask("Tell me about tides.")
    from playground.engine.files.experiment_file import save
    from playground.engine.session.snapshot import snapshot

    path = _folder() / "tides.playground.json"
    taken = snapshot(stage.session)
    save(path, taken.model_copy(update={"title": "Tides", "profile_id": "elsewhere", "gateway": "Team gateway"}))
    stage.app.open_path(path)
    await stage.until(lambda: "beside it" in stage.window.pane.notice.words, "a word on it")


@scene(sizes=BOTH)
async def open_file(stage: Stage) -> None:
    """The dialog that asks which file to open, where the desktop has none of its own."""
    folder = Path(mkdtemp())
    for name in ("tides.playground.json", "weather.playground.json", "messages.jsonl"):
        (folder / name).write_text("{}", encoding="utf-8")
    stage.app.actions.of(FILES)._remember_folder(folder / "tides.playground.json")
    stage.act("file.open")
    dialog = await _dialog(stage, QFileDialog)
    await stage.until(lambda: bool(dialog.findChildren(QTreeView)), "the list of files")


@scene(sizes=WIDE)
async def save_file(stage: Stage) -> None:
    """The dialog that asks where to write a file."""
    stage.app.actions.of(FILES)._remember_folder(Path(mkdtemp()) / "tides.playground.json")
    stage.act("file.save")
    await _dialog(stage, QFileDialog)
