"""Takes over what can still be read of a damaged file: row by row, around the pages that cannot be."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from playground.engine.store.connecting import connect
from playground.engine.store.rows import rebuild_index
from playground.engine.store.schema import migrate

#: In the order in which rows may refer to one another.
_TABLES: Final = ("experiments", "settings", "drafts", "turns", "images", "tapes", "tape_reads", "image_uses", "state")
_PAGE: Final = 4096
_LARGEST: Final = (1 << 63) - 1


@dataclass
class Salvage:
    """What was found."""

    experiments: int = 0
    turns: int = 0


def salvage(damaged: Path, connection: sqlite3.Connection) -> Salvage:
    """Copy every row that can be read into ``connection``, which holds an empty store. Raises sqlite3.Error of that."""
    found = Salvage()
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    try:
        with _readable(damaged) as source:
            for table in _TABLES:
                count = _take(source, table, connection)
                found.turns = count if table == "turns" else found.turns
        _adopt(connection)
        found.experiments = connection.execute("SELECT count(*) FROM experiments").fetchone()[0]
        rebuild_index(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("PRAGMA foreign_keys = ON")
    return found


@contextlib.contextmanager
def _readable(damaged: Path) -> Iterator[Path]:
    """A copy that SQLite opens: its header says the size that it has, and a first page that is lost is put in anew.

    Where tables begin is the same in every file of a version, so the first page of another one will do.
    """
    with tempfile.TemporaryDirectory(prefix=".salvage-", dir=damaged.parent) as folder:
        copy = Path(folder) / "copy.db"
        shutil.copyfile(damaged, copy)
        log = damaged.with_name(f"{damaged.name}-wal")
        if log.exists():
            shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
        _put_header(copy)
        try:
            with _open(copy) as source:
                source.execute("SELECT count(*) FROM turns WHERE number < 0").fetchone()
        except sqlite3.Error:
            other = Path(folder) / "other.db"
            with contextlib.closing(sqlite3.connect(other, isolation_level=None)) as made:
                made.execute("PRAGMA auto_vacuum = INCREMENTAL")
                migrate(made)
            _put_header(copy, other.read_bytes()[:_PAGE])
        yield copy


def _put_header(copy: Path, page: bytes = b"") -> None:
    """Write the size that the file has into its header, and before that ``page`` over its first one."""
    pages = copy.stat().st_size // _PAGE
    with copy.open("r+b") as file:
        file.write(page)
        file.seek(24)
        counter = file.read(4)
        file.seek(28)
        file.write(struct.pack(">I", pages))
        file.seek(92)
        file.write(counter)  # only so is the size taken for true


def _adopt(connection: sqlite3.Connection) -> None:
    """Turns whose experiment is lost get one; rows that belong to nothing go."""
    connection.execute(
        """INSERT INTO experiments SELECT lost, 'recovered-' || lower(hex(randomblob(6))), 'Recovered', '', '', 'chat',
            0, 0, strftime('%s', 'now'), strftime('%s', 'now'), 0, 0, NULL
            FROM (SELECT DISTINCT number >> 24 AS lost FROM turns)
            WHERE lost NOT IN (SELECT number FROM experiments)"""
    )
    for table in ("settings", "drafts", "tapes", "tape_reads", "image_uses"):
        connection.execute(f"DELETE FROM {table} WHERE experiment NOT IN (SELECT number FROM experiments)")  # noqa: S608 - our own names
    connection.execute("DELETE FROM image_uses WHERE hash NOT IN (SELECT hash FROM images)")


def _take(damaged: Path, table: str, connection: sqlite3.Connection) -> int:
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    keyed = table != "image_uses"  # that one has no row numbers
    marks = ", ".join("?" * len(columns))
    statement = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - our own names
    count = 0
    for row in _rows(damaged, table, columns, keyed):
        with contextlib.suppress(sqlite3.IntegrityError):
            count += connection.execute(statement, row).rowcount
    return count


def _rows(damaged: Path, table: str, columns: list[str], keyed: bool) -> Iterator[tuple[Any, ...]]:
    """Rows from the front until one cannot be read, from the back likewise, then what lies between, by jumps."""
    names = ", ".join(columns)
    if not keyed:
        with contextlib.suppress(sqlite3.Error), _open(damaged) as source:
            yield from source.execute(f"SELECT {names} FROM {table}")  # noqa: S608 - our own names
        return
    low, high = 0, _LARGEST
    last: int | None = None
    try:
        with _open(damaged) as source:
            for number, *row in source.execute(f"SELECT rowid, {names} FROM {table} ORDER BY rowid"):  # noqa: S608 - our own names
                last = number
                yield tuple(row)
        return
    except sqlite3.Error:
        low = last if last is not None else 0
    first: int | None = None
    with contextlib.suppress(sqlite3.Error), _open(damaged) as source:
        query = f"SELECT rowid, {names} FROM {table} WHERE rowid > ? ORDER BY rowid DESC"  # noqa: S608 - our own names
        for number, *row in source.execute(query, (low,)):
            first = number
            yield tuple(row)
    high = first if first is not None else _LARGEST
    yield from _between(damaged, table, names, low, high)


def _between(damaged: Path, table: str, names: str, low: int, high: int) -> Iterator[tuple[Any, ...]]:
    """Rows in the middle: after each row that cannot be read the step doubles, after each that can it is one again."""
    query = f"SELECT rowid, {names} FROM {table} WHERE rowid > ? AND rowid < ? ORDER BY rowid"  # noqa: S608 - our own names
    step = 1
    while low + step < high and step < 1 << 40:
        try:
            with _open(damaged) as source:
                for number, *row in source.execute(query, (low + step - 1, high)):
                    low, step = number, 1
                    yield tuple(row)
            return
        except sqlite3.Error:
            step *= 2


@contextlib.contextmanager
def _open(damaged: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(connect(damaged, "mode=ro")) as source:
        yield source
