"""Reading a file that a person named: whole, up to a size, and a regular one, since a pipe or a device may never end.

On the command line pipes are files, too: a shell makes one of ``<(…)``, and there Ctrl+C ends the waiting. What is
wrong is an OSError whose ``strerror`` goes on with "it is …", so that every caller's "cannot be read: …" is a sentence.
The standard library alone is used here.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO, Final

_PIECE: Final = 1024 * 1024  # bytes
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0)  # a pipe that took the file's place meanwhile is not waited for


def read_named(path: Path, most: int, *, pipes: bool = False, head: int = 0) -> bytes:
    """The content of the file at ``path``, ``most`` bytes at the most; with ``pipes``, of a pipe or device, too.

    With ``head``, its first bytes alone. Blocks. Raises OSError: for what is no such file, and for one that is larger,
    before it is read.
    """
    try:
        check_regular(path.stat(), path, pipes)
        handle = os.open(path, _FLAGS if pipes else _FLAGS | _AT_ONCE)
    except ValueError:  # a name that no file can have
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        check_regular(found, path, pipes)
        if found.st_size > most:
            raise _too_large(most, path)
        if head:
            return file.read(head)
        return read_bounded(file, most, found.st_size + 1, str(path))


def read_standard_input(most: int) -> bytes:
    """What comes over standard input, ``most`` bytes at the most. Blocks. Raises OSError."""
    return read_bounded(sys.stdin.buffer, most, _PIECE, "standard input")


def read_bounded(file: BinaryIO, most: int, likely: int, name: str) -> bytes:
    """All that ``file`` still holds, ``likely`` bytes; no more than ``most``, else it raises OSError."""
    pieces: list[bytes] = []
    room = most + 1
    while piece := file.read(min(likely if not pieces else _PIECE, room)):
        pieces.append(piece)
        room -= len(piece)
        if room <= 0:
            raise _too_large(most, name)
    return b"".join(pieces)


def check_regular(found: os.stat_result, path: Path, pipes: bool = False) -> None:
    """Raise OSError for what is no regular file; with ``pipes``, only for a folder."""
    if stat.S_ISREG(found.st_mode):
        return
    if stat.S_ISDIR(found.st_mode):
        raise OSError(errno.EISDIR, "it is a folder, not a file", str(path))
    if not pipes:
        kind = "pipe" if stat.S_ISFIFO(found.st_mode) else "device"
        raise OSError(errno.EINVAL, f"it is a {kind}, not a file", str(path))


def _too_large(most: int, name: str | Path) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {most // 1024 // 1024} MiB", str(name))
