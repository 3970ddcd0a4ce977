"""The longest time that an event loop was blocked, measured so that the load of the machine does not count.

A gap is the CPU time of the loop's thread between two of its turns, divided by the slowdown of the machine: that of
reference work, done between turns, whose duration on a quiet machine is known.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from PySide6.QtCore import QPointF
from PySide6.QtGui import QFont, QTextLayout

LIMIT = 0.3  # seconds of a quiet machine that a window may be blocked
MARGIN = 3  # times LIMIT, in tests: other processes run beside them; the benchmark holds LIMIT itself
PASSES = 3  # of one shape: noise only adds
EVERY = 0.05  # seconds between two pieces of the reference work
CALM = 0.002  # seconds of a quiet machine: a loop that is blocked no longer has nothing to do


@dataclass(frozen=True)
class Piece:
    """Reference work: ``quiet`` is its duration in seconds on a quiet machine."""

    work: Callable[[], object]
    quiet: float

    def slower(self) -> float:
        """Return the slowdown of the machine now, the better of two."""
        took = []
        for _ in range(2):
            start = time.thread_time()
            self.work()
            took.append(time.thread_time() - start)
        return min(took) / self.quiet


def _count() -> int:
    total = 0
    for number in range(30_000):
        total += number & 7
    return total


_WORDS: Final = " ".join(f"word{number} of {number * 7919 % 1_000}" for number in range(320))


def _lay_out() -> float:
    """Make objects of Python and lay out lines of text, as a window does."""
    lengths = {word: len(word) for word in _WORDS.split()}
    layout = QTextLayout(_WORDS, QFont())
    layout.beginLayout()
    height = 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(300)
        line.setPosition(QPointF(0, height))
        height += line.height()
    layout.endLayout()
    return height + sum(lengths.values())


COUNTED: Final = Piece(_count, 0.001)
LAID_OUT: Final = Piece(_lay_out, 0.0008)  # needs an application


class Gaps:
    """``async with``: ``cpu`` is the longest gap in CPU seconds, ``wall`` in seconds on the clock."""

    def __init__(self, piece: Piece = COUNTED) -> None:
        self.cpu = self.wall = 0.0
        self._piece = piece
        self._slower: list[float] = []
        self._task: asyncio.Task[None] | None = None
        self._froze = False
        self._busy = time.monotonic()

    async def __aenter__(self) -> Gaps:
        if gc.isenabled():
            gc.collect()
            gc.freeze()  # no collection looks at objects of earlier tests
            self._froze = True
        self._piece.slower()  # warm up
        self._task = asyncio.get_running_loop().create_task(self._beat())
        await asyncio.sleep(0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.sleep(0.01)
        if self._task is not None:
            self._task.cancel()
        if self._froze:
            gc.unfreeze()

    async def _beat(self) -> None:
        next_piece = 0.0
        while True:
            cpu, wall = time.thread_time(), time.monotonic()
            await asyncio.sleep(0.001)
            gap, now = time.thread_time() - cpu, time.monotonic()
            self.cpu = max(self.cpu, gap)
            if self._slower and gap > CALM * statistics.median(self._slower):
                self._busy = now
            self.wall = max(self.wall, now - wall)
            if now >= next_piece:
                self._slower.append(self._piece.slower())
                next_piece = time.monotonic() + EVERY

    async def calm(self, seconds: float, most: float) -> None:
        """Wait until the loop has had nothing to do for so many seconds, at most ``most``."""
        self._busy = time.monotonic()
        remaining, end = seconds, self._busy + most
        while remaining > 0:
            await asyncio.sleep(remaining)
            remaining = min(self._busy + seconds, end) - time.monotonic()

    @property
    def seconds(self) -> float:
        """The longest gap in seconds of a quiet machine."""
        return self.cpu / statistics.median(self._slower)
