"""Whether anything listens on a port: a connection that is opened and closed, cheaper by far than a request."""

from __future__ import annotations

import asyncio
from contextlib import suppress


async def listens(host: str, port: int, seconds: float) -> bool:
    """Whether a connection to that address, a number and no name, is taken within ``seconds``. Never raises."""
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
