"""The gateways to choose from, with a client for each; the embedded demo gateway is always one of them.

A gateway's client is made on first use, and again when its profile or key changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any

from playground.domain.adaptations import Adaptation, with_rule
from playground.domain.errors import FailureKind, RunRefusedError
from playground.domain.model_facts import NOTHING_TOLD, ModelFacts
from playground.domain.prices import Price
from playground.engine.gateways.credentials import NeedsConsent, credentials_for
from playground.engine.gateways.profiles import Profile, ProfileStore, connection
from playground.engine.gateways.secrets import Keys, Secret
from playground.gateway.connection import Connection

if TYPE_CHECKING:
    from playground.engine.gateways.model_catalog import FetchedModelFacts, ModelCatalog
    from playground.engine.gateways.services import KnownGateway, KnownGateways
    from playground.gateway.client import GatewayClient
    from playground.gateway.models import ModelList

DEMO_ID = "demo"


class Gateways:
    """Profiles, clients and model lists of all gateways.

    ``start_demo`` starts the demo gateway if needed and returns its base URL; it may block shortly. Methods that save
    something block for a small write and raise ProfileError; settings of the demo gateway stay in memory.
    """

    def __init__(self, store: ProfileStore, keys: Keys, start_demo: Callable[[], str]) -> None:
        self.store = store
        self.keys = keys
        self._start_demo = start_demo
        self._demo = Profile(id=DEMO_ID, name="Demo gateway", demo=True, default_model="demo-reasoner")
        self._starting = asyncio.Lock()
        self._clients: dict[str, GatewayClient] = {}
        self._models: dict[str, ModelList] = {}
        self._facts: dict[str, FetchedModelFacts] = {}
        for profile in store.profiles:
            if profile.key_variable:
                keys.from_environment(profile.key_variable)  # from now on it is redacted everywhere

    @cached_property
    def services(self) -> KnownGateways:
        """The known services, a person's own among them. Reads two small files the first time."""
        from playground.engine.gateways.services import services_near

        return services_near(self.store.path)

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """All gateways, the demo first."""
        return (self._demo, *self.store.profiles)

    @property
    def active_id(self) -> str:
        """The gateway of new experiments: the one selected last, the demo if none is set up."""
        active = self.store.active
        return active.id if active is not None else DEMO_ID

    def get(self, profile_id: str) -> Profile:
        """Return the gateway of that id, or the demo for an unknown one."""
        if profile_id == DEMO_ID:
            return self._demo
        return self.store.get(profile_id) or self._demo

    def update(self, profile: Profile) -> None:
        """Save a changed profile."""
        if profile.demo:
            self._demo = profile
        else:
            self.store.update(profile)

    def _edit(self, profile_id: str, change: Callable[[Profile], dict[str, Any]]) -> None:
        """Save the fields that ``change`` returns for the profile's present state."""

        def apply(profile: Profile) -> Profile:
            return profile.model_copy(update=change(profile))

        if profile_id == DEMO_ID:
            self._demo = apply(self._demo)
        else:
            self.store.edit(profile_id, apply)

    def star(self, profile_id: str, model: str, on: bool) -> None:
        """Add a model to the favourites, or remove it."""
        from playground.engine.gateways.model_catalog import set_favourite

        self._edit(profile_id, lambda profile: {"favourites": set_favourite(profile.favourites, model, on)})

    def note_use(self, profile_id: str, model: str) -> None:
        """Save that a model was chosen or asked."""
        from playground.engine.gateways.model_catalog import add_recent

        if model:
            self._edit(profile_id, lambda profile: {"recent": add_recent(profile.recent, model)})

    def set_price(self, profile_id: str, model: str, price: Price) -> None:
        """Save the price of a model, or delete it if it is not set."""

        def priced(profile: Profile) -> dict[str, Any]:
            rest = {name: value for name, value in profile.prices.items() if name != model}
            return {"prices": {**rest, model: price} if price.is_set else rest}

        self._edit(profile_id, priced)

    def add_rules(self, profile_id: str, rules: Iterable[Adaptation]) -> None:
        """Save rules for what the gateway refuses."""
        rules = tuple(rules)
        self._edit(profile_id, lambda profile: {"adaptations": reduce(with_rule, rules, profile.adaptations)})

    def raise_timeouts(self, profile_id: str) -> str:
        """Double the gateway's time-outs and return the new ones in words."""
        new: dict[str, float] = {}

        def doubled(profile: Profile) -> dict[str, Any]:
            old = {name: getattr(profile.timeouts, name) for name in ("connect", "first", "idle", "total")}
            new.update({name: value * 2 for name, value in old.items() if value is not None})
            return {"timeouts": profile.timeouts.model_copy(update=new)}

        self._edit(profile_id, doubled)
        first, idle = new.get("first"), new.get("idle")
        words = [f"first content {first:g} s" if first else "", f"between content {idle:g} s" if idle else ""]
        return "Time-outs doubled: " + ", ".join(filter(None, words)) + "."

    # ---- clients -----------------------------------------------------------------------------------------------------

    async def client(self, profile_id: str) -> GatewayClient:
        """Return a client for a gateway. Raises RunRefusedError with the question if a person has to agree first."""
        from playground.gateway.client import GatewayClient

        profile = self.get(profile_id)
        settings = await self.connection(profile_id)
        old = self._clients.get(profile.id)
        if old is not None and old.connection == settings:
            return old
        client = self._clients[profile.id] = GatewayClient(settings)
        if old is not None:
            await old.aclose()
        return client

    async def connection(self, profile_id: str, *, with_key: bool = True) -> Connection:
        """Return the settings to reach a gateway, without its key for requests that bring their own.

        Raises RunRefusedError like ``client``.
        """
        profile = self.get(profile_id)
        if profile.demo:
            return await self._demo_connection()
        return await self._connection(profile) if with_key else connection(profile)

    async def _demo_connection(self) -> Connection:
        async with self._starting:
            if not self._demo.base_url:
                url = await asyncio.to_thread(self._start_demo)
                self._demo = self._demo.model_copy(update={"base_url": url})
        return connection(self._demo, Secret("demo"))

    async def _connection(self, profile: Profile) -> Connection:
        credentials = await credentials_for(profile, self.keys)
        if isinstance(credentials, NeedsConsent):
            raise RunRefusedError(f"{credentials.words} Answer in the gateway's settings.", FailureKind.CONSENT)
        if credentials.problem:
            raise RunRefusedError(credentials.problem, FailureKind.NO_KEY)
        return connection(profile, credentials.key, credentials.headers)

    async def aclose(self) -> None:
        """Close all clients."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.aclose()

    # ---- models ------------------------------------------------------------------------------------------------------

    async def models(self, profile_id: str, protocol: str, *, refresh: bool = False) -> ModelList:
        """Return the gateway's model list, cached until ``refresh``. Raises RunRefusedError like ``client``."""
        listing = self._models.get(profile_id)
        if listing is None or refresh or listing.failure is not None:
            client = await self.client(profile_id)
            service = await asyncio.to_thread(self._service, profile_id)
            price_tokens = service.price_tokens if service is not None else 0
            listing = self._models[profile_id] = await client.list_models(protocol, price_tokens)
            self._facts.pop(profile_id, None)
        return listing

    def listed(self, profile_id: str) -> ModelList | None:
        """Return the cached model list, or None."""
        return self._models.get(profile_id)

    def forget_models(self, profile_id: str) -> None:
        """Drop the cached model list, so that the next ``models`` requests it."""
        self._models.pop(profile_id, None)
        self._facts.pop(profile_id, None)

    def catalog(self, profile_id: str) -> ModelCatalog:
        """Return the models to choose from, as far as they were listed."""
        from playground.engine.gateways.model_catalog import ModelCatalog

        profile, listing = self.get(profile_id), self._models.get(profile_id)
        return ModelCatalog(
            models=listing.models if listing is not None else (),
            gateway=profile.name,
            favourites=profile.favourites,
            recent=profile.recent,
            star=partial(self.star, profile.id),
            note_use=partial(self.note_use, profile.id),
            secrets=self.keys.known_secrets,
        )

    def price(self, profile_id: str, model: str) -> Price | None:
        """Return the entered price of a model, else that of the gateway's facts; None if unknown."""
        profile = self._demo if profile_id == DEMO_ID else self.store.get(profile_id)
        entered = profile.prices.get(model) if profile is not None else None
        return entered or self.facts(profile_id, model).price

    def facts(self, profile_id: str, model: str) -> ModelFacts:
        """Return the facts about a model that the gateway has given so far."""
        listing, fetched = self._models.get(profile_id), self._facts.get(profile_id)
        if listing is not None and model in listing:
            return listing.facts(model)
        return fetched.about(model) if fetched is not None else NOTHING_TOLD

    def lacks_facts(self, profile_id: str, model: str) -> bool:
        """Return whether there is a list, and ``fetch_facts`` was not called for the model yet."""
        listing, fetched = self._models.get(profile_id), self._facts.get(profile_id)
        if listing is None or listing.failure is not None:
            return False
        return fetched is None or not {"", model} <= fetched.requested

    async def fetch_facts(self, profile_id: str, protocol: str, model: str) -> bool:
        """Request once the facts that the service has besides the list; return whether there were new ones.

        Only for services that are known to have such pages. Raises RunRefusedError like ``client``, and nothing for
        the gateway's behaviour.
        """
        from playground.engine.gateways.model_catalog import FetchedModelFacts, fetch_facts
        from playground.gateway.models import with_facts

        if not self.lacks_facts(profile_id, model):
            return False
        listing, fetched = self._models[profile_id], self._facts.setdefault(profile_id, FetchedModelFacts())
        missing = {"", model} - fetched.requested
        fetched.requested |= missing
        client, before = await self.client(profile_id), dict(fetched.by_model)
        service = await asyncio.to_thread(self._service, profile_id, listing)
        exchanges = await fetch_facts(client, service, fetched, protocol, missing) if service is not None else ()
        while exchanges and self._facts.get(profile_id) is fetched:  # until no new list arrives in the meantime
            listing = self._models[profile_id]
            extended = await asyncio.to_thread(with_facts, listing, fetched.by_model, exchanges)
            if self._models.get(profile_id) is listing:
                self._models[profile_id] = extended
                break
        return fetched.by_model != before

    def _service(self, profile_id: str, listing: ModelList | None = None) -> KnownGateway | None:
        """Return the gateway's service, identified by its settings or its list; reads small files the first time."""
        from playground.engine.gateways.model_catalog import service_by_list

        service_id = self.get(profile_id).service
        service = self.services.get(service_id) if service_id else None
        if service is None and listing is not None:
            return service_by_list(self.services.all, listing)
        return service
