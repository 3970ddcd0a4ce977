"""Watches over the reads of one exchange: how long for the first content, between contents, and in total.

It interrupts nothing but a wait inside ``async with clock.watch()``; time the reader spends elsewhere is free.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum

from playground.gateway.connection import Timeouts

_NEVER = float("inf")

#: Seconds between two pieces of content once the gateway has reported an error: what still comes is read, but a
#: server that says it failed and then hangs is not waited for. Shorter where a person set less patience.
AFTER_ERROR = 3.0

#: A read that begins late gets this many seconds to find what has come in the meantime.
_GRACE = 0.05

#: Seconds that are waited at most: a Qt timer has room for 24 days.
_LONGEST = 20 * 86400.0


class Stage(StrEnum):
    """What is being waited for."""

    CONNECT = "connect"
    FIRST = "first"
    IDLE = "idle"
    SETTLE = "settle"
    ERROR = "error"  # what may come after an error was reported
    TOTAL = "total"


class Expired(Exception):  # noqa: N818 - it is a fact, not an error: the caller makes a failure of it
    """The time for ``stage`` is over."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage.value)
        self.stage = stage


class Clock:
    """The clocks of one exchange. ``wait_for`` says what is waited for; ``watch`` ends a wait that takes too long."""

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
        """What is being waited for at the moment."""
        return self._stage

    def wait_for(self, stage: Stage) -> None:
        """From now on ``stage`` is waited for, with the time set for it."""
        seconds = self._patience(stage)
        self._stage = stage
        self._deadline = _NEVER if seconds is None else self._loop.time() + seconds
        self._grace = 0.0
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(self._end)

    def _patience(self, stage: Stage) -> float | None:
        """Seconds; None where one waits for ever."""
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
        """Raise ``Expired`` in what is awaited inside once the time for it is over."""
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
