"""From a path to a connection, whatever stands in the way, and words for what stood there.

A file that cannot be written is read; one that cannot be read is set aside and as much as possible is taken over into a
new one; where there is no place at all, a database in memory takes its part. Nothing is ever deleted.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from playground.engine.io.file_lock import FileLock, LockedError
from playground.engine.library.store.connecting import connect, connect_memory
from playground.engine.library.store.schema import (
    AUTO_VACUUM,
    MIGRATIONS,
    fresh,
    is_ours,
    migrate,
    schema_of,
    version_of,
)
from playground.engine.library.store.trouble import Mode, StoreError, is_damage, words_of
from playground.private import make_file, make_folder

if TYPE_CHECKING:
    from playground.engine.library.store.recovery import Salvage

_AHEAD: Final = 1000  # versions that a newer application may have added
_HEADER: Final = 100  # bytes at the front of a file of SQLite's
#: What stands in them, by its place, in every file of ours.
_ALWAYS: Final = {
    16: (b"\x10\0",),  # the size of a page: 4,096
    18: (b"\1\1", b"\2\2"),  # written and read without a log, or with one
    20: (b"\0\x40\x20\x20",),  # nothing left free in a page, and how full one is made
    44: (b"\0\0\0\4", bytes(4)),  # the format of the schema, before there is one as well
    56: (b"\0\0\0\1", bytes(4)),  # UTF-8
}
_BESIDE: Final = ("-wal", "-shm", "-journal")


@dataclass
class Opened:
    """A connection and what to say of it. ``path`` is None for a database in memory."""

    connection: sqlite3.Connection
    mode: Mode
    words: str = ""
    path: Path | None = None
    lock: FileLock | None = None
    immutable: bool = False


class DamagedError(Exception):
    """The file is no database, or a broken one."""


class ForeignError(Exception):
    """The file is a database of another application."""


def default_path() -> Path:
    """Where experiments are kept: in the platform's folder for the data of this user."""
    from platformdirs import user_data_path

    return user_data_path("gateway-playground", appauthor=False) / "experiments.db"


def open_store(path: Path, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> Opened:
    """Open the store at ``path`` in the best way there is. Never raises for what a disk does."""
    try:
        make_folder(path.parent)
        lock = FileLock(path.with_name(path.name + ".lock"))
        lock.acquire()
    except LockedError:
        return _for_reading(path, "These experiments are open in another window of this application.")
    except OSError as error:
        return _for_reading(path, words_of(error))
    try:
        opened = _for_writing(path, migrations)
    except (sqlite3.Error, OSError) as error:
        lock.release()
        return _for_reading(path, words_of(error))
    if opened.mode is Mode.READY:
        opened.lock = lock
    else:
        lock.release()
    return opened


def _for_writing(path: Path, migrations: Sequence[Sequence[str]]) -> Opened:
    words = ""
    try:
        connection = _checked(path, migrations)
    except DamagedError:
        return _recovered(path, migrations)
    except ForeignError:
        return _begun_anew(path, migrations)
    try:
        version = version_of(connection)
        if version > len(migrations):
            connection.close()
            return _for_reading(path, "They were written by a newer version of this application. Update it.")
        if 0 < version < len(migrations):
            copy = beside(path, f"before-version-{len(migrations)}")
            copy_to(connection, copy)
            words = f"The store was brought up to date; {copy.name} is how it was before."
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection, migrations)
    except BaseException:
        connection.close()
        raise
    return Opened(connection, Mode.READY, words, path)


