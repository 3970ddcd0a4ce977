"""Listen for second starts of the application: a local socket that only this user can open."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from playground.ui.shell.second_start import ANSWER, address

MOST_BYTES: Final = 65_536  # of a message


class SecondStarts(QObject):
    """Answer well-formed messages of second starts; other connections are cut off.

    ``asked`` carries the path of a file to open, which may be empty, and the desktop's permission to come forward.
    """

    asked = Signal(str, str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._accept)
        self._received: dict[QLocalSocket, bytes] = {}

    def listen(self, store: Path) -> bool:
        """Listen for starts with ``store``, which this process has locked. Return whether that is possible."""
        self.close()
        name = address(store)
        QLocalServer.removeServer(name)  # left by a killed process: only the owner of the lock listens
        return self._server.listen(name)

    def close(self) -> None:
        """Stop listening and cut off all connections."""
        self._server.close()
        for connection in tuple(self._received):
            connection.abort()

    def _accept(self) -> None:
        while self._server.hasPendingConnections():
            connection = self._server.nextPendingConnection()
            self._received[connection] = b""
            connection.readyRead.connect(partial(self._read, connection))
            connection.disconnected.connect(partial(self._forget, connection))
            self._read(connection)

    def _forget(self, connection: QLocalSocket) -> None:
        self._received.pop(connection, None)
        connection.deleteLater()

    def _read(self, connection: QLocalSocket) -> None:
        if connection not in self._received:
            return
        received = self._received[connection] = self._received[connection] + connection.readAll().data()
        line, end, _ = received.partition(b"\n")
        if len(received) > MOST_BYTES:
            connection.abort()
        elif end:
            self._answer(connection, line)

    def _answer(self, connection: QLocalSocket, line: bytes) -> None:
        message = _parse(line)
        if message is None:
            connection.abort()
            return
        connection.write(ANSWER)
        connection.flush()
        connection.disconnectFromServer()
        QTimer.singleShot(0, self, partial(self.asked.emit, *message))  # the answer goes first: the other start waits


def _parse(line: bytes) -> tuple[str, str] | None:
    """Return the file and the activation token of a message; None if it is malformed."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    file, activation = message.get("open", ""), message.get("activation", "")
    if not isinstance(file, str) or not isinstance(activation, str) or (file and not Path(file).is_absolute()):
        return None
    return file, activation
