"""Stores of each version of the schema, made by statements of that time, which are never changed again.

One experiment of two turns with its exchange, the second turn unfinished. From version 2 on the exchange is unfinished,
too; version 3 adds a state to go back to, version 4 a turn that could not be read.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def make_store(path: Path, version: int) -> None:
    """Make a store of that version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        for number in range(1, version + 1):
            script = Path(__file__).with_name(f"version_{number}.sql")
            connection.executescript(script.read_text(encoding="utf-8"))
