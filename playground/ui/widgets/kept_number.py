"""A number that the window's settings keep."""

from __future__ import annotations

import math

from PySide6.QtCore import QSettings


def number(settings: QSettings, key: str, usual: float, least: float, most: float) -> float:
    """A number within bounds; the usual one where there is no such number."""
    try:
        found = float(str(settings.value(key, usual)))
    except ValueError:
        return usual
    return found if math.isfinite(found) and least <= found <= most else usual
