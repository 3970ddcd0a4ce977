"""Lengths of time as people and headers write them: for waits, countdowns and clocks. Nothing here measures.

Times of a run are compared with each other and have a spelling of their own (``playground.ui.widgets.figures``).
What takes thousandths of a second has ``duration_words``.
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
    """A length of time in its two largest units: "0.25 s", "45 s", "2 min 5 s", "3 h 20 min", "12 days 4 h"."""
    if not math.isfinite(seconds):
        return "for ever"
    if seconds < 60:
        return f"{seconds:.3g} s" if round(seconds, 1) < 60 else "1 min"
    whole = round(seconds)
    at = next(place for place, (_, size) in enumerate(_UNITS) if whole >= size)
    (large, size), (small, part) = _UNITS[at], _UNITS[at + 1]
    rest = whole % size // part
    large = "day" if large == "days" and whole // size == 1 else large
    return f"{whole // size} {large}" + (f" {rest} {small}" if rest else "")


def countdown(seconds: float) -> str:
    """What is left of a wait, in whole seconds and never "0 s" before it is over: "1 s", "1 min 1 s"."""
    return span(max(math.ceil(seconds), 0))


def duration_words(seconds: float) -> str:
    """A time between two frames, or that a server took, for people: from microseconds to seconds."""
    if seconds < 0.000_5:
        return f"{seconds * 1e6:.0f} µs" if seconds > 0 else "0"
    if seconds < 0.009_95:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


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
