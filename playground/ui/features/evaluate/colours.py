"""The colours that columns have, in a table, a plot, a card. A letter always stands with them."""

from __future__ import annotations

from typing import Final

from playground.ui.widgets.theme import tokens

_NAMES: Final = ("accent", "ok", "reasoning", "tool", "user", "error")


def colour_name(place: int) -> str:
    """The token of the column at a place, from 0."""
    return _NAMES[place % len(_NAMES)]


def colour_of(place: int) -> str:
    """Its colour as ``#rrggbb``, of the scheme that is shown."""
    colour: str = getattr(tokens(), colour_name(place))
    return colour
