"""The first window's end of a second start: it listens, takes what it understands and nothing else, and says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from playground.ui.shell.second_start import ANSWER, address

MOST_BYTES: Final = 65_536


class SecondStarts(QObject):
    """Listens for them. ``asked`` carries the path of a file, or nothing, and what lets the window come forward."""

    asked = Signal(str, str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._server: QLocalServer | None = None
        self._received: dict[QLocalSocket, bytes] = {}

    def listen(self, store: Path) -> bool:
        """Listen for starts with that store, which this process has locked. Returns whether that is possible."""
        self.close()
        name = address(store)
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        QLocalServer.removeServer(name)  # left by a process that was killed: whoever has the lock is the only one
        if not server.listen(name):
            server.deleteLater()
            return False
        server.newConnection.connect(self._connected)
        self._server = server
        return True

    def close(self) -> None:
        """Listen no longer."""
        if self._server is not None:
            self._server.close()
            self._server.deleteLater()
            self._server = None
        for socket in tuple(self._received):
            socket.abort()

    def _connected(self) -> None:
        while self._server is not None and (socket := self._server.nextPendingConnection()) is not None:
            self._received[socket] = b""
            socket.readyRead.connect(self._read)
            socket.disconnected.connect(self._gone)
            self._take(socket)

    def _read(self) -> None:
        self._take(self.sender())  # type: ignore[arg-type]  # only sockets are connected to this

    def _gone(self) -> None:
        socket = self.sender()
        self._received.pop(socket, None)  # type: ignore[call-overload]  # as above
        socket.deleteLater()

    def _take(self, socket: QLocalSocket) -> None:
        if socket not in self._received:
            return
        received = self._received[socket] + socket.readAll().data()
        self._received[socket] = received
        line, end, _ = received.partition(b"\n")
        if len(received) > MOST_BYTES:
            socket.abort()
        elif end:
            self._received[socket] = b""
            asked = _understood(line)
            if asked is None:
                socket.abort()
                return
            socket.write(ANSWER)
            socket.flush()
            socket.disconnectFromServer()
            self.asked.emit(*asked)


def _understood(line: bytes) -> tuple[str, str] | None:
    try:
        asked = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(asked, dict):
        return None
    file, activation = asked.get("open", ""), asked.get("activation", "")
    if not isinstance(file, str) or not isinstance(activation, str) or (file and not Path(file).is_absolute()):
        return None
    return file, activation
