"""Folders and files of our own, which nobody but their owner may read. The standard library alone is used here."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_OURS: Final = "gateway-playground"  # what every folder of ours is named or stands in


def make_folder(path: Path) -> None:
    """Make the folder where there is none, for its owner alone. Raises OSError.

    One of ours that an earlier version left open to others is closed; a folder that somebody else made stays as it is.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder in (path, *path.parents):
        if _OURS in folder.parts:
            _narrow(folder, 0o700)


def make_file(path: Path) -> None:
    """Make an empty file where there is none, and leave reading and writing it to its owner. Never raises."""
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        _narrow(path, 0o600)


def _narrow(path: Path, mode: int) -> None:
    """Take every right from ``path`` that is not in ``mode``."""
    with suppress(OSError):
        found = path.stat().st_mode & 0o777
        if found & ~mode:
            path.chmod(found & mode)
