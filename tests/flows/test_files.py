"""Files, variables and presets in the real window: opened, dropped, saved, imported; what goes wrong is said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QPushButton, QWidget

from playground.domain.transcript import Role, make_turn
from playground.engine.files.experiment_file import open_file, save
from playground.engine.files.presets import PresetStore
from playground.engine.session.snapshot import Snapshot, snapshot
from playground.ui.features.conversation.documents import documents
from playground.ui.features.files.export_dialog import ExportDialog
from playground.ui.features.files.import_dialog import ImportMessagesDialog
from playground.ui.features.presets.presets_dialog import PresetsDialog
from playground.ui.features.presets.save_dialog import SavePresetDialog
from playground.ui.features.variables.variables_bar import VariablesBar
from playground.ui.shell.features import FILES, PARAMETER_PANEL, PRESET_BAR, PRESETS, VARIABLES
from playground.ui.widgets.palette import Palette
from tests.flows.conftest import PACE, Person, Stage
from tests.flows.pages.dialogs import choose_file, name_file
from tests.flows.test_wire import use

NO_KEYS = Qt.KeyboardModifier.NoModifier
LINES = "\n".join(json.dumps({"messages": [{"role": "user", "content": text}]}) for text in ("One", "Two", "Three"))


def offered(paths: Sequence[Path]) -> QMimeData:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return mime


def drag(target: QWidget, mime: QMimeData) -> bool:
    """Hold something over a widget and let it go; Qt finds who takes it, from there outwards. Whether anybody did."""
    action, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    held = QDragEnterEvent(QPointF(20, 10).toPoint(), action, mime, button, NO_KEYS)
    held.ignore()
    QApplication.sendEvent(target, held)
    if held.isAccepted():
        QApplication.sendEvent(target, QDropEvent(QPointF(20, 10), action, mime, button, NO_KEYS))
    return held.isAccepted()


async def dialog_of(person: Person, kind: type[Any]) -> Any:
    await person.until(lambda: isinstance(QApplication.activeModalWidget(), kind), f"{kind.__name__}")
    return QApplication.activeModalWidget()


async def said(person: Person, words: str) -> None:
    notice = person.pane.notice
    await person.until(lambda: words in notice.words and notice.isVisible(), f"“{words}” after “{notice.words}”")


def made(title: str = "Tides", **more: object) -> Snapshot:
    turns = (make_turn(Role.USER, "Why is the sea salty?"),)
    return Snapshot(id=title.lower(), title=title, model="demo-chat", turns=turns, head=turns[0].id, **more)  # type: ignore[arg-type] # fields by name


def test_an_experiment_is_saved_changed_and_opened_again(stage: Stage, tmp_path: Path) -> None:
    file, copy = tmp_path / "talk.playground.json", tmp_path / "copy.playground.json"

    async def play(person: Person) -> None:
        await use(person, "demo-chat")
        await person.run("Tell me about tides")
        await person.idle(2)
        first = person.session
        await person.do(lambda: first.turns.select_alternative(first.transcript.path[0].id))
        await choose_file(person, "file.save", file)
        await said(person, "Saved as")
        saved = snapshot(first)
        assert open_file(file).transcript == saved.transcript

        # it is here, just as it is in the file
        await choose_file(person, "file.open", file)
        await said(person, "here already, just as")
        assert person.session is first
        assert len(person.app.workspace.sessions) == 1

        # it is here and says something else
        await person.run("And moons?")
        await person.idle(4)
        await choose_file(person, "file.open", file)
        await said(person, "opened beside it")
        assert person.session is not first
        assert len(person.path) == 2
        assert len(first.transcript.path) == 4

        # the file's own copy saves to the same content but for its id and times
        await choose_file(person, "file.save", copy)
        await said(person, "Saved as")
        again, then = json.loads(copy.read_text("utf-8")), json.loads(file.read_text("utf-8"))
        for value in (again, then):
            for name in ("id", "created_at", "changed_at"):
                value.pop(name, None)
        assert again == then

    stage.play(play, PACE)


def test_files_named_at_the_start_come_after_what_is_stored(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "talk.playground.json"
    save(file, made())

    async def first(person: Person) -> None:
        await person.run("Tell me about tides")
        await person.idle(2)
        await person.app.workspace.flush()

    async def second(person: Person) -> None:
        person.app.open_path(file)
        await person.until(lambda: person.session.id == "tides", "the file's experiment")
        await person.until(lambda: len(person.app.workspace.experiments) == 2, "both in the list")

    async def third(person: Person) -> None:
        person.app.open_path(file)
        await said(person, "here already, just as")
        assert [turn.text for turn in person.path] == ["Why is the sea salty?"]

    for scene in (first, second, third):
        stage.play(scene, PACE)


def test_files_are_dropped_onto_the_window_and_images_onto_the_composer(stage: Stage, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.playground.json" for name in ("Tides", "Moons")]
    for file in files:
        save(file, made(file.name.split(".")[0]))
    request = tmp_path / "request.json"
    request.write_text(
        '{"playground": 1, "model": "demo-chat", "messages": [{"role": "user", "content": "Hi"}]}', "utf-8"
    )

    async def play(person: Person) -> None:
        hint = person.app.window.drops.hint
        mime = offered(files)  # an event does not keep it
        button = Qt.MouseButton.LeftButton
        held = QDragEnterEvent(QPointF(9, 9).toPoint(), Qt.DropAction.CopyAction, mime, button, NO_KEYS)
        await person.do(lambda: QApplication.sendEvent(person.app.window, held))
        assert (hint.isVisible(), hint.words) == (True, "Drop to open 2 files")
        dropped: list[bool] = []
        await person.do(lambda: dropped.append(drag(person.message.viewport(), offered(files))))
        assert dropped == [True]
        await person.until(lambda: {"Tides", "Moons"} <= {s.title for s in person.app.workspace.sessions}, "both")
        await person.until(lambda: person.session.title == "Moons", "the last one")
        assert not hint.isVisible()
        assert person.message.toPlainText() == ""
        recent = person.app.actions.of(FILES).recent
        await person.until(lambda: len(recent.paths) == 2, "both among the recent files")
        assert [path.name for path in recent.paths] == ["Moons.playground.json", "Tides.playground.json"]
        await person.do(lambda: drag(person.app.window.side, offered([request])))
        await person.until(lambda: person.session.title == "request", "the request's experiment")
        assert [turn.text for turn in person.path] == ["Hi"]
        assert documents(offered([tmp_path / "a.png"])) == []

    stage.play(play, PACE)


def test_messages_are_looked_over_before_they_become_experiments(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "talks.jsonl"
    file.write_text(LINES, "utf-8")

    async def play(person: Person) -> None:
        person.app.actions.of(FILES).open_path(file)
        dialog = await dialog_of(person, ImportMessagesDialog)
        await person.until(lambda: dialog.list.count() == 3, "three conversations")
        await person.do(lambda: dialog.pick(0, 2))
        await person.do(dialog.import_button.click)
        await said(person, "2 conversations imported")
        assert [s.title for s in person.app.workspace.sessions][:2] == ["One", "Three"]
        assert person.session.title == "One"

        # from the clipboard; one undo goes back
        await person.do(partial(QGuiApplication.clipboard().setText, '[{"role": "user", "content": "Pasted"}]'))
        await person.do(person.app.window.action("file.import").trigger)
        dialog = await dialog_of(person, ImportMessagesDialog)
        await person.do(dialog.paste)
        await person.until(dialog.import_button.isEnabled, "something to import")
        await person.do(dialog.import_button.click)
        await person.until(lambda: person.session.title == "Pasted", "the conversation")
        assert person.app.window.action("edit.undo").isEnabled()
        await person.do(person.app.window.action("edit.undo").trigger)
        assert [*person.path] == []
        assert not person.app.window.action("edit.undo").isEnabled()
        assert person.app.window.action("edit.redo").isEnabled()

        # what is wrong is said in the dialog
        await person.do(partial(QGuiApplication.clipboard().setText, "[1, 2"))
        await person.do(person.app.window.action("file.import").trigger)
        dialog = await dialog_of(person, ImportMessagesDialog)
        await person.do(dialog.paste)
        await person.until(lambda: "not JSON" in dialog.verdict.text(), "a word on it")
        await person.do(dialog.reject)

    stage.play(play, PACE)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.playground.json", '{"experiment": 1, "turns": 7}', "a.playground.json was not opened"),
        ("a.playground.json", "{", "This is no experiment"),
        ("b.cassette.json", "{}", "This is no cassette"),
        ("gone.json", None, "is not there"),
    ],
)
def test_a_file_that_cannot_be_opened_is_said_to_be_so(
    stage: Stage, tmp_path: Path, name: str, text: str | None, words: str
) -> None:
    file = tmp_path / name
    if text is not None:
        file.write_text(text, "utf-8")

    async def play(person: Person) -> None:
        recent = person.app.actions.of(FILES).recent
        before = person.session
        person.app.open_path(file)
        await said(person, words)
        assert person.session is before
        assert recent.paths == []
        if text is None:  # known from before, and gone since
            recent.add_recent(file)
            await person.do(recent.menu.actions()[0].trigger)
            await said(person, words)
            await person.press("Take it off the list")
            assert recent.paths == []

    stage.play(play, PACE)


def test_exports_go_to_files_and_to_the_clipboard_without_keys(stage: Stage, tmp_path: Path) -> None:
    async def play(person: Person) -> None:
        await person.do(person.app.window.action("file.export").trigger)
        await said(person, "nothing to export yet")
        await use(person, "demo-chat")
        await person.run("Tell me about <b>tides</b>")
        await person.idle(2)
        await person.do(person.app.window.action("file.export").trigger)
        dialog = await dialog_of(person, ExportDialog)
        await person.do(dialog.copy_button.click)
        await said(person, "Copied")
        assert "Tell me about <b>tides</b>" in QGuiApplication.clipboard().text().replace("\\", "")
        await person.do(person.app.window.action("file.export").trigger)
        dialog = await dialog_of(person, ExportDialog)
        await person.do(lambda: dialog.formats.button(1).setChecked(True))
        page = tmp_path / "talk.html"
        await person.do(dialog.export_button.click)
        await name_file(person, page)
        await said(person, "Exported to")
        assert "&lt;b&gt;tides" in page.read_text("utf-8")

    stage.play(play, PACE)


def test_a_place_that_cannot_be_written_is_said_with_another_try(stage: Stage, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere.playground.json"
    try:
        nowhere.symlink_to(tmp_path / "no" / "such" / "folder.json")
    except OSError:
        pytest.skip("platform: symbolic links need a privilege here")

    async def play(person: Person) -> None:
        await person.run("Hello")
        await person.idle(2)
        await choose_file(person, "file.save", nowhere)
        await said(person, "cannot be written")
        await person.press("Save elsewhere…", person.pane.notice)
        await name_file(person, tmp_path / "ok.playground.json")
        await said(person, "Saved as")

    stage.play(play, PACE)
    assert (tmp_path / "ok.playground.json").is_file()
    assert not nowhere.exists()


def test_variables_are_filled_in_flagged_and_sent(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await use(person, "demo-chat")
        bar = person.app.actions.of(VARIABLES).bar
        assert isinstance(bar, VariablesBar)
        assert not bar.isVisible()
        await person.run("Weather in {{city}} in {{unit}}?")
        await said(person, "have no value yet")
        assert [*person.path] == []
        assert bar.isVisible()
        await person.press("Fill in", person.pane.notice)
        field = await person.seen(QPlainTextEdit, "Value of city")
        await person.until(field.hasFocus, "the cursor in the field")
        await person.keys("Oslo")
        await person.until(lambda: person.session.settings.variables == {"city": "Oslo"}, "the value")
        await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await said(person, "{{unit}} has no value yet")
        await person.press("Send as written", person.pane.notice)
        await person.idle(2)
        assert person.path[0].text == "Weather in {{city}} in {{unit}}?"
        assert person.body()["messages"] == [{"role": "user", "content": "Weather in Oslo in {{unit}}?"}]

        # the turn shows what was sent, and another value is there at once
        card = person.card(0)
        await person.press("Show this turn as it is sent", card)
        shown = await person.seen(QWidget, "Text as it is sent", card)
        assert "Weather in Oslo" in shown.toPlainText()  # type: ignore[attr-defined] # a view of text
        await person.type_into(field, "Rome")
        await person.until(lambda: "Weather in Rome" in shown.toPlainText(), "the other value")  # type: ignore[attr-defined]
        await person.do(person.app.window.action("edit.undo").trigger)
        assert person.session.settings.variables["city"] == "Oslo"
        await person.until(lambda: field.toPlainText() == "Oslo", "the value before")
        await person.until(lambda: "Weather in Oslo" in shown.toPlainText(), "it in the turn")  # type: ignore[attr-defined]
        taken = await person.seen(QWidget, "Take the value of city away")
        await person.click(taken)
        assert "city" not in person.session.settings.variables
        await person.do(lambda: person.pane.regenerate(person.path[1].id))
        await said(person, "{{city}} has no value yet")
        await person.press("Send as written", person.pane.notice)
        await person.until(lambda: len(person.session.exchanges) == 2, "a second request")
        await person.idle(2)
        assert person.body()["messages"][0]["content"] == "Weather in {{city}} in {{unit}}?"

    stage.play(play, PACE)


def test_presets_are_saved_used_taken_back_and_looked_after(stage: Stage, tmp_path: Path) -> None:
    async def play(person: Person) -> None:
        await use(person, "demo-chat")
        session, window = person.session, person.app.window
        session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
        session.set_parameters(session.settings.current.with_value("temperature", 0.3))
        await person.press("Save as preset…", window.panels.of(PRESET_BAR))
        dialog = await dialog_of(person, SavePresetDialog)
        await person.do(partial(dialog.name.setText, "Brief"))
        await person.do(dialog.save_button.click)
        await said(person, "“Brief” saved")

        await person.do(window.action("experiment.new").trigger)
        session = person.session
        await person.choose(window.panels.of(PRESET_BAR).button, "Brief")
        await said(person, "“Brief” is set")
        assert [turn.text for turn in person.path] == ["Be brief."]
        assert session.settings.current.to_wire()["temperature"] == 0.3
        assert window.panels.of(PARAMETER_PANEL).value.to_wire()["temperature"] == 0.3
        await person.press("Undo", person.pane.notice)
        assert [*person.path] == []
        assert "temperature" not in session.settings.current.to_wire()
        assert window.action("edit.redo").isEnabled()
        await person.do(window.action("edit.redo").trigger)
        assert session.settings.current.to_wire()["temperature"] == 0.3

        # the palette has it, and using it once more changes nothing
        await person.do(window.action("presets.use").trigger)
        palette = palette_open()
        assert palette.matches == ["Brief"]
        await person.do(palette.close)
        await person.do(partial(person.app.actions.of(PRESETS).use, store(person).presets[0].id))
        await said(person, "is set already")

        await person.do(window.action("presets.look").trigger)
        looked = await dialog_of(person, PresetsDialog)
        await person.do(partial(looked.renamed.emit, looked.selected, "Terse"))
        await person.until(lambda: store(person).presets[0].name == "Terse", "another name")
        await person.do(looked.delete_button.click)
        await person.until(lambda: store(person).presets == (), "an empty list")
        await person.until(looked.undo_button.isVisible, "the way back")
        await person.do(looked.undo_button.click)
        await person.until(lambda: [preset.name for preset in store(person).presets] == ["Terse"], "it back")
        await person.until(lambda: "is back" in looked.said.text(), "it in the list")
        session.set_parameters(session.settings.current.with_value("temperature", 0.9))
        await person.do(looked.overwrite_button.click)
        await person.until(lambda: (store(person).presets[0].parameters or {}).get("temperature") == 0.9, "the new one")
        await person.do(looked.reject)

    def palette_open() -> Palette:
        (found,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, Palette) and w.isVisible()]
        return found

    app = stage.play(play, PACE)
    kept = PresetStore(app.actions.of(PRESETS).store.path)
    assert [preset.name for preset in kept.presets] == ["Terse"]


def store(person: Person) -> PresetStore:
    return person.app.actions.of(PRESETS).store


def test_the_empty_list_of_presets_says_what_to_do(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await person.do(person.app.window.action("presets.look").trigger)
        await said(person, "There are no presets yet")
        await person.press("Save…", person.pane.notice)
        dialog = await dialog_of(person, SavePresetDialog)
        await person.do(dialog.reject)
        await person.do(person.app.window.action("file.recent").trigger)
        await said(person, "No file was opened")
        assert person.find(QPushButton, "Presets")

    stage.play(play, PACE)
