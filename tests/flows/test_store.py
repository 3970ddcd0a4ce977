"""The store of experiments: closed and opened again, undone, searched, full, locked, restored."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QSessionManager
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QDialog,
    QFileDialog,
    QLineEdit,
    QMessageBox,
    QWidget,
)

from playground.demo.server import DemoConfig
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.files.experiment_file import open_file, save
from playground.engine.library.store import Mode
from playground.engine.library.store.backups import list_backups
from playground.engine.session.snapshot import snapshot
from playground.gateway.redact import MASK
from tests.engine.debugging import WEATHER
from tests.flows.conftest import PACE, Person, Stage, flow
from tests.flows.pages.dialogs import name_file
from tests.flows.pages.experiments import (
    ExperimentList,
    answer,
    read_storage_notice,
    wait_for_modal,
    wait_for_store,
    wait_for_turns,
)
from tests.flows.pages.preferences import PreferencesWindow
from tests.support.editors import edit_in_place

SLOW = DemoConfig(tokens_per_second=150, time_to_first_token=0.02, rate_limit=1_000_000)
ROOT = Path(__file__).parents[2]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
TOWNS = "Tell me of Lisbon", "Tell me of Oslo"


opened, back = wait_for_store, wait_for_turns  # imported by other flows by these names


def titles(person: Person) -> list[str]:
    return ExperimentList(person).titles


async def act(person: Person, name: str) -> None:
    await person.trigger(name)


async def open_tree(person: Person, turns: int) -> QAbstractScrollArea:
    """Show the tree of turns, and wait until it has so many."""
    await person.trigger("view.tree")
    tree = await person.seen(QAbstractScrollArea, "Branches")
    await person.until(
        lambda: any(f"{turns} messages" in label.accessibleName() for label in person.find(QWidget)),
        "the number of turns beside the tree",
    )
    return tree


def add_experiments(person: Person, *texts: str) -> None:
    for text in texts:
        person.app.workspace.new().turns.add_turn(make_turn(Role.USER, text))


def test_paused_call_and_interrupted_answer_are_restored_after_quitting(stage: Stage) -> None:
    async def first(person: Person) -> None:
        await wait_for_store(person)
        person.session.change(tools=(WEATHER,))
        await person.use_model("demo-tools")
        await person.run("!calls=2 The weather in Lisbon and Oslo")
        call, _ = await person.conversation.wait_for_calls()
        await person.type_into(await call.edit_arguments(), '{"city": "Faro"}')
        await person.key(Qt.Key.Key_Return, CONTROL)
        await person.until(lambda: person.path[1].calls[0].arguments == '{"city": "Faro"}', "the edit")
        _, call = await person.conversation.wait_for_calls()
        await call.type_result('{"temp": 2')
        ids.append(person.session.id)

        await person.trigger("experiment.new")
        await person.until(lambda: person.session.id != ids[0], "another experiment")
        await person.run("Tell me about bridges !long=2000")
        await person.until(
            lambda: any("".join(c.parts[-1].fragments) for c in person.session.growing.values() if c.parts), "text"
        )
        await person.type_into(person.message, "half a thou")
        ids.append(person.session.id)

    async def second(person: Person) -> None:
        await wait_for_turns(person, 2)
        assert person.session.id == ids[1]
        answer = person.path[1]
        assert answer.parts
        assert answer.outcome is not None
        assert answer.outcome.ending is Ending.INTERRUPTED
        assert "interrupted" in (await person.conversation.wait_for_message(1)).texts
        assert person.message.toPlainText() == "half a thou"
        await person.until(lambda: len(titles(person)) == 2, "both experiments in the list")
        (exchange,) = person.session.exchanges.values()

        def body() -> bytes:
            return bytes(person.session.exchanges[exchange.id].body)

        await person.until(lambda: b"data: " in body(), "the bytes received before, read from the disk")
        await person.conversation.message(1).press("Ask again")
        await person.until(lambda: person.session.active_run is not None, "a run")

        await person.app.workspace.show(ids[0])
        await person.until(lambda: person.session.id == ids[0] and person.session.debugger.paused, "the paused calls")
        item, two = await person.conversation.wait_for_calls()
        await two.wait_for_result_field()
        assert item.waiting
        assert person.path[1].calls[0].arguments == '{"city": "Faro"}'
        assert person.path[1].calls[0].received is not None, "the arguments as the model sent them"
        assert two.result_text == '{"temp": 2'
        await two.send_result('{"temp": 21}')
        item, _ = await person.conversation.wait_for_calls(1)
        await item.send_result("warm")
        await person.idle(5)
        assert [turn.results[0].text for turn in person.path[2:4]] == ["warm", '{"temp": 21}']

    ids: list[str] = []
    stage.play(first, SLOW)
    stage.play(second, SLOW)


@flow()
async def test_edits_settings_branches_and_deletions_are_undone_and_redone(person: Person) -> None:
    await wait_for_store(person)
    await person.use_model("demo-chat")
    await person.run("Name a river")
    await person.idle(2)
    session = person.session
    answer = person.path[1].id
    states: list[tuple[object, ...]] = []

    def state() -> tuple[object, ...]:
        temperature = session.settings.current.to_wire().get("temperature")
        return session.transcript, temperature, session.settings.tools, session.debugger.debugging.step_limit

    async def step(work: Any) -> None:
        states.append(state())
        session.history.stack.typing = None  # as if the person had waited
        await person.do(work)

    await step(lambda: edit_in_place(session, person.path[0].id, "Name a lake"))
    await step(lambda: session.set_parameters(session.settings.current.with_value("temperature", 0.3)))
    await step(lambda: session.change(tools=(WEATHER,)))
    rules = session.debugger.debugging
    await step(lambda: session.change(debugging=rules.model_copy(update={"step_limit": 7})))
    states.append(state())
    await person.conversation.message(1).choose("Regenerate")
    await person.until(lambda: len(session.transcript.turns) == 3, "an alternative")
    await person.idle(2)
    tree = await open_tree(person, turns=3)
    states.append(state())
    await person.do(tree.setFocus)
    await person.do(lambda: QTest.keyClick(tree, Qt.Key.Key_Home))
    await person.do(lambda: QTest.keyClick(tree, Qt.Key.Key_Delete))
    await person.until(lambda: person.path == (), "an empty path")
    await person.conversation.notice.wait_for_text("A branch of 3 messages deleted.")
    last = state()
    for before in reversed(states):
        await act(person, "edit.undo")
        assert state() == before
    for after in (*states[1:], last):
        await act(person, "edit.redo")
        assert state() == after
    await act(person, "edit.undo")
    assert len(session.transcript.turns) == 3

    # The tree leads to the branch of the first answer
    await person.do(tree.setFocus)
    while person.path[1].id != answer:  # again, if the tree is redrawn between two keys
        for key in (Qt.Key.Key_End, Qt.Key.Key_Up, Qt.Key.Key_Return):
            await person.do(partial(QTest.keyClick, tree, key))
    card = await person.conversation.wait_for_message(1)
    await person.until(card.widget.hasFocus, "the focus on its card")


@flow()
async def test_second_start_raises_the_window_and_opens_its_file(person: Person, tmp_path: Path) -> None:
    file = tmp_path / "talk.playground.json"
    await wait_for_store(person)
    await person.until(lambda: person.app.second_starts is not None, "the socket for second starts")
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


def test_list_is_searched_renamed_pinned_archived_and_read_again(stage: Stage) -> None:
    async def write(person: Person) -> None:
        await wait_for_store(person)
        for text in TOWNS:
            turns = person.app.workspace.new().turns
            turns.add_turn(make_turn(Role.USER, text))
            for number in range(30):
                line = f"{text}: a line about number {number}, quite <b>long</b>."
                turns.add_turn(make_turn(Role.ASSISTANT, line))
            turns.add_turn(make_turn(Role.USER, f"And the nightingale of {text[11:]}?"))
        add_experiments(person, "One")

    async def search_and_change(person: Person) -> None:
        await wait_for_turns(person, 1)
        experiments, notice = ExperimentList(person), person.conversation.notice
        await experiments.wait_for_titles("One", TOWNS[1], TOWNS[0])
        await person.key(Qt.Key.Key_F, CONTROL | SHIFT)
        await person.until(experiments.search_field.hasFocus, "the cursor in the search")
        await person.keys("nightin lisb")

        def matches() -> bool:  # by all words; the other experiment fits only some of them
            return experiments.titles == [TOWNS[0]] and "nightingale of Lisbon" in str(experiments.passages)

        await person.until(matches, "a passage")
        await experiments.click_row("nightingale")
        await person.until(lambda: person.session.title == TOWNS[0], "the experiment")
        turn = next(turn for turn in person.path if "nightingale" in turn.text)

        def in_view() -> bool:
            card = person.conversation.messages.find_message(turn)
            return card is not None and not card.widget.visibleRegion().isEmpty()

        await person.until(in_view, "its turn in view")
        await person.do(experiments.search_field.clear)

        await experiments.wait_for_titles("One", TOWNS[1], TOWNS[0])
        await experiments.retitle(TOWNS[0], "Lisboa")
        await experiments.retitle("One", "Uno")  # not the one that is open
        await experiments.wait_for_titles("Uno", TOWNS[1], "Lisboa")
        await experiments.choose("Lisboa", "Pin")
        await experiments.wait_for_titles("Lisboa", "Uno", TOWNS[1])
        await experiments.choose("Uno", "Archive")
        await experiments.wait_for_titles("Lisboa", TOWNS[1])
        await notice.press("Undo")
        await experiments.wait_for_titles("Lisboa", "Uno", TOWNS[1])
        await act(person, "experiment.duplicate")
        await person.until(lambda: "Lisboa (copy)" in titles(person), "a copy")
        assert person.session.title == "Lisboa (copy)"
        await act(person, "experiment.delete")
        await person.until(lambda: "Lisboa (copy)" not in titles(person), "no copy")
        await notice.press("Undo")
        await person.until(lambda: "Lisboa (copy)" in titles(person), "the copy")
        await person.until(lambda: person.session.title == "Lisboa (copy)", "the copy to be shown")

    async def look(person: Person) -> None:
        await wait_for_turns(person, 32)
        await person.until(lambda: len(titles(person)) == 4, "the list")
        assert titles(person)[0] == "Lisboa"
        assert person.session.title == "Lisboa (copy)"

    stage.play(write)
    stage.play(search_and_change)
    stage.play(look)


def test_full_disk_is_reported_and_nothing_is_lost(stage: Stage) -> None:
    text = "word " * 40_000

    async def fill(person: Person) -> None:
        await wait_for_store(person)
        store = person.app.workspace.store
        assert store is not None

        def limit_pages(pages: int) -> None:
            assert store._writer is not None
            store._writer._connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()

        limit_pages(1)  # SQLite refuses to let the file grow, as it does on a full disk
        person.session.turns.add_turn(make_turn(Role.USER, text))
        await person.until(lambda: "The disk is full." in read_storage_notice(person), "the notice")
        assert "Leave the window open." in read_storage_notice(person)
        await act(person, "window.quit")
        await answer(person, "Cancel", "The disk is full.")
        assert person.app.window.isVisible()
        await person.do(lambda: person.session.turns.add_turn(make_turn(Role.USER, "more")))
        limit_pages(2**30)
        await person.until(lambda: not read_storage_notice(person), "the notice to disappear")
        await person.app.workspace.flush()

    async def look(person: Person) -> None:
        await wait_for_turns(person, 2)
        assert person.path[0].text == text

    stage.play(fill)
    stage.play(look)


async def ended(person: Person) -> None:
    """Wait until the application ends, and this scene with it."""
    with contextlib.suppress(asyncio.CancelledError):
        await person.until(lambda: False, "the end")


@contextmanager
def lock_elsewhere(path: Path) -> Iterator[None]:
    """Have another process open the store."""
    program = (
        "import sys, time; from pathlib import Path; from playground.engine.io.file_lock import FileLock;"
        "lock = FileLock(Path(sys.argv[1])); lock.acquire(); print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, f"{path}.lock"]
    popen = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert popen.stdout is not None
        assert popen.stdout.readline().strip() == b"held"
        yield
    finally:
        popen.communicate(b"")


def test_quitting_with_unsaved_work_asks(stage: Stage, tmp_path: Path) -> None:
    words = "open in another window"
    copy = tmp_path / "kept.playground.json"

    async def write(person: Person) -> None:
        await wait_for_store(person)
        add_experiments(person, "Kept", "Kept as well")

    async def read(person: Person) -> None:
        await wait_for_store(person, Mode.READ_ONLY)
        entries = [entry.id for entry in person.app.workspace.experiments if entry.title.startswith("Kept")]
        for entry in entries:  # looking loses nothing
            await person.app.workspace.show(entry)
        assert not person.app.workspace.behind
        await person.do(lambda: person.app.workspace.new())
        await person.type_into(person.message, "Not kept")
        await act(person, "window.quit")
        await person.until(lambda: words in read_storage_notice(person), "the notice")
        await answer(person, "Cancel", words, "What you did in “New experiment” would be lost.")
        assert person.app.window.isVisible()
        await person.do(person.message.clear)
        assert not person.app.workspace.behind
        await person.do(lambda: person.message.setPlainText("Saved elsewhere"))
        await act(person, "window.quit")
        await answer(person, "Save a copy…")
        files = await wait_for_modal(person, QFileDialog)
        await person.do(files.reject)  # the question is asked again
        await answer(person, "Save a copy…")
        await name_file(person, tmp_path / "nowhere" / "kept.playground.json")
        await answer(person, "Save a copy…", "The copy was not saved.")
        await name_file(person, copy)
        await ended(person)

    stage.play(write)
    with lock_elsewhere(tmp_path / "gateway-playground" / "experiments.db"):
        stage.play(read)
    assert open_file(copy).draft.text == "Saved elsewhere"


def test_quitting_without_a_store_saves_several_experiments_in_a_folder(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "gateway-playground").touch()  # a file where the folder would be
    folder = tmp_path / "copies"
    folder.mkdir()
    (folder / "same.playground.json").write_text("somebody else's")
    (folder / "third.playground.json").symlink_to("nowhere")

    async def write(person: Person, *texts: str) -> None:
        await wait_for_store(person, Mode.MEMORY)
        assert "Experiments stay in memory" in read_storage_notice(person)
        add_experiments(person, *texts)
        await act(person, "window.quit")
        await wait_for_modal(person, QMessageBox)

    async def keep(person: Person) -> None:
        await write(person, "Same", "Same", "Third", "Fourth", "Fifth")
        await answer(person, "Save copies…", "What you did in “Fifth”, “Fourth”, “Third” and 2 more would be lost.")
        await name_file(person, folder)
        await ended(person)

    async def terminate(person: Person) -> None:
        await write(person, "Lost")
        await answer(person, "Save a copy…")
        await wait_for_modal(person, QFileDialog)  # the stage ends the application as SIGTERM does

    async def lose(person: Person) -> None:
        await write(person, "Lost")
        await answer(person, "Quit without saving")
        await ended(person)

    stage.play(keep)
    names = [f"{name}.playground.json" for name in ("fifth", "fourth", "same-2", "same-3", "same", "third-2", "third")]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert (folder / "same.playground.json").read_text() == "somebody else's"
    for scene in (terminate, lose):
        stage.play(scene)


class SessionEnd:
    """The object that Qt passes when the system ends the session; the offscreen platform never does."""

    def __init__(self, *, may_ask: bool) -> None:
        self.allowsInteraction = lambda: may_ask
        self.calls: list[str] = []
        self.cancel = lambda: self.calls.append("cancel")
        self.release = lambda: self.calls.append("release")


def test_end_of_the_session_waits_only_for_unsaved_work(stage: Stage, tmp_path: Path) -> None:
    async def saved(person: Person) -> None:
        await wait_for_store(person)
        person.session.turns.add_turn(make_turn(Role.USER, "Kept"))
        end = SessionEnd(may_ask=True)
        await person.do(lambda: person.app.session_ends(cast(QSessionManager, end)))
        assert end.calls == []
        assert not person.app.workspace.unsaved

    async def unsaved(person: Person) -> None:
        await wait_for_store(person, Mode.READ_ONLY)
        assert "newer version" in read_storage_notice(person)
        add_experiments(person, "Lost")
        for may_ask, calls in ((False, []), (True, ["cancel", "release"])):
            end = SessionEnd(may_ask=may_ask)
            await person.do(partial(person.app.session_ends, cast(QSessionManager, end)))
            assert end.calls == calls
        await answer(person, "Cancel")
        assert person.app.window.isVisible()

    stage.play(saved)
    with closing(sqlite3.connect(tmp_path / "gateway-playground" / "experiments.db")) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    stage.play(unsaved)


def test_storage_is_shown_backed_up_and_restored(stage: Stage, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"

    async def scene(person: Person) -> None:
        await wait_for_store(person)
        person.session.turns.add_turn(make_turn(Role.USER, "To be kept"))
        preferences = await PreferencesWindow.open_page(person, "Storage and backups")
        store = person.app.workspace.store
        assert store is not None
        await preferences.wait_for(QWidget, f"Stored in: {store.path}")
        await preferences.wait_until(lambda: preferences.storage_size not in ("", "0 bytes on disk"), "the size")
        await preferences.press("Back up…")
        await name_file(person, copy)
        await preferences.wait_until(lambda: preferences.storage_result == f"Backed up to {copy}.", "the backup")
        with closing(sqlite3.connect(copy)) as connection:
            assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        await preferences.close()
        await person.do(lambda: person.session.change(title="Another title"))
        await person.do(lambda: person.app.workspace.new().turns.add_turn(make_turn(Role.USER, "Made later")))
        await ExperimentList(person).wait_for_titles("Made later", "Another title")
        await act(person, "experiment.restore")
        await name_file(person, copy)
        await answer(person, "Restore", "nothing is deleted")
        await person.until(lambda: person.path and titles(person) == ["To be kept"], "what the copy holds")
        assert person.path[0].text == "To be kept"
        assert "Restored from copy.db." in person.conversation.notice.text
        assert list(store.path.parent.glob("experiments.before-restore-*.db"))

        await person.until(lambda: bool(list_backups(store.path)), "an automatic backup")
        await person.do(lambda: person.app.workspace.new().turns.add_turn(make_turn(Role.USER, "Made last")))
        await ExperimentList(person).wait_for_titles("Made last", "To be kept")
        preferences = await PreferencesWindow.opened(person, "settings.storage")
        await preferences.select_backup(0)
        await preferences.press("Restore…")
        await answer(person, "Restore", "nothing is deleted")
        # The backup may be of any moment before: only what was made after it is known to be missing.
        await person.until(lambda: titles(person) and "Made last" not in titles(person), "what the backup holds")
        assert len(list(store.path.parent.glob("experiments.before-restore-*.db"))) == 2

    stage.play(scene, PACE)


def test_damaged_store_is_restored_at_the_next_start(stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "gateway-playground" / "experiments.db"

    async def write(person: Person) -> None:
        await wait_for_store(person)
        person.session.turns.add_turn(make_turn(Role.USER, "To be kept"))

    async def back_up(person: Person) -> None:
        await wait_for_turns(person, 1)
        await person.until(lambda: bool(list_backups(path)), "an automatic backup")

    async def look(person: Person) -> None:
        await wait_for_turns(person, 1)
        await person.until(lambda: titles(person) == ["To be kept"], "what the backup holds")
        notice = read_storage_notice(person)
        assert "was damaged. It was restored from the backup of" in notice
        (damaged,) = path.parent.glob("experiments.damaged-*.db")
        assert damaged.name in notice

    async def restart(person: Person) -> None:
        await wait_for_turns(person, 1)
        assert read_storage_notice(person) == ""

    stage.play(write)
    stage.play(back_up)
    path.write_bytes(b"damaged" * 10_000)
    stage.play(look)
    stage.play(restart)


def test_unreadable_turn_is_reported_once(stage: Stage, tmp_path: Path) -> None:
    async def begin(person: Person) -> None:
        await wait_for_store(person)
        for text in ("One", "Two", "Three"):
            person.session.turns.add_turn(make_turn(Role.USER, text))

    async def look(person: Person) -> None:
        await wait_for_turns(person, 2)
        notice = person.conversation.notice
        await notice.wait_for_text("1 part of this experiment could not be read")
        assert [turn.text for turn in person.path] == ["One", "Three"]
        await notice.press("Storage…")
        assert (await PreferencesWindow.opened(person)).page == "Storage and backups"

    stage.play(begin)
    with closing(sqlite3.connect(tmp_path / "gateway-playground" / "experiments.db")) as connection, connection:
        connection.execute("UPDATE turns SET json = '{\"cut' WHERE json LIKE '%Two%'")
    stage.play(look)


@flow()
async def test_secret_is_removed_from_the_experiment(person: Person) -> None:
    await wait_for_store(person)
    await person.do(lambda: person.session.turns.add_turn(make_turn(Role.USER, "My key is sk-0123456789abcdef.")))
    for typed, words in (("sk-0123456789abcdef", "was removed from"), ("nowhere-to-be-found", "was not found")):
        await person.trigger("experiment.remove_secret")
        dialog = await wait_for_modal(person, QDialog)
        (field,) = dialog.findChildren(QLineEdit)
        assert field.echoMode() is QLineEdit.EchoMode.Password
        await person.do(partial(field.setText, typed))
        await person.press("Remove", dialog)
        await person.conversation.notice.wait_for_text(words)
        assert person.path[0].text == f"My key is {MASK}."
    await person.until(lambda: f"My key is {MASK}." in titles(person), "the title without the key")
