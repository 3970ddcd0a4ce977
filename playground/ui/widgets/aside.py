"""Work on another thread for one result that a widget shows; what it asks for anew takes the place of that.

Only for what touches no widget, and is no single long call of C: that would hold the interpreter, and the window.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QObject
from shiboken6 import isValid

from playground.ui.widgets import loop

T = TypeVar("T")


class Aside(QObject):
    """``do`` has the newest piece of work done and its result told; never more than one is under way."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._wanted: tuple[Callable[[], Any], Callable[[Any], None]] | None = None
        self._working = False

    @property
    def busy(self) -> bool:
        """Whether a result is waited for."""
        return self._wanted is not None

    def do(self, work: Callable[[], T], then: Callable[[T], None], *, large: bool) -> None:
        """``then`` is told what ``work`` gives: later where it is ``large``, else before this returns."""
        self.call_off()
        if not large or not loop.runs():
            then(work())
            return
        self._wanted = work, then
        if not self._working:
            self._working = True
            loop.spawn(self._work(), name="work aside")

    def call_off(self) -> None:
        """Nobody waits any more."""
        self._wanted = None

    async def _work(self) -> None:
        try:
            while (wanted := self._wanted) is not None:
                work, then = wanted
                result = await asyncio.to_thread(work)
                if not isValid(self):
                    return
                if self._wanted is wanted:
                    self._wanted = None
                    then(result)
        finally:
            self._working = False
