"""Folders and files that only their owner may read. Uses only the standard library."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_OURS: Final = "gateway-playground"  # every folder of the application has this name, or is in one that has


def make_folder(path: Path) -> None:
    """Make a missing folder for its owner alone. Raises OSError.

    A folder of the application that an earlier version left open to others is closed; other folders stay unchanged.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder in (path, *path.parents):
        if _OURS in folder.parts:
            _narrow(folder, 0o700)


def make_file(path: Path) -> None:
    """Make a missing file, which only its owner may read and write. Never raises."""
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        _narrow(path, 0o600)


def _narrow(path: Path, mode: int) -> None:
    """Remove the permissions of ``path`` that are not in ``mode``."""
    with suppress(OSError):
        permissions = path.stat().st_mode & 0o777
        if permissions & ~mode:
            path.chmod(permissions & mode)
