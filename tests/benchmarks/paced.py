"""4,000 tokens at 200 a second into an empty experiment, real window: CPU of the process, against a floor."""

from __future__ import annotations

from tests.benchmarks.paced_readers import cpu_seconds
from tests.benchmarks.registry import Figure, at_most

COUNT, SHORT_COUNT = 4_000, 800
TURNS = 2  # of each: noise only ever adds
OF_FLOOR = 0.85


def run(short: bool) -> list[Figure]:
    """CPU of ours and of the floor, the best of some turns each, and their ratio."""
    count = SHORT_COUNT if short else COUNT
    turns = [(cpu_seconds("floor", count), cpu_seconds("ours", count)) for _ in range(1 if short else TURNS)]
    floors, mine = zip(*turns, strict=True)
    (floor, _), (spent, before) = min(floors), min(mine)
    return [
        at_most("ours / floor, CPU of the process", spent / floor, "×", OF_FLOOR),
        Figure("ours", spent, "s"),
        Figure("floor", floor, "s"),
        Figure("ours, per token", spent / count * 1e6, "µs"),
        Figure("ours, before it: start and window", before, "s"),
    ]
