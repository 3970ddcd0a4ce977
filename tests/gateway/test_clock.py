"""A deadline and a cancellation at the same moment; ``test_faults`` has the deadlines of real answers."""

from __future__ import annotations

import asyncio

import pytest

from playground.gateway.clock import Clock, Stage
from playground.gateway.connection import Timeouts

FOREVER = 30


async def test_cancellation_at_the_deadline_stays_a_cancellation() -> None:
    clock = Clock(Timeouts(first=0.06))
    clock.wait_for(Stage.FIRST)

    async def wait_and_be_cancelled() -> None:
        with clock:
            try:
                await asyncio.sleep(FOREVER)
            finally:
                current = asyncio.current_task()
                assert current is not None
                current.cancel()  # Stop, at the moment at which the time is over

    task = asyncio.get_running_loop().create_task(wait_and_be_cancelled())
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()
