"""The wait between two tries of a run: how long, because of what, and the two ways to cut it short."""

from __future__ import annotations

import asyncio
import time

from playground.domain.errors import Failure


class RetryWait:
    """``attempt`` of ``most`` tries have failed with ``failure``; the next begins in ``remaining`` seconds."""

    def __init__(self, failure: Failure, seconds: float, attempt: int, most: int) -> None:
        self.failure = failure
        self.attempt = attempt
        self.most = most
        self._until = time.monotonic() + seconds
        self._cut = asyncio.Event()
        self._given_up = False

    @property
    def remaining(self) -> float:
        """Seconds until the next try, never below 0."""
        return max(self._until - time.monotonic(), 0.0)

    def retry_now(self) -> None:
        """Try at once."""
        self._cut.set()

    def give_up(self) -> None:
        """Do not try again."""
        self._given_up = True
        self._cut.set()

    async def over(self) -> bool:
        """Wait. Returns whether to try again."""
        try:
            await asyncio.wait_for(self._cut.wait(), self.remaining)
        except TimeoutError:
            return True
        return not self._given_up
