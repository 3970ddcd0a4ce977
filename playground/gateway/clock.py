"""Watches over the reads of one exchange: how long for the first content, between contents, and in total.

One lazy timer serves a whole run: moving the deadline further away is an assignment, and only a timer that
fires looks at it. It interrupts nothing but a read inside ``with clock``; time the reader spends elsewhere is free.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from types import TracebackType

from playground.gateway.connection import Timeouts

_NEVER = float("inf")

#: Seconds between two pieces of content once the gateway has reported an error: what still comes is read, but a
#: server that says it failed and then hangs is not waited for. Shorter where a person set less patience.
AFTER_ERROR = 3.0

#: A read that begins late gets this many seconds to find what has come in the meantime.
_GRACE = 0.05

#: Seconds that one timer may run; a Qt timer has room for 24 days, and a longer wait takes several.
_LONGEST = 3600.0


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
    """The clocks of one exchange. Use ``with clock:`` around each await; it raises ``Expired``."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts = timeouts
        self._loop = asyncio.get_running_loop()
        self.started = self._loop.time()
        self._total = _NEVER if timeouts.total is None else self.started + timeouts.total
        self._stage = Stage.CONNECT
        self._deadline = _NEVER
        self._timer: asyncio.Handle | None = None
        self._rings_at = _NEVER  # of the timer; a handle of qasync cannot be asked
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._expired: Stage | None = None

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
        if self._timer is not None and self._end < self._rings_at:
            self._timer.cancel()
            self._timer = None
        if self._timer is None and self._task is not None:
            self._arm()

    def _patience(self, stage: Stage) -> float | None:
        """Seconds; None where one waits for ever."""
        times = self._timeouts
        if stage is Stage.ERROR:
            return min([AFTER_ERROR, *filter(None, (times.idle, times.settle))])
        seconds: float | None = getattr(times, stage.value)
        return seconds

    def stop(self) -> None:
        """No more alarms."""
        self._deadline = self._total = _NEVER
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def _end(self) -> float:
        return min(self._deadline, self._total)

    def _arm(self) -> None:
        end = self._end
        if end < _NEVER:
            now = self._loop.time()
            self._rings_at = min(max(end, now + _GRACE), now + _LONGEST)
            self._timer = self._loop.call_at(self._rings_at, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._task is None:
            return  # nobody is waiting; the next read arms it again
        if self._loop.time() < self._end:
            self._arm()
            return
        self._expired = Stage.TOTAL if self._total <= self._deadline else self._stage
        self._task.cancel()

    def __enter__(self) -> Clock:
        self._task = task = asyncio.current_task(self._loop)
        self._cancelling = task.cancelling() if task is not None else 0
        if self._timer is None:
            self._arm()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task, self._task = self._task, None
        expired, self._expired = self._expired, None
        # As asyncio.timeout does it: a cancellation from outside, at the same moment, goes first.
        if expired is not None and task is not None:
            others = task.uncancel() > self._cancelling
            if not others and kind is not None and issubclass(kind, asyncio.CancelledError):
                raise Expired(expired) from error
