"""SQLite files of this program: opened, made, or refused with the reason, without waiting."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from playground.engine.io.database import connect, open_database, transaction

PROGRAM, VERSION, TABLES = 0x1234, 2, ("CREATE TABLE notes (text TEXT)",)


def test_new_file_has_tables_program_and_version(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a ?#%.db"
    for _ in range(2):
        with closing(open_database(path, PROGRAM, VERSION, TABLES)) as connection:
            connection.execute("INSERT INTO notes VALUES ('x')")
    with closing(connect(path, "mode=ro")) as connection:
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == (2,)
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)
    with closing(open_database(Path(":memory:"), PROGRAM, VERSION, TABLES)) as connection:
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == (0,)


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ("CREATE TABLE theirs (x)", "it is no file of notes"),
        ("CREATE TABLE theirs (x); PRAGMA application_id = 7", "it is no file of notes"),
        (f"CREATE TABLE t (x); PRAGMA application_id = {PROGRAM}; PRAGMA user_version = 3", "newer version"),
    ],
)
def test_file_of_another_program_or_version_is_refused(statements: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)
    before = path.read_bytes()
    with pytest.raises(sqlite3.DatabaseError, match=reason):
        open_database(path, PROGRAM, VERSION, TABLES, "no file of notes")
    assert path.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="platform: Windows has no such files")
def test_pipe_and_device_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name, reason in (("pipe", "named pipe"), ("device", "device")):
        with pytest.raises(sqlite3.DatabaseError, match=reason):
            open_database(tmp_path / name, PROGRAM, VERSION, TABLES)


def test_transaction_that_raises_changes_nothing(tmp_path: Path) -> None:
    with closing(open_database(tmp_path / "notes.db", PROGRAM, VERSION, TABLES)) as connection:
        with contextlib.suppress(ValueError), transaction(connection):
            connection.execute("INSERT INTO notes VALUES ('x')")
            raise ValueError
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == (0,)
