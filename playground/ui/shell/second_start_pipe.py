"""Where a second start is heard on Windows: a pipe that only this user may open, by Qt."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtNetwork import QLocalServer, QLocalSocket


class PipeListener(QObject):
    """As ``SocketListener``."""

    def __init__(self, heard: Callable[[bytes], bytes | None], parent: QObject) -> None:
        super().__init__(parent)
        self._heard = heard
        self._server = QLocalServer(self)
        self._received: dict[QLocalSocket, bytes] = {}

    def listen(self, name: str) -> bool:
        """Listen under that name. Returns whether that is possible."""
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        QLocalServer.removeServer(name)  # left by a process that was killed: whoever has the lock is the only one
        if not self._server.listen(name):
            return False
        self._server.newConnection.connect(self._connected)
        return True

    def close(self) -> None:
        """Listen no longer, and to nobody."""
        self._server.close()
        for one in tuple(self._received):
            one.abort()

    def _connected(self) -> None:
        while (one := self._server.nextPendingConnection()) is not None:
            self._received[one] = b""
            one.readyRead.connect(self._read)
            one.disconnected.connect(self._gone)
            self._take(one)

    def _read(self) -> None:
        self._take(self.sender())  # type: ignore[arg-type]  # only sockets are connected to this

    def _gone(self) -> None:
        one = self.sender()
        self._received.pop(one, None)  # type: ignore[call-overload]  # as above
        one.deleteLater()

    def _take(self, one: QLocalSocket) -> None:
        if one not in self._received:
            return
        received = self._received[one] + one.readAll().data()
        self._received[one] = received
        answer = self._heard(received)
        if answer:
            self._received[one] = b""
            one.write(answer)
            one.flush()
            one.disconnectFromServer()
        elif answer is not None:
            one.abort()
