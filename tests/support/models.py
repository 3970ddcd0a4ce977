"""Models to choose from, as a gateway would list them."""

from __future__ import annotations

from collections.abc import Sequence

from playground.engine.gateways.model_catalog import Model, ModelCatalog


def catalog_of(ids: Sequence[str], gateway: str = "gateway") -> ModelCatalog:
    """A list that tells nothing but ids, of a gateway of that name."""
    return ModelCatalog(tuple(map(Model, ids)), gateway)
