"""One process writes a store: a lock on a file beside it, which the operating system lets go when the process ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path


class LockedError(Exception):
    """Another process holds the lock."""


class StoreLock:
    """Held from ``acquire`` until ``release`` or the end of the process, however it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock without waiting. Raises LockedError, and OSError where the file cannot be made."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(handle)
        except OSError:
            os.close(handle)
            raise LockedError from None
        self._handle = handle

    def release(self) -> None:
        """Let it go; without it, nothing happens. The file stays: another process may be waiting at it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
