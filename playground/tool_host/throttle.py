"""Slows down a server that floods: its output is not read, so that its pipe fills up and it has to wait."""

from __future__ import annotations

import asyncio
import time

from playground.tool_host.limits import BURST, BYTES_BURST, BYTES_PER_SECOND, PER_SECOND


class Throttle:
    """A token bucket for messages and one for bytes."""

    def __init__(self) -> None:
        self._messages, self._bytes = float(BURST), float(BYTES_BURST)
        self._refilled = time.monotonic()

    async def message(self) -> None:
        """Wait until one more message may be read."""
        self._refill()
        self._messages -= 1
        await self._wait(-self._messages / PER_SECOND)

    async def bytes(self, size: int) -> None:
        """Wait until ``size`` more bytes may be read."""
        self._refill()
        self._bytes -= size
        await self._wait(-self._bytes / BYTES_PER_SECOND)

    def _refill(self) -> None:
        now = time.monotonic()
        passed, self._refilled = now - self._refilled, now
        self._messages = min(BURST, self._messages + passed * PER_SECOND)
        self._bytes = min(BYTES_BURST, self._bytes + passed * BYTES_PER_SECOND)

    async def _wait(self, seconds: float) -> None:
        if seconds > 0:
            await asyncio.sleep(seconds)
