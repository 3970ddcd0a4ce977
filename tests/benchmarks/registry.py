"""What a benchmark is and which there are: a name, the module that runs it, and what its figures are held to.

A figure is a ratio or a limit measured in one run; a goal that depends on the machine alone is none.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

#: Takes whether the short form is wanted, gives the figures.
Run = Callable[[bool], "list[Figure]"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value. ``goal`` is what it is held to, ``holds`` whether it is; a figure may have no goal.

    ``value`` is None where nothing could be measured.
    """

    name: str
    value: float | None
    unit: str
    goal: str = ""
    holds: bool = True


def at_most(name: str, value: float, unit: str, limit: float) -> Figure:
    """A figure that should not be larger."""
    return Figure(name, value, unit, f"≤ {limit:g}", operator.le(value, limit))


def at_least(name: str, value: float, unit: str, limit: float) -> Figure:
    """A figure that should not be smaller."""
    return Figure(name, value, unit, f"≥ {limit:g}", operator.ge(value, limit))


@dataclass(frozen=True, slots=True)
class Benchmark:
    """``stable`` ones are ratios that hold on a busy machine too: their short form is part of CI."""

    name: str
    module: str
    stable: bool = False


def load(module: str) -> Run:
    """The function that measures, in ``tests/benchmarks/<module>.py``; imported only in the process that runs it."""
    run: Run = import_module(f"tests.benchmarks.{module}").run
    return run


BENCHMARKS = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark("decode", "decode", stable=True),
        Benchmark("messages", "messages"),
        Benchmark("stream-1k", "stream_1k"),
        Benchmark("growth", "growth", stable=True),
        Benchmark("open", "open_large"),
        Benchmark("large", "large"),
        Benchmark("hostile", "hostile"),
        Benchmark("start", "start"),
        Benchmark("idle", "idle"),
        Benchmark("lanes", "lanes"),
        Benchmark("tape", "tape", stable=True),
        Benchmark("paced", "paced"),
        Benchmark("leak", "leak", stable=True),
        Benchmark("store", "store"),
        Benchmark("evaluate", "evaluate"),
        Benchmark("dask", "dask_cluster"),
        Benchmark("peers", "peers"),
        Benchmark("servers", "servers"),
        Benchmark("soak", "soak"),
    )
}
