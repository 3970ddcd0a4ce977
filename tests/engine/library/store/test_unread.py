"""Rows that cannot be read: whatever was done to one, it is set aside to the byte, told, and the rest is whole."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from playground.domain.parts import Image
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Transcript, Turn, make_turn
from playground.engine.io.file_lock import FileLock
from playground.engine.library.store import Mode, Store
from playground.engine.library.store.unread import Tally, exact, tally
from playground.engine.session.draft import Draft
from playground.engine.session.history import MAIN, Kept
from playground.engine.session.snapshot import Snapshot
from tests.engine.exchanges import exchange
from tests.engine.library.store.conftest import MakeStore, MakeWorkspace, sound
from tests.engine.library.store.test_store import rows
from tests.engine.library.store.test_trouble import content
from tests.engine.library.store.versions import make_store as make_old_store

PICTURE = "data:image/png;base64," + "iVBORw0K" * 100
TEXTS = ("Hello", "Hi there", "And a picture", "A dot", "Thanks", "Welcome")
IDS = [f"t{number}" for number in range(1, 7)]


async def fill(path: Path) -> None:
    """Save an experiment of six turns with a picture, a tool, a draft, exchanges and steps to undo; and another."""
    turns: list[Turn] = []
    for at, text in enumerate(TEXTS):
        role = Role.ASSISTANT if at % 2 else Role.USER
        extra = (Image(url=PICTURE),) if text == "And a picture" else ()
        turn = make_turn(role, text, *extra)
        turns.append(turn.model_copy(update={"id": IDS[at], "parent": IDS[at - 1] if at else None}))
    now = Transcript({turn.id: turn for turn in turns}, IDS[-1])
    found = Snapshot(
        id="a",
        title="Dots",
        model="m",
        created_at=1e9,
        changed_at=2e9,
        turns=tuple(turns),
        head=now.head,
        tools=(ToolDefinition(name="look", parameters={"type": "object"}),),
        variables={"city": "Ōsaka"},
        draft=Draft(text="And then"),
    )
    before = now.truncate_after(IDS[3])
    store = Store(path)
    await store.open()
    store.save(found, past=Kept(object(), ({MAIN: before}, {MAIN: before.truncate_after(IDS[1])})))
    store.keep_tape("a", exchange([(0.1, b"data: x\n\n")], id="x1", started_at=time.time()))
    store.keep_tape("a", exchange([(0.1, b"data: y\n\n")], id="x2", started_at=time.time()))
    store.save(Snapshot(id="b", model="m", turns=(turns[0],), head=IDS[0], created_at=1.1e9, changed_at=2e9))
    store.remember("current", "a")
    await store.close()


#: Table, row, change of a damage, and what is noted of it.
Damage = tuple[str, str, str, Tally]
TURN = {("turns", False): 1}
FIRST = "experiment = 1"
ROW_A = "id = 'a'"


def part(table: str) -> Tally:
    """Return the tally of one row that could be read in part."""
    return {(table, True): 1}


def lost(table: str) -> Tally:
    """Return the tally of one row that could not be read."""
    return {(table, False): 1}


def at(turn: str) -> str:
    return f"id = '{turn}' AND number >> 24 = 1"


DAMAGES: dict[str, Damage] = {
    "empty": ("turns", at("t3"), "json = ''", TURN),
    "cut": ("turns", at("t3"), "json = substr(json, 1, length(json) - 20)", TURN),
    "a list": ("turns", at("t3"), "json = '[1, 2]'", TURN),
    "parts of another shape": ("turns", at("t3"), "json = json_set(json, '$.parts', 'text')", TURN),
    "nested too deep": ("turns", at("t3"), f"json = '{'[' * 100_000}'", TURN),
    "NULs": ("turns", at("t3"), "json = CAST(x'7b0022696400' AS TEXT)", TURN),
    "a blob": ("turns", at("t3"), "json = x'00ff7b7d'", TURN),
    "an unknown role": ("turns", at("t3"), "json = json_set(json, '$.role', 'critic')", TURN),
    "a letter that is no UTF-8": (
        "turns",
        at("t3"),
        "json = CAST(replace(hex(json), hex('picture'), '70ff') AS TEXT)",
        part("turns"),
    ),
    "the last turn": ("turns", at("t6"), "json = '{'", TURN),
    "a turn and its id": ("turns", at("t3"), "json = '{', id = x'ff'", TURN | part("turns")),
    "a turn under another's id": ("turns", at("t3"), "json = json_set(json, '$.id', 't1')", TURN),
    "a turn that follows itself": ("turns", at("t1"), "json = json_set(json, '$.parent', 't1')", part("turns")),
    "settings that are no JSON": ("settings", FIRST, "json = 'x'", lost("settings")),
    "tools of another shape": ("settings", FIRST, "json = json_set(json, '$.tools', 7)", part("settings")),
    "a draft that is no JSON": ("drafts", FIRST, "json = '{\"draft\"'", lost("drafts")),
    "a draft of another shape": ("drafts", FIRST, "json = json_set(json, '$.draft', 'x')", part("drafts")),
    "an exchange that is no JSON": ("tapes", "id = 'x1'", "head = 'x'", lost("tapes")),
    "a picture as a blob": ("images", "1", "url = x'89504e47'", lost("images")),
    "a picture that is no UTF-8": ("images", "1", "url = CAST(x'646174613aff' AS TEXT)", part("images")),
    "undo of another shape": ("pasts", FIRST, "json = '[null]'", lost("pasts")),
    "undo cut in two": ("pasts", FIRST, "json = json_set(json, '$[1]', 7)", part("pasts")),
    "a moment that is none": ("experiments", ROW_A, "created_at = 'noon'", part("experiments")),
    "a title as a blob": ("experiments", ROW_A, "title = x'ff'", part("experiments")),
    "a title that is no UTF-8": ("experiments", ROW_A, "title = CAST(x'41ff' AS TEXT)", part("experiments")),
    "an id as a blob": ("experiments", ROW_A, "id = x'61'", part("experiments")),
    "an id that is no UTF-8": ("experiments", ROW_A, "id = CAST(x'61ff' AS TEXT)", part("experiments")),
    "what was looked at last": ("state", "1", "value = x'00'", lost("state")),
}


def damage(path: Path, how: str) -> str:
    """Do it. Returns the row as it is then, exactly."""
    table, which, change, _ = DAMAGES[how]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        (rowid,) = connection.execute(f"SELECT rowid FROM {table} WHERE {which}").fetchone()
        connection.execute(f"UPDATE {table} SET {change} WHERE rowid = ?", (rowid,))
        if how == "a letter that is no UTF-8":
            (text,) = connection.execute("SELECT json FROM turns WHERE rowid = ?", (rowid,)).fetchone()
            statement = "UPDATE turns SET json = CAST(? AS TEXT) WHERE rowid = ?"
            connection.execute(statement, (bytes.fromhex(text), rowid))
        row = exact(connection, table, rowid)
    assert row is not None
    return row


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "experiments.db"
    asyncio.run(fill(path))
    return path


@pytest.fixture
def filled(path: Path, whole: Path) -> Path:
    path.parent.mkdir(parents=True)
    shutil.copy(whole, path)
    return path


def put(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def in_file(path: Path) -> list[tuple[str, str]]:
    return rows(path, "SELECT source, row FROM unread ORDER BY number")


@pytest.mark.parametrize("how", DAMAGES)
async def test_damaged_row_is_set_aside_and_the_rest_is_whole(
    how: str, filled: Path, make_workspace: MakeWorkspace
) -> None:
    row = damage(filled, how)
    table, _, _, noted = DAMAGES[how]
    workspace = await make_workspace()
    store = workspace.store
    assert store is not None
    first = "recovered-1" if "an id" in how else "a"
    assert {experiment.id for experiment in workspace.experiments} >= {first, "b"}
    session = await workspace.show(first)
    assert tally(await store.unread()) == noted
    if table != "state":
        assert session.unread == tally(await store.unread(first)) == noted
    assert tally(await store.unread("b")) == {}
    expected = list(TEXTS)
    if TURN.items() <= noted.items():
        expected.pop(-1 if how == "the last turn" else 2)
    if how == "a letter that is no UTF-8":
        expected[2] = "And a p\ufffd"
    assert [turn.text for turn in session.transcript.path] == expected, "the path is whole"
    session.turns.add_turn(make_turn(Role.USER, "Goes on"))
    session.change(title="Another title", variables={"city": "Oslo"})
    session.with_draft(Draft(text="Something else"))
    workspace.pin(first, True)
    await workspace.close()
    workspace = await make_workspace()
    session = await workspace.show(first)
    assert [turn.text for turn in session.transcript.path] == [*expected, "Goes on"]
    assert session.title == "Another title"
    assert len(session.exchanges) == (1 if table == "tapes" else 2)
    await workspace.close()
    assert in_file(filled)[0] == (table, row)
    assert len(in_file(filled)) == sum(noted.values())
    assert sound(filled)


@pytest.mark.parametrize("how", ["cut", "a draft of another shape", "what was looked at last"])
async def test_row_set_aside_goes_with_its_experiment_for_good_and_not_before(
    how: str, filled: Path, make_workspace: MakeWorkspace
) -> None:
    row, table = damage(filled, how), DAMAGES[how][0]
    workspace = await make_workspace()
    await workspace.show("a")
    workspace.delete("a")
    await workspace.flush()
    assert in_file(filled) == [(table, row)]
    workspace.erase(["a"])
    await workspace.close()
    assert in_file(filled) == ([(table, row)] if table == "state" else [])
    assert sound(filled)


async def test_what_is_whole_is_not_set_aside(filled: Path, make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = await workspace.show("a")
    session.change(title="\ufffd and \0 are letters, too")
    session.turns.add_turn(make_turn(Role.USER, "a \ufffd that somebody wrote"))
    await workspace.close()
    workspace = await make_workspace()
    session = await workspace.show("a")
    assert session.unread == {}
    await workspace.close()
    assert in_file(filled) == []


async def test_turns_after_a_lost_one_follow_what_was_before_it(filled: Path, make_store: MakeStore) -> None:
    store = await make_store()
    found = await store.load("a")
    other = make_turn(Role.ASSISTANT, "Another answer").model_copy(update={"id": "o", "parent": "t1"})
    store.save(found.model_copy(update={"turns": (*found.turns[:2], other, *found.turns[2:])}))
    await store.close()
    data = content(filled)
    for new, lost in [*(("substr(json, 2)", name) for name in IDS), ("'{'", "t1"), ("'{'", "t6"), ("'{}'", "t3")]:
        put(filled, data)
        execute(filled, f"UPDATE turns SET json = {new} WHERE {at(lost)}")
        store = await make_store()
        back = await store.load("a")
        noted = tally(await store.unread("a"))
        await store.close()
        assert len(back.turns) == 6
        assert noted[("turns", False)] == 1
        if new != "'{}'":  # else nothing says that it did not follow the other answer
            assert [turn.id for turn in back.transcript.path] == [name for name in IDS if name != lost]
    put(filled, data)
    execute(filled, "UPDATE turns SET json = '{' WHERE number >> 24 = 1")
    store = await make_store()
    assert (await store.load("a")).turns == ()
    assert tally(await store.unread("a"))[("turns", False)] == 7


async def test_it_goes_before_what_is_written_over_it_also_while_the_disk_refuses(
    filled: Path, make_workspace: MakeWorkspace
) -> None:
    row = damage(filled, "cut")
    workspace = await make_workspace()
    with closing(sqlite3.connect(filled, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        session = workspace.current
        if session.id != "a":
            session = await workspace.bring("a")
        assert session.unread == {("turns", False): 1}
        session.turns.add_turn(make_turn(Role.USER, "Goes on"))
        assert rows(filled, "SELECT json FROM turns WHERE number = ?", json.loads(row)["number"])
        other.execute("ROLLBACK")
    await workspace.close()
    assert in_file(filled) == [("turns", row)]


async def test_a_store_of_an_earlier_version_is_only_read(filled: Path, tmp_path: Path, make_store: MakeStore) -> None:
    """Where there is no table for it, and none may be made, it is told all the same."""
    path = tmp_path / "old" / "experiments.db"
    make_old_store(path, 1)
    execute(path, "UPDATE turns SET json = '{' WHERE id = 't2'")
    shutil.copy(path, filled)
    holder = Store(filled)
    lock = FileLock(filled.with_name(filled.name + ".lock"))
    lock.acquire()
    await holder.open()
    try:
        assert holder.status.mode is Mode.READ_ONLY
        assert [turn.id for turn in (await holder.load("first")).transcript.path] == ["t1"]
        assert tally(await holder.unread()) == TURN
    finally:
        await holder.close()
        lock.release()
