"""Rolling backups of the store: whole copies in a folder next to it, of which the newest are kept."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playground.engine.io.database import application_id, connect, error_words, is_damage, obstacle
from playground.engine.library.store.migrations import APPLICATION_ID, MIGRATIONS, has_schema, version_of
from playground.engine.library.store.trouble import DamagedStoreError, StoreError
from playground.system.private import make_folder

MAX_BACKUPS: Final = 3
#: Seconds between the first backups of a new store; once there are ``MAX_BACKUPS``, one is made a day.
FIRST_INTERVAL: Final = 600.0
_FOLDER: Final = "backups"
_NAME: Final = "%Y-%m-%d-%H%M%S"
_NAME_LENGTH: Final = len("2026-01-31-235959")
_PAGES: Final = 4096  # pages copied between two looks at whether to stop


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup: its file, when it was made as a Unix time, its size in bytes."""

    path: Path
    created_at: float
    size: int


def list_backups(store: Path) -> list[Backup]:
    """Return the backups of the store at that path, newest first. Files with other names are left out."""
    backups: list[tuple[float, int, Backup]] = []
    with contextlib.suppress(OSError):
        for path in (store.parent / _FOLDER).glob(f"{store.stem}-*{store.suffix}"):
            moment = path.stem[len(store.stem) + 1 :][:_NAME_LENGTH]
            with contextlib.suppress(ValueError, OSError, OverflowError):
                created_at = time.mktime(time.strptime(moment, _NAME))
                info = path.stat()
                if path.is_file():
                    backups.append((created_at, info.st_mtime_ns, Backup(path, created_at, info.st_size)))
    return [backup for *_, backup in sorted(backups, key=lambda entry: entry[:2], reverse=True)]


def is_backup_due(backups: list[Backup], now: float) -> bool:
    """Return whether another backup is to be made: one a day, the first ones of a store in shorter intervals."""
    if not backups:
        return True
    if len(backups) < MAX_BACKUPS and now - backups[0].created_at > FIRST_INTERVAL:
        return True
    return time.localtime(backups[0].created_at)[:3] != time.localtime(now)[:3]


def make_backup(connection: sqlite3.Connection, store: Path, stopped: Callable[[], bool] = lambda: False) -> Path:
    """Back up the store at that path, remove the oldest backups, and return the new file. Raises StoreError."""
    folder = store.parent / _FOLDER
    try:
        make_folder(folder)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made. {error_words(error)}") from None
    _remove(folder.glob(f".{store.stem}-*.tmp*"))  # unfinished ones of processes that were killed
    target = free_name(folder / store.name, "")
    copy_database(connection, target, stopped)
    _remove(old.path for old in list_backups(store)[MAX_BACKUPS:])
    return target


def _remove(paths: Iterable[Path]) -> None:
    for path in tuple(paths):
        with contextlib.suppress(OSError):
            path.unlink()


def back_up_if_due(store: Path, stopped: Callable[[], bool]) -> None:
    """Back up the store at that path if one is due and it holds an experiment. Raises StoreError, sqlite3.Error."""
    if not is_backup_due(list_backups(store), time.time()):
        return
    with closing(connect(store, "mode=ro")) as connection:
        if connection.execute("SELECT 1 FROM experiments LIMIT 1").fetchone() is not None:
            make_backup(connection, store, stopped)


def free_name(path: Path, reason: str) -> Path:
    """Return a name next to ``path`` with a reason and the moment in it, which no file has. Raises OSError."""
    moment = time.strftime(_NAME)
    begin = f"{path.stem}.{reason}-{moment}" if reason else f"{path.stem}-{moment}"
    for number in range(1000):
        free = path.with_name(f"{begin}{f'-{number}' if number else ''}{path.suffix}")
        if not free.exists():
            return free
    raise FileExistsError(str(path))


class _StoppedError(Exception):
    """Copying was stopped."""


def copy_database(connection: sqlite3.Connection, target: Path, stopped: Callable[[], bool] = lambda: False) -> None:
    """Copy a whole database into one file, which is checked and then renamed. Raises StoreError.

    The copy is the state of one moment; in a file with a write-ahead log, writers do not wait for it.
    """

    def stop_or_continue(_status: int, _remaining: int, _total: int) -> None:
        if stopped():
            raise _StoppedError

    temporary = target.with_name(f".{target.name}.tmp")
    try:
        temporary.unlink(missing_ok=True)
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT, 0o600))
        connection.execute("BEGIN")  # one read transaction, so that writers do not make the copy begin again
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            with closing(sqlite3.connect(temporary, isolation_level=None)) as copy:
                connection.backup(copy, pages=_PAGES, progress=stop_or_continue)
                copy.execute("PRAGMA journal_mode = DELETE")
                if not passes_check(copy):
                    raise DamagedStoreError(f"{target} cannot be made: the store is damaged.")
        finally:
            connection.execute("ROLLBACK")
        sync_file(temporary)
        temporary.replace(target)
        sync_folder(target.parent)
    except (sqlite3.Error, OSError) as error:
        kind = DamagedStoreError if is_damage(error) else StoreError
        raise kind(f"{target} cannot be written. {error_words(error)}") from None
    except _StoppedError:
        raise StoreError(f"{target} was not finished.") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def passes_check(connection: sqlite3.Connection) -> bool:
    """Return whether SQLite finds the pages of a database sound. Raises sqlite3.Error."""
    return [row[0] for row in connection.execute("PRAGMA quick_check(1)")] == ["ok"]


def check_copy(path: Path, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> None:
    """Raise StoreError, with the reason, if a file is no sound store that this version can read."""
    if words := obstacle(path):
        raise StoreError(words)
    if not path.is_file():
        raise StoreError(f"{path} is not there.")
    try:
        with closing(connect(path, "mode=ro&immutable=1")) as connection:
            version = version_of(connection)
            if application_id(connection) != APPLICATION_ID or version < 1:
                raise StoreError(f"{path} is no copy of the experiments of this application.")
            if version > len(migrations):
                raise StoreError(f"{path} was written by a newer version of this application. Update it.")
            if not has_schema(connection, migrations) or not passes_check(connection):
                raise StoreError(f"{path} is damaged.")
    except (sqlite3.Error, OSError) as error:
        words = "It is damaged, or no database." if is_damage(error) else error_words(error)
        raise StoreError(f"{path} cannot be read. {words}") from None


def sync_file(path: Path) -> None:
    """Have the system write a file to the disk. Raises OSError."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Have the system write the names in a folder to the disk, where it can."""
    with contextlib.suppress(OSError):  # Windows opens no folders
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
