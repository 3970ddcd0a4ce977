"""Connections to the store's file, all settled the same way."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final
from urllib.request import pathname2url

BUSY: Final = 5000  # milliseconds
CACHE: Final = 16 * 1024  # KiB at most


def connect(path: Path, options: str = "") -> sqlite3.Connection:
    """A connection as every one of ours is: statements commit by themselves, and it waits for a locked file."""
    address = f"file:{pathname2url(str(path.absolute()))}?{options or 'mode=rw'}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
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
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA cache_size = {-CACHE}")
    connection.text_factory = _decoded


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
