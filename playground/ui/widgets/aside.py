"""Run work on another thread for a widget; newer work replaces the pending one.

The work must not touch widgets. A single long call into C would hold the interpreter lock and block the window.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QObject

from playground.ui.widgets import loop

T = TypeVar("T")


class Aside(QObject):
    """Runs the newest job and passes on its result; at most one job runs at a time."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._job: tuple[Callable[[], Any], Callable[[Any], None]] | None = None
        self._running = False

    @property
    def busy(self) -> bool:
        """True while a result is pending."""
        return self._job is not None

    def do(self, work: Callable[[], T], then: Callable[[T], None], *, large: bool) -> None:
        """Call ``then`` with the result of ``work``: later if it is ``large``, otherwise before this returns."""
        self.call_off()
        if not large or not loop.runs():
            then(work())
            return
        self._job = work, then
        if not self._running:
            self._running = True
            loop.spawn(self._work(), name="work aside", owner=self)

    def call_off(self) -> None:
        """Drop the pending result."""
        self._job = None

    async def _work(self) -> None:
        try:
            while (job := self._job) is not None:
                work, then = job
                result = await asyncio.to_thread(work)
                if self._job is job:
                    self._job = None
                    then(result)
        finally:
            self._running = False
