"""Two hundred runs in one window: nothing may stay of what is gone.

Each run has an experiment of its own, in view while its answer streams, and deleted afterwards; experiments can be
undeleted, but only a few. Memory is looked at after each round of twenty runs. It wobbles by pages that the allocator
keeps, so the lowest level of the rounds in the first half after the twentieth run is compared with the lowest of the
second half. Objects do not wobble: they are counted as well.
"""

from __future__ import annotations

import gc
from collections import Counter

from PySide6.QtWidgets import QApplication, QWidget

from playground.engine.session.session import Session
from tests.benchmarks.memory import resident_mb
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Window, play

ROUND = 20  # runs; the first round is the window's warming up
ROUNDS, SHORT_ROUNDS = 10, 5
MODEL = "paced-0-120"


def run(short: bool) -> list[Figure]:
    """The figures; the short form has half the runs."""
    return play(_Rounds(SHORT_ROUNDS if short else ROUNDS).measure)


class _Rounds:
    def __init__(self, rounds: int) -> None:
        self._rounds = rounds

    async def measure(self, window: Window) -> list[Figure]:
        """Run round after round; what memory and objects do after the first."""
        levels: list[float] = []
        objects: list[Counter[str]] = []
        for _ in range(self._rounds):
            for _ in range(ROUND):
                await self._one(window)
            await window.settle(0.5)
            levels.append(resident_mb())
            objects.append(_counts())
        middle = (len(levels) + 1) // 2
        base, end = min(levels[:middle]), min(levels[middle:])
        more = objects[-1] - objects[0]
        return [
            at_most("memory, growth after the twentieth run", 100 * (end - base) / base, "%", 5),
            Figure("memory after the first round", levels[0], "MB"),
            Figure("memory at the end", levels[-1], "MB"),
            at_most("more widgets than after the twentieth run", more["widget"], "objects", 0),
            at_most("more experiments than after the twentieth run", more["session"], "objects", 0),
        ]

    async def _one(self, window: Window) -> None:
        session = window.new(MODEL)
        await window.run(session)
        await window.settle(0.02)
        window.app.workspace.delete(session.id)


def _counts() -> Counter[str]:
    gc.collect()
    kinds = Counter({"session": sum(isinstance(thing, Session) for thing in gc.get_objects())})
    kinds["widget"] = sum(isinstance(widget, QWidget) for widget in QApplication.allWidgets())
    return kinds
