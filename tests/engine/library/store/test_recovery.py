"""Backups are made, and whatever lies in the place of the store: it opens or says why, within five seconds."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from playground.engine.library.store import Mode, Store, StoreError
from playground.engine.library.store.backups import MAX_BACKUPS, check_copy, is_backup_due, list_backups, make_backup
from playground.engine.library.store.recovery import note_damage, read_marker
from playground.system.private import make_folder
from tests.engine.library.store.conftest import MakeStore, sound
from tests.engine.library.store.killed_recovery import EXPERIMENTS, TEXTS, fill
from tests.engine.library.store.test_store import simple
from tests.support.eventually import eventually
from tests.support.slow import slow_except

LIMIT: Final = 5.0  # seconds within which the store opens or says why
ALL: Final = sorted(f"e{number}" for number in range(EXPERIMENTS))
PAGE: Final = 4096


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of some experiments and its backup."""
    path = tmp_path_factory.mktemp("filled") / "experiments.db"
    asyncio.run(fill(path))
    return path.parent


@pytest.fixture
def path(filled: Path, tmp_path: Path) -> Path:
    shutil.copytree(filled, tmp_path / "data")
    return tmp_path / "data" / "experiments.db"


def put(path: Path, data: bytes | bytearray) -> None:
    path.write_bytes(data)


def remove(path: Path) -> None:
    path.unlink()


def link(path: Path, target: str) -> None:
    path.symlink_to(target)


def content(path: Path) -> bytes:
    return path.read_bytes()


async def opened_in_time(make_store: MakeStore) -> Store:
    began = time.monotonic()
    store = await make_store()
    assert time.monotonic() - began < LIMIT
    return store


async def ids_of(store: Store) -> list[str]:
    return sorted(experiment.id for experiment in await store.experiments())


# Backups


async def test_backup_of_the_day_is_made_once_after_the_start(make_store: MakeStore, tmp_path: Path) -> None:
    path = tmp_path / "new" / "experiments.db"
    store = await make_store(path)
    store.save(simple("a", "Saved"))
    await store.close()
    assert list_backups(path) == []
    for _ in range(2):
        store = await make_store(path)
        await eventually(lambda: bool(list_backups(path)), "a backup")
        await store.close()
    (backup,) = list_backups(path)
    check_copy(backup.path)
    assert backup.size == backup.path.stat().st_size
    assert abs(backup.created_at - time.time()) < 60
    with closing(sqlite3.connect(backup.path)) as connection:
        assert connection.execute("SELECT id FROM experiments").fetchall() == [("a",)]


@pytest.mark.parametrize(
    ("ages", "due"),
    [([], True), ([60], False), ([700], True), ([700, 800, 900], False), ([86_400, 172_800, 259_200], True)],
)
def test_backup_is_due_daily_and_more_often_in_a_new_store(ages: list[float], due: bool, path: Path) -> None:
    noon = time.mktime((2026, 5, 4, 12, 0, 0, 0, 0, -1))
    (backup,) = list_backups(path)
    backups = [type(backup)(backup.path, noon - age, 1) for age in ages]
    assert is_backup_due(backups, noon) is due


def test_oldest_and_unfinished_backups_are_removed(path: Path) -> None:
    put(path.parent / "backups" / ".experiments-2026-01-01-000000.db.tmp", b"of a process that was killed")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        backups = [make_backup(connection, path) for _ in range(MAX_BACKUPS + 1)]
    assert [backup.path for backup in list_backups(path)] == backups[:0:-1]
    assert not list(path.parent.rglob("*.tmp"))


async def test_backup_is_restored_on_demand(make_store: MakeStore, path: Path) -> None:
    store = await make_store()
    store.save(simple("later", "Made later"))
    (backup,) = await store.backups()
    aside = await store.restore(backup.path)
    assert await ids_of(store) == ALL
    assert store.status.words == ""
    assert aside is not None
    with closing(sqlite3.connect(aside)) as connection:
        assert connection.execute("SELECT count(*) FROM experiments").fetchone() == (EXPERIMENTS + 1,)
    put(backup.path, b"no database")
    with pytest.raises(StoreError, match="damaged"):
        await store.restore(backup.path)
    assert await ids_of(store) == ALL


# Damage


