"""Measure the CPU time of a window that has answered once and has nothing to do, in each of its main states."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Window, play

LOOK_S, SHORT_LOOK_S = 15.0, 5.0
CALM_S = 6.0  # until a window with nothing to do is idle
SHARE = 0.5  # per cent of a core


def run(short: bool) -> list[Figure]:
    """Return the share of a core in each state."""
    seconds = SHORT_LOOK_S if short else LOOK_S

    async def measure(window: Window) -> list[Figure]:
        await window.run(window.new("paced-200-200"))
        action = window.app.window.action
        states: dict[str, Callable[[], object]] = {
            "conversation": lambda: None,
            "compare": action("compare.open").trigger,
            "evaluate": action("evaluate.open").trigger,
            "minimised": window.app.window.showMinimized,
        }
        figures = []
        for state, show in states.items():
            show()
            await window.settle(CALM_S)
            before = time.process_time()
            await window.settle(seconds)
            share = 100 * (time.process_time() - before) / seconds
            figures.append(at_most(f"{state}, CPU of the process", share, "% core", SHARE))
        return figures

    return play(measure)
