"""What a gateway tells of its models besides its list: asked where its service is known to tell more.

A page that does not answer, or answers something else, is left at that: nobody asked for it. What came of it stands
among the exchanges of the list.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from playground.domain.model_facts import NOTHING_TOLD, ModelFacts, joined
from playground.engine.gateways.services import Details, KnownGateway
from playground.gateway.model_facts import facts_of
from playground.gateway.models import ModelList, read_facts
from playground.gateway.tape import Exchange

if TYPE_CHECKING:
    from playground.gateway.client import GatewayClient
    from playground.jsonkit.values import JSON

#: Seconds for which a page is waited at most.
LONGEST: Final = 10.0
_MODEL: Final = "{model}"
_LOOKED_AT: Final = 100  # entries that may bear a signature


@dataclass
class Learnt:
    """What was asked about the models of one list besides it, and of which of them something was told.

    ``asked`` are the ids of models that were asked about by themselves, and "" once the list-wide pages were.
    """

    asked: set[str] = field(default_factory=set)
    told: dict[str, ModelFacts] = field(default_factory=dict)

    def about(self, model: str) -> ModelFacts:
        """What a page told of that model."""
        return self.told.get(model, NOTHING_TOLD)


def service_by_list(among: Iterable[KnownGateway], listed: ModelList) -> KnownGateway | None:
    """The first that tells more of its models and whose signature the list bears; None for none."""
    headers = listed.exchanges[0].response_headers if listed.exchanges else ()
    entries = [model.raw for model in listed.models[:_LOOKED_AT]]
    return next((one for one in among if one.details and one.bears_signature(headers, entries)), None)


async def learn(
    client: GatewayClient, known: KnownGateway, learnt: Learnt, protocol: str, wanted: Iterable[str]
) -> tuple[Exchange, ...]:
    """Ask what is told besides, and put it to ``learnt``: of the models ``wanted``, and of all of them for an id of "".

    Returns what went over the wire. Never raises for what a gateway does.
    """
    exchanges: list[Exchange] = []
    told: dict[str, ModelFacts] = {}
    if "" in wanted:
        told = await _of_all(client, known, protocol, exchanges)
    for model in filter(None, wanted):
        found = await _of_one(client, known, protocol, model, exchanges)
        told[model] = joined(told.get(model, NOTHING_TOLD), found)
    learnt.told |= {name: joined(learnt.about(name), facts) for name, facts in told.items() if facts.is_known}
    return tuple(exchanges)


async def _of_all(
    client: GatewayClient, known: KnownGateway, protocol: str, exchanges: list[Exchange]
) -> dict[str, ModelFacts]:
    for page in known.details:
        if _of_each(page):
            continue
        value = await _ask(client, page.path, page.body, protocol, exchanges)
        found = await asyncio.to_thread(read_facts, value, known.price_tokens)
        if found:
            return found
    return {}


async def _of_one(
    client: GatewayClient, known: KnownGateway, protocol: str, model: str, exchanges: list[Exchange]
) -> ModelFacts:
    for page in known.details:
        if not _of_each(page):
            continue
        path = page.path.replace(_MODEL, quote(model, safe="", errors="replace"))
        body = page.body.replace(_MODEL, json.dumps(model)[1:-1])
        value = await _ask(client, path, body, protocol, exchanges)
        found = await asyncio.to_thread(facts_of, value, known.price_tokens)
        if found.is_known:
            return found
    return NOTHING_TOLD


async def _ask(client: GatewayClient, path: str, body: str, protocol: str, exchanges: list[Exchange]) -> JSON:
    try:
        async with asyncio.timeout(LONGEST):
            value, exchange = await client.details(path, body, protocol)
    except TimeoutError:
        return None
    exchanges.append(exchange)
    return value


def _of_each(page: Details) -> bool:
    """Whether a page tells of one model at a time."""
    return _MODEL in page.path or _MODEL in page.body
