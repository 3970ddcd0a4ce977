"""A lock between processes, in a file of its own. The system releases it when the process ends, however it ends.

Never lock a file of SQLite: closing another handle of it would release the locks of SQLite itself. The library
``filelock`` is no replacement: on POSIX it leaves the lock file in place after release.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from pathlib import Path
from typing import Final

#: Errors of a lock that another process holds; any other means that the file system has no locks.
_CONTENTION: Final = frozenset({errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK})
_TRIES: Final = 10


class LockedError(Exception):
    """Another process holds the lock."""


class FileLock:
    """Held from ``acquire`` until ``release`` or the end of the process. A ``temporary`` file is removed on release."""

    def __init__(self, path: Path, *, temporary: bool = False) -> None:
        self._path, self._temporary = path, temporary
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock without waiting.

        Raises LockedError, and OSError if the file cannot be created or the file system has no locks.
        """
        for _ in range(_TRIES):
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                _lock(handle)
            except OSError as error:
                os.close(handle)
                if error.errno in _CONTENTION:
                    raise LockedError from None
                raise
            if self._is_ours(handle):
                self._handle = handle
                return
            os.close(handle)  # its last holder removed it in the meantime
        raise LockedError

    def release(self) -> None:
        """Release the lock; nothing happens without it. A file that is not temporary stays."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        if self._temporary and sys.platform != "win32":
            with contextlib.suppress(OSError):
                self._path.unlink()
        os.close(handle)
        if self._temporary and sys.platform == "win32":
            with contextlib.suppress(OSError):  # another process holds it already
                self._path.unlink()

    def _is_ours(self, handle: int) -> bool:
        """Return whether the locked file still has its name."""
        try:
            return os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return False


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