def damages(number: int, data: bytearray) -> str:
    """Damage the bytes of a store in the way of that number; return its name."""
    chance = random.Random(number)
    pages = len(data) // PAGE
    ways = ("flipped bits", "random pages", "zero pages", "cut", "text", "first page", "schema byte", "header byte")
    way = ways[number % len(ways)]
    if way == "flipped bits":
        for _ in range((1, 30, 1000, 20_000)[number // len(ways) % 4]):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif way in ("random pages", "zero pages"):
        for _ in range(chance.randrange(1, 40)):
            offset = chance.randrange(pages) * PAGE
            data[offset : offset + PAGE] = bytes(PAGE) if way == "zero pages" else chance.randbytes(PAGE)
    elif way == "cut":
        del data[chance.randrange(len(data)) if number % 3 else len(data) - 1 :]
    elif way == "text":
        data[:] = b"This is no database.\n" * chance.randrange(1, 9000)
    elif way == "first page":
        data[:PAGE] = chance.randbytes(PAGE)
    elif way == "schema byte":
        schema = [page for page in range(pages) if b"CREATE " in data[page * PAGE : (page + 1) * PAGE]]
        data[chance.choice(schema) * PAGE + chance.randrange(100, PAGE)] = chance.randrange(256)
    else:
        data[chance.randrange(100)] ^= 1 << chance.randrange(8)
    return way


@pytest.mark.parametrize("number", slow_except(range(10), range(100)))
async def test_damaged_store_is_restored_or_read_in_time(number: int, make_store: MakeStore, path: Path) -> None:
    data = bytearray(content(path))
    way = damages(number, data)
    put(path, data)
    store = await opened_in_time(make_store)
    words, mode = store.status.words, store.status.mode
    if mode is not Mode.READY:
        assert way in ("header byte", "flipped bits"), words
        assert "another program" in words or "newer version" in words, words
    elif words:
        assert "damaged. It was restored from the backup of" in words
        (aside,) = path.parent.glob("experiments.damaged-*.db")
        assert aside.name in words
        assert aside.read_bytes() == data
        assert await ids_of(store) == ALL
        for experiment in ALL:
            assert [turn.text for turn in (await store.load(experiment)).turns] == TEXTS
    else:  # a text with another letter, for example
        assert len(await store.experiments()) == EXPERIMENTS
    (backup,) = await store.backups()
    check_copy(backup.path)
    if mode is Mode.READY:
        store.save(simple("new", "Goes on"))
        await store.close()
        assert (await make_store()).status.words == ""


async def test_damage_without_a_backup_is_reported(make_store: MakeStore, path: Path) -> None:
    shutil.rmtree(path.parent / "backups")
    put(path, b"no database")
    store = await opened_in_time(make_store)
    assert store.status.mode is Mode.READY
    assert "was damaged, and there is no backup. The list begins empty." in store.status.words
    assert [item.read_bytes() for item in path.parent.glob("experiments.damaged-*.db")] == [b"no database"]


async def test_newest_sound_backup_is_restored(make_store: MakeStore, path: Path) -> None:
    (backup,) = list_backups(path)
    for day, damaged in (("2099-01-02", b"no database"), ("2099-01-01", b"")):
        put(backup.path.with_name(f"experiments-{day}-000000.db"), damaged)
    put(path, b"no database")
    store = await make_store()
    assert await ids_of(store) == ALL
    assert time.strftime("%d %b %Y, %H:%M", time.localtime(backup.created_at)) in store.status.words


async def test_damage_noticed_while_open_is_restored_at_the_next_start(make_store: MakeStore, path: Path) -> None:
    store = await make_store()
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'turns'").fetchone()
    store = await make_store()
    with path.open("r+b") as file:
        file.seek((root - 1) * PAGE)
        file.write(bytes(PAGE))
    with pytest.raises(StoreError, match="Start the application again"):
        await store.load("e1")
    assert read_marker(path) is not None
    await store.close()
    store = await opened_in_time(make_store)
    assert "restored from the backup" in store.status.words
    assert await ids_of(store) == ALL


async def test_noted_damage_of_a_sound_store_is_dropped(make_store: MakeStore, path: Path) -> None:
    note_damage(path)
    store = await make_store()
    assert (store.status.words, await ids_of(store)) == ("", ALL)
    assert read_marker(path) is None


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "turns", "corrupt"),
    [
        ("UPDATE turns SET json = '{\"cut' WHERE number & 255 = 3 AND number >> 24 = 2", 9, 1),
        ("UPDATE turns SET json = '{}' WHERE number & 255 IN (1, 10) AND number >> 24 = 2", 8, 2),
        ("UPDATE turns SET json = CAST(json AS BLOB) WHERE number & 255 < 3 AND number >> 24 = 2", 8, 2),
        ("UPDATE settings SET json = 'x' WHERE experiment = 2", 10, 1),
        ("UPDATE settings SET json = json_set(json, '$.model', 7) WHERE experiment = 2", 10, 1),
        ("DELETE FROM drafts", 10, 0),
    ],
)
async def test_unreadable_row_is_left_out_counted_and_stays_in_the_file(
    statement: str, turns: int, corrupt: int, make_store: MakeStore, path: Path
) -> None:
    execute(path, statement)
    store = await make_store()
    assert await ids_of(store) == ALL
    loaded = await store.load("e1")
    assert (len(loaded.turns), store.corrupt_rows["e1"]) == (turns, corrupt)
    path_texts = [turn.text for turn in loaded.transcript.path]
    assert path_texts == [text for text in TEXTS if text in path_texts]
    assert len(path_texts) == turns
    store.save(loaded.model_copy(update={"title": "Another title"}))
    await store.flush()
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        count = connection.execute("SELECT count(*) FROM turns WHERE number >> 24 = 2").fetchone()
    assert count == (10,)


