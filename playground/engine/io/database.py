"""SQLite databases of this program: connections with one configuration, and errors in words."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

BUSY: Final = 5000  # milliseconds to wait for another program's lock
CACHE: Final = 16 * 1024  # KiB of pages in memory at most

_DAMAGE_CODES: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_WORDS: Final = {
    sqlite3.SQLITE_FULL: "The disk is full.",
    sqlite3.SQLITE_IOERR: "The disk does not take it (input/output error).",
    sqlite3.SQLITE_READONLY: "The file or its folder may not be written to.",
    sqlite3.SQLITE_PERM: "The file or its folder may not be written to.",
    sqlite3.SQLITE_CANTOPEN: "The file cannot be opened.",
    sqlite3.SQLITE_BUSY: "Another program holds the file locked.",
    sqlite3.SQLITE_LOCKED: "Another program holds the file locked.",
    sqlite3.SQLITE_NOMEM: "There is not enough memory.",
    sqlite3.SQLITE_TOOBIG: "It is larger than a database can hold.",
}
#: Errors after which the same work may succeed later.
_TRANSIENT_CODES: Final = _WORDS.keys() - {sqlite3.SQLITE_TOOBIG}
_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class Connection(sqlite3.Connection):
    """A connection that reports a damaged schema as sqlite3.DatabaseError.

    SQLite's message about a damaged schema may not be UTF-8, and Python then raises UnicodeDecodeError.
    """

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Execute one statement. Raises sqlite3.Error."""
        try:
            return super().execute(sql, parameters)
        except UnicodeDecodeError:
            error = sqlite3.DatabaseError("malformed database schema")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error from None


def connect(path: Path, options: str = "mode=rw", busy: int | None = None) -> sqlite3.Connection:
    """Open a database file; statements commit by themselves, and wait ``busy`` milliseconds for a locked file.

    ``options`` are those of SQLite's URI. Raises sqlite3.Error.
    """
    address = f"file:{_quoted(path.absolute())}?{options}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, factory=Connection)
    return _configured(connection, BUSY if busy is None else busy)


def connect_memory() -> sqlite3.Connection:
    """Open a database in memory, which ends with its connection."""
    return _configured(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False), BUSY)


def _quoted(path: Path) -> str:
    if sys.platform == "win32":
        from urllib.request import pathname2url  # it imports an HTTP client

        return pathname2url(str(path))
    return quote(os.fsencode(path))


def open_database(
    path: Path, program: int, version: int, statements: Iterable[str], refusal: str = "no file of this application"
) -> sqlite3.Connection:
    """Open a file with one version of a schema, or make it with these statements; ``:memory:`` is made in memory.

    ``program`` is its application id. Blocks. Raises sqlite3.Error, also for a file of another program or of a newer
    version, and OSError.
    """
    if words := obstacle(path):
        raise sqlite3.DatabaseError(words.removesuffix("."))
    if path == Path(":memory:"):
        connection = connect_memory()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = connect(path, "mode=rwc")
    try:
        empty = connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None
        if not empty and application_id(connection) != program:
            raise sqlite3.DatabaseError(f"it is {refusal}")
        if connection.execute("PRAGMA user_version").fetchone()[0] > version:
            raise sqlite3.DatabaseError("a newer version of this application wrote it")
        connection.execute("PRAGMA journal_mode = WAL")
        if empty:
            with transaction(connection):
                for statement in statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {program}")
                connection.execute(f"PRAGMA user_version = {version}")
    except BaseException:
        connection.close()
        raise
    return connection


def _configured(connection: sqlite3.Connection, busy: int) -> sqlite3.Connection:
    try:
        connection.execute(f"PRAGMA busy_timeout = {busy}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # no page keeps deleted text, whatever SQLite's default is
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA cache_size = {-CACHE}")
    except BaseException:
        connection.close()
        raise
    connection.text_factory = _decode
    return connection


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit the statements of the block together, or none of them if it raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def application_id(connection: sqlite3.Connection) -> int:
    """Return the number by which a program marks its database files; 0 if it sets none."""
    number: int = connection.execute("PRAGMA application_id").fetchone()[0]
    return number


def obstacle(path: Path) -> str:
    """Return why nothing at ``path`` can be opened as a file, as a sentence; empty for a file or a free name.

    Opening a named pipe waits for its other end, and a device may never end: neither is opened.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return f"{path} is a link to a file that does not exist." if path.is_symlink() else ""
    except OSError:
        return ""  # opening it reports the reason
    kind = next((words for is_kind, words in _KINDS if is_kind(mode)), "")
    return f"{path} is {kind}, not a file." if kind else ""


def error_code(error: BaseException) -> int:
    """Return SQLite's primary result code; 0 if there is none."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def is_damage(error: BaseException) -> bool:
    """Return whether an error says that the file is damaged or is no database."""
    return error_code(error) in _DAMAGE_CODES


def is_index_damage(error: BaseException) -> bool:
    """Return whether an error says that the full-text index is damaged, which can be rebuilt."""
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_CORRUPT_VTAB


def is_transient(error: BaseException) -> bool:
    """Return whether the same work may succeed later, for example once the disk has room."""
    return isinstance(error, OSError) or error_code(error) in _TRANSIENT_CODES


def error_words(error: BaseException) -> str:
    """Return one sentence on an error of a disk or of SQLite."""
    if isinstance(error, OSError):
        return f"{error.strerror or error}.".replace("..", ".")
    if is_damage(error):
        return "The file is damaged. Start the application again to have it restored from a backup."
    return _WORDS.get(error_code(error)) or f"{str(error)[:200]}."
