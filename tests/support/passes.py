"""What is held to a bound on the clock, done a few times.

What the code takes, it takes in every pass; what the machine is busy with at the moment, it is not in all of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

PASSES: Final = 5


def shortest(measure: Callable[[], float], limit: float) -> float:
    """The least of a few passes; one that is below the limit is enough."""
    best = measure()
    for _ in range(PASSES - 1):
        if best < limit:
            break
        best = min(best, measure())
    return best


async def shortest_of(measure: Callable[[], Awaitable[float]], limit: float) -> float:
    """As ``shortest`` does, for what is awaited."""
    best = await measure()
    for _ in range(PASSES - 1):
        if best < limit:
            break
        best = min(best, await measure())
    return best
