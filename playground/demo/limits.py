"""The rate limit: a fixed window of requests, with the headers that show it (specification, section 8).

Where there is no limit nothing is counted, and no header speaks of one.
"""

from __future__ import annotations

import math
import time

from playground.demo.problems import TOO_MANY, ApiError


class RateLimit:
    """Counts requests in a window that begins with the first one; ``limit`` 0 is none. Used from one thread only."""

    def __init__(self, limit: int, window: float) -> None:
        self._limit = limit
        self._window = window
        self._used = 0
        self._ends = 0.0  # monotonic seconds
        self._reset = 0.0  # Unix seconds, fixed with the window so that it does not wander between answers

    def take(self) -> None:
        """Count one request. Raises ApiError 429, naming the dimension, when the window is used up."""
        if not self._limit:
            return
        self._renew_window()
        if self._used >= self._limit:
            wait = max(1, math.ceil(self._ends - time.monotonic()))
            raise ApiError(
                429,
                TOO_MANY,
                f"Rate limit exceeded: RPM. The limit is {self._limit} requests in {self._window:g} s; "
                f"try again in {wait} s.",
                {"Retry-After": str(wait)},
            )
        self._used += 1

    def headers(self) -> dict[str, str]:
        """Return the current values of the three headers; Reset is in Unix seconds."""
        if not self._limit:
            return {}
        self._renew_window()
        return {
            "X-RateLimit-Limit": str(self._limit),
            "X-RateLimit-Remaining": str(max(0, self._limit - self._used)),
            "X-RateLimit-Reset": str(math.ceil(self._reset)),
        }

    def _renew_window(self) -> None:
        now = time.monotonic()
        if now >= self._ends:
            self._used = 0
            self._ends = now + self._window
            self._reset = time.time() + self._window
