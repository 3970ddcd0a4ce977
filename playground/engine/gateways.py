"""The gateways a person can choose, and a client for each; the embedded demo gateway is always among them.

One client a gateway, made when first needed and again when its profile or key changes. No Qt, no files of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from playground.engine.credentials import NeedsConsent, credentials_for
from playground.engine.profiles import Profile, ProfileStore, connection
from playground.engine.run import RunRefusedError
from playground.engine.secrets import Keys, Secret

if TYPE_CHECKING:
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
        self._clients: dict[str, GatewayClient] = {}
        self._models: dict[str, ModelList] = {}

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

    async def client(self, profile_id: str) -> GatewayClient:
        """A client for that gateway. Raises RunRefusedError with the question when a person has to agree first."""
        from playground.gateway.client import GatewayClient

        profile = self.get(profile_id)
        if profile.demo:
            if not profile.base_url:
                url = await asyncio.to_thread(self._start_demo)
                profile = self._demo = profile.model_copy(update={"base_url": url})
            made = connection(profile, Secret("demo"))
        else:
            found = await credentials_for(profile, self.keys)
            if isinstance(found, NeedsConsent):
                raise RunRefusedError(f"{found.words} Answer in the gateway's settings.")
            made = connection(profile, found.key, found.headers)
        client = self._clients.get(profile.id)
        if client is None or client.connection != made:
            if client is not None:
                await client.aclose()
            client = self._clients[profile.id] = GatewayClient(made)
        return client

    async def models(self, profile_id: str, protocol: str, *, refresh: bool = False) -> ModelList:
        """What the gateway lists; remembered until ``refresh``. Raises RunRefusedError as ``client`` does."""
        known = self._models.get(profile_id)
        if known is None or refresh or known.failure is not None:
            client = await self.client(profile_id)
            known = self._models[profile_id] = await client.list_models(protocol)
        return known

    def forget_models(self, profile_id: str) -> None:
        """The next ``models`` asks the gateway again."""
        self._models.pop(profile_id, None)

    async def aclose(self) -> None:
        """Close every client."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.aclose()
