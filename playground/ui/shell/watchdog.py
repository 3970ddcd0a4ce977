"""Notices that the event loop stands still, and writes down where: the stacks of all threads, once for each freeze.

A timer in the event loop says that it is alive; a thread looks whether that was long ago. Only names, files and lines
are written: no values, no source text, no folder of the user's. A machine that slept, or a process that was stopped
as a whole, is no freeze: then the looking thread was late itself, and no processor time went by. A computation that
lets no other thread run is seen when it ends: then the stacks are those just behind it, or there are none.
"""

from __future__ import annotations

import faulthandler
import logging
import tempfile
import threading
import time

from PySide6.QtCore import QObject, QTimerEvent

from playground.log import versions
from playground.ui.shell.stack_text import plain_stack

LOOKS = 4  # within that time
MOST = 20  # freezes written with their stacks by one process; a broken machine must not push the rest out of the log

log = logging.getLogger("playground.freeze")


class Watchdog(QObject):
    """Watches the event loop of the thread that makes it, from ``start`` to ``stop``. ``limit`` is in seconds."""

    def __init__(self, parent: QObject, limit: float) -> None:
        self._limit = limit
        self._step = limit / LOOKS
        super().__init__(parent)
        self._timer = 0
        self._alive = 0.0  # when the event loop last turned, and the processor time spent until then
        self._busy = 0.0
        self._gap = 0.0  # seconds between two turns, when that was a freeze and work was done in it
        self._written = 0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to watch. Called once."""
        self._alive, self._busy = time.monotonic(), time.process_time()
        self._timer = self.startTimer(round(self._step * 1000))
        self._thread = threading.Thread(target=self._watch, name="freeze watchdog", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Watch no longer; returns when the thread has ended."""
        if self._timer:
            self.killTimer(self._timer)
            self._timer = 0
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def timerEvent(self, event: QTimerEvent) -> None:
        now, busy = time.monotonic(), time.process_time()
        gap = now - self._alive
        if gap > self._limit and self._worked(busy - self._busy, gap):
            self._gap = gap
        self._alive, self._busy = now, busy

    def _worked(self, spent: float, seconds: float) -> bool:
        """Whether so much processor time in so many seconds says that it was at work, not stopped as a whole.

        Where other programs have the processor it gets less than half; then as much as makes a freeze will do.
        """
        return spent > min(seconds / 2, self._limit)

    # The thread

    def _watch(self) -> None:
        awake = time.monotonic()  # the last moment at which this process is known to have run
        frozen_since = 0.0  # the beat after which the freeze that has been written began; 0 for none
        looked, busy = awake, time.process_time()
        while not self._ended.wait(self._step):
            now, spent = time.monotonic(), time.process_time()
            late = now - looked - self._step
            if late > self._step and not self._worked(spent - busy, late):
                awake = now
            looked, busy = now, spent
            alive = self._alive
            gap, self._gap = self._gap, 0.0
            if frozen_since and alive > frozen_since:
                log.warning("The window answers again, after %.1f s.", alive - frozen_since)
                frozen_since = 0.0
            elif gap:
                log.warning("The window had not answered for %.1f s, and no thread could look. %s", gap, versions())
            if not frozen_since and now - max(alive, awake) > self._limit:
                frozen_since = alive
                self._write(now - alive)

    def _write(self, seconds: float) -> None:
        self._written += 1
        if self._written > MOST:
            return
        log.warning("The window has not answered for %.1f s. %s\n%s", seconds, versions(), stacks())


def stacks() -> str:
    """Where every thread is, innermost first: names, files and lines.

    The frames are read by ``faulthandler``, which takes no reference to them: one dropped here, in another thread,
    could take what is Qt's with it.
    """
    with tempfile.TemporaryFile() as file:
        faulthandler.dump_traceback(file, all_threads=True)
        file.seek(0)
        raw = file.read().decode("ascii", "replace")
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return plain_stack(raw, names, current=", which looks")