def _checked(path: Path, migrations: Sequence[Sequence[str]]) -> sqlite3.Connection:
    """A connection to a sound file of ours, made if there is none.

    Raises DamagedError, ForeignError, sqlite3.Error and OSError.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    begin = os.read(file, _HEADER)
    os.close(file)
    broken = bool(begin) and not all(begin[at:].startswith(values) for at, values in _ALWAYS.items())
    logged = path.with_name(f"{path.name}-wal").exists()  # which may have that page anew
    try:
        connection = connect(path)
    except sqlite3.DatabaseError as error:
        if is_damage(error) or broken:
            raise DamagedError from None
        raise
    try:
        if not begin:
            connection.execute(AUTO_VACUUM)
        else:
            _check(connection, migrations)
            if broken and not logged:
                raise DamagedError  # SQLite may take it for one of a later version of its own, and write nothing
    except BaseException as error:
        connection.close()
        if is_damage(error) or (isinstance(error, sqlite3.Error) and broken):
            raise DamagedError from None
        raise
    return connection


def _check(connection: sqlite3.Connection, migrations: Sequence[Sequence[str]]) -> None:
    """Look at the pages, and at the tables: a damaged page of the schema can hide all there is from a file that SQLite
    finds sound. Raises DamagedError, ForeignError and sqlite3.Error.
    """
    version, parts = version_of(connection), schema_of(connection)
    ours, then = _schema(migrations), _schema(migrations[:version])
    if not is_ours(connection):
        raise ForeignError if parts.keys().isdisjoint(ours) else DamagedError
    if version > len(migrations) + _AHEAD or (version < len(migrations) and ours.items() <= parts.items()):
        raise DamagedError  # it is the number that is
    if version <= len(migrations) and (not then.items() <= parts.items() or (parts and not version)):
        raise DamagedError
    if [row[0] for row in connection.execute("PRAGMA quick_check(1)")] != ["ok"]:
        raise DamagedError


def _schema(migrations: Sequence[Sequence[str]]) -> dict[tuple[str, str], str]:
    with contextlib.closing(fresh(migrations)) as made:
        return schema_of(made)


def _recovered(path: Path, migrations: Sequence[Sequence[str]]) -> Opened:
    from playground.engine.library.store.recovery import salvage

    opened, aside = _begun(path, migrations)
    try:
        found = salvage(aside, opened.connection)
    except BaseException:
        opened.connection.close()
        raise
    opened.words = f"The file was damaged. {_found_words(found)} It is kept as {aside.name}."
    return opened


def _begun_anew(path: Path, migrations: Sequence[Sequence[str]]) -> Opened:
    opened, aside = _begun(path, migrations)
    opened.words = f"The file was made by another application. The list begins empty, and it is kept as {aside.name}."
    return opened


def _begun(path: Path, migrations: Sequence[Sequence[str]]) -> tuple[Opened, Path]:
    """A new store in the place of a file, and where that one is now."""
    aside = set_aside(path, "damaged")
    connection = _checked(path, migrations)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection, migrations)
    except BaseException:
        connection.close()
        raise
    return Opened(connection, Mode.READY, path=path), aside


def _found_words(found: Salvage) -> str:
    if not found.experiments:
        return "Nothing in it could be read, so the list begins empty."
    what = f"{found.experiments} experiment{'s' * (found.experiments != 1)} with {found.turns} turns"
    return f"What could be read of it was taken over: {what}."


def _for_reading(path: Path, why: str) -> Opened:
    """The file as it is, without writing to it; else a database in memory."""
    for more in ("", "&immutable=1"):
        if not path.exists():
            break
        try:
            connection = connect(path, f"mode=ro{more}")
        except sqlite3.Error:
            continue
        try:
            if is_ours(connection) and version_of(connection) > 0:
                connection.execute("SELECT count(*) FROM experiments").fetchone()
                words = f"Experiments can be read, but changes are not saved. {why}"
                return Opened(connection, Mode.READ_ONLY, words, path, immutable=bool(more))
        except sqlite3.Error:
            pass
        connection.close()
    connection = connect_memory()
    migrate(connection)
    words = f"Experiments are kept in memory only and are gone when the application ends. {why}"
    return Opened(connection, Mode.MEMORY, words)


def beside(path: Path, why: str) -> Path:
    """A name that is free beside ``path``, with the reason and the moment in it."""
    moment = time.strftime("%Y-%m-%d-%H%M%S")
    for number in range(1000):
        more = f"-{number}" if number else ""
        found = path.with_name(f"{path.stem}.{why}-{moment}{more}{path.suffix}")
        if not found.exists():
            return found
    raise FileExistsError(str(path))


def set_aside(path: Path, why: str) -> Path:
    """Rename the file and what SQLite keeps beside it. Returns its new name. Raises OSError."""
    aside = beside(path, why)
    for ending in ("", *_BESIDE):
        part = path.with_name(path.name + ending)
        if part.exists():
            part.rename(aside.with_name(aside.name + ending))
    return aside


def copy_to(connection: sqlite3.Connection, target: Path) -> None:
    """Copy the whole database into one file, which is there whole or not at all. Raises StoreError."""
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        temporary.unlink(missing_ok=True)
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT, 0o600))
        with contextlib.closing(sqlite3.connect(temporary, isolation_level=None)) as copy:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        temporary.replace(target)
    except (sqlite3.Error, OSError) as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise StoreError(f"{target} cannot be written. {words_of(error)}") from None


def check_backup(path: Path, most: int = len(MIGRATIONS)) -> None:
    """Raise StoreError in words where a file is no sound store that this version can read."""
    if not path.is_file():
        raise StoreError(f"{path} is not there.")
    try:
        with contextlib.closing(connect(path, "mode=ro&immutable=1")) as connection:
            version = version_of(connection)
            if not is_ours(connection) or version < 1:
                raise StoreError(f"{path} is no copy of the experiments of this application.")
            if version > most:
                raise StoreError(f"{path} was written by a newer version of this application. Update it.")
            if [row[0] for row in connection.execute("PRAGMA quick_check(1)")] != ["ok"]:
                raise StoreError(f"{path} is damaged.")
    except sqlite3.Error as error:
        words = "It is damaged, or no database." if is_damage(error) else words_of(error)
        raise StoreError(f"{path} cannot be read. {words}") from None


def put_back(copy: Path, path: Path) -> Path | None:
    """Put a checked copy in the place of the store, which nobody has open; that one is set aside. Raises StoreError."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        make_file(temporary)
        shutil.copyfile(copy, temporary)
        aside = set_aside(path, "before-restore") if path.exists() else None
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise StoreError(f"The copy cannot be put in place. {words_of(error)}") from None
    return aside
