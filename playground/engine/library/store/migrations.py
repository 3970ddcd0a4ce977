"""The tables of the file, and how a file of an earlier version becomes one of this version.

``number`` of a turn is the number of its experiment, shifted, plus its place: turns of an experiment are neighbours, in
order, and a hit of the full-text search tells its experiment without another query. The index holds no text of its own:
it reads the rows it points at.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from itertools import chain
from typing import Final

APPLICATION_ID: Final = 0x67506C61
SHIFT: Final = 24
MOST_PLACES: Final = (1 << SHIFT) - 1
_MAX_NEWER: Final = 1000  # versions that a newer application may have added; a higher number is damaged
AUTO_VACUUM: Final = "PRAGMA auto_vacuum = INCREMENTAL"  # before the first table is made

_PARTS = "json_each(CASE WHEN json_valid(turns.json) THEN turns.json ELSE '{}' END, '$.parts')"
_PARTS_OF_TEXT = _PARTS.replace("WHEN", "WHEN typeof(turns.json) = 'text' AND")  # a damaged one may be a blob


def _searched_view(parts: str, part: str) -> str:
    """The view of what is searched. ``part`` is an object, with which what is no part at all does not raise."""

    def joined(what: str, kinds: str) -> str:
        which = f"json_extract({part}, '$.kind') IN ({kinds})"
        return f"(SELECT group_concat({what}, char(10)) FROM {parts} WHERE {which})"  # noqa: S608 - our own words

    text = f"json_extract({part}, '$.text')"
    called = f"json_extract({part}, '$.name') || ' ' || json_extract({part}, '$.arguments')"
    return (
        f"CREATE VIEW said AS SELECT number, {joined(text, _SPOKEN)} AS text, "  # noqa: S608 - our own words
        f"{joined(text, _THOUGHT)} AS reasoning, {joined(called, _CALLED)} AS arguments FROM turns"
    )


_SPOKEN, _THOUGHT, _CALLED = "'text', 'refusal', 'tool_result'", "'reasoning'", "'tool_call'"


_FIRST: Final = (
    """CREATE TABLE experiments (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        summary TEXT NOT NULL,
        model TEXT NOT NULL,
        protocol TEXT NOT NULL,
        pinned INTEGER NOT NULL,
        archived INTEGER NOT NULL,
        created_at REAL NOT NULL,
        changed_at REAL NOT NULL,
        has_error INTEGER NOT NULL,
        has_tools INTEGER NOT NULL,
        deleted_at REAL)""",
    """CREATE TABLE settings (
        experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
        json TEXT NOT NULL)""",
    """CREATE TABLE drafts (
        experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
        json TEXT NOT NULL)""",
    """CREATE TABLE turns (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        json TEXT NOT NULL,
        indexed INTEGER NOT NULL)""",
    "CREATE INDEX turns_unindexed ON turns (number) WHERE indexed = 0",
    """CREATE TABLE tapes (
        experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
        id TEXT NOT NULL,
        started_at REAL NOT NULL,
        head TEXT NOT NULL,
        size INTEGER NOT NULL,
        data BLOB,
        PRIMARY KEY (experiment, id))""",
    "CREATE INDEX tapes_by_age ON tapes (started_at, size) WHERE data IS NOT NULL",
    "CREATE TABLE images (hash TEXT PRIMARY KEY, url TEXT NOT NULL)",
    """CREATE TABLE image_uses (
        experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
        hash TEXT NOT NULL REFERENCES images,
        PRIMARY KEY (experiment, hash)) WITHOUT ROWID""",
    "CREATE INDEX image_uses_by_hash ON image_uses (hash)",
    "CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    _searched_view(_PARTS, "value"),
    """CREATE VIRTUAL TABLE words USING fts5 (text, reasoning, arguments, content='said', content_rowid='number',
        tokenize='unicode61 remove_diacritics 2')""",
    """CREATE VIRTUAL TABLE titles USING fts5 (title, model, content='experiments', content_rowid='number',
        tokenize='unicode61 remove_diacritics 2')""",
)

#: Reads of exchanges under way, a few in a row, so that none is ever written twice.
_SECOND: Final = (
    """CREATE TABLE tape_reads (
        experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
        tape TEXT NOT NULL,
        data BLOB NOT NULL)""",
    "CREATE INDEX tape_reads_by_tape ON tape_reads (experiment, tape)",
)

#: Undo over a restart, which version 5 drops.
_THIRD: Final = (
    """CREATE TABLE pasts (
        experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
        json TEXT NOT NULL)""",
)

#: Rows that could not be read, which version 5 drops; and the view that is searched, whatever shape a turn has.
_FOURTH: Final = (
    """CREATE TABLE unread (
        number INTEGER PRIMARY KEY,
        experiment INTEGER REFERENCES experiments ON DELETE CASCADE,
        source TEXT NOT NULL,
        row TEXT NOT NULL,
        fields TEXT NOT NULL,
        hash TEXT NOT NULL UNIQUE,
        at REAL NOT NULL)""",
    "CREATE INDEX unread_by_experiment ON unread (experiment)",
    "DROP VIEW said",
    _searched_view(_PARTS_OF_TEXT, "iif(type = 'object', value, '{}')"),
)

_FIFTH: Final = ("DROP TABLE pasts", "DROP TABLE unread")

#: What makes version n of version n - 1, one row a version. Rows stay as they are once they were released.
MIGRATIONS: Final[tuple[Sequence[str], ...]] = (_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH)
VERSION: Final = len(MIGRATIONS)


def version_of(connection: sqlite3.Connection) -> int:
    """The version of the file; 0 for an empty one."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def migrate(connection: sqlite3.Connection, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> None:
    """Bring a file up to date in one transaction, so that no end of the process leaves a version between.

    The caller has made a copy.
    """
    pending = migrations[max(version_of(connection), 0) :]
    if not pending:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in chain.from_iterable(pending):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def schema_of(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """The statement that made each part of the schema, by kind and name, however it is spaced."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master")
    return {(kind, name): "".join((sql or "").split()) for kind, name, sql in rows}


def has_schema(connection: sqlite3.Connection, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> bool:
    """Return whether a file has all parts of its version, and not those of the next one: its schema is not damaged.

    The schema of a newer version is not known. Raises sqlite3.Error.
    """
    version, schema = version_of(connection), schema_of(connection)
    if not 0 < version <= len(migrations):
        return len(migrations) < version <= len(migrations) + _MAX_NEWER
    expected, following = _made_by(migrations[:version]), _made_by(migrations[: version + 1])
    added = following.items() - expected.items()
    return expected.items() <= schema.items() and not (added and added <= schema.items())


def _made_by(migrations: Sequence[Sequence[str]]) -> dict[tuple[str, str], str]:
    with contextlib.closing(fresh(migrations)) as store:
        return schema_of(store)


def fresh(migrations: Sequence[Sequence[str]] = MIGRATIONS) -> sqlite3.Connection:
    """An empty store in memory. Its parts begin at the same pages as in every file of the version: in a file that can
    be vacuumed by increments they begin at the first pages, in the order in which they were made.
    """
    store = sqlite3.connect(":memory:", isolation_level=None)
    try:
        store.execute(AUTO_VACUUM)
        migrate(store, migrations)
    except BaseException:
        store.close()
        raise
    return store
