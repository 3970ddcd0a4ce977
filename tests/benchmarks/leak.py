"""Measure memory over 200 runs in one window, each in an experiment of its own that is deleted afterwards.

Memory varies by pages that the allocator keeps, so the lowest levels of both halves are compared. Objects do not vary:
they are counted as well.
"""

from __future__ import annotations

import gc
from collections import Counter

from PySide6.QtWidgets import QApplication, QWidget

from playground.engine.session.session import Session
from tests.benchmarks.memory import resident_mb
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Window, play

ROUND = 20  # runs
ROUNDS, SHORT_ROUNDS = 10, 5
MODEL = "paced-0-120"


def run(short: bool) -> list[Figure]:
    """Return growth of memory and of objects; the short form has half the runs."""
    return play(_Rounds(SHORT_ROUNDS if short else ROUNDS).measure)


class _Rounds:
    def __init__(self, rounds: int) -> None:
        self._rounds = rounds

    async def measure(self, window: Window) -> list[Figure]:
        """Run all rounds; compare memory and objects with the first."""
        levels: list[float] = []
        objects: list[Counter[str]] = []
        for _ in range(self._rounds):
            for _ in range(ROUND):
                await self._run(window)
            await window.settle(0.5)
            levels.append(resident_mb())
            objects.append(_counts())
        middle = (len(levels) + 1) // 2
        base, end = min(levels[:middle]), min(levels[middle:])
        more = objects[-1] - objects[0]
        return [
            at_most("memory, growth", 100 * (end - base) / base, "%", 5),
            Figure("memory at the end", levels[-1], "MB"),
            at_most("more widgets at the end", more["widget"], "objects", 0),
            at_most("more experiments at the end", more["session"], "objects", 0),
        ]

    async def _run(self, window: Window) -> None:
        session = window.new(MODEL)
        await window.run(session)
        await window.settle(0.02)
        window.app.workspace.delete(session.id)


def _counts() -> Counter[str]:
    gc.collect()
    kinds = Counter({"session": sum(isinstance(thing, Session) for thing in gc.get_objects())})
    kinds["widget"] = sum(isinstance(widget, QWidget) for widget in QApplication.allWidgets())
    return kinds
