"""Slows down a server that floods by not reading what it wrote: its pipe fills up, and it waits."""

from __future__ import annotations

import asyncio
import time

from playground.tool_host.limits import BURST, BYTES_BURST, BYTES_PER_SECOND, PER_SECOND


class Throttle:
    """So many messages and bytes may come at once; after that, so many a second."""

    def __init__(self) -> None:
        self._messages, self._bytes = float(BURST), float(BYTES_BURST)
        self._at = time.monotonic()

    async def message(self) -> None:
        """Return when one more message may be taken in."""
        self._pass()
        self._messages -= 1
        await self._wait(-self._messages / PER_SECOND)

    async def bytes(self, size: int) -> None:
        """Return when that many more bytes may be taken in."""
        self._pass()
        self._bytes -= size
        await self._wait(-self._bytes / BYTES_PER_SECOND)

    def _pass(self) -> None:
        now = time.monotonic()
        passed, self._at = now - self._at, now
        self._messages = min(BURST, self._messages + passed * PER_SECOND)
        self._bytes = min(BYTES_BURST, self._bytes + passed * BYTES_PER_SECOND)

    async def _wait(self, late: float) -> None:
        if late > 0:
            await asyncio.sleep(late)
