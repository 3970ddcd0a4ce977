"""One window for each store: a second start raises the first one, hands over the file it was to open, and ends.

They meet at a local socket that only this user can reach, named after the store; ``second_start_listener`` is the other
end of it. ``hand_over`` is on the way to the first frame: nothing of Qt's network is imported while nobody is there.
"""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path
from typing import Final

from PySide6.QtCore import QDir

PATIENCE_MS: Final = 3000  # for the first window's answer; one that does not answer is not waited for any longer
ANSWER: Final = b"here\n"
_LONGEST_PATH: Final = 100  # bytes that every system takes for a socket's name


def address(store: Path) -> str:
    """Where the window of a store listens: a path, on Windows the name of a pipe."""
    who = f"{os.environ.get('USERNAME', '') if sys.platform == 'win32' else os.getuid()} {store.absolute()}"
    name = f"gateway-playground-{zlib.crc32(os.fsencode(who)):08x}"
    if sys.platform == "win32":
        return name
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folders = [runtime] if runtime and Path(runtime).is_dir() else []
    for folder in (*folders, str(store.parent), QDir.tempPath()):
        found = os.path.join(folder, name)  # noqa: PTH118 - a name, not a file to be opened
        if len(os.fsencode(found)) <= _LONGEST_PATH:
            return found
    return name


def hand_over(store: Path, file: Path | None) -> bool:
    """Ask a window that is open to come forward and to open ``file``. Returns whether there is one that did."""
    name = address(store)
    if not _is_ours(name):
        return False
    import json

    from PySide6.QtNetwork import QLocalSocket

    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(PATIENCE_MS):
        return False
    asked = {"open": str(file.absolute()) if file is not None else "", "activation": _activation()}
    socket.write(json.dumps(asked).encode() + b"\n")
    answer = b""
    while socket.waitForReadyRead(PATIENCE_MS):
        answer += socket.readAll().data()
        if answer.startswith(ANSWER):
            return True
    return False


def _is_ours(name: str) -> bool:
    """Whether somebody may be listening there, and it is this user: anybody may put a file into a shared folder."""
    if sys.platform == "win32":
        return True
    try:
        found = os.lstat(name)
    except OSError:
        return False
    return found.st_uid == os.getuid()


def _activation() -> str:
    """What lets the other window come to the front on Wayland; also known to X as a start-up id."""
    return os.environ.get("XDG_ACTIVATION_TOKEN") or os.environ.get("DESKTOP_STARTUP_ID") or ""
