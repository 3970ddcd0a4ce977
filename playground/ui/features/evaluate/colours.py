"""The colours of variants in tables, plots and cards. Each is shown with the variant's letter."""

from __future__ import annotations

from typing import Final

from playground.ui.widgets.theme import tokens

_NAMES: Final = ("accent", "ok", "reasoning", "tool", "user", "error")


def colour_name(place: int) -> str:
    """Return the colour token of the variant with this number, from 0."""
    return _NAMES[place % len(_NAMES)]


def colour_of(place: int) -> str:
    """Return the colour of the variant with this number as ``#rrggbb`` in the current scheme."""
    colour: str = getattr(tokens(), colour_name(place))
    return colour
