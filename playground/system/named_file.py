"""Reading a file that a person named: a regular one up to a size, because a pipe or a device may never end.

The command line also accepts pipes: a shell makes one of ``<(…)``, and Ctrl+C ends the waiting. An error is an OSError
whose ``strerror`` begins with "it is …", so that "cannot be read: …" of every caller is a sentence.
Uses only the standard library.
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
    """Return the content of the file at ``path``, at most ``most`` bytes; ``pipes`` allows pipes and devices.

    With ``head``, return only that many first bytes. Blocks. Raises OSError for another kind of file, and for a larger
    one before it is read.
    """
    try:
        check_regular(path.stat(), path, pipes)
        handle = os.open(path, _FLAGS if pipes else _FLAGS | _AT_ONCE)
    except ValueError:  # a name that no file can have
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        check_regular(status, path, pipes)
        if status.st_size > most:
            raise _too_large(most, path)
        if head:
            return file.read(head)
        return read_bounded(file, most, status.st_size + 1, str(path))


def read_standard_input(most: int) -> bytes:
    """Return the content of standard input, at most ``most`` bytes. Blocks. Raises OSError."""
    return read_bounded(sys.stdin.buffer, most, _PIECE, "standard input")


def read_bounded(file: BinaryIO, most: int, likely: int, name: str) -> bytes:
    """Return the rest of ``file``, about ``likely`` bytes. Raises OSError if it has more than ``most``."""
    pieces: list[bytes] = []
    room = most + 1
    while piece := file.read(min(likely if not pieces else _PIECE, room)):
        pieces.append(piece)
        room -= len(piece)
        if room <= 0:
            raise _too_large(most, name)
    return b"".join(pieces)


def check_regular(status: os.stat_result, path: Path, pipes: bool = False) -> None:
    """Raise OSError for another kind of file than a regular one; with ``pipes``, only for a folder."""
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EISDIR, "it is a folder, not a file", str(path))
    if not pipes:
        kind = "pipe" if stat.S_ISFIFO(status.st_mode) else "device"
        raise OSError(errno.EINVAL, f"it is a {kind}, not a file", str(path))


def _too_large(most: int, name: str | Path) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {most // 1024 // 1024} MiB", str(name))
