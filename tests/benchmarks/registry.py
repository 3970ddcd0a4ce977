"""The benchmarks by name, and the figures that they return.

A budget is a ratio or a limit of one run. A figure without a budget explains the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Final

#: Takes whether the short form is wanted, returns the figures.
Run = Callable[[bool], "list[Figure]"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value, None where nothing could be measured, and its budget as text, empty without one."""

    name: str
    value: float | None
    unit: str
    goal: str = ""
    holds: bool = True


def at_most(name: str, value: float, unit: str, limit: float) -> Figure:
    """Return a figure with an upper budget."""
    return Figure(name, value, unit, f"≤ {limit:g}", value <= limit)


def at_least(name: str, value: float, unit: str, limit: float) -> Figure:
    """Return a figure with a lower budget."""
    return Figure(name, value, unit, f"≥ {limit:g}", value >= limit)


def load(module: str) -> Run:
    """Return the ``run`` function of a module of this package, imported only in the process that runs it."""
    run: Run = import_module(f"tests.benchmarks.{module}").run
    return run


#: Module names by benchmark name.
BENCHMARKS: Final = {
    "decode": "decode",
    "memory": "answer_memory",
    "stream": "stream",
    "paced": "paced",
    "growth": "growth",
    "open": "open_large",
    "large": "large",
    "hostile": "hostile",
    "servers": "servers",
    "evaluate": "evaluate",
    "listen": "listen",
    "peers": "peers",
    "store": "store",
    "start": "start",
    "idle": "idle",
    "leak": "leak",
    "soak": "soak",
}
#: Ratios and sizes that hold on a busy machine too; their short form is part of ``.ci/release``.
STABLE: Final = ("decode", "memory", "growth", "leak")
