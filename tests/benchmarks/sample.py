"""A benchmark for the tests of what runs benchmarks: one figure holds its goal, and in the long form one does not."""

from __future__ import annotations

from tests.benchmarks.registry import Figure, at_least, at_most


def run(short: bool) -> list[Figure]:
    """Measures nothing."""
    held = [at_most("small", 1.5, "times", 2), Figure("seen", 1234.0, "µs")]
    return held if short else [*held, at_least("large", 3, "times", 10)]
