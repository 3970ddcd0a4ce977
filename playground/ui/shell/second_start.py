"""One window for each store: a second start raises the first window, hands over its file, and ends.

Both ends meet at a local socket named after the store; ``second_start_listener`` is the other end. QtNetwork is
imported only if a window may be listening: ``hand_over`` runs before the first frame.
"""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path
from typing import Final

from PySide6.QtCore import QDir

PATIENCE_MS: Final = 3000  # for the first window's answer
ANSWER: Final = b"here\n"
_LONGEST_PATH: Final = 100  # bytes that every system takes for a socket's name


def address(store: Path) -> str:
    """Return where the window of a store listens: a path, on Windows the name of a pipe."""
    owner = f"{os.environ.get('USERNAME', '') if sys.platform == 'win32' else os.getuid()} {store.absolute()}"
    name = f"gateway-playground-{zlib.crc32(os.fsencode(owner)):08x}"
    if sys.platform == "win32":
        return name
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folders = [runtime] if runtime and Path(runtime).is_dir() else []
    for folder in (*folders, str(store.parent), QDir.tempPath()):
        path = os.path.join(folder, name)  # noqa: PTH118 - a name, not a file to be opened
        if len(os.fsencode(path)) <= _LONGEST_PATH:
            return path
    return name


def hand_over(store: Path, file: Path | None) -> bool:
    """Ask an open window to come forward and to open ``file``. Return whether a window answered."""
    name = address(store)
    if not _is_ours(name):
        return False
    import json

    from PySide6.QtNetwork import QLocalSocket

    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(PATIENCE_MS):
        return False
    message = {"open": str(file.absolute()) if file is not None else "", "activation": _activation()}
    socket.write(json.dumps(message).encode() + b"\n")
    answer = b""
    while socket.waitForReadyRead(PATIENCE_MS):
        answer += socket.readAll().data()
        if answer.startswith(ANSWER):
            return True
    return False


def _is_ours(name: str) -> bool:
    """Return whether a socket of this user is there: other users may put files into a shared folder."""
    if sys.platform == "win32":
        return True
    try:
        state = os.lstat(name)
    except OSError:
        return False
    return state.st_uid == os.getuid()


def _activation() -> str:
    """Return the token that lets the other window come forward on Wayland; on X it is a start-up id."""
    return os.environ.get("XDG_ACTIVATION_TOKEN") or os.environ.get("DESKTOP_STARTUP_ID") or ""
