"""Signals of the system, handled while Qt waits for events.

Python runs a signal handler only when it runs anyway, and an idle window runs no Python. So each signal wakes a socket
that Qt watches; a polling timer would keep the processor awake.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from contextlib import suppress

from PySide6.QtCore import QObject, QSocketNotifier, Slot


class Signals(QObject):
    """Call ``act`` for SIGINT and SIGTERM, until ``end``."""

    def __init__(self, act: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._receiver, self._sender = socket.socketpair()
        self._receiver.setblocking(False)
        self._sender.setblocking(False)
        self._notifier = QSocketNotifier(self._receiver.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._read)
        self._previous = {number: signal.signal(number, lambda *_: act()) for number in (signal.SIGINT, signal.SIGTERM)}
        signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)

    def end(self) -> None:
        """Restore the signal handlers."""
        signal.set_wakeup_fd(-1)
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._notifier.setEnabled(False)
        self._receiver.close()
        self._sender.close()

    @Slot()
    def _read(self) -> None:
        """Empty the socket. The signal handler runs because Python runs."""
        with suppress(BlockingIOError):
            self._receiver.recv(4096)
