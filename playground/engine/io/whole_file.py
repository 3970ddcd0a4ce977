"""Atomic replacement of a file: a reader gets the old content or the new, never a part."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Final

from playground.domain.transcript import new_id
from playground.system.private import make_folder

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_whole(path: Path, data: bytes, *, private: bool = False) -> None:
    """Replace or create the file at ``path``; a link stays a link, and a file keeps its mode.

    Only the owner can read a ``private`` file, and its folder is created if it is missing. Blocks until the data is on
    disk. Raises OSError, and leaves the old file and nothing else.
    """
    try:
        target = path.resolve()
    except RuntimeError as error:  # links in a circle, on older versions of Python
        raise OSError(str(error)) from None
    if private:
        make_folder(target.parent)
    temporary = target.with_name(f".{target.name}.{new_id()}.tmp")
    try:
        with os.fdopen(os.open(temporary, _NEW, 0o600 if private else 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if not private and target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
