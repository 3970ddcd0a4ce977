"""Connections to the store's file, all settled the same way."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Final
from urllib.request import pathname2url

BUSY: Final = 5000  # milliseconds
CACHE: Final = 16 * 1024  # KiB at most


class Connection(sqlite3.Connection):
    """One whose every fault is an sqlite3.Error: of a damaged schema SQLite's own words are no text at times, and
    Python raises UnicodeDecodeError for them.
    """

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """As ``sqlite3.Connection`` does it."""
        try:
            return super().execute(sql, parameters)
        except UnicodeDecodeError:
            error = sqlite3.DatabaseError("malformed database schema")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error from None


def connect(path: Path, options: str = "") -> sqlite3.Connection:
    """A connection as every one of ours is: statements commit by themselves, and it waits for a locked file."""
    address = f"file:{pathname2url(str(path.absolute()))}?{options or 'mode=rw'}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, factory=Connection)
    try:
        _settle(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_memory() -> sqlite3.Connection:
    """A connection to a database of its own, which ends with it."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _settle(connection)
    return connection


def _settle(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA busy_timeout = {BUSY}")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # no page keeps what was deleted, whatever SQLite was built for
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA cache_size = {-CACHE}")
    connection.text_factory = _decoded


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
