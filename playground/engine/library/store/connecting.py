"""Connections to the store's file, all settled the same way, and a thread of its own for one that only reads."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

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
    address = f"file:{_quoted(path.absolute())}?{options or 'mode=rw'}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, factory=Connection)
    try:
        _settle(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _quoted(path: Path) -> str:
    if sys.platform == "win32":
        from urllib.request import pathname2url  # only here: it brings an HTTP client of its own

        return pathname2url(str(path))
    return quote(os.fsencode(path))


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


T = TypeVar("T")


class Reader:
    """Reads the file at ``path``, which is opened with the first thing that is asked."""

    def __init__(self, path: Path, options: str) -> None:
        self._path, self._options = path, options
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "store reader")

    def do(self, work: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Have it done after what was asked before."""
        return self._thread.submit(self._do, work)

    def interrupt(self) -> None:
        """End what is being done now, if it takes long."""
        if self._connection is not None:
            self._connection.interrupt()

    def close(self) -> None:
        """End, after what is being done."""
        self.interrupt()
        self._thread.shutdown(wait=True, cancel_futures=True)
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = connect(self._path, self._options)
        return work(self._connection)
