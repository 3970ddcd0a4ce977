"""4,000 tokens at 200 a second into an empty experiment, real window: what the process spends on it."""

from __future__ import annotations

import time

from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Window, play

RATE, COUNT, SHORT_COUNT, GOAL = 200, 4_000, 800, 3.0


def run(short: bool) -> list[Figure]:
    """The figures of one run; the short form's goal is in proportion."""
    count = SHORT_COUNT if short else COUNT

    async def stream(window: Window) -> tuple[float, float]:
        session = window.new(f"paced-{RATE}-{count}")
        await window.settle()
        before = time.process_time()
        await window.run(session)  # without the probe of the loop: its own ticks are a tenth of all this
        return time.process_time() - before, before

    spent, before = play(stream)
    return [
        at_most("CPU of the process for the work", spent, "s", GOAL * count / COUNT),
        Figure("CPU per token", spent / count * 1e6, "µs"),
        Figure("CPU before it: start and window", before, "s"),
    ]
