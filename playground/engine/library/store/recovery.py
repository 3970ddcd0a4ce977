"""Replace a damaged store by its newest sound backup.

A marker file next to the store says how far this is, so that a start after a kill continues it:

1. The newest sound backup is copied next to the store under a temporary name and checked.
2. The marker is written.
3. The damaged file is renamed to a dated name; the files that SQLite keeps next to it follow.
4. The copy is renamed to the store's name, and the marker says so.

The marker stays until the store is closed: until then each start shows the notice again. Nothing is deleted.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from playground.engine.io.database import connect, error_words
from playground.engine.io.files import write_whole
from playground.engine.library.store.backups import check_copy, free_name, list_backups, sync_file, sync_folder
from playground.engine.library.store.migrations import AUTO_VACUUM, migrate
from playground.engine.library.store.trouble import StoreError
from playground.system.named_file import read_named
from playground.system.private import make_file

_SIDE_FILES = ("-wal", "-shm", "-journal")
_MAX_MARKER = 64 * 1024  # bytes
_EMPTY_HINT = "The list begins empty."


@dataclass(frozen=True, slots=True)
class Recovery:
    """The marker: what was wrong, the name of the damaged file, when the backup was made, whether it is in place.

    ``damaged`` is empty while damage was noticed and nothing was done yet. ``backup_at`` is a Unix time, 0 if there was
    no sound backup.
    """

    reason: str
    damaged: str = ""
    backup_at: float = 0.0
    restored: bool = False

    @property
    def words(self) -> str:
        """The notice for people."""
        old_file = f"The old file is kept as {self.damaged}."
        if not self.backup_at:
            return f"The file of experiments {self.reason}, and there is no backup. {_EMPTY_HINT} {old_file}"
        moment = time.strftime("%d %b %Y, %H:%M", time.localtime(self.backup_at))
        return f"The file of experiments {self.reason}. It was restored from the backup of {moment}. {old_file}"


def _marker(store: Path) -> Path:
    return store.with_name(f"{store.name}.recovery")


def read_marker(store: Path) -> Recovery | None:
    """Return the recovery that is under way or was not closed yet; None if there is none."""
    try:
        content = json.loads(read_named(_marker(store), _MAX_MARKER))
        return Recovery(
            str(content["reason"]),
            Path(content["damaged"]).name,
            float(content["backup_at"]),
            bool(content["restored"]),
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_marker(store: Path, recovery: Recovery) -> None:
    """Write the marker. Raises OSError."""
    write_whole(_marker(store), json.dumps(asdict(recovery)).encode(), private=True)
    sync_folder(store.parent)


def finish(store: Path) -> None:
    """Remove the marker of a recovery whose notice was shown."""
    marker = read_marker(store)
    if marker is not None and marker.restored:
        remove_marker(store)


def remove_marker(store: Path) -> None:
    """Remove the marker, if there is one."""
    with contextlib.suppress(OSError):
        _marker(store).unlink(missing_ok=True)


def note_damage(store: Path) -> None:
    """Note that the store is damaged: the next start restores it."""
    with contextlib.suppress(OSError):
        marker = read_marker(store)
        if marker is None or marker.restored:
            write_marker(store, Recovery("was damaged"))


def continue_recovery(store: Path, migrations: Sequence[Sequence[str]]) -> Recovery | None:
    """Finish a recovery that was interrupted, and return the marker. Raises OSError, sqlite3.Error."""
    recovery = read_marker(store)
    if recovery is None or not recovery.damaged or recovery.restored:
        return recovery
    damaged = store.with_name(recovery.damaged)
    if not damaged.exists():
        remove_marker(store)  # nothing was done yet: the damage is found again
        return None
    if not store.exists():
        _set_aside_rest(store, damaged)
        if not _is_sound_copy(_temporary(store), migrations):
            recovery = replace(recovery, backup_at=_prepare(store, migrations))
        _temporary(store).replace(store)
    return _finish(store, recovery)


def recover(store: Path, reason: str, migrations: Sequence[Sequence[str]]) -> Recovery:
    """Set a damaged store aside and restore the newest sound backup, else an empty store.

    It is not open. Raises OSError, sqlite3.Error: nothing is changed then, or the next start continues.
    """
    backup_at = _prepare(store, migrations)
    damaged = free_name(store, "damaged")
    recovery = Recovery(reason, damaged.name, backup_at)
    write_marker(store, recovery)
    store.rename(damaged)
    _set_aside_rest(store, damaged)
    _temporary(store).replace(store)
    return _finish(store, recovery)


def _finish(store: Path, recovery: Recovery) -> Recovery:
    sync_folder(store.parent)
    recovery = replace(recovery, restored=True)
    write_marker(store, recovery)
    return recovery


def _temporary(store: Path) -> Path:
    return store.with_name(f".{store.name}.tmp")


def _prepare(store: Path, migrations: Sequence[Sequence[str]]) -> float:
    """Make the file that will take the place of the store; return when its backup was made, 0 for an empty one."""
    temporary = _temporary(store)
    for backup in list_backups(store):
        _copy(backup.path, temporary)
        if _is_sound_copy(temporary, migrations):
            return backup.created_at
    _make_empty(temporary, migrations)
    return 0.0


def _is_sound_copy(path: Path, migrations: Sequence[Sequence[str]]) -> bool:
    try:
        check_copy(path, migrations)
    except StoreError:
        return False
    return True


def _copy(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    make_file(target)
    shutil.copyfile(source, target)
    sync_file(target)


def _make_empty(path: Path, migrations: Sequence[Sequence[str]]) -> None:
    path.unlink(missing_ok=True)
    make_file(path)
    with closing(connect(path)) as connection:
        connection.execute(AUTO_VACUUM)
        migrate(connection, migrations)
    sync_file(path)


def create_store(store: Path, migrations: Sequence[Sequence[str]]) -> None:
    """Make an empty store, which is there whole or not at all. Raises OSError, sqlite3.Error."""
    _make_empty(_temporary(store), migrations)
    _temporary(store).replace(store)
    sync_folder(store.parent)


def _set_aside_rest(store: Path, aside: Path) -> None:
    """Rename the files that SQLite keeps next to a database, which would damage another one of that name."""
    for ending in _SIDE_FILES:
        part = store.with_name(store.name + ending)
        if part.exists():
            part.replace(aside.with_name(aside.name + ending))


def put_back(copy: Path, store: Path) -> Path | None:
    """Put a checked copy in the place of a closed store; return the name of the old file.

    Raises StoreError.
    """
    aside = None
    try:
        _copy(copy, _temporary(store))
        if store.exists():
            aside = free_name(store, "before-restore")
            write_marker(store, Recovery("was replaced by a copy", aside.name, copy.stat().st_mtime))
            store.rename(aside)
            _set_aside_rest(store, aside)
        _temporary(store).replace(store)
        sync_folder(store.parent)
        remove_marker(store)
    except OSError as error:
        raise StoreError(f"The copy cannot be restored. {error_words(error)}") from None
    return aside
