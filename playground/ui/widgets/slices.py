"""Long work on the window's own thread, a few milliseconds at a time, so that it never costs a frame."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QTimer

SLICE_S = 0.004  # seconds of work between two looks at what else is to do
REST_MS = 80  # before work is begun, if nothing else is said: many changes at once make one piece of work


class Slices(QObject):
    """``make`` gives the work as an iterator of small steps; ``poke`` asks for it from the start, in ``rest`` ms.

    Asked again while it is under way, it is finished first and then done once more.
    """

    def __init__(self, make: Callable[[], Iterator[None]], parent: QObject, rest: int = REST_MS) -> None:
        super().__init__(parent)
        self._rest = rest
        self._make = make
        self._under_way: Iterator[None] | None = None
        self._wanted = False
        self.timer = QTimer(self, singleShot=True)
        self.timer.timeout.connect(self.work)

    @property
    def busy(self) -> bool:
        """Whether there is something to do."""
        return self._wanted or self._under_way is not None

    def poke(self) -> None:
        """Ask for the work."""
        self._wanted = True
        if not self.timer.isActive():
            self.timer.start(self._rest)

    def begin(self) -> None:
        """Do the first slice now, whatever was under way."""
        self.stop()
        self._wanted = True
        self.work()

    def stop(self) -> None:
        """Give up what is under way or asked for."""
        self.timer.stop()
        self._wanted, self._under_way = False, None

    def finish(self) -> None:
        """Do all there is to do at once."""
        while self.busy:
            self._take()
            for _ in self._under_way or ():
                pass
            self._under_way = None
        self.timer.stop()

    def _take(self) -> None:
        if self._under_way is None and self._wanted:
            self._wanted, self._under_way = False, self._make()

    def work(self) -> None:
        """Do one slice of it."""
        self._take()
        end = time.perf_counter() + SLICE_S
        for _ in self._under_way or ():
            if time.perf_counter() >= end:
                self.timer.start(0)
                return
        self._under_way = None
        if self._wanted:
            self.timer.start(self._rest)
