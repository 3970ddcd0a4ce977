"""Read a number from the window's settings."""

from __future__ import annotations

import math

from PySide6.QtCore import QSettings


def number(settings: QSettings, key: str, usual: float, least: float, most: float) -> float:
    """Return the number of a key, or ``usual`` if it is missing, not a number or out of bounds."""
    try:
        value = float(str(settings.value(key, usual)))
    except ValueError:
        return usual
    return value if math.isfinite(value) and least <= value <= most else usual