async def test_damaged_line_of_the_list_hides_no_other(make_store: MakeStore, path: Path) -> None:
    execute(path, "UPDATE experiments SET title = x'ff', created_at = 'never', pinned = 'x' WHERE id = 'e1'")
    execute(path, "UPDATE experiments SET id = x'ff' WHERE id = 'e2'")
    store = await make_store()
    experiments = {experiment.id: experiment for experiment in await store.experiments()}
    assert len(experiments) == EXPERIMENTS
    assert (experiments["e1"].title, experiments["e1"].created_at, experiments["e1"].pinned) == ("", 0.0, False)
    assert len((await store.load("e1")).turns) == 10
    (damaged,) = experiments.keys() - set(ALL)
    with pytest.raises(StoreError, match="A backup in the preferences"):
        await store.load(damaged)


# Other things in its place


async def test_empty_file_is_replaced_by_the_backup_or_reported(make_store: MakeStore, path: Path) -> None:
    put(path, b"")
    store = await make_store()
    assert "was empty. It was restored from the backup" in store.status.words
    assert await ids_of(store) == ALL
    await store.close()
    shutil.rmtree(path.parent / "backups")
    put(path, b"")
    assert "was empty, and there is no backup" in (await make_store()).status.words


async def test_missing_file_beside_backups_is_reported(make_store: MakeStore, path: Path) -> None:
    remove(path)
    store = await make_store()
    assert "was not there" in store.status.words
    assert await store.experiments() == []


@pytest.mark.skipif(sys.platform == "win32", reason="platform: Windows has no such files")
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("pipe", "is a named pipe"),
        ("socket", "is a socket"),
        ("folder", "is a folder"),
        ("device", "is a device"),
        ("dangling link", "is a link to a file that does not exist"),
    ],
)
async def test_special_file_in_its_place_is_named_at_once(
    kind: str, words: str, make_store: MakeStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove(path)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        monkeypatch.chdir(path.parent)  # the address of a socket is short
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    elif kind == "folder":
        make_folder(path)
    else:
        link(path, "/dev/zero" if kind == "device" else "nowhere")
    began = time.monotonic()
    store = await make_store()
    assert time.monotonic() - began < 1
    assert store.status.mode is Mode.MEMORY
    assert words in store.status.words
    with pytest.raises(StoreError):
        await store.restore(path)
    (backup,) = await store.backups()
    await store.restore(backup.path)  # what lies there is set aside
    assert (store.status.mode, await ids_of(store)) == (Mode.READY, ALL)


async def test_file_locked_by_another_program_is_read_in_time(make_store: MakeStore, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
        store = await opened_in_time(make_store)
        assert store.status.mode is Mode.READ_ONLY
        assert "Another program holds the file locked." in store.status.words
        assert await ids_of(store) == ALL


# Kills


@pytest.mark.timeout(300)
@pytest.mark.skipif(sys.platform == "win32", reason="platform: Windows has neither fork nor SIGKILL")
@pytest.mark.parametrize("rounds", slow_except([5], [5, 50]))
def test_recovery_killed_at_random_moments_loses_nothing(rounds: int, tmp_path: Path) -> None:
    path = tmp_path / "killed" / "experiments.db"
    command = [sys.executable, "-m", "tests.engine.library.store.killed_recovery", str(path), str(rounds)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    outcome = json.loads(ended.stdout.splitlines()[-1])
    assert outcome["wrong"] == []
    assert outcome["slowest"] < LIMIT
    assert sound(path)
