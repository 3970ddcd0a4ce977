"""The clocks: what they interrupt, what re-arms them, and who wins when two things happen at once."""

from __future__ import annotations

import asyncio

import pytest

from playground.gateway.clock import Clock, Expired, Stage
from playground.gateway.connection import Timeouts

FOREVER = 30


async def test_it_interrupts_the_await_inside() -> None:
    clock = Clock(Timeouts(first=0.06))
    clock.wait_for(Stage.FIRST)
    with pytest.raises(Expired) as raised, clock:
        await asyncio.sleep(FOREVER)
    assert raised.value.stage is Stage.FIRST
    assert 0.05 <= clock.now < 1
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    await asyncio.sleep(0)  # the task goes on as if nothing had been cancelled


async def test_it_leaves_the_rest_alone() -> None:
    clock = Clock(Timeouts(first=0.06))
    clock.wait_for(Stage.FIRST)
    with clock:
        await asyncio.sleep(0)
    await asyncio.sleep(0.15)  # outside: free, though the timer rang meanwhile
    with clock:
        await asyncio.sleep(0.01)  # what is there already is still found
    clock.stop()


async def test_a_stage_set_inside_counts_at_once() -> None:
    clock = Clock(Timeouts(connect=None, first=0.06))
    clock.wait_for(Stage.CONNECT)

    async def later() -> None:
        await asyncio.sleep(0.01)
        clock.wait_for(Stage.FIRST)
        await asyncio.sleep(FOREVER)

    with pytest.raises(Expired), clock:
        await later()


async def test_a_shorter_stage_replaces_a_longer_timer() -> None:
    clock = Clock(Timeouts(idle=FOREVER, settle=0.06))
    clock.wait_for(Stage.IDLE)
    with clock:
        await asyncio.sleep(0)
    clock.wait_for(Stage.SETTLE)
    with pytest.raises(Expired) as raised, clock:
        await asyncio.sleep(FOREVER)
    assert raised.value.stage is Stage.SETTLE


async def test_total_goes_before_the_stage_that_ends_later() -> None:
    clock = Clock(Timeouts(idle=FOREVER, total=0.06))
    clock.wait_for(Stage.IDLE)
    with pytest.raises(Expired) as raised, clock:
        await asyncio.sleep(FOREVER)
    assert raised.value.stage is Stage.TOTAL


async def test_everything_off_waits() -> None:
    clock = Clock(Timeouts(connect=None, first=None, idle=None, settle=None, total=None))
    for stage in Stage:
        if stage is not Stage.TOTAL:
            clock.wait_for(stage)
            with clock:
                await asyncio.sleep(0.01)


async def test_a_cancellation_from_outside_stays_one() -> None:
    clock = Clock(Timeouts(first=0.06))
    clock.wait_for(Stage.FIRST)

    async def watched() -> None:
        with clock:
            try:
                await asyncio.sleep(FOREVER)
            finally:
                inner = asyncio.current_task()
                assert inner is not None
                inner.cancel()  # Stop is pressed at the very moment the time is over

    task = asyncio.get_running_loop().create_task(watched())
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()
