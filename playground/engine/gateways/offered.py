"""The gateways a person can choose, and a client for each; the embedded demo gateway is always among them.

One client a gateway, made when first needed and again when its profile or key changes. No Qt, no files of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING

from playground.domain.adaptations import Adaptation, with_rule
from playground.domain.errors import FailureKind, RunRefusedError
from playground.domain.model_facts import NOTHING_TOLD, ModelFacts
from playground.domain.prices import Price
from playground.engine.gateways.credentials import NeedsConsent, credentials_for
from playground.engine.gateways.profiles import Profile, ProfileStore, connection
from playground.engine.gateways.secrets import Keys, Secret

if TYPE_CHECKING:
    from playground.engine.gateways.learning import Learnt
    from playground.engine.gateways.offering import Offering
    from playground.engine.gateways.services import KnownGateway, KnownGateways
    from playground.gateway.client import GatewayClient
    from playground.gateway.models import ModelList

DEMO_ID = "demo"


class Gateways:
    """``start_demo`` starts the demo gateway if it does not run and returns its base URL; it may block shortly."""

    def __init__(self, store: ProfileStore, keys: Keys, start_demo: Callable[[], str]) -> None:
        self.store = store
        self.keys = keys
        self._start_demo = start_demo
        self._demo = Profile(id=DEMO_ID, name="Demo gateway", demo=True, default_model="demo-reasoner")
        self._starting = asyncio.Lock()
        self._clients: dict[str, GatewayClient] = {}
        self._models: dict[str, ModelList] = {}
        self._learnt: dict[str, Learnt] = {}
        for profile in store.profiles:
            if profile.key_variable:
                keys.from_environment(profile.key_variable)  # known from now on, whatever shows it

    @cached_property
    def services(self) -> KnownGateways:
        """The services and servers that are known, a person's own among them. Reads two small files the first time."""
        from playground.engine.gateways.services import services_near

        return services_near(self.store.path)

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """Every gateway, the demo first."""
        return (self._demo, *self.store.profiles)

    @property
    def active_id(self) -> str:
        """The gateway new experiments use: the one selected last, the demo when none is set up."""
        active = self.store.active
        return active.id if active is not None else DEMO_ID

    def get(self, profile_id: str) -> Profile:
        """The gateway of that id; the demo when it is gone."""
        if profile_id == DEMO_ID:
            return self._demo
        return self.store.get(profile_id) or self._demo

    def update(self, profile: Profile) -> None:
        """Keep a changed profile. Raises ProfileError when it cannot be written; the demo's lives in memory."""
        if profile.demo:
            self._demo = profile
        else:
            self.store.update(profile)

    def star(self, profile_id: str, model: str, on: bool) -> None:
        """Mark a model as a favourite, or no longer. Blocks for a small write; raises ProfileError as ``update``."""
        from playground.engine.gateways.offering import marked

        self._edit(profile_id, lambda it: it.model_copy(update={"favourites": marked(it.favourites, model, on)}))

    def note_use(self, profile_id: str, model: str) -> None:
        """Remember that a model was chosen or asked. Blocks for a small write; raises ProfileError as ``update``."""
        from playground.engine.gateways.offering import used

        if model:
            self._edit(profile_id, lambda it: it.model_copy(update={"recent": used(it.recent, model)}))

    def _edit(self, profile_id: str, change: Callable[[Profile], Profile]) -> None:
        if profile_id == DEMO_ID:
            self._demo = change(self._demo)
        else:
            self.store.edit(profile_id, change)

    def offering(self, profile_id: str) -> Offering:
        """The models of that gateway to choose from, as far as they were listed."""
        from playground.engine.gateways.offering import Offering

        profile, listed = self.get(profile_id), self._models.get(profile_id)
        return Offering(
            models=listed.models if listed is not None else (),
            gateway=profile.name,
            favourites=profile.favourites,
            recent=profile.recent,
            star=partial(self.star, profile.id),
            note_use=partial(self.note_use, profile.id),
            known=self.keys.known,
        )

    def price(self, profile_id: str, model: str) -> Price | None:
        """What was entered for a model of that gateway, else what its list tells; None where nobody says."""
        profile = self._demo if profile_id == DEMO_ID else self.store.get(profile_id)
        entered = profile.prices.get(model) if profile is not None else None
        return entered or self.facts(profile_id, model).price

    def facts(self, profile_id: str, model: str) -> ModelFacts:
        """What the gateway told of a model so far; nothing where it was not asked, or there is no such gateway."""
        listed, learnt = self._models.get(profile_id), self._learnt.get(profile_id)
        if listed is not None and model in listed:
            return listed.facts(model)
        return learnt.about(model) if learnt is not None else NOTHING_TOLD

    def to_learn(self, profile_id: str, model: str) -> bool:
        """Whether ``learn`` was not asked that yet, and there is a list."""
        listed, learnt = self._models.get(profile_id), self._learnt.get(profile_id)
        whole = listed is not None and listed.failure is None
        return whole and not (learnt is not None and {"", model} <= learnt.asked)

    async def learn(self, profile_id: str, protocol: str, model: str) -> bool:
        """Ask once what more the gateway tells of its listed models, and of ``model``: whether it told anything.

        Only where it is a service that is known to tell more. Raises RunRefusedError as ``client`` does, and never for
        what the gateway does.
        """
        from playground.engine.gateways.learning import Learnt, learn
        from playground.gateway.models import with_facts

        if not self.to_learn(profile_id, model):
            return False
        listed, learnt = self._models[profile_id], self._learnt.setdefault(profile_id, Learnt())
        wanted = {"", model} - learnt.asked
        learnt.asked |= wanted
        client, before = await self.client(profile_id), dict(learnt.told)
        service = await asyncio.to_thread(self._service, profile_id, listed)
        exchanges = await learn(client, service, learnt, protocol, wanted) if service is not None else ()
        while exchanges and self._learnt.get(profile_id) is learnt:  # it may be listed anew in the meantime
            here = self._models[profile_id]
            made = await asyncio.to_thread(with_facts, here, learnt.told, exchanges)
            if self._models.get(profile_id) is here:
                self._models[profile_id] = made
                break
        return learnt.told != before

    def set_price(self, profile_id: str, model: str, price: Price) -> None:
        """Remember a price, or forget it when nothing is entered.

        Blocks for a small write; raises ProfileError as ``update``.
        """

        def priced(profile: Profile) -> Profile:
            others = {name: value for name, value in profile.prices.items() if name != model}
            return profile.model_copy(update={"prices": {**others, model: price} if price.is_set else others})

        self._edit(profile_id, priced)

    def keep_rules(self, profile_id: str, rules: Iterable[Adaptation]) -> None:
        """Remember what that gateway does not take; blocks for one small write. Raises ProfileError as ``update``."""
        kept = tuple(rules)
        self._edit(
            profile_id, lambda it: it.model_copy(update={"adaptations": reduce(with_rule, kept, it.adaptations)})
        )

    def raise_timeouts(self, profile_id: str) -> str:
        """Double the gateway's time-outs and say what they are now.

        Blocks for a small write; raises ProfileError as ``update``.
        """
        new: dict[str, float] = {}

        def doubled(profile: Profile) -> Profile:
            old = {name: getattr(profile.timeouts, name) for name in ("connect", "first", "idle", "total")}
            new.update({name: value * 2 for name, value in old.items() if value is not None})
            return profile.model_copy(update={"timeouts": profile.timeouts.model_copy(update=new)})

        self._edit(profile_id, doubled)
        first, idle = new.get("first"), new.get("idle")
        words = [f"first content {first:g} s" if first else "", f"between content {idle:g} s" if idle else ""]
        return "Time-outs doubled: " + ", ".join(word for word in words if word) + "."

    async def client(self, profile_id: str) -> GatewayClient:
        """A client for that gateway. Raises RunRefusedError with the question when a person has to agree first."""
        from playground.gateway.client import GatewayClient

        profile = self.get(profile_id)
        if profile.demo:
            async with self._starting:
                if not self._demo.base_url:
                    url = await asyncio.to_thread(self._start_demo)
                    self._demo = self._demo.model_copy(update={"base_url": url})
            profile = self._demo
            made = connection(profile, Secret("demo"))
        else:
            found = await credentials_for(profile, self.keys)
            if isinstance(found, NeedsConsent):
                raise RunRefusedError(f"{found.words} Answer in the gateway's settings.", FailureKind.CONSENT)
            if found.problem:
                raise RunRefusedError(found.problem, FailureKind.NO_KEY)
            made = connection(profile, found.key, found.headers)
        old = self._clients.get(profile.id)
        if old is not None and old.connection == made:
            return old
        client = self._clients[profile.id] = GatewayClient(made)
        if old is not None:
            await old.aclose()
        return client

    async def models(self, profile_id: str, protocol: str, *, refresh: bool = False) -> ModelList:
        """What the gateway lists; remembered until ``refresh``. Raises RunRefusedError as ``client`` does."""
        known = self._models.get(profile_id)
        if known is None or refresh or known.failure is not None:
            client = await self.client(profile_id)
            service = await asyncio.to_thread(self._service, profile_id)
            tokens = service.price_tokens if service is not None else 0
            known = self._models[profile_id] = await client.list_models(protocol, tokens)
            self._learnt.pop(profile_id, None)
        return known

    def listed(self, profile_id: str) -> ModelList | None:
        """What the gateway listed when it was asked last; None when it was not."""
        return self._models.get(profile_id)

    def forget_models(self, profile_id: str) -> None:
        """The next ``models`` asks the gateway again."""
        self._models.pop(profile_id, None)
        self._learnt.pop(profile_id, None)

    async def aclose(self) -> None:
        """Close every client."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.aclose()

    def _service(self, profile_id: str, listed: ModelList | None = None) -> KnownGateway | None:
        """What is known of that gateway's service, which its list may tell; reads small files the first time."""
        from playground.engine.gateways.learning import service_by_list

        service = self.get(profile_id).service
        found = self.services.get(service) if service else None
        return service_by_list(self.services.all, listed) if found is None and listed is not None else found
