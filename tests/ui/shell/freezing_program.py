"""The real application, whose event loop blocks in a chosen way once it has turned calmly; then it quits.

``python -m tests.ui.shell.freezing_program WAY LIMIT CANARY``: a busy machine may log freezes while it starts, before
``BEGINS``.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QTimer

import playground.app as app

BEGINS: Final = "Here the freezing begins."
_PAUSE_MS: Final = 250


def sleep() -> None:
    """Let no event be handled."""
    time.sleep(1.6)


def compute() -> None:
    """Compute for about 1.5 s, in which no other thread of the program runs."""
    began = time.process_time()
    sum(range(10**6))
    sum(range(int(10**6 * 1.5 / (time.process_time() - began))))


def kill() -> None:
    """Block for 1.6 s, then end as by the system's task manager."""
    time.sleep(1.6)
    os.kill(os.getpid(), signal.SIGKILL)


WAYS: Final[dict[str, list[Callable[[], None]]]] = {"sleep": [sleep, sleep], "compute": [compute], "kill": [kill]}


class Freezing(app.App):
    """Freezes in one of the ``WAYS``, with a secret in attributes, fields and local variables."""

    way = key = ""

    def show(self) -> None:
        super().show()
        self._left = list(WAYS[self.way])
        self.window.composer.set_text(f"prompt {self.key}")
        self._calm, self._ticked = 0, time.monotonic()
        self._ticker = QTimer(self.window, interval=50)
        self._ticker.timeout.connect(self._tick)
        self._ticker.start()

    def _tick(self) -> None:
        now = time.monotonic()
        self._calm, self._ticked = self._calm + 1 if now - self._ticked < 0.3 else 0, now
        if self._calm == 6:
            self._ticker.stop()
            logging.getLogger("playground.freeze").warning(BEGINS)
            self.freeze()

    def freeze(self) -> None:
        """Block once, and again after a pause."""
        pending = [f"local {self.key}", self.key]
        stand_still(self._left.pop(), pending)
        QTimer.singleShot(_PAUSE_MS, self.freeze if self._left else self._quit_later)

    def _quit_later(self) -> None:
        QTimer.singleShot(_PAUSE_MS, self.quit)


def stand_still(way: Callable[[], None], pending: list[str]) -> None:
    """Freeze with ``held`` in a local variable."""
    way()


if __name__ == "__main__":
    app.App = Freezing  # type: ignore[misc]
    Freezing.way, limit, Freezing.key = sys.argv[1:]
    del sys.argv[1:]  # or it would open a file of that name
    sys.exit(app.run(patience=float(limit)))
