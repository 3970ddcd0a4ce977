"""A benchmark for the tests of the command: in its long form one figure misses its budget."""

from __future__ import annotations

from tests.benchmarks.registry import Figure, at_least, at_most


def run(short: bool) -> list[Figure]:
    """Return fixed figures."""
    figures = [at_most("small", 1.5, "times", 2), Figure("medium", 1234.0, "µs")]
    return figures if short else [*figures, at_least("large", 3, "times", 10)]
