"""The store takes long to open: no welcome and no empty list are shown meanwhile, and nothing that is done is lost."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel

from playground.domain.transcript import Ending
from playground.engine.library.store import opening
from tests.flows.conftest import Person, Stage
from tests.flows.pages.experiments import ExperimentList, fill_store

OPENING = "Opening…"
WAITING = "Waiting for the first token…"


def path_in(home: Path) -> Path:
    return home / "gateway-playground" / "experiments.db"


@pytest.fixture(autouse=True)
def wait_for_busy_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a machine takes for what is done while the file is held."""
    monkeypatch.setattr(opening, "BUSY", 100_000)


@contextmanager
def lock(path: Path) -> Iterator[Callable[[], None]]:
    """The file held by another program, so that opening it waits, until what is given is called."""
    with closing(sqlite3.connect(path, isolation_level=None)) as second:
        second.execute("PRAGMA journal_mode = DELETE")
        second.execute("BEGIN EXCLUSIVE")
        yield lambda: second.rollback()


def read_states(person: Person) -> list[str]:
    """The labels in view about opening and starting, an untitled experiment in the list, and the welcome."""
    texts = [label.text() for label in person.find(QLabel)]
    states = [text for text in texts if text in (OPENING, "No experiments yet.", "Starting…", WAITING)]
    states += [title for title in ExperimentList(person).titles if title == "New experiment"]
    return states + ["welcome"] * person.conversation.has_button("Try it now")


@asynccontextmanager
async def watch_states(person: Person) -> AsyncIterator[set[str]]:
    """Return all that was visible of it, sampled repeatedly."""
    seen: set[str] = set()

    async def look() -> None:
        while True:
            seen.update(read_states(person))
            await asyncio.sleep(0.005)

    looking = asyncio.get_running_loop().create_task(look())
    yield seen
    looking.cancel()


def test_slow_disk_shows_that_experiments_are_being_opened(stage: Stage, tmp_path: Path) -> None:
    path = path_in(tmp_path)
    fill_store(path, 30)
    with lock(path) as let_go:

        async def scene(person: Person) -> None:
            async with watch_states(person) as seen:
                await person.until(lambda: read_states(person) == [OPENING, OPENING], "that both are being opened")
                let_go()
                await person.until(lambda: len(person.path) == 2 and not read_states(person), "the experiment")
                await person.until(lambda: len(ExperimentList(person).titles) == 30, "30 experiments")
            assert seen == {OPENING}

        stage.play(scene)


def test_samples_and_a_stopped_run_while_the_store_opens_are_saved(stage: Stage, tmp_path: Path) -> None:
    path = path_in(tmp_path)
    fill_store(path, 3)
    with lock(path) as let_go:

        async def scene(person: Person) -> None:
            assert "welcome" not in read_states(person)
            for _ in range(2):
                await person.trigger("experiment.new")
                await person.conversation.press("Open the sample Reasoning")
                await person.until(lambda: person.path, "the sample")
            await person.trigger("experiment.new")
            await person.until(lambda: not person.path, "an empty experiment")
            await person.run("Hello")
            await person.until(lambda: person.session.growing, "a run")
            await person.trigger("run.stop")
            await person.idle(turns=2)
            assert person.path[1].outcome is not None
            assert person.path[1].outcome.ending is Ending.STOPPED
            assert person.app.workspace.opening
            displayed = person.session.id
            let_go()
            await person.until(lambda: len(person.app.workspace.experiments) == 6, "the list")
            assert person.session.id == displayed
            assert not person.posts

        stage.play(scene)


def test_run_while_the_store_opens_is_saved(stage: Stage, tmp_path: Path) -> None:
    path = path_in(tmp_path)
    fill_store(path, 3)
    with lock(path) as let_go:

        async def scene(person: Person) -> None:
            await person.run("Hello !fast")
            await person.until(lambda: "Starting…" in read_states(person), "that it starts")
            assert not person.posts
            let_go()
            await person.idle(turns=2)
            assert person.path[1].outcome is not None
            assert person.path[1].outcome.ending is Ending.COMPLETE
            assert len(person.app.workspace.experiments) == 4
            assert person.app.workspace.store is not None
            await person.app.workspace.flush()
            with closing(sqlite3.connect(path)) as connection:
                assert connection.execute("SELECT count(*) FROM tapes").fetchone() == (1,)
            assert len(person.posts) == 1

        stage.play(scene)


def test_welcome_is_shown_without_experiments(stage: Stage, tmp_path: Path) -> None:
    fill_store(path_in(tmp_path), 0)

    async def scene(person: Person) -> None:
        await person.until(lambda: not person.app.workspace.opening, "the store")
        await person.until(lambda: read_states(person)[-1:] == ["welcome"], "a welcome")

    stage.play(scene)


def test_changes_while_the_store_opens_are_saved(stage: Stage, tmp_path: Path) -> None:
    """Experiments begun, deleted and brought back before the others are known."""
    path = path_in(tmp_path)
    fill_store(path, 1)
    with lock(path) as let_go:

        async def scene(person: Person) -> None:
            workspace = person.app.workspace
            await person.type_into(person.message, "first")
            await person.trigger("experiment.new")
            await person.until(lambda: person.conversation.composer.text == "", "a new one")
            await person.type_into(person.message, "second")
            await person.trigger("experiment.new")
            await person.until(lambda: person.conversation.composer.text == "", "a new one")
            await person.type_into(person.message, "third")
            await person.trigger("experiment.delete")
            await person.until(lambda: person.conversation.composer.text == "second", "the one before")
            let_go()
            await person.until(lambda: workspace.listed, "the list")

        stage.play(scene)

    async def again(person: Person) -> None:
        await person.until(lambda: not person.app.workspace.opening, "the store")
        await person.until(lambda: person.conversation.composer.text == "second", "the draft")
        assert len(person.app.workspace.experiments) == 3, "the deleted one stays so"

    stage.play(again)
