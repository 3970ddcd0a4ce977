"""The models of a gateway to choose from, and the facts about them that its service has besides the model list.

All facts are the gateway's word: foreign text. A page with facts that fails, or holds something else, is ignored; its
exchange is listed with those of the model list.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from playground.domain.model_facts import NOTHING_TOLD, ModelFacts, joined
from playground.engine.gateways.redaction import redactor_of
from playground.engine.gateways.secrets import Secret
from playground.engine.gateways.services import Details, KnownGateway
from playground.gateway.model_facts import facts_of
from playground.gateway.models import Model as Model
from playground.gateway.models import ModelList, read_facts
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange
from playground.jsonkit.layout import indented_front

if TYPE_CHECKING:
    from playground.gateway.client import GatewayClient
    from playground.jsonkit.values import JSON

MAX_RECENT: Final = 8  # models that are saved as used
MAX_SECONDS: Final = 10.0  # for one page of facts
_MARGIN: Final = 2_000  # characters after the displayed part, so that a secret at its end is recognised
_MAX_SIGNED_ENTRIES: Final = 100  # entries of a list that are searched for a signature
_MODEL: Final = "{model}"


@dataclass(frozen=True)
class ModelCatalog:
    """``models`` in the order of the list of ``gateway`` (its name); ``favourites`` and ``recent`` are ids.

    ``star`` adds or removes a favourite, and ``note_use`` adds a recent model; each writes a small file and raises
    ProfileError. They are None for an unsaved gateway. ``secrets`` returns the secrets to remove from displayed texts.
    """

    models: tuple[Model, ...] = ()
    gateway: str = ""
    favourites: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()
    star: Callable[[str, bool], None] | None = None
    note_use: Callable[[str], None] | None = None
    secrets: Callable[[], Iterable[Secret]] = tuple

    def is_same(self, catalog: ModelCatalog) -> bool:
        """Return whether both have the same list and marks."""
        return (
            self.models is catalog.models
            and self.gateway == catalog.gateway
            and (self.favourites, self.recent) == (catalog.favourites, catalog.recent)
            and (self.star is None) == (catalog.star is None)
        )

    def displayed(self, text: str, length: int) -> str:
        """Return a text of the list without secrets, cut to ``length`` characters."""
        return self._redactor.text(text) if len(text) <= length else f"{self._redactor.front(text, length)}…"

    @cached_property
    def _redactor(self) -> Redactor:
        return redactor_of(self.secrets())

    def entry_text(self, model: Model, length: int) -> str:
        """Return the list's entry of a model as JSON of about ``length`` characters, without secrets."""
        return self.displayed(indented_front(model.raw, length + _MARGIN), length)


def add_recent(recent: Iterable[str], model: str) -> tuple[str, ...]:
    """Return the recent models after a use of ``model``, newest first."""
    return (model, *(name for name in recent if name != model))[:MAX_RECENT]


def set_favourite(favourites: Iterable[str], model: str, on: bool) -> tuple[str, ...]:
    """Return the favourites with or without a model, in the order in which they were marked."""
    rest = tuple(name for name in favourites if name != model)
    return (*rest, model) if on else rest


# ---- facts besides the list ------------------------------------------------------------------------------------------


@dataclass
class FetchedModelFacts:
    """The facts about the models of one list from other pages.

    ``requested`` holds the ids of models whose own pages were requested, and "" once the pages of all models were.
    """

    requested: set[str] = field(default_factory=set)
    by_model: dict[str, ModelFacts] = field(default_factory=dict)

    def about(self, model: str) -> ModelFacts:
        """Return the facts about a model."""
        return self.by_model.get(model, NOTHING_TOLD)


def service_by_list(services: Iterable[KnownGateway], listing: ModelList) -> KnownGateway | None:
    """Return the first service with pages of facts whose signature the list bears, or None."""
    headers = listing.exchanges[0].response_headers if listing.exchanges else ()
    entries = [model.raw for model in listing.models[:_MAX_SIGNED_ENTRIES]]
    return next((item for item in services if item.details and item.bears_signature(headers, entries)), None)


async def fetch_facts(
    client: GatewayClient, service: KnownGateway, facts: FetchedModelFacts, protocol: str, models: Collection[str]
) -> tuple[Exchange, ...]:
    """Request the pages about ``models``, and about all models for an id of ""; add the result to ``facts``.

    Returns the exchanges. Never raises for the gateway's behaviour.
    """
    exchanges: list[Exchange] = []
    fetched: dict[str, ModelFacts] = {}

    async def request(path: str, body: str) -> JSON:
        try:
            async with asyncio.timeout(MAX_SECONDS):
                value, exchange = await client.details(path, body, protocol)
        except TimeoutError:
            return None
        exchanges.append(exchange)
        return value

    if "" in models:
        for page in service.details:
            if not _is_per_model(page) and not fetched:
                value = await request(page.path, page.body)
                fetched = await asyncio.to_thread(read_facts, value, service.price_tokens)
    for model in filter(None, models):
        for page in filter(_is_per_model, service.details):
            path = page.path.replace(_MODEL, quote(model, safe="", errors="replace"))
            value = await request(path, page.body.replace(_MODEL, json.dumps(model)[1:-1]))
            own = await asyncio.to_thread(facts_of, value, service.price_tokens)
            if own.is_known:
                fetched[model] = joined(fetched.get(model, NOTHING_TOLD), own)
                break
    facts.by_model |= {name: joined(facts.about(name), item) for name, item in fetched.items() if item.is_known}
    return tuple(exchanges)


def _is_per_model(page: Details) -> bool:
    return _MODEL in page.path or _MODEL in page.body
