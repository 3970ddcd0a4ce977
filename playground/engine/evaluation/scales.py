"""Axes in the steps that people count in."""

from __future__ import annotations

import math


def round_step(least: float) -> float:
    """The next of 1, 2, 2.5 and 5 times a power of ten; ``least`` is above 0."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= least * 0.999)


def marks(most: float, count: int = 4) -> list[float]:
    """From 0 in about ``count`` round steps until ``most``, which is above 0, is reached."""
    step = round_step(most / count)
    return [step * number for number in range(math.ceil(most / step * 0.9999) + 1)]
