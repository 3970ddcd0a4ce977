"""Files, variables and presets in the real window: opened, dropped, saved, imported; and the messages of failures."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QPlainTextEdit, QRadioButton, QTextEdit, QWidget

from playground.domain.transcript import Role, make_turn
from playground.engine.files.experiment_file import open_file, save
from playground.engine.files.presets import Preset, PresetStore
from playground.engine.session.snapshot import Snapshot, snapshot
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.dialogs import choose_file, name_file
from tests.flows.pages.drop import drag_over, drop, file_data
from tests.flows.pages.experiments import ExperimentList
from tests.flows.pages.files import ExportWindow, ImportWindow, Palette, PresetsWindow, SavePresetWindow, recent_files
from tests.flows.pages.steps import open_tab
from tests.flows.test_wire import use

LINES = "\n".join(json.dumps({"messages": [{"role": "user", "content": text}]}) for text in ("One", "Two", "Three"))


async def notice(person: Person, text: str) -> None:
    await person.conversation.notice.wait_for_text(text)


def experiment(title: str) -> Snapshot:
    turns = (make_turn(Role.USER, "Why is the sea salty?"),)
    return Snapshot(id=title.lower(), title=title, model="demo-chat", turns=turns, head=turns[0].id)


@flow()
async def test_experiment_is_saved_changed_and_opened_again(person: Person, tmp_path: Path) -> None:
    file, copy = tmp_path / "talk.playground.json", tmp_path / "copy.playground.json"
    await use(person, "demo-chat")
    await person.run("Tell me about tides")
    await person.idle(2)
    first = person.session
    await person.do(lambda: first.turns.select_alternative(first.transcript.path[0].id))
    await choose_file(person, "file.save", file)
    await notice(person, "Saved as")
    assert open_file(file).transcript == snapshot(first).transcript

    await choose_file(person, "file.open", file)
    await notice(person, "here already, just as")
    assert person.session is first
    assert len(person.app.workspace.sessions) == 1

    await person.run("And moons?")
    await person.idle(4)
    await choose_file(person, "file.open", file)
    await notice(person, "opened as another one")
    assert person.session is not first
    assert (len(person.path), len(first.transcript.path)) == (2, 4)

    await choose_file(person, "file.save", copy)
    await notice(person, "Saved as")
    contents = [json.loads(path.read_text("utf-8")) for path in (copy, file)]
    for content in contents:
        for name in ("id", "created_at", "changed_at"):
            content.pop(name, None)
    assert contents[0] == contents[1]


def test_dropped_files_are_opened(stage: Stage, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.playground.json" for name in ("Tides", "Moons")]
    for file in files:
        save(file, experiment(file.name.split(".")[0]))
    request = tmp_path / "request.json"
    request.write_text(
        '{"playground": 1, "model": "demo-chat", "messages": [{"role": "user", "content": "Hi"}]}', "utf-8"
    )

    async def scene(person: Person) -> None:
        data = file_data(files)  # an event does not keep it
        await person.do(lambda: drag_over(person.app.window, data))
        assert person.find(QWidget, "Drop to open 2 files")
        await person.do(lambda: drop(person.message.viewport(), data))
        await person.until(lambda: {"Tides", "Moons"} <= {s.title for s in person.app.workspace.sessions}, "both")
        await person.until(lambda: person.session.title == "Moons", "the last one")
        assert not person.find(QWidget, "Drop to open 2 files")
        assert person.message.toPlainText() == ""
        expected = ["Moons.playground.json", "Tides.playground.json"]
        await person.until(lambda: recent_files(person) == expected, "both among the recent files")
        await person.do(lambda: drop(ExperimentList(person).widget, file_data([request])))
        await person.until(lambda: person.session.title == "request", "the experiment of the request")
        assert [turn.text for turn in person.path] == ["Hi"]

    stage.play(scene)


@flow()
async def test_messages_are_reviewed_before_they_are_imported(person: Person, tmp_path: Path) -> None:
    file = tmp_path / "talks.jsonl"
    file.write_text(LINES, "utf-8")

    async def paste(person: Person, text: str) -> ImportWindow:
        await person.do(partial(QGuiApplication.clipboard().setText, text))
        window = await ImportWindow.opened(person, "file.import")
        await window.press("Paste from the clipboard")
        return window

    person.app.open_path(file)
    window = await ImportWindow.opened(person)
    await person.until(lambda: window.count == 3, "three conversations")
    await window.leave_out(1)
    await window.press("Import")
    await notice(person, "2 conversations imported")
    assert [session.title for session in person.app.workspace.sessions][:2] == ["One", "Three"]
    assert person.session.title == "One"

    window = await paste(person, '[{"role": "user", "content": "Pasted"}]')
    await window.press("Import")
    await person.until(lambda: person.session.title == "Pasted", "the conversation")
    undo, redo = (person.app.window.action(name) for name in ("edit.undo", "edit.redo"))
    await person.do(undo.trigger)
    assert [*person.path] == []
    assert (undo.isEnabled(), redo.isEnabled()) == (False, True)

    window = await paste(person, "[1, 2")
    await person.until(lambda: "not JSON" in window.text, "the error")
    await window.press("Cancel")


@flow()
async def test_file_that_cannot_be_opened_is_reported(person: Person, tmp_path: Path) -> None:
    removed = tmp_path / "gone.json"
    before = person.session
    for name, text, message in (
        ("a.playground.json", '{"experiment": 1, "turns": 7}', "a.playground.json was not opened"),
        ("a.playground.json", "{", "This is no experiment"),
        ("b.cassette.json", "{}", "This is no cassette"),
        (removed.name, None, "is not there"),
    ):
        file = tmp_path / name
        if text is not None:
            file.write_text(text, "utf-8")
        person.app.open_path(file)
        await notice(person, message)
        assert person.session is before
        assert recent_files(person) == []

    await choose_file(person, "file.save", removed)
    await notice(person, "Saved as")
    removed.unlink()
    await person.trigger("file.recent")
    await (await Palette.wait(person)).choose_first()
    await notice(person, "is not there")
    await person.press("Remove from list")
    assert recent_files(person) == []


@flow()
async def test_exports_go_to_files_and_to_the_clipboard(person: Person, tmp_path: Path) -> None:
    page = tmp_path / "talk.html"
    await person.trigger("file.export")
    await notice(person, "nothing to export yet")
    await use(person, "demo-chat")
    await person.run("Tell me about <b>tides</b>")
    await person.idle(2)
    window = await ExportWindow.opened(person, "file.export")
    await window.press("Copy")
    await notice(person, "Copied")
    assert "Tell me about <b>tides</b>" in QGuiApplication.clipboard().text().replace("\\", "")
    window = await ExportWindow.opened(person, "file.export")
    await person.do(lambda: window.find(QRadioButton)[1].setChecked(True))
    await window.press("Export…")
    await name_file(person, page)
    await notice(person, "Exported to")
    assert "&lt;b&gt;tides" in page.read_text("utf-8")


def test_file_that_cannot_be_written_is_saved_elsewhere(stage: Stage, tmp_path: Path) -> None:
    nowhere, elsewhere = tmp_path / "nowhere.playground.json", tmp_path / "ok.playground.json"
    try:
        nowhere.symlink_to(tmp_path / "no" / "such" / "folder.json")
    except OSError:
        pytest.skip("platform: symbolic links need a privilege here")

    async def scene(person: Person) -> None:
        person.session.turns.add_turn(make_turn(Role.USER, "Hello"))
        await choose_file(person, "file.save", nowhere)
        await notice(person, "cannot be written")
        await person.conversation.notice.press("Save elsewhere…")
        await name_file(person, elsewhere)
        await notice(person, "Saved as")

    stage.play(scene)
    assert elsewhere.is_file()
    assert not nowhere.exists()


@flow()
async def test_variables_are_filled_in_flagged_and_sent(person: Person) -> None:
    conversation = person.conversation
    await use(person, "demo-chat")
    assert not conversation.find(QPlainTextEdit, "Value of city")
    await person.run("Weather in {{city}} in {{unit}}?")
    await notice(person, "have no value yet")
    assert [*person.path] == []
    await conversation.notice.press("Fill in")
    field = await conversation.wait_for(QPlainTextEdit, "Value of city")
    await person.until(field.hasFocus, "the cursor in the field")
    await person.keys("Oslo")
    await person.until(lambda: person.session.settings.variables == {"city": "Oslo"}, "the value")
    await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await notice(person, "{{unit}} has no value yet")
    await conversation.notice.press("Send as written")
    await person.idle(2)
    assert person.path[0].text == "Weather in {{city}} in {{unit}}?"
    assert person.body()["messages"] == [{"role": "user", "content": "Weather in Oslo in {{unit}}?"}]

    # the message shows the text as sent, with other values at once
    message = conversation.message(0)
    await message.press("Show the message as it is sent")
    sent = await message.wait_for(QTextEdit, "Text as it is sent")
    assert "Weather in Oslo" in sent.toPlainText()
    await person.type_into(field, "Rome")
    await person.until(lambda: "Weather in Rome" in sent.toPlainText(), "the other value")
    await person.trigger("edit.undo")
    assert person.session.settings.variables["city"] == "Oslo"
    await person.until(lambda: field.toPlainText() == "Oslo", "the value before")
    await person.until(lambda: "Weather in Oslo" in sent.toPlainText(), "the value in the message")
    await person.click(await conversation.wait_for(QWidget, "Remove the value of city"))
    assert "city" not in person.session.settings.variables
    await person.do(conversation.message(1).widget.setFocus)
    await person.key(Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    await notice(person, "{{city}} has no value yet")
    await conversation.notice.press("Send as written")
    await person.until(lambda: len(person.session.exchanges) == 2, "a second request")
    await person.idle(2)
    assert person.body()["messages"][0]["content"] == "Weather in {{city}} in {{unit}}?"


@flow()
async def test_presets_are_saved_used_undone_and_managed(person: Person, tmp_path: Path) -> None:
    def presets() -> tuple[Preset, ...]:
        return tuple(preset for path in tmp_path.rglob("presets.json") for preset in PresetStore(path).presets)

    bar = person.conversation.notice
    await person.trigger("file.recent")
    await notice(person, "No file was opened")
    await person.trigger("presets.look")
    await notice(person, "No presets yet")
    await use(person, "demo-chat")
    person.session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
    person.session.set_parameters(person.session.settings.current.with_value("temperature", 0.3))
    await bar.press("Save…")
    await (await SavePresetWindow.opened(person)).save("Brief")
    await notice(person, "“Brief” saved")

    await person.trigger("experiment.new")
    session = person.session
    await open_tab(person, "Parameters")
    await person.choose(await person.seen(QAbstractButton, "Presets"), "Brief")  # type: ignore[arg-type]  # a button
    await notice(person, "“Brief” is in use")
    assert [turn.text for turn in person.path] == ["Be brief."]
    assert session.settings.current.to_wire()["temperature"] == 0.3
    await bar.press("Undo")
    assert [*person.path] == []
    assert "temperature" not in session.settings.current.to_wire()
    await person.trigger("edit.redo")
    assert session.settings.current.to_wire()["temperature"] == 0.3

    await person.trigger("presets.use")
    palette = await Palette.wait(person)
    assert palette.matches == ["Brief"]
    await palette.choose_first()
    await notice(person, "in use already")

    window = await PresetsWindow.opened(person, "presets.look")
    await window.rename("Terse")
    await person.until(lambda: [preset.name for preset in presets()] == ["Terse"], "another name")
    await window.press("Delete")
    await person.until(lambda: presets() == (), "an empty list")
    await window.press("Undo")
    await person.until(lambda: [preset.name for preset in presets()] == ["Terse"], "the preset again")
    session.set_parameters(session.settings.current.with_value("temperature", 0.9))
    await window.press("Replace with current settings")
    await person.until(lambda: (presets()[0].parameters or {}).get("temperature") == 0.9, "the new value")
    await window.press("Close")
