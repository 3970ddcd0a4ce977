"""Measure the CPU time of 4,000 tokens at 200 a second into an empty experiment in the real window, against a floor."""

from __future__ import annotations

from tests.benchmarks.paced_readers import cpu_seconds
from tests.benchmarks.registry import Figure, at_most

COUNT, SHORT_COUNT = 4_000, 800
PASSES = 2  # noise only adds
TIMES_FLOOR = 1.6


def run(short: bool) -> list[Figure]:
    """Return the CPU of ours and of the floor, the best of all passes, and their ratio."""
    count = SHORT_COUNT if short else COUNT
    passes = [(cpu_seconds("floor", count), cpu_seconds("ours", count)) for _ in range(1 if short else PASSES)]
    floor, ours = map(min, zip(*passes, strict=True))
    return [
        at_most("ours / floor, CPU of the process", ours / floor, "×", TIMES_FLOOR),
        Figure("ours", ours, "s"),
        Figure("floor", floor, "s"),
    ]
