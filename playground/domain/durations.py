"""Durations as people and HTTP headers write them: formatting and parsing.

Times of a run, which are compared with each other, are formatted by ``playground.ui.widgets.figures``.
"""

from __future__ import annotations

import math
import re
from typing import Final

_DURATION: Final = re.compile(r"\d+(?:\.\d+)?\s?[a-zµμ]+(?:,?\s?(?:and\s)?\d+(?:\.\d+)?\s?[a-zµμ]+)*")
_PIECE: Final = re.compile(r"(\d+(?:\.\d+)?)\s?([a-zµμ]+)")
_SECONDS: Final = {
    **dict.fromkeys(("d", "day", "days"), 86400.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "µs", "μs"), 1e-6),
    "ns": 1e-9,
}
_LONGEST: Final = 200  # characters of a duration

_UNITS = (("days", 86400), ("h", 3600), ("min", 60), ("s", 1))


def span(seconds: float) -> str:
    """Format a duration in its two largest units: "0.25 s", "45 s", "2 min 5 s", "3 h 20 min", "12 days 4 h"."""
    if not math.isfinite(seconds):
        return "for ever"
    if seconds < 60:
        return f"{seconds:.3g} s" if round(seconds, 1) < 60 else "1 min"
    rounded = round(seconds)
    index = next(index for index, (_, size) in enumerate(_UNITS) if rounded >= size)
    (large, size), (small, part) = _UNITS[index], _UNITS[index + 1]
    rest = rounded % size // part
    large = "day" if large == "days" and rounded // size == 1 else large
    return f"{rounded // size} {large}" + (f" {rest} {small}" if rest else "")


def countdown(seconds: float) -> str:
    """Format a remaining time, rounded up to seconds so that "0 s" means the end: "1 s", "1 min 1 s"."""
    return span(max(math.ceil(seconds), 0))


def duration_words(seconds: float) -> str:
    """Format a short duration, from microseconds to seconds."""
    if seconds < 0.000_5:
        return f"{seconds * 1e6:.0f} µs" if seconds > 0 else "0"
    if seconds < 0.009_95:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def brief_duration(seconds: float) -> str:
    """Format the time of a call: "84 ms", "1.20 s", "3 min 05 s", "2 h 05 min"."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min"


def read_duration(text: str) -> float | None:
    """Return the seconds of "3.2s", "6m0s", "450ms" or "1 minute 30 seconds"; None for any other text."""
    text = text.strip().lower()
    if len(text) > _LONGEST or _DURATION.fullmatch(text) is None:
        return None
    pieces = [(number, _SECONDS.get(unit)) for number, unit in _PIECE.findall(text) if unit != "and"]
    if any(unit is None for _, unit in pieces):
        return None
    seconds = sum(float(number) * (unit or 0.0) for number, unit in pieces)
    return seconds if math.isfinite(seconds) else None
