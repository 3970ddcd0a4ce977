"""The pace of a replay: a multiple of the recorded speed, at once, or frame by frame.

One clock paces all answers of a player and may be changed while they run. It belongs to one event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Callable
from typing import Final

_CHECK_INTERVAL: Final = 0.5  # seconds between checks for a disconnected client


class PlaybackClock:
    """A clock that runs at ``speed`` times the real one, or waits for ``step``."""

    def __init__(self, speed: float = 1.0) -> None:
        self._speed = _checked(speed)
        self._stepping = False
        self._permits = 0
        self._anchor = (time.monotonic(), 0.0)  # real time and time on this clock at the last change
        self._changed = asyncio.Event()

    @property
    def speed(self) -> float:
        """Times the recorded speed; infinity for at once."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        speed = _checked(speed)
        self._anchor = (time.monotonic(), self.now)
        self._speed = speed
        self.wake()

    @property
    def stepping(self) -> bool:
        """True while each frame waits for ``step``."""
        return self._stepping

    @stepping.setter
    def stepping(self, stepping: bool) -> None:
        self._anchor = (time.monotonic(), self.now)
        self._stepping, self._permits = stepping, 0
        self.wake()

    def step(self, count: int = 1) -> None:
        """Release ``count`` frames."""
        if self._stepping:
            self._permits += count
            self.wake()

    @property
    def is_untimed(self) -> bool:
        """True while stepping or at infinite speed: the clock does not run then."""
        return self._stepping or math.isinf(self._speed)

    @property
    def now(self) -> float:
        """Recorded seconds since the clock was made."""
        real, ours = self._anchor
        return ours if self.is_untimed else ours + (time.monotonic() - real) * self._speed

    async def wait_until(self, due: float, is_disconnected: Callable[[], bool], *, step: bool = False) -> bool:
        """Wait until ``due`` on this clock; with ``step``, while stepping, wait for a step instead.

        Return False as soon as ``is_disconnected`` returns true.
        """
        while not is_disconnected():
            if self._stepping:
                if not step:
                    return True
                if self._permits:
                    self._permits -= 1
                    return True
                delay = _CHECK_INTERVAL
            elif math.isinf(self._speed):
                return True
            else:
                delay = min((due - self.now) / self._speed, _CHECK_INTERVAL)
                if delay <= 0:
                    return True
            changed = self._changed
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(delay):
                    await changed.wait()
        return False

    def wake(self) -> None:
        """Make all waits check their conditions again."""
        self._changed.set()
        self._changed = asyncio.Event()


def _checked(speed: float) -> float:
    if not speed > 0:
        raise ValueError("The speed must be more than 0.")
    return speed
