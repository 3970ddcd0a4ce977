"""Wait for a state that comes, and say which one did not.

The state is looked at again and again: another thread, process or event loop reaches it, and sends no signal.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable

LIMIT_S = 60.0  # a machine may have much else to do
_PAUSE_S = 0.005


async def eventually(condition: Callable[[], object], description: str = "", *, seconds: float = LIMIT_S) -> None:
    """Let other tasks run until the condition, a function or a coroutine function, holds.

    Raises AssertionError with the description after the limit.
    """
    limit = time.monotonic() + seconds
    while not await _result(condition):
        _check_limit(limit, seconds, condition, description)
        await asyncio.sleep(_PAUSE_S)


async def _result(condition: Callable[[], object]) -> object:
    result = condition()
    return await result if inspect.isawaitable(result) else result


def _check_limit(limit: float, seconds: float, condition: Callable[[], object], description: str) -> None:
    if time.monotonic() > limit:
        code = condition.__code__ if hasattr(condition, "__code__") else None
        place = f"{code.co_filename}:{code.co_firstlineno}" if code else repr(condition)
        raise AssertionError(f"not within {seconds:g} s: {description or place}")
