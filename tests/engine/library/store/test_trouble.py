"""Errors of disks, files and other programs: reported in words, and nothing is deleted."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.gateways import Gateways
from playground.engine.library.store import Mode, Store, StoreError
from playground.engine.library.store.migrations import MIGRATIONS, VERSION
from playground.engine.library.workspace import Workspace
from tests.engine.library.store.conftest import MakeStore, sound
from tests.engine.library.store.test_store import simple
from tests.engine.library.store.versions import make_store as make_old_store
from tests.support.eventually import eventually

linux_root = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="platform: a small file system takes Linux and root to mount"
)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("platform: mounting is not allowed here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def remount(place: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", place], check=True)


# Versions


@pytest.mark.parametrize("version", range(1, VERSION + 1))
async def test_a_store_of_every_version_opens(version: int, make_store: MakeStore, path: Path) -> None:
    make_old_store(path, version)
    store = await make_store()
    assert store.status.mode is Mode.READY
    back = await store.load("first")
    assert [turn.text for turn in back.transcript.path] == ["What is a ship?", "A house on water."]
    assert [result.experiment.id for result in await store.find("hous")] == ["first"]
    (head,) = await store.tape_heads("first")
    stored = await store.tape("first", head.id)
    assert stored is not None
    assert stored.body == b"A house on water."
    store.save(simple("second", "Goes on"))
    await store.close()
    assert sound(path)


async def test_a_migration_begins_with_a_copy(path: Path) -> None:
    make_old_store(path, 1)
    more = (*MIGRATIONS, ("CREATE TABLE added (x)", "INSERT INTO added VALUES (7)"))
    store = Store(path, migrations=more)
    status = await store.open()
    (backup,) = await store.backups()
    copy = backup.path
    assert status.mode is Mode.READY
    assert copy.name in status.words
    assert len(await store.experiments()) == 1
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT x FROM added").fetchall() == [(7,)]
        assert connection.execute("PRAGMA user_version").fetchone() == (len(more),)
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM turns").fetchone() == (2,)


async def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    make_old_store(path, 1)
    store = Store(path, migrations=(*MIGRATIONS, ("CREATE TABLE added (x)", "INSERT INTO nowhere VALUES (7)")))
    status = await store.open()
    assert status.mode is Mode.READ_ONLY
    assert "no such table" in status.words
    assert len(await store.experiments()) == 1
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,), "none of the versions between"
    store = Store(path)
    assert (await store.open()).mode is Mode.READY
    await store.close()


async def test_a_newer_file_is_only_read(make_store: MakeStore, path: Path) -> None:
    store = await make_store()
    store.save(simple("a", "From tomorrow"))
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = content(path)
    store = await make_store()
    assert store.status.mode is Mode.READ_ONLY
    assert "newer version" in store.status.words
    assert "not saved" in store.status.words
    assert (await store.load("a")).turns[0].text == "From tomorrow"
    assert len(await store.find("tomorrow")) == 1
    store.save(simple("b", "Nowhere"))
    assert store.unsaved("b")
    with pytest.raises(StoreError, match="newer version"):
        await store.flush()
    await store.close()
    assert content(path) == before


@pytest.mark.parametrize(
    "statements",
    ["CREATE TABLE theirs (x)", "CREATE TABLE theirs (x); PRAGMA application_id = 7", "PRAGMA application_id = 7"],
)
async def test_database_of_another_program_is_left_alone(statements: str, make_store: MakeStore, path: Path) -> None:
    if "theirs" in statements:
        path.parent.mkdir()
    else:
        await (await make_store()).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)
    before = content(path)
    store = await make_store()
    assert store.status.mode is Mode.MEMORY
    assert "database of another program" in store.status.words
    assert "damaged" not in store.status.words
    await store.close()
    assert content(path) == before


# Damage


def filled(path: Path) -> None:
    """Many experiments, in one file without a write-ahead log."""

    async def fill() -> None:
        store = Store(path)
        await store.open()
        for number in range(60):
            store.save(simple(f"e{number}", *(f"turn {n} of {number} " + "word " * 60 for n in range(20))))
        await store.close()

    asyncio.run(fill())


@pytest.fixture(scope="module")
def full_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("full") / "experiments.db"
    filled(path)
    return path


def content(path: Path) -> bytes:
    return path.read_bytes()


async def test_a_broken_index_is_made_again(make_store: MakeStore, path: Path, full_file: Path) -> None:
    path.parent.mkdir()
    shutil.copy(full_file, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE words_data SET block = x'00ff00ff' WHERE id > 10")
        connection.commit()
    store = await make_store()
    with contextlib.suppress(StoreError):
        await store.find("word")
    store.save(simple("new", "Goes on with a word"))
    await store.flush()
    assert len(await store.find("goes on")) == 1
    assert len(await store.find("turn")) == 60
    await store.close()
    assert sound(path)


# No room, no right, no place


@linux_root
async def test_disk_that_is_full_or_read_only_leaves_memory(small_disk: Path, make_store: MakeStore) -> None:
    with contextlib.suppress(OSError), (small_disk / "filler").open("wb") as file:
        for _ in range(1000):
            file.write(bytes(4096))
    store = await make_store(small_disk / "full" / "experiments.db")
    assert store.status.mode is Mode.MEMORY
    remount(small_disk, "ro")
    for where in (small_disk / "experiments.db", small_disk / "data" / "experiments.db"):
        assert (await make_store(where)).status.mode is Mode.MEMORY


@linux_root
async def test_a_read_only_disk_is_read(small_disk: Path, make_store: MakeStore, gateways: Gateways) -> None:
    path = small_disk / "experiments.db"
    store = await make_store(path)
    store.save(simple("a", "Readable"))
    await store.close()
    remount(small_disk, "ro")
    workspace = Workspace(gateways, Store(path))
    status = await workspace.start()
    assert status is not None
    assert status.mode is Mode.READ_ONLY
    assert "not saved" in status.words
    session = await workspace.show("a")
    assert session.transcript.path[0].text == "Readable"
    session.turns.add_turn(make_turn(Role.USER, "A change that stays in memory"))
    assert [result.experiment.title for result in await workspace.find("read")] == ["Readable"]
    assert (await workspace.show("a")) is session
    await workspace.close()


async def test_store_without_a_place_keeps_all_in_memory(make_store: MakeStore, path: Path) -> None:
    path.parent.write_text("not a folder")
    store = await make_store()
    assert store.status.mode is Mode.MEMORY
    assert "in memory" in store.status.words
    store.save(simple("a", "Somewhere"))
    await store.flush()
    assert (await store.load("a")).turns[0].text == "Somewhere"
    assert len(await store.find("some")) == 1
    copy = path.parent.with_name("copy.db")
    await store.backup(copy)
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT count(*) FROM turns").fetchone() == (1,)


# Two at once


async def test_second_store_on_a_file_only_reads(make_store: MakeStore, path: Path) -> None:
    store = await make_store()
    store.save(simple("a", "Mine"))
    await store.flush()
    second = await make_store()
    assert second.status.mode is Mode.READ_ONLY
    assert "another window" in second.status.words
    assert [experiment.title for experiment in await second.experiments()] == ["Mine"]
    await second.close()
    await store.close()
    assert (await make_store()).status.mode is Mode.READY


async def test_another_program_that_holds_the_file_is_waited_for(
    make_store: MakeStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from playground.engine.io import database

    monkeypatch.setattr(database, "BUSY", 50)
    store = await make_store()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        store.save(simple("a", "Waits"))
        with pytest.raises(StoreError, match="locked"):
            await store.flush()
        assert "locked" in store.status.trouble
        connection.execute("ROLLBACK")
    await eventually(lambda: not store.status.trouble, "the store writes again")
    assert (await store.load("a")).turns[0].text == "Waits"
