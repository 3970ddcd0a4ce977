"""Log freezes of the event loop: how long the window did not answer, and the stacks of all threads.

``faulthandler`` writes the stacks into the crash file when a timer of the event loop has not re-armed it in time. A
freeze that ends is logged from there; one that does not is reported by the next start, as a crash.
"""

from __future__ import annotations

import faulthandler
import logging
import threading
import time
from io import FileIO

from PySide6.QtCore import QObject, QTimerEvent

from playground.system.log import versions
from playground.ui.shell.stack_text import plain_stack

CHECKS = 4  # re-arm so many times within the limit
MOST_LOGGED = 20  # freezes of one process; a broken machine must not push the rest out of the log
MOST_BYTES = 64 * 1024  # of the stacks of one freeze

log = logging.getLogger("playground.freeze")


class Watchdog(QObject):
    """Watch the event loop of this thread from ``start`` to ``stop``; without a ``file`` nothing is watched.

    A freeze is longer than ``limit`` seconds.
    """

    def __init__(self, parent: QObject, limit: float, file: FileIO | None) -> None:
        super().__init__(parent)
        self._limit = limit
        self._file = file
        self._timer = 0
        self._armed_at = 0.0
        self._logged = 0

    def start(self) -> None:
        """Begin to watch. Called once."""
        if self._file is not None:
            self._timer = self.startTimer(round(self._limit / CHECKS * 1000))
            self._arm(self._file)

    def stop(self) -> None:
        """Stop watching."""
        if self._timer:
            self.killTimer(self._timer)
            self._timer = 0
            faulthandler.cancel_dump_traceback_later()

    def timerEvent(self, event: QTimerEvent) -> None:
        if self._file is None:
            return
        faulthandler.cancel_dump_traceback_later()
        self._file.seek(0)
        if stacks := self._file.read(MOST_BYTES):
            self._log(time.monotonic() - self._armed_at, stacks.decode("ascii", "replace"))
            self._file.seek(0)
            self._file.truncate()
        self._arm(self._file)

    def _arm(self, file: FileIO) -> None:
        self._armed_at = time.monotonic()
        faulthandler.dump_traceback_later(self._limit, file=file)

    def _log(self, seconds: float, stacks: str) -> None:
        self._logged += 1
        if self._logged <= MOST_LOGGED:
            names = {thread.ident: thread.name for thread in threading.enumerate()}
            log.warning("The window did not answer for %.1f s. %s\n%s", seconds, versions(), plain_stack(stacks, names))
