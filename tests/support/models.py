"""Models to choose from, as a gateway would list them."""

from __future__ import annotations

from collections.abc import Sequence

from playground.engine.gateways.offering import Model, Offering


def offering_of(ids: Sequence[str], gateway: str = "gateway") -> Offering:
    """A list that tells nothing but ids, of a gateway of that name."""
    return Offering(tuple(map(Model, ids)), gateway)
