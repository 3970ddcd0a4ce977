"""Faults put into the pages that say which tables a file has: whatever they are, all that it holds is there again."""

from __future__ import annotations

import asyncio
import contextlib
import random
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground.engine.library.store import Mode, Store
from tests.engine.library.store.conftest import sound
from tests.engine.library.store.test_store import simple
from tests.engine.library.store.test_trouble import content

PAGE = 4096
EXPERIMENTS = 5
TURNS = 6
PLACES = 24


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five experiments in a file without a log beside it."""
    path = tmp_path_factory.mktemp("whole") / "experiments.db"

    async def fill() -> None:
        store = Store(path)
        await store.open()
        for number in range(EXPERIMENTS):
            store.save(simple(f"e{number}", *(f"turn {n} of {number} " + "word " * 99 for n in range(TURNS))))
        await store.close()

    asyncio.run(fill())
    return path


def schema_pages(data: bytes) -> list[int]:
    """Return the numbers of the pages that hold the statements of the schema, from 0."""
    return [page for page in range(len(data) // PAGE) if b"CREATE " in data[page * PAGE : (page + 1) * PAGE]]


def places(data: bytes) -> Iterator[tuple[int, int]]:
    """Choose by chance where to put which byte, always the same ones: every third in the header of a page."""
    chance = random.Random(7)
    pages = schema_pages(data)
    for number in range(PLACES):
        at = pages[number % len(pages)] * PAGE + chance.randrange(PAGE if number % 3 else 140)
        yield at, chance.choice([0, 255, data[at] ^ 1, data[at] ^ 0x80, chance.randrange(256)])


async def opened(path: Path) -> tuple[str, dict[str, int]]:
    """What the store says of the file, and how many turns each experiment has."""
    store = Store(path)
    status = await store.open()
    found = {experiment.id: len((await store.load(experiment.id)).turns) for experiment in await store.experiments()}
    if "newer version" in status.words:  # a number a little higher: nothing is changed, and all is read
        await store.close()
        return "", found
    assert status.mode is Mode.READY, status
    store.save(simple("new", "Goes on"))
    await store.close()
    assert sound(path)
    return status.words, found


ALL = {f"e{number}": TURNS for number in range(EXPERIMENTS)}


async def test_a_damaged_byte_in_the_schema_loses_nothing(whole: Path, tmp_path: Path) -> None:
    data = content(whole)
    assert len(schema_pages(data)) > 1
    for number, (at, byte) in enumerate(places(data)):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "experiments.db"
        changed = bytearray(data)
        changed[at] = byte
        path.write_bytes(changed)
        words, found = await opened(path)
        assert found == ALL, (at, byte, words)
        if list(folder.glob("*.damaged-*.db")):
            assert "damaged" in words
            assert "5 experiments with 30 turns" in words
        else:
            assert words == ""
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM sqlite_master",
        "UPDATE sqlite_master SET rootpage = 3 WHERE name = 'turns'",
        "UPDATE sqlite_master SET sql = replace(sql, 'json', 'jsom') WHERE name = 'turns'",
        "UPDATE sqlite_master SET name = 'others', tbl_name = 'others', sql = 'CREATE TABLE others (x)'",
        "PRAGMA user_version = 0",
        f"PRAGMA user_version = {1 << 30}",
        "PRAGMA application_id = 7",
    ],
)
async def test_damaged_schema_or_version_is_no_empty_store(statement: str, whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "experiments.db"
    shutil.copy(whole, path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(statement)
        connection.commit()
    words, found = await opened(path)
    assert found == ALL
    assert "damaged" in words or "PRAGMA" in statement


async def test_what_stands_in_the_log_only_is_recovered_too(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    store = Store(tmp_path / "one" / "experiments.db")
    await store.open()
    for number in range(EXPERIMENTS):
        store.save(simple(f"e{number}", *(f"turn {n}" for n in range(TURNS))))
    await store.flush()
    path = tmp_path / "two" / "experiments.db"
    path.parent.mkdir()
    for ending in ("", "-wal"):  # as after a loss of power
        shutil.copy(tmp_path / "one" / f"experiments.db{ending}", path.with_name(path.name + ending))
    await store.close()
    assert path.with_name("experiments.db-wal").stat().st_size > 10 * PAGE
    with path.open("r+b") as file:
        file.write(random.Random(3).randbytes(PAGE))
    words, found = await opened(path)
    assert found == ALL, words
