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
from playground.ui.features.experiments.rows import Line
from playground.ui.shell.features import EXPERIMENTS_PANEL
from playground.ui.widgets.opening_label import WORD
from tests.flows.conftest import Person, Stage


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
def whoever_opens_it_is_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a machine takes for what is done while the file is held."""
    monkeypatch.setattr(connecting, "BUSY", 100_000)


@contextmanager
def held(path: Path) -> Iterator[Callable[[], None]]:
    """The file held by another program, so that opening it waits, until what is given is called."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        yield lambda: other.rollback()


def said(person: Person) -> list[str]:
    """What stands in view of what matters here."""
    window = person.app.window
    words = [label.text() for label in window.findChildren(QLabel) if label.isVisible()]
    known = (WORD, "No experiments yet.", "Starting…", "Waiting for the first token…")
    titles = [row.title for row in window.panels.of(EXPERIMENTS_PANEL).model.rows if isinstance(row, Line)]
    found = [word for word in words if word in known] + [title for title in titles if title == "New experiment"]
    return found + ["welcome"] * person.pane.welcome.isVisible()


@asynccontextmanager
async def watched(person: Person) -> AsyncIterator[set[str]]:
    """All that was to be seen of it, looked at again and again."""
    seen: set[str] = set()

    async def look() -> None:
        while True:
            seen.update(said(person))
            await asyncio.sleep(0.005)

    looking = asyncio.get_running_loop().create_task(look())
    yield seen
    looking.cancel()


def test_what_was_looked_at_last_is_the_first_that_is_seen(stage: Stage, tmp_path: Path) -> None:
    fill(path_in(tmp_path), 30)

    async def scene(person: Person) -> None:
        async with watched(person) as seen:
            await person.until(
                lambda: len(person.path) == 2 and len(person.app.window.panels.of(EXPERIMENTS_PANEL).model.rows) > 30
            )
        assert not seen - {WORD}

    stage.play(scene)


def test_a_slow_disk_is_said_to_be_one_and_nothing_else_is(stage: Stage, tmp_path: Path) -> None:
    path = path_in(tmp_path)
    fill(path, 3)
    with held(path) as let_go:

        async def scene(person: Person) -> None:
            async with watched(person) as seen:
                await person.until(lambda: said(person) == [WORD, WORD], "that both are being opened")
                let_go()
                await person.until(lambda: len(person.path) == 2 and not said(person), "the experiment")
            assert seen == {WORD}

        stage.play(scene)


def test_who_begins_something_new_meanwhile_is_welcomed_and_can_open_a_sample(stage: Stage, tmp_path: Path) -> None:
    path = path_in(tmp_path)
    fill(path, 3)
    with held(path) as let_go:

        async def scene(person: Person) -> None:
            assert "welcome" not in said(person)
            for _ in range(2):
                await person.do(person.app.window.action("experiment.new").trigger)
                await person.press("Open the sample Reasoning", person.pane.welcome)
                await person.until(lambda: len(person.path) > 0, "the sample")
            assert person.app.workspace.opening
            first = person.session.id
            let_go()
            await person.until(lambda: not person.app.workspace.opening, "the store")
            assert person.session.id == first

        stage.play(scene)


def test_a_run_meanwhile_says_that_it_starts_and_everything_of_it_is_kept(stage: Stage, tmp_path: Path) -> None:
    path = path_in(tmp_path)
    fill(path, 3)
    with held(path) as let_go:

        async def scene(person: Person) -> None:
            await person.run("Hello !fast")
            await person.until(lambda: "Starting…" in said(person), "that it starts")
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


def test_a_run_meanwhile_can_be_stopped(stage: Stage, tmp_path: Path) -> None:
    path = path_in(tmp_path)
    fill(path, 3)
    with held(path) as let_go:

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


def test_with_no_experiments_at_all_there_is_a_welcome(stage: Stage, tmp_path: Path) -> None:
    async def first(person: Person) -> None:
        assert person.pane.welcome.isVisible(), "nothing has to be opened to know it"
        await person.until(lambda: not person.app.workspace.opening, "the store")
        assert said(person)[-1] == "welcome"

    async def later(person: Person) -> None:
        await person.until(lambda: not person.app.workspace.opening, "the store")
        await person.until(lambda: said(person)[-1:] == ["welcome"], "a welcome")

    stage.play(first)
    assert path_in(tmp_path).exists()
    stage.play(later)


def test_what_is_done_meanwhile_is_done(stage: Stage, tmp_path: Path) -> None:
    """Experiments begun, deleted and brought back before the others are known."""
    path = path_in(tmp_path)
    fill(path, 1)
    with held(path) as let_go:

        async def scene(person: Person) -> None:
            workspace = person.app.workspace
            await person.type_into(person.message, "first")
            await person.do(person.app.window.action("experiment.new").trigger)
            await person.until(lambda: person.pane.composer.text == "", "a new one")
            await person.type_into(person.message, "second")
            await person.do(person.app.window.action("experiment.new").trigger)
            await person.until(lambda: person.pane.composer.text == "", "a new one")
            await person.type_into(person.message, "third")
            await person.do(person.app.window.action("experiment.delete").trigger)
            await person.until(lambda: person.pane.composer.text == "second", "the one before")
            let_go()
            await person.until(lambda: workspace.listed, "the list")

        stage.play(scene)

    async def again(person: Person) -> None:
        await person.until(lambda: not person.app.workspace.opening, "the store")
        texts = sorted(entry.title for entry in person.app.workspace.experiments)
        assert person.pane.composer.text == "second"
        assert len(texts) == 3, "the deleted one stays so"

    stage.play(again)
