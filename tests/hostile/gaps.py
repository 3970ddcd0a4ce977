"""How long a loop was kept from its turn, measured so that a busy machine does not count.

What is held against a limit is the CPU time of the loop's own thread between two of its turns, in calibrating loops of
pure Python on the same machine in the same moment. A quiet machine takes ``CALIBRATED`` for one.
"""

from __future__ import annotations

import asyncio
import time
from types import TracebackType

CALIBRATED = 0.005  # seconds, about, of one calibrating loop on the machine the limits were set on
LIMIT = 0.050  # seconds of a quiet machine that a window may take to answer
MARGIN = 3  # times that, in tests
WAITED = 1.0  # seconds on the clock, for what waits and takes no CPU; less than a check may take


def calibrate() -> float:
    """Seconds of CPU that a fixed loop takes here and now, at best."""
    best = float("inf")
    for _ in range(3):
        start, total = time.thread_time(), 0
        for number in range(150_000):
            total += number & 7
        best = min(best, time.thread_time() - start)
    return best


class Gaps:
    """``async with``: ``cpu`` is the longest gap in CPU seconds, ``wall`` in seconds on the clock."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Gaps:
        self._task = asyncio.get_running_loop().create_task(self._beat())
        await asyncio.sleep(0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.sleep(0.01)
        if self._task is not None:
            self._task.cancel()

    async def _beat(self) -> None:
        while True:
            cpu, wall = time.thread_time(), time.monotonic()
            await asyncio.sleep(0.001)
            self.cpu = max(self.cpu, time.thread_time() - cpu)
            self.wall = max(self.wall, time.monotonic() - wall)

    @property
    def seconds(self) -> float:
        """The longest gap as it would be on the machine the limits were set on."""
        return self.cpu / calibrate() * CALIBRATED
