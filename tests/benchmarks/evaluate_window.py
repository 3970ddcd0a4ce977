"""The window's half of ``evaluate``: the same answers come while the table is looked at; it is scrolled, opened again.

A step of scrolling is from the move of the bar until the view has been painted; opening is from the click to the paint
of the first answers.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Callable

from playground.engine.gateways.offered import DEMO_ID
from playground.engine.session.session import Session
from playground.ui.features.evaluate.control import EvaluateControl
from playground.ui.features.evaluate.look import Look
from playground.ui.features.evaluate.table import AnswersTable
from playground.ui.shell.features import EVALUATE
from tests.benchmarks.memory import resident_mb
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Pulse, Window, play

PASSES = 3
STEPS = 300
GAP, LONGEST, MEMORY, OPENED = 16, 50, 150, 300


def run(url: str, prepare: Callable[[Session], int]) -> list[Figure]:
    """``prepare`` gives an experiment its evaluation, and the number of its answers; the gateway is at ``url``."""

    async def measure(window: Window) -> list[Figure]:
        return await _Measured(window, url, prepare).figures()

    return play(measure)


class _Measured:
    def __init__(self, window: Window, url: str, prepare: Callable[[Session], int]) -> None:
        self._window, self._prepare = window, prepare
        gateways = window.app.gateways
        gateways.update(gateways.get(DEMO_ID).model_copy(update={"base_url": url}))

    @property
    def _control(self) -> EvaluateControl:
        found: EvaluateControl = self._window.app.actions.of(EVALUATE)
        return found

    @property
    def _look(self) -> Look:
        assert self._control.look is not None, "no evaluation is shown"
        return self._control.look

    @property
    def _table(self) -> AnswersTable:
        (found,) = self._window.app.window.findChildren(AnswersTable)
        return found

    async def figures(self) -> list[Figure]:
        window = self._window
        session = window.app.workspace.new()
        session.change(profile_id=DEMO_ID)
        session.change(model="demo-chat")
        count = self._prepare(session)
        await window.settle()
        self._open()
        await self._window.until(lambda: self._look.ready)
        await window.settle(2)
        gc.collect()
        before = resident_mb()
        with Pulse() as pulse:
            window.app.window.action("run.run").trigger()
            await self._window.until(lambda: self._look.under_way)
            await self._window.until(lambda: not self._look.under_way)
        assert (self._look.results.count, self._look.results.failed) == (count, 0), "not all answers came"
        with Pulse() as after:
            await self._window.until(lambda: self._look.findings is not None and bool(self._look.findings.comparisons))
            await window.settle()
        added = resident_mb() - before
        scrolled = min([_p99([step async for step in self._scrolled()]) for _ in range(PASSES)])
        opened = [await self._opened() for _ in range(PASSES)]
        return [
            at_most("window: p99 gap while answers come", pulse.p99_ms, "ms", GAP),
            at_most("window: longest gap while answers come", pulse.longest_ms, "ms", LONGEST),
            Figure("window: answers per second", count / pulse.wall, "/s"),
            at_most("window: longest gap while they are compared", after.longest_ms, "ms", LONGEST),
            at_most("window: memory added", added, "MB", MEMORY),
            at_most("window: scrolling the table, p99 of a step", 1000 * scrolled, "ms", GAP),
            at_most("window: the finished evaluation opened", 1000 * min(opened), "ms", OPENED),
        ]

    def _open(self) -> None:
        self._window.app.window.action("evaluate.open").trigger()

    async def _scrolled(self) -> AsyncIterator[float]:
        """Seconds of each step: a notch of the wheel here, a jump there."""
        view = self._table.view
        bar = view.verticalScrollBar()
        for step in range(STEPS):
            place = (step * 7919) % max(bar.maximum(), 1) if step % 3 == 0 else bar.value() + 60
            began = time.perf_counter()
            bar.setValue(place)
            view.viewport().repaint()
            yield time.perf_counter() - began
            await asyncio.sleep(0.005)

    async def _opened(self) -> float:
        """Seconds from the click to the first answers, painted."""
        self._open()
        await self._window.settle(0.5)
        assert not self._control.on
        gc.collect()
        began = time.perf_counter()
        self._open()
        await self._window.until(lambda: self._look.ready and self._table.model.rowCount() > 0)
        self._table.view.viewport().repaint()
        return time.perf_counter() - began


def _p99(steps: list[float]) -> float:
    return sorted(steps)[int(len(steps) * 0.99)]
