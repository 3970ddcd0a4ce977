"""Nothing is lost: the real application is closed in the middle of things and opened again; found, undone, raised."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QSessionManager
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QMessageBox, QPlainTextEdit, QPushButton

from playground.demo.server import DemoConfig
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.files.experiment_file import open_file, save
from playground.engine.library.store import Mode
from playground.engine.session.snapshot import snapshot
from playground.ui.features.experiments.rows import Hit, Line
from playground.ui.features.storage.dialog import StorageDialog
from playground.ui.features.tree.page import TreeView
from playground.ui.shell.features import EXPERIMENTS_PANEL, STORAGE
from tests.engine.debugging import WEATHER
from tests.flows.conftest import PACE, SECONDS, Person, Stage

SLOW = DemoConfig(tokens_per_second=150, time_to_first_token=0.02, rate_limit=1_000_000)
ROOT = Path(__file__).parents[2]


async def opened(person: Person) -> None:
    """Wait until the store is open and the list is there."""
    store = person.app.workspace.store
    assert store is not None
    await person.until(lambda: store.status.mode is Mode.READY, "the store")


async def back(person: Person, turns: int) -> None:
    """Wait until what was looked at last is shown again."""
    await opened(person)
    await person.until(lambda: len(person.path) == turns, f"{turns} turns")


def titles(person: Person) -> list[str]:
    return [row.title for row in person.app.window.panels.of(EXPERIMENTS_PANEL).model.rows if isinstance(row, Line)]


async def act(person: Person, name: str) -> None:
    await person.do(person.app.window.action(name).trigger)


async def modal(person: Person, kind: type[Any]) -> Any:
    await person.until(lambda: isinstance(QApplication.activeModalWidget(), kind), kind.__name__)
    return QApplication.activeModalWidget()


async def name_file(person: Person, file: Path) -> None:
    dialog = await modal(person, QFileDialog)
    field = dialog.findChild(QLineEdit)
    await person.do(lambda: field.setText(str(file)))
    await person.do(dialog.accept)
    await person.until(lambda: QApplication.activeModalWidget() is not dialog, "the dialog to close")


def test_closed_while_an_answer_comes_it_is_there_again_and_marked(stage: Stage) -> None:
    seen: list[str] = []

    async def close(person: Person) -> None:
        await opened(person)
        await person.run("Tell me about bridges !long=2000")
        await person.until(
            lambda: any("".join(c.parts[-1].fragments) for c in person.session.growing.values() if c.parts), "text"
        )
        await person.type_into(person.message, "half a thou")
        seen.append(person.session.id)

    async def reopen(person: Person) -> None:
        await back(person, 2)
        assert person.session.id == seen[0]
        answer = person.path[1]
        assert answer.parts
        assert answer.outcome is not None
        assert answer.outcome.ending is Ending.INTERRUPTED
        assert "interrupted" in [label.text() for label in person.card(1).findChildren(QLabel)]
        assert person.message.toPlainText() == "half a thou"
        await person.until(lambda: len(titles(person)) == 1, "one experiment in the list")
        (exchange,) = person.session.exchanges.values()
        await person.until(lambda: exchange.id in person.session.exchanges, "its exchange")

        def body() -> bytes:
            return bytes(person.session.exchanges[exchange.id].body)

        await person.until(lambda: b"data: " in body(), "what came over the wire, brought back to be looked at")
        await person.press("Ask again", person.card(1))
        await person.until(lambda: person.session.active_run is not None, "a run")

    stage.play(close, SLOW)
    stage.play(reopen, SLOW)


def test_a_paused_call_is_still_paused_with_what_was_typed_for_it(stage: Stage) -> None:
    async def pause(person: Person) -> None:
        await opened(person)
        person.session.change(tools=(WEATHER,))
        await person.use_model("demo-tools")
        await person.run("!calls=2 The weather in Lisbon and Oslo")
        await person.idle(2)
        await person.until(lambda: len(person.card(1).calls) == 2, "two calls")
        first, second = person.card(1).calls
        await person.press("Edit the arguments", first)
        await person.type_into(await person.seen(QPlainTextEdit, "Arguments of the call", first), '{"city": "Faro"}')
        await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await person.until(lambda: person.path[1].calls[0].arguments == '{"city": "Faro"}', "the edit")
        _, second = person.card(1).calls
        await person.type_into(await person.seen(QPlainTextEdit, "Result of the call", second), '{"temp": 2')

    async def go_on(person: Person) -> None:
        await back(person, 2)
        assert person.session.debugger.paused
        await person.until(lambda: len(person.card(1).calls) == 2, "two calls")
        first, second = person.card(1).calls
        assert first.waiting
        assert second.waiting
        assert first.call.arguments == '{"city": "Faro"}'
        assert first.call.received is not None, "what the model had sent is still known"
        field = await person.seen(QPlainTextEdit, "Result of the call", second)
        assert field.toPlainText() == '{"temp": 2'
        await person.type_into(field, '{"temp": 21}')
        await person.press("Send result", second)
        first, _ = person.card(1).calls
        await person.type_into(await person.seen(QPlainTextEdit, "Result of the call", first), "warm")
        await person.press("Send result", first)
        await person.idle(5)
        assert [turn.results[0].text for turn in person.path[2:4]] == ["warm", '{"temp": 21}']

    stage.play(pause)
    stage.play(go_on)


def test_undo_goes_back_over_an_edit_a_setting_a_branch_and_a_deletion(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await opened(person)
        await person.use_model("demo-chat")
        await person.run("Name a river")
        await person.idle(2)
        session = person.session
        states: list[tuple[object, ...]] = []

        def stands() -> tuple[object, ...]:
            wire = session.settings.current.to_wire()
            return (
                session.transcript,
                wire.get("temperature"),
                session.settings.tools,
                session.debugger.debugging.step_limit,
            )

        history = session.history

        async def step(work: Any) -> None:
            states.append(stands())
            history._states.typing = None  # as if the person had waited
            await person.do(work)

        await step(lambda: session.turns.edit_text(person.path[0].id, "Name a lake", in_place=True))
        await step(lambda: session.set_parameters(session.settings.current.with_value("temperature", 0.3)))
        await step(lambda: session.change(tools=(WEATHER,)))
        rules = session.debugger.debugging
        await step(lambda: session.change(debugging=rules.model_copy(update={"step_limit": 7})))
        states.append(stands())
        answer = person.path[1].id
        await person.do(lambda: person.pane.regenerate(answer))
        await person.until(lambda: len(session.transcript.turns) == 3, "an alternative")
        await person.idle(2)
        await act(person, "view.tree")
        tree = await person.seen(TreeView)
        await person.until(lambda: tree.current == person.path[1].id, "the tree to show the alternative")
        states.append(stands())
        await person.do(tree.setFocus)
        await person.do(lambda: QTest.keyClick(tree, Qt.Key.Key_Home))
        await person.do(lambda: QTest.keyClick(tree, Qt.Key.Key_Delete))
        assert person.path == ()
        assert "A branch of 3 turns deleted." in person.pane.notice.words
        last = stands()
        for state in reversed(states):
            await act(person, "edit.undo")
            assert stands() == state
        for state in (*states[1:], last):
            await act(person, "edit.redo")
            assert stands() == state
        await act(person, "edit.undo")
        assert len(session.transcript.turns) == 3

    stage.play(scene)


def test_the_tree_leads_to_a_turn_on_another_branch(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await opened(person)
        await person.use_model("demo-chat")
        await person.run("Name a river")
        await person.idle(2)
        first = person.path[1].id
        await person.do(lambda: person.pane.regenerate(first))
        await person.until(lambda: len(person.session.transcript.turns) == 3, "an alternative")
        await person.idle(2)
        await act(person, "view.tree")
        tree = await person.seen(TreeView)
        await person.until(lambda: tree.current == person.path[1].id, "the tree to show the alternative")
        at = tree.point(first).toPoint()
        await person.do(lambda: QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=at))
        assert person.path[1].id == first
        await person.until(lambda: person.card(1).hasFocus(), "the focus on its card")

    stage.play(scene)


def test_a_second_start_raises_the_window_and_hands_its_file_over(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "talk.playground.json"

    async def scene(person: Person) -> None:
        await opened(person)
        await person.until(lambda: person.app.second_starts is not None, "somebody who listens")
        session = person.session
        session.turns.add_turn(make_turn(Role.USER, "From a file"))
        save(file, snapshot(session).model_copy(update={"id": "fromfile", "title": "From a file, indeed"}))
        await person.do(person.app.window.showMinimized)
        command = [sys.executable, "-m", "playground", str(file)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: ASYNC220 - it is polled
        await person.until(lambda: process.poll() is not None, "the second process to end")
        out, err = process.communicate()
        assert (process.returncode, out, err) == (0, b"", b"")
        await person.until(lambda: person.session.title == "From a file, indeed", "the file's experiment")
        assert not person.app.window.isMinimized()

    stage.play(scene)


def test_what_is_searched_is_found_and_leads_to_its_turn(stage: Stage) -> None:
    async def write(person: Person) -> None:
        await opened(person)
        for text in ("Tell me of Lisbon", "Tell me of Oslo"):
            session = person.app.workspace.new()
            session.turns.add_turn(make_turn(Role.USER, text))
            for number in range(30):
                session.turns.add_turn(
                    make_turn(Role.ASSISTANT, f"{text}: a line about number {number}, quite <b>long</b>.")
                )
            session.turns.add_turn(make_turn(Role.USER, f"And the nightingale of {text[11:]}?"))

    async def search(person: Person) -> None:
        await back(person, 32)
        assert person.session.title == "Tell me of Oslo"
        panel = person.app.window.panels.of(EXPERIMENTS_PANEL)
        await person.until(lambda: len(titles(person)) == 2, "both in the list")
        await person.key(Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        await person.until(panel.search.hasFocus, "the cursor in the search")
        await person.keys("nightin lisb")

        def found() -> bool:  # of all that is typed; with less of it the other experiment is found, too
            return titles(person) == ["Tell me of Lisbon"] and any(isinstance(row, Hit) for row in panel.model.rows)

        await person.until(found, "a hit")
        (at,) = [
            number for number, row in enumerate(panel.model.rows) if isinstance(row, Hit) and "nightingale" in row.text
        ]
        hit = panel.model.rows[at]
        assert isinstance(hit, Hit)
        assert [hit.text[start:end] for start, end in hit.marks] == ["nightingale", "Lisbon"]
        rect = panel.list.visualRect(panel.model.index(at))
        await person.do(lambda: QTest.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.center()))
        await person.until(lambda: person.session.title == "Tell me of Lisbon", "the experiment")
        turn = next(turn for turn in person.path if "nightingale" in turn.text)
        await person.until(lambda: person.pane.view.card(turn.id) is not None, "its turn")
        card = person.pane.view.card(turn.id)
        assert card is not None
        await person.until(lambda: not card.visibleRegion().isEmpty(), "its turn in view")

    stage.play(write)
    stage.play(search)


def test_the_list_renames_pins_archives_duplicates_deletes_and_undoes(stage: Stage) -> None:
    async def write(person: Person) -> None:
        await opened(person)
        for text in ("One", "Two", "Three"):
            person.app.workspace.new().turns.add_turn(make_turn(Role.USER, text))

    async def tend(person: Person) -> None:
        await back(person, 1)
        panel = person.app.window.panels.of(EXPERIMENTS_PANEL)
        await person.until(lambda: titles(person) == ["Three", "Two", "One"], "the list")
        await person.key(Qt.Key.Key_F2)
        field = await person.seen(QLineEdit, "Title of the experiment")
        await person.do(lambda: QTest.keyClicks(field, "Trois"))
        await person.do(lambda: QTest.keyClick(field, Qt.Key.Key_Return))
        await person.until(lambda: titles(person) == ["Trois", "Two", "One"], "the new title")
        one = panel.model.place("").row(), next(e.id for e in person.app.workspace.experiments if e.title == "One")
        assert one[0] == -1
        await person.do(lambda: panel.renamed.emit(one[1], "Uno"))  # one that is not open
        await person.until(lambda: titles(person) == ["Trois", "Two", "Uno"], "its new title")
        await person.do(lambda: panel.asked.emit("pin", one[1]))
        await person.until(lambda: titles(person) == ["Uno", "Trois", "Two"], "it to be pinned")
        await person.do(lambda: panel.asked.emit("archive", one[1]))
        await person.until(lambda: titles(person) == ["Trois", "Two"], "it to be away")
        await person.press("Undo", person.pane)
        await person.until(lambda: titles(person) == ["Uno", "Trois", "Two"], "it back")
        await act(person, "experiment.duplicate")
        await person.until(lambda: "Trois (copy)" in titles(person), "a copy")
        assert person.session.title == "Trois (copy)"
        await act(person, "experiment.delete")
        await person.until(lambda: "Trois (copy)" not in titles(person), "no copy")
        await person.press("Undo", person.pane)
        await person.until(lambda: "Trois (copy)" in titles(person), "the copy")
        await person.until(lambda: person.session.title == "Trois (copy)", "the copy to be shown")

    async def look(person: Person) -> None:
        await back(person, 1)
        await person.until(lambda: len(titles(person)) == 4, "the list")
        assert titles(person)[0] == "Uno"
        assert person.session.title == "Trois (copy)"

    stage.play(write)
    stage.play(tend)
    stage.play(look)


def test_a_full_disk_is_said_and_nothing_is_lost(stage: Stage) -> None:
    text = "word " * 40_000

    async def fill(person: Person) -> None:
        await opened(person)
        store, banner = person.app.workspace.store, person.app.actions.of(STORAGE).banner
        assert store is not None

        def grows_to(pages: int) -> None:
            assert store._writer is not None
            store._writer._connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()

        grows_to(1)  # SQLite refuses to let the file grow, as it does on a full disk
        person.session.turns.add_turn(make_turn(Role.USER, text))
        await person.until(lambda: "The disk is full." in banner.words, "the banner")
        assert "Leave the window open." in banner.words
        # quitting would lose it: somebody asks
        await act(person, "window.quit")
        box = await modal(person, QMessageBox)
        assert "The disk is full." in box.text()
        await choose(person, box, "Cancel")
        assert person.app.window.isVisible()
        await person.do(lambda: person.session.turns.add_turn(make_turn(Role.USER, "more")))
        grows_to(2**30)
        await person.until(lambda: banner.words == "", "the banner to go")
        await person.app.workspace.flush()

    async def look(person: Person) -> None:
        await back(person, 2)
        assert person.path[0].text == text

    stage.play(fill)
    stage.play(look)


async def ended(person: Person) -> None:
    """Wait until the application ends, and this scene with it."""
    with contextlib.suppress(asyncio.CancelledError):
        await person.until(lambda: False, "the end")


async def choose(person: Person, box: QMessageBox, word: str) -> None:
    """Press a button of a box, and wait until it is gone."""
    button = next(b for b in box.findChildren(QPushButton) if b.text().replace("&", "") == word)
    await person.do(button.click)
    async with asyncio.timeout(SECONDS):
        while QApplication.activeModalWidget() is box:  # noqa: ASYNC110 - the application may end with it
            await asyncio.sleep(0.01)


def locked(path: Path) -> None:
    """Another process has the store open. It ends with this one."""
    program = (
        "import sys, time; from pathlib import Path; from playground.engine.io.file_lock import FileLock;"
        "lock = FileLock(Path(sys.argv[1])); lock.acquire(); print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, f"{path}.lock"]
    other = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert other.stdout.readline().strip() == b"held"
    OTHERS.append(other)


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")


def no_folder(path: Path, *, new: bool = False) -> None:
    """Where the folder would be, there is a file."""
    if not new:
        path.parent.rename(path.parent.with_name("elsewhere"))
    path.parent.touch()


OTHERS: list[subprocess.Popen[bytes]] = []


@pytest.fixture
def others() -> Iterator[None]:
    yield
    for other in OTHERS:
        other.communicate(b"")
    OTHERS.clear()


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    ("cause", "mode", "words"),
    [
        (locked, Mode.READ_ONLY, "open in another window"),
        (newer, Mode.READ_ONLY, "newer version"),
        (no_folder, Mode.MEMORY, "in memory only"),
    ],
)
def test_quitting_with_work_that_is_nowhere_kept_asks_whatever_the_cause(
    stage: Stage, tmp_path: Path, cause: Callable[[Path], None], mode: Mode, words: str
) -> None:
    async def write(person: Person) -> None:
        await opened(person)
        for text in ("Kept", "Kept as well"):
            person.app.workspace.new().turns.add_turn(make_turn(Role.USER, text))

    async def read(person: Person) -> None:
        store = person.app.workspace.store
        assert store is not None
        await person.until(lambda: store.status.mode is mode, "the store")
        entries = [entry.id for entry in person.app.workspace.experiments if entry.title.startswith("Kept")]
        for entry in entries:  # looking loses nothing, so nobody is asked
            await person.app.workspace.show(entry)
        assert not person.app.workspace.behind
        await person.do(lambda: person.app.workspace.new())
        await person.type_into(person.message, "Not kept")
        await act(person, "window.quit")
        box = await modal(person, QMessageBox)
        assert words in box.text()
        assert "What you did in “New experiment” would be lost." in box.informativeText()
        await choose(person, box, "Cancel")
        assert person.app.window.isVisible()
        await person.do(lambda: person.pane.composer.set_text(""))
        assert not person.app.workspace.behind
        await person.do(lambda: person.pane.composer.set_text("Saved elsewhere"))
        await act(person, "window.quit")
        await choose(person, await modal(person, QMessageBox), "Save a copy…")
        files = await modal(person, QFileDialog)
        await person.do(files.reject)  # after all not: there is the question again
        box = await modal(person, QMessageBox)
        await choose(person, box, "Save a copy…")
        await name_file(person, tmp_path / "nowhere" / "kept.playground.json")
        box = await modal(person, QMessageBox)
        assert "The copy was not saved." in box.text()
        await choose(person, box, "Save a copy…")
        await name_file(person, copy)
        await ended(person)

    copy = tmp_path / "kept.playground.json"
    stage.play(write)
    cause(tmp_path / "gateway-playground" / "experiments.db")
    stage.play(read)
    assert open_file(copy).draft.text == "Saved elsewhere"


def test_quitting_saves_each_of_several_in_a_folder_and_is_not_held_up_by_the_end_of_the_system(
    stage: Stage, tmp_path: Path
) -> None:
    no_folder(tmp_path / "gateway-playground" / "experiments.db", new=True)
    folder = tmp_path / "copies"
    folder.mkdir()
    (folder / "same.playground.json").write_text("somebody else's")
    (folder / "third.playground.json").symlink_to("nowhere")

    async def write(person: Person, texts: tuple[str, ...]) -> QMessageBox:
        store = person.app.workspace.store
        assert store is not None
        await person.until(lambda: store.status.mode is Mode.MEMORY, "the store")
        for text in texts:
            person.app.workspace.new().turns.add_turn(make_turn(Role.USER, text))
        await act(person, "window.quit")
        box: QMessageBox = await modal(person, QMessageBox)
        return box

    async def keep(person: Person) -> None:
        box = await write(person, ("Same", "Same", "Third", "Fourth", "Fifth"))
        assert "What you did in “Fifth”, “Fourth”, “Third” and 2 more would be lost." in box.informativeText()
        await choose(person, box, "Save copies…")
        await name_file(person, folder)
        await ended(person)

    async def held_up(person: Person) -> None:
        await write(person, ("Lost",))  # the stage ends it as SIGTERM does: the question goes away

    async def chosen(person: Person) -> None:
        box = await write(person, ("Lost",))
        await choose(person, box, "Save a copy…")
        await modal(person, QFileDialog)  # and so does what comes after it

    async def lose(person: Person) -> None:
        box = await write(person, ("Lost",))
        await choose(person, box, "Quit without saving")
        await ended(person)

    stage.play(keep)
    names = [f"{name}.playground.json" for name in ("fifth", "fourth", "same-2", "same-3", "same", "third-2", "third")]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert (folder / "same.playground.json").read_text() == "somebody else's"
    for scene in (held_up, chosen, lose):
        stage.play(scene)


class SessionEnd:
    """What Qt hands over when the system ends the session; the offscreen platform never does."""

    def __init__(self, *, may_ask: bool) -> None:
        self.allowsInteraction = lambda: may_ask
        self.said: list[str] = []
        self.cancel = lambda: self.said.append("cancel")
        self.release = lambda: self.said.append("release")


def test_the_end_of_the_session_waits_only_where_something_would_be_lost(stage: Stage, tmp_path: Path) -> None:
    async def kept(person: Person) -> None:
        await opened(person)
        person.session.turns.add_turn(make_turn(Role.USER, "Kept"))
        end = SessionEnd(may_ask=True)
        await person.do(lambda: person.app.session_ends(cast(QSessionManager, end)))
        assert end.said == []
        assert not person.app.workspace.unsaved

    async def asked(person: Person) -> None:
        store = person.app.workspace.store
        assert store is not None
        await person.until(lambda: store.status.mode is Mode.READ_ONLY, "the store")
        person.app.workspace.new().turns.add_turn(make_turn(Role.USER, "Lost"))
        for may_ask, said in ((False, []), (True, ["cancel", "release"])):
            end = SessionEnd(may_ask=may_ask)
            await person.do(partial(person.app.session_ends, cast(QSessionManager, end)))
            assert end.said == said
        await choose(person, await modal(person, QMessageBox), "Cancel")
        assert person.app.window.isVisible()

    stage.play(kept)
    newer(tmp_path / "gateway-playground" / "experiments.db")
    stage.play(asked)


def test_a_second_window_without_the_first_ones_answer_says_that_nothing_is_saved(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await opened(person)
        store = person.app.workspace.store
        assert store is not None
        person.session.turns.add_turn(make_turn(Role.USER, "One"))
        await person.app.workspace.flush()
        from playground.engine.library.store import Store
        from playground.ui.features.storage.banner import status_words

        other = Store(store.path)
        status = await other.open()
        assert "open in another window" in status_words(status)
        await other.close()

    stage.play(scene)


def test_storage_is_shown_backed_up_and_restored(stage: Stage, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"

    async def scene(person: Person) -> None:
        await opened(person)
        person.session.turns.add_turn(make_turn(Role.USER, "To be kept"))
        await act(person, "settings.storage")
        dialog = await modal(person, StorageDialog)
        store = person.app.workspace.store
        assert store is not None
        assert dialog.path.text == str(store.path)
        assert dialog.room.text() != "0 bytes on the disk"
        await person.do(dialog.backup.click)
        await name_file(person, copy)
        await person.until(lambda: dialog.said.text() == f"Backed up to {copy}.", "a word on the copy")
        connection = sqlite3.connect(copy)
        assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        connection.close()
        await person.do(dialog.reject)
        await person.do(lambda: person.session.change(title="Another title"))
        await person.do(lambda: person.app.workspace.new().turns.add_turn(make_turn(Role.USER, "Made later")))
        await person.until(lambda: titles(person) == ["Made later", "Another title"], "both")
        await act(person, "experiment.restore")
        await name_file(person, copy)
        box = await modal(person, QMessageBox)
        assert "nothing is deleted" in box.informativeText()
        await person.do(next(b for b in box.findChildren(QPushButton) if b.text().replace("&", "") == "Restore").click)
        await person.until(lambda: person.path and titles(person) == ["To be kept"], "what the copy holds")
        assert person.path[0].text == "To be kept"
        assert "Restored from copy.db." in person.pane.notice.words
        assert list(store.path.parent.glob("experiments.before-restore-*.db"))

    stage.play(scene, PACE)
