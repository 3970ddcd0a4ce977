"""While experiments are being opened, nothing is shown that is not so: no welcome, no empty list."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel

from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.library.store import Store, connecting
from playground.engine.session.snapshot import Snapshot
from tests.flows.conftest import Person, Stage
from tests.flows.pages.experiments import ExperimentList

OPENING = "Opening…"
WAITING = "Waiting for the first token…"


def path_in(home: Path) -> Path:
    return home / "gateway-playground" / "experiments.db"


def fill(path: Path, count: int) -> None:
    """A store with so many experiments, each with a question and an answer; the last one is looked at last."""

    async def write() -> None:
        path.parent.mkdir(exist_ok=True)
        store = Store(path)
        await store.open()
        for number in range(count):
            asked = make_turn(Role.USER, f"Question {number}")
            said = make_turn(Role.ASSISTANT, f"Answer {number}").model_copy(update={"parent": asked.id})
            kept = Snapshot(id=f"e{number}", profile_id="demo", model="demo-chat", turns=(asked, said), head=said.id)
            store.save(kept.model_copy(update={"created_at": 1e9 + number}))
        store.remember("current", f"e{count - 1}")
        await store.flush()
        await store.close()

    asyncio.run(write())


@pytest.fixture(autouse=True)
def wait_for_busy_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a machine takes for what is done while the file is held."""
    monkeypatch.setattr(connecting, "BUSY", 100_000)


@contextmanager
def lock(path: Path) -> Iterator[Callable[[], None]]:
    """The file held by another program, so that opening it waits, until what is given is called."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        yield lambda: other.rollback()


def read_states(person: Person) -> list[str]:
    """The labels in view about opening and starting, an untitled experiment in the list, and the welcome."""
    shown = [label.text() for label in person.find(QLabel)]
    states = [text for text in shown if text in (OPENING, "No experiments yet.", "Starting…", WAITING)]
    states += [title for title in ExperimentList(person).titles if title == "New experiment"]
    return states + ["welcome"] * person.conversation.has_button("Try it now")


@asynccontextmanager
async def watch_states(person: Person) -> AsyncIterator[set[str]]:
    """All that was to be seen of it, looked at again and again."""
    seen: set[str] = set()

    async def look() -> None:
        while True:
            seen.update(read_states(person))
            await asyncio.sleep(0.005)

    looking = asyncio.get_running_loop().create_task(look())
    yield seen
    looking.cancel()


def test_last_experiment_is_shown_first(stage: Stage, tmp_path: Path) -> None:
    fill(path_in(tmp_path), 30)

    async def scene(person: Person) -> None:
        async with watch_states(person) as seen:
            await person.until(
                lambda: len(person.path) == 2 and len(ExperimentList(person).titles) == 30, "30 experiments"
            )
        assert not seen - {OPENING}

    stage.play(scene)


def test_slow_disk_shows_nothing_but_opening(stage: Stage, tmp_path: Path) -> None:
    path = path_in(tmp_path)
    fill(path, 3)
    with lock(path) as let_go:

        async def scene(person: Person) -> None:
            async with watch_states(person) as seen:
                await person.until(lambda: read_states(person) == [OPENING, OPENING], "that both are being opened")
                let_go()
                await person.until(lambda: len(person.path) == 2 and not read_states(person), "the experiment")
            assert seen == {OPENING}

        stage.play(scene)


def test_sample_is_opened_while_the_store_opens(stage: Stage, tmp_path: Path) -> None:
    path = path_in(tmp_path)
    fill(path, 3)
    with lock(path) as let_go:

        async def scene(person: Person) -> None:
            assert "welcome" not in read_states(person)
            for _ in range(2):
                await person.do(person.app.window.action("experiment.new").trigger)
                await person.conversation.press("Open the sample Reasoning")
                await person.until(lambda: len(person.path) > 0, "the sample")
            assert person.app.workspace.opening
            first = person.session.id
            let_go()
            await person.until(lambda: not person.app.workspace.opening, "the store")
            assert person.session.id == first

        stage.play(scene)


def test_run_while_the_store_opens_is_saved(stage: Stage, tmp_path: Path) -> None:
    path = path_in(tmp_path)
    fill(path, 3)
    with lock(path) as let_go:

        async def scene(person: Person) -> None:
            await person.run("Hello !fast")
            await person.until(lambda: "Starting…" in read_states(person), "that it starts")
            assert not [request for request in person.server.requests if request.method == "POST"]
            let_go()
            await person.idle(turns=2)
            assert person.path[1].outcome is not None
            assert person.path[1].outcome.ending is Ending.COMPLETE
            assert len(person.app.workspace.experiments) == 4
            assert person.app.workspace.store is not None
            await person.app.workspace.flush()
            with closing(sqlite3.connect(path)) as connection:
                assert connection.execute("SELECT count(*) FROM tapes").fetchone() == (1,)
            assert len([request for request in person.server.requests if request.method == "POST"]) == 1

        stage.play(scene)


def test_run_while_the_store_opens_is_stopped(stage: Stage, tmp_path: Path) -> None:
    path = path_in(tmp_path)
    fill(path, 3)
    with lock(path) as let_go:

        async def scene(person: Person) -> None:
            await person.run("Hello")
            await person.until(lambda: person.session.growing, "a run")
            await person.do(person.app.window.action("run.stop").trigger)
            await person.idle(turns=2)
            assert person.path[1].outcome is not None
            assert person.path[1].outcome.ending is Ending.STOPPED
            let_go()
            await person.until(lambda: len(person.app.workspace.experiments) == 4, "the list")
            assert not [request for request in person.server.requests if request.method == "POST"]

        stage.play(scene)


def test_welcome_is_shown_without_experiments(stage: Stage, tmp_path: Path) -> None:
    async def first(person: Person) -> None:
        assert "welcome" in read_states(person), "nothing has to be opened to know it"
        await person.until(lambda: not person.app.workspace.opening, "the store")
        assert read_states(person)[-1] == "welcome"

    async def later(person: Person) -> None:
        await person.until(lambda: not person.app.workspace.opening, "the store")
        await person.until(lambda: read_states(person)[-1:] == ["welcome"], "a welcome")

    stage.play(first)
    assert path_in(tmp_path).exists()
    stage.play(later)


def test_changes_while_the_store_opens_are_saved(stage: Stage, tmp_path: Path) -> None:
    """Experiments begun, deleted and brought back before the others are known."""
    path = path_in(tmp_path)
    fill(path, 1)
    with lock(path) as let_go:

        async def scene(person: Person) -> None:
            workspace = person.app.workspace
            await person.type_into(person.message, "first")
            await person.do(person.app.window.action("experiment.new").trigger)
            await person.until(lambda: person.conversation.composer.text == "", "a new one")
            await person.type_into(person.message, "second")
            await person.do(person.app.window.action("experiment.new").trigger)
            await person.until(lambda: person.conversation.composer.text == "", "a new one")
            await person.type_into(person.message, "third")
            await person.do(person.app.window.action("experiment.delete").trigger)
            await person.until(lambda: person.conversation.composer.text == "second", "the one before")
            let_go()
            await person.until(lambda: workspace.listed, "the list")

        stage.play(scene)

    async def again(person: Person) -> None:
        await person.until(lambda: not person.app.workspace.opening, "the store")
        texts = sorted(entry.title for entry in person.app.workspace.experiments)
        assert person.conversation.composer.text == "second"
        assert len(texts) == 3, "the deleted one stays so"

    stage.play(again)
