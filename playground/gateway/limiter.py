"""What a gateway said it takes, kept for all that ask it: how long the next request has to wait.

One belongs to each client, so that the runs of a window, lanes and evaluations share it. It only counts and tells:
whoever asks waits, and may be sent on before the time. It trusts the last answer's headers, counted down by what was
sent since, until the window that they speak of is over; and a wait that an answer asked for, whoever it was meant for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from playground.gateway.limits import RateLimits

#: Seconds that a gateway is believed at most: above it asks for more than a pause, and the next refusal says so.
LONGEST: Final = 120.0

#: What windows are called that count requests; "" is a gateway's only one.
_REQUESTS: Final = frozenset({"", "requests"})


class Limiter:
    """``clock`` gives seconds that only go on."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: float | None = None  # requests that may still go out; None where nobody said
        self._until = 0.0  # when that window is over
        self._held = 0.0  # until when nothing goes out, whatever is left
        self._under_way = 0

    @property
    def delay(self) -> float:
        """Seconds until the next request may go out; 0 when it may now."""
        now = self._clock()
        wait = self._held - now
        left = self.left
        if left is not None and left < 1:
            wait = max(wait, self._until - now)
        return max(wait, 0.0)

    @property
    def held(self) -> bool:
        """Whether an answer asked to wait, and that time is not over."""
        return self._held > self._clock()

    @property
    def left(self) -> float | None:
        """Requests that may still go out in this window; None where nobody said."""
        if self._left is not None and self._clock() >= self._until:
            self._left = None
        return self._left

    def begin(self) -> None:
        """A request goes out."""
        self._under_way += 1
        if self._left is not None:
            self._left -= 1

    def end(self) -> None:
        """It is answered, or came to nothing."""
        self._under_way -= 1

    def give_back(self) -> None:
        """A request that had begun did not go out."""
        self._under_way -= 1
        if self._left is not None:
            self._left += 1

    def note(self, limits: RateLimits) -> None:
        """What the headers of an answer say. Requests that are under way may not be counted in them yet."""
        now = self._clock()
        for window in limits.windows:
            reset = window.reset_in
            if window.remaining is None or reset is None or reset <= 0:
                continue
            until = now + min(reset, LONGEST)
            if window.dimension in _REQUESTS:
                self._left = max(window.remaining - max(self._under_way - 1, 0), 0.0)
                self._until = until
            elif window.remaining <= 0:
                self._held = max(self._held, until)

    def hold(self, seconds: float) -> None:
        """An answer asked to wait so long before the next request."""
        self._held = max(self._held, self._clock() + min(seconds, LONGEST))
