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

from playground.engine.library.store.connecting import connect
from playground.engine.library.store.rows import rebuild_index
from playground.engine.library.store.schema import AUTO_VACUUM, fresh
from playground.protocols import DEFAULT

#: In the order in which rows may refer to one another.
_OF_AN_EXPERIMENT: Final = ("settings", "drafts", "tapes", "tape_reads", "image_uses", "pasts", "unread")
_TABLES: Final = ("experiments", "turns", "images", *_OF_AN_EXPERIMENT, "state")
_PAGE: Final = 4096
_KIND: Final = 100  # where the first page says what it is
_LEAF: Final = 0x0D  # all of a table
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
        with _readable(damaged) as sources:
            for table in _TABLES:
                count = sum(_take(source, table, connection) for source in sources)
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
def _readable(damaged: Path) -> Iterator[list[Path]]:
    """Copies that SQLite opens: with the schema of our own put in its place, and with the one that the file has.

    Where the tables begin is the same in every file, so nothing of its own schema is needed. That it is not the same in
    one file or another (a copy that was made anew by another program) is why its own is asked, too.
    """
    with tempfile.TemporaryDirectory(prefix=".salvage-", dir=damaged.parent) as folder:
        own, given = Path(folder) / "own.db", Path(folder) / "given.db"
        log = damaged.with_name(f"{damaged.name}-wal")
        for copy in (own, given):
            shutil.copyfile(damaged, copy)
            if log.exists():
                shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
        page = _schema_page(Path(folder))
        if log.exists():
            _put_header(own, page, logged=True)
            with contextlib.suppress(sqlite3.Error), contextlib.closing(connect(own)) as source:
                source.execute("PRAGMA application_id")  # as it is closed, it takes over what the log has
            own.with_name(f"{own.name}-wal").unlink(missing_ok=True)
        _put_header(own, page)
        _put_header(given)
        yield [own, given]


def _schema_page(folder: Path) -> bytes:
    """A first page that says where our tables begin and nothing else, for that fits one page, as not all of it does."""
    with contextlib.closing(fresh()) as made:
        parts = made.execute("SELECT name, rootpage, sql FROM sqlite_master WHERE rootpage > 0").fetchall()
    path = folder / "schema.db"
    statements = {name: sql for name, _, sql in parts}
    roots = [(at, name) for name, at, _ in parts]
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as source:
        source.execute(AUTO_VACUUM)
        source.execute("PRAGMA synchronous = OFF")
        source.execute("BEGIN")
        for table in _TABLES:
            source.execute(statements[table])
        source.execute("PRAGMA writable_schema = ON")
        source.executemany("UPDATE sqlite_master SET rootpage = ? WHERE name = ?", roots)
        source.execute("COMMIT")
    page = path.read_bytes()[:_PAGE]
    if page[_KIND] != _LEAF:
        raise AssertionError("The tables no longer fit one page.")
    return page


def _put_header(copy: Path, page: bytes = b"", *, logged: bool = False) -> None:
    """Write the size that the file has into its header, and before that ``page`` over its first one. ``logged`` has
    SQLite read the log beside it.
    """
    pages = copy.stat().st_size // _PAGE
    with copy.open("r+b") as file:
        file.write(page)
        if logged:
            file.seek(18)
            file.write(b"\2\2")
        file.seek(24)
        counter = file.read(4)
        file.seek(28)
        file.write(struct.pack(">I", pages))
        file.seek(92)
        file.write(counter)  # only so is the size taken for true


def _adopt(connection: sqlite3.Connection) -> None:
    """Turns whose experiment is lost get one; rows that belong to nothing go."""
    connection.execute(
        """INSERT INTO experiments SELECT lost, 'recovered-' || lower(hex(randomblob(6))), 'Recovered', '', '', ?,
            0, 0, strftime('%s', 'now'), strftime('%s', 'now'), 0, 0, NULL
            FROM (SELECT DISTINCT number >> 24 AS lost FROM turns)
            WHERE lost NOT IN (SELECT number FROM experiments)""",
        (DEFAULT,),
    )
    for table in _OF_AN_EXPERIMENT:
        connection.execute(f"DELETE FROM {table} WHERE experiment NOT IN (SELECT number FROM experiments)")  # noqa: S608 - our own names
    connection.execute("DELETE FROM image_uses WHERE hash NOT IN (SELECT hash FROM images)")


def _take(damaged: Path, table: str, connection: sqlite3.Connection) -> int:
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    if not _has(damaged, table, connection):
        return 0
    keyed = table != "image_uses"  # that one has no row numbers
    begins = "[" if table == "pasts" else "{"
    texts = [at for at, name in enumerate(columns) if name in ("json", "head", "row")]
    count = 0
    for row in _rows(damaged, table, columns, keyed):
        if not all(_text(row[at]).startswith(begins) for at in texts) and not _has_shape(table, row):
            continue  # of another table, where it is a damaged schema that says which is which
        marks = ", ".join("CAST(? AS TEXT)" if isinstance(value, _NoText) else "?" for value in row)
        statement = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - our own names
        with contextlib.suppress(sqlite3.IntegrityError):
            count += connection.execute(statement, row).rowcount
    return count


class _NoText(bytes):
    """A text that is no UTF-8, taken over as it is."""


def _as_it_is(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _NoText(data)


def _text(value: object) -> str:
    if isinstance(value, _NoText):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""


def _has_shape(table: str, row: tuple[Any, ...]) -> bool:
    """Whether it can be no other table's, whatever its text is."""
    if table == "turns":
        return isinstance(row[1], str | bytes) and row[2] is not None and row[3] in (0, 1)
    if table == "tapes":
        return isinstance(row[0], int) and isinstance(row[2], float) and row[3] is not None and isinstance(row[4], int)
    return False


def _has(damaged: Path, table: str, connection: sqlite3.Connection) -> bool:
    """Whether the file says of that table what ours says."""
    statement = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?"
    try:
        with _open(damaged) as source:
            return bool(
                source.execute(statement, (table,)).fetchone() == connection.execute(statement, (table,)).fetchone()
            )
    except sqlite3.Error:
        return False


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
        source.text_factory = _as_it_is
        yield source
