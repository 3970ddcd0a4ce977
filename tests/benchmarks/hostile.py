"""Measure the table of hostile shapes, asked of the checker and played into the real window: the longest gap of each.

A gap is the CPU time of the window's thread between two turns of its loop, scaled to a quiet machine
(``tests.hostile.gaps``).
"""

from __future__ import annotations

import asyncio

from playground.engine.questions import checking
from playground.engine.questions.kinds import Question
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Window, play
from tests.hostile.gaps import LIMIT, PASSES, Gaps
from tests.hostile.in_window import best_of, warm_up
from tests.hostile.shapes import CHECKS, WINDOW


def run(short: bool) -> list[Figure]:
    """Return the gaps; the short form plays each shape once."""
    return play(Hostile(1 if short else PASSES).measure)


class Hostile:
    """A measurement; each shape is played up to ``passes`` times, and the best counts."""

    def __init__(self, passes: int) -> None:
        self._passes = passes

    async def measure(self, window: Window) -> list[Figure]:
        """Ask and play all shapes."""
        out = []
        await warm_up(window.app)
        for check in CHECKS:
            gaps = [await self._ask(check.question()) for _ in range(self._passes)]
            out.append(at_most(f"checked: {check.name}", min(gaps) * 1000, "ms", LIMIT * 1000))
        for shape in WINDOW:
            played = await best_of(window.app, shape, passes=self._passes)
            out.append(at_most(f"played: {shape.name}", played.gap * 1000, "ms", LIMIT * 1000))
        return out

    async def _ask(self, question: Question[object]) -> float:
        async with Gaps() as gaps:
            await asyncio.sleep(0.01)
            await checking.answer(question)
        return gaps.seconds
