"""The time-outs of one exchange: for the first content, between contents, and in total.

Only a wait inside ``async with clock.watch()`` can time out; the time that the reader spends elsewhere is free.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum

from playground.gateway.connection import Timeouts

_NEVER = float("inf")

#: Seconds between two pieces of content after the gateway reported an error, since a server that failed may hang.
#: Shorter if ``idle`` or ``settle`` are.
AFTER_ERROR = 3.0

#: Seconds for a read that begins late to return the data received in the meantime.
_GRACE = 0.05

#: The longest wait in seconds: a Qt timer takes 24 days at most.
_LONGEST = 20 * 86400.0


class Stage(StrEnum):
    """A stage of an exchange, with its own time-out."""

    CONNECT = "connect"
    FIRST = "first"
    IDLE = "idle"
    SETTLE = "settle"
    ERROR = "error"  # after an error was reported
    TOTAL = "total"


class Expired(Exception):  # noqa: N818 - a signal, from which the caller makes a failure
    """The time for ``stage`` is over."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage.value)
        self.stage = stage


class Clock:
    """The clocks of one exchange: ``wait_for`` sets the stage, and ``watch`` ends a wait that takes too long."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts = timeouts
        self._loop = asyncio.get_running_loop()
        self.started = self._loop.time()
        self._total = _NEVER if timeouts.total is None else self.started + timeouts.total
        self._stage = Stage.CONNECT
        self._deadline = _NEVER
        self._grace = 0.0  # until then a wait that begins too late may last
        self._timeout: asyncio.Timeout | None = None

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return self._loop.time() - self.started

    @property
    def stage(self) -> Stage:
        """The stage in progress."""
        return self._stage

    def wait_for(self, stage: Stage) -> None:
        """Begin a stage, with its time-out from now on."""
        seconds = self._seconds(stage)
        self._stage = stage
        self._deadline = _NEVER if seconds is None else self._loop.time() + seconds
        self._grace = 0.0
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(self._end)

    def _seconds(self, stage: Stage) -> float | None:
        """Return the time-out of a stage; None if it has none."""
        times = self._timeouts
        if stage is Stage.ERROR:
            return min([AFTER_ERROR, *filter(None, (times.idle, times.settle))])
        seconds: float | None = getattr(times, stage.value)
        return seconds

    @property
    def _end(self) -> float:
        now = self._loop.time()
        end = min(self._deadline, self._total, now + _LONGEST)
        if end < now + _GRACE and not self._grace:
            self._grace = now + _GRACE
        return max(end, self._grace)

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[None]:
        """Cancel the wait inside and raise ``Expired`` when the time of the stage, or of the exchange, is over."""
        self._timeout = asyncio.timeout_at(self._end)
        try:
            async with self._timeout:
                yield
        except TimeoutError:
            if not self._timeout.expired():
                raise
            raise Expired(Stage.TOTAL if self._total <= self._deadline else self._stage) from None
        finally:
            self._timeout = None
