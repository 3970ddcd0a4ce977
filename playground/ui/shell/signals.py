"""The system's signals, acted on at once though Qt waits: each wakes a socket that Qt watches.

Python's part of a signal runs when Python next does, and a window with nothing to do runs none of it. A clock that
looks in now and then would do as well, and would never let the processor sleep.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from contextlib import suppress

from PySide6.QtCore import QObject, QSocketNotifier, Slot


class Signals(QObject):
    """Calls ``act`` for Ctrl+C in the terminal and for being asked to end, until ``end``."""

    def __init__(self, act: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._woken, self._wakes = socket.socketpair()
        self._woken.setblocking(False)
        self._wakes.setblocking(False)
        self._notifier = QSocketNotifier(self._woken.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._heard)
        self._before = {number: signal.signal(number, lambda *_: act()) for number in (signal.SIGINT, signal.SIGTERM)}
        signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)

    def end(self) -> None:
        """Restore the signal handlers."""
        signal.set_wakeup_fd(-1)
        for number, before in self._before.items():
            signal.signal(number, before)
        self._notifier.setEnabled(False)
        self._woken.close()
        self._wakes.close()

    @Slot()
    def _heard(self) -> None:
        """Being called is what counts: the signal's own function has run by now."""
        with suppress(BlockingIOError):
            self._woken.recv(4096)
