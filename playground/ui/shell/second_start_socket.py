"""Where a second start is heard on POSIX: a socket in a file that only this user may open."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QSocketNotifier

_READ: Final = 65_536  # bytes


class SocketListener(QObject):
    """Calls ``heard`` with all that came by a connection, again whenever more does.

    It gives back what is to be said before that is closed, or None to hear more.
    """

    def __init__(self, heard: Callable[[bytes], bytes | None], parent: QObject) -> None:
        super().__init__(parent)
        self._heard = heard
        self._path: Path | None = None
        self._open: dict[socket.socket, QSocketNotifier] = {}
        self._received: dict[socket.socket, bytes] = {}

    def listen(self, name: str) -> bool:
        """Listen at that path. Returns whether that is possible."""
        path = Path(name)
        if not path.is_absolute():
            return False
        listening = socket.socket(socket.AF_UNIX)
        try:
            path.unlink(missing_ok=True)  # left by a process that was killed: whoever has the lock is the only one
            listening.bind(name)
            path.chmod(0o600)  # before anybody can connect
            listening.listen()
        except OSError:
            listening.close()
            return False
        self._path = path
        self._watch(listening, partial(self._connected, listening))
        return True

    def close(self) -> None:
        """Listen no longer, and to nobody."""
        for one in tuple(self._open):
            self._leave(one)
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            self._path = None

    def _watch(self, one: socket.socket, ready: Callable[..., None]) -> None:
        one.setblocking(False)
        notifier = self._open[one] = QSocketNotifier(one.fileno(), QSocketNotifier.Type.Read, self)
        notifier.activated.connect(ready)

    def _leave(self, one: socket.socket) -> None:
        notifier = self._open.pop(one)
        notifier.setEnabled(False)
        notifier.deleteLater()
        self._received.pop(one, None)
        one.close()

    def _connected(self, listening: socket.socket, *_of_qt: object) -> None:
        try:
            one, _ = listening.accept()
        except OSError:  # it went again
            return
        self._received[one] = b""
        self._watch(one, partial(self._read, one))

    def _read(self, one: socket.socket, *_of_qt: object) -> None:
        if one not in self._open:
            return
        try:
            came = one.recv(_READ)
        except BlockingIOError:
            return
        except OSError:
            came = b""
        received = self._received[one] = self._received[one] + came
        answer = self._heard(received) if came else b""
        if answer is None:
            return
        with suppress(OSError):
            one.sendall(answer)  # a few bytes, which the system keeps for it
        self._leave(one)
