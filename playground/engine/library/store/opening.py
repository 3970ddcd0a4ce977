"""Open the store in the best way there is, and put into words what prevents a better one.

A damaged file is replaced by its newest backup, a file that cannot be written is read, and where no file can be opened
experiments are kept in memory. Nothing is deleted, and nothing is waited for.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playground.engine.io import database
from playground.engine.io.database import application_id, connect, connect_memory, error_words, is_damage, obstacle
from playground.engine.io.file_lock import FileLock, LockedError
from playground.engine.library.store.backups import list_backups, make_backup, passes_check
from playground.engine.library.store.migrations import (
    APPLICATION_ID,
    MIGRATIONS,
    has_schema,
    migrate,
    schema_of,
    version_of,
)
from playground.engine.library.store.recovery import (
    continue_recovery,
    create_store,
    note_damage,
    read_marker,
    recover,
    remove_marker,
)
from playground.engine.library.store.trouble import Mode, StoreError
from playground.system.private import make_folder

CHECK_SECONDS: Final = 2.0  # how long opening waits for the check of all pages; a longer one goes on in a thread
BUSY: Final = 1500  # milliseconds that opening waits for another program's lock
_HEADER: Final = 20  # bytes
#: Bytes 18 and 19 of a database: its format with and without a write-ahead log. SQLite takes others for newer formats.
_FORMATS: Final = (b"\1\1", b"\2\2")


@dataclass
class OpenedStore:
    """A connection and the notice about it. ``path`` is None for a database in memory."""

    connection: sqlite3.Connection
    mode: Mode
    words: str = ""
    path: Path | None = None
    lock: FileLock | None = None
    immutable: bool = False


class _DamagedError(Exception):
    """The file is no sound store; the text is a predicate, such as "was damaged"."""


class _ForeignError(Exception):
    """The file is a database of another program."""


def default_path() -> Path:
    """Return the store's path in the platform's folder for the data of this user."""
    from platformdirs import user_data_path

    return user_data_path("gateway-playground", appauthor=False) / "experiments.db"


def open_store(path: Path, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> OpenedStore:
    """Open the store at ``path`` in the best way there is. Blocks; no error of a disk or a file is raised."""
    if words := obstacle(path):
        return _in_memory(words)
    lock = FileLock(path.with_name(f"{path.name}.lock"))
    try:
        make_folder(path.parent)
        lock.acquire()
    except LockedError:
        return _read_only(path, "These experiments are open in another window of this application.")
    except OSError as error:
        return _read_only(path, error_words(error))
    try:
        opened = _open_for_writing(path, migrations)
    except _ForeignError:
        opened = _in_memory(f"{path} is a database of another program. It is left unchanged.")
    except _DamagedError as error:
        opened = _in_memory(f"{path} {error} and could not be restored.")
    except StoreError as error:
        opened = _read_only(path, str(error))
    except (sqlite3.Error, OSError) as error:
        opened = _read_only(path, error_words(error))
    if opened.mode is Mode.READY:
        opened.lock = lock
    else:
        lock.release()
    return opened


def _open_for_writing(path: Path, migrations: Sequence[Sequence[str]]) -> OpenedStore:
    recovery = continue_recovery(path, migrations)
    words = ""
    if not path.exists():
        backups = list_backups(path)
        create_store(path, migrations)
        if backups:
            words = f"{path.name} was not there, so the list begins empty. Its backups are listed under Storage."
    try:
        connection = _open_sound(path, migrations)
    except _DamagedError as error:
        recovery = recover(path, str(error), migrations)
        connection = _open_sound(path, migrations)
    if recovery is not None and recovery.restored:
        words = recovery.words
    try:
        version = version_of(connection)
        if version > len(migrations):
            connection.close()
            return _read_only(path, "They were written by a newer version of this application. Update it.")
        if 0 < version < len(migrations):
            backup = make_backup(connection, path)
            words = words or f"The store was updated; {backup.name} is a copy of the old one."
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection, migrations)
        connection.execute(f"PRAGMA busy_timeout = {database.BUSY}")
    except BaseException:
        connection.close()
        raise
    return OpenedStore(connection, Mode.READY, words, path)


def _open_sound(path: Path, migrations: Sequence[Sequence[str]]) -> sqlite3.Connection:
    """Open a file that was found sound. Raises _DamagedError, _ForeignError, sqlite3.Error and OSError."""
    with path.open("r+b") as file:
        header = file.read(_HEADER)
    if not header:
        raise _DamagedError("was empty")
    try:
        connection = connect(path, busy=BUSY)
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            raise _DamagedError("was damaged") from None
        raise
    try:
        _check(connection, path, migrations)
        if header[18:20] not in _FORMATS:
            raise _DamagedError("was damaged")
    except BaseException as error:
        connection.close()
        if is_damage(error):
            raise _DamagedError("was damaged") from None
        raise
    return connection


def _check(connection: sqlite3.Connection, path: Path, migrations: Sequence[Sequence[str]]) -> None:
    """Check whose file it is, its tables and its pages.

    The tables are compared because a damaged schema can hide them from a file whose pages are sound.
    Raises _DamagedError, _ForeignError and sqlite3.Error.
    """
    version, schema, program = version_of(connection), schema_of(connection), application_id(connection)
    if program != APPLICATION_ID and schema and (program or ("table", "experiments") not in schema):
        raise _ForeignError
    if not schema and not version:
        if list_backups(path):
            raise _DamagedError("was empty")
        return
    if program != APPLICATION_ID or not has_schema(connection, migrations):
        raise _DamagedError("was damaged")
    _check_pages(path)


def _check_pages(path: Path) -> None:
    """Check all pages for a limited time. Damage that is found later is noted for the next start.

    Raises _DamagedError, also if damage was noted before and the check does not end in time.
    """
    sound: list[bool] = []

    def check() -> None:
        try:
            with contextlib.closing(connect(path, "mode=ro")) as connection:
                sound.append(passes_check(connection))
        except sqlite3.Error as error:
            sound.append(not is_damage(error))
        if not sound[0]:
            note_damage(path)

    thread = threading.Thread(target=check, name="store check", daemon=True)
    thread.start()
    thread.join(CHECK_SECONDS)
    marker = read_marker(path)
    noted = marker is not None and not marker.damaged
    if sound == [False] or (noted and not sound):
        raise _DamagedError("was damaged")
    if noted:
        remove_marker(path)


def _read_only(path: Path, reason: str) -> OpenedStore:
    """Open the file for reading; if that is not possible either, a database in memory."""
    for options in ("mode=ro", "mode=ro&immutable=1"):
        connection = None
        try:
            if obstacle(path) or not path.exists():
                break
            connection = connect(path, options, BUSY // 2)
            if application_id(connection) == APPLICATION_ID and version_of(connection) > 0:
                connection.execute("SELECT count(*) FROM experiments").fetchone()
                words = f"Experiments can be read, but changes are not saved. {reason}"
                return OpenedStore(connection, Mode.READ_ONLY, words, path, immutable="immutable" in options)
        except (sqlite3.Error, OSError):
            pass
        if connection is not None:
            connection.close()
    return _in_memory(reason)


def _in_memory(reason: str) -> OpenedStore:
    connection = connect_memory()
    migrate(connection)
    words = f"Experiments stay in memory and are lost when the application ends. {reason}"
    return OpenedStore(connection, Mode.MEMORY, words)
