"""One client a gateway, made when needed; keys go where they belong and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.errors import FailureKind, RunRefusedError
from playground.engine.gateways.credentials import store_secret
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret

CANARY = "sk-canary-51b7e0aa"


@pytest.fixture
def locked() -> Iterator[DemoServer]:
    """A gateway that takes one key only."""
    config = DemoConfig(key=CANARY, tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000)
    with DemoServer(config) as server:
        yield server


async def with_key(gateways: Gateways, server: DemoServer, key: str = CANARY) -> Profile:
    profile = gateways.store.add_profile(Profile(name="Locked", base_url=server.base_url))
    saved, _ = await store_secret(profile, gateways.keys, Secret(key))
    return gateways.store.update(saved)


async def test_model_list_is_cached_until_refreshed(gateways: Gateways, gateway: DemoServer) -> None:
    first = await gateways.models(DEMO_ID, "chat")
    assert "demo-reasoner" in first.ids
    assert await gateways.models(DEMO_ID, "chat") is first
    assert len(gateway.requests) == 1
    await gateways.models(DEMO_ID, "chat", refresh=True)
    assert len(gateway.requests) == 2
    gateways.forget_models(DEMO_ID)
    await gateways.aclose()
    assert (await gateways.models(DEMO_ID, "chat")).failure is None
    assert len(gateway.requests) == 3
    assert (gateways.active_id, gateways.profiles[0].id, gateways.get("gone").demo) == (DEMO_ID, DEMO_ID, True)


async def test_key_reaches_its_gateway_only(gateways: Gateways, locked: DemoServer) -> None:
    profile = await with_key(gateways, locked, "sk-wrong")
    refused = (await gateways.models(profile.id, "chat")).failure
    assert refused is not None
    assert (refused.kind, refused.status) == (FailureKind.HTTP, 401)
    profile = gateways.store.update((await store_secret(profile, gateways.keys, Secret(CANARY)))[0])
    assert (await gateways.models(profile.id, "chat")).failure is None
    assert locked.requests[-1].header("authorization") == f"Bearer {CANARY}"
    assert CANARY not in repr(await gateways.client(profile.id))
    assert CANARY not in repr((await gateways.client(profile.id)).connection)
    assert CANARY not in gateways.store.path.read_text(encoding="utf-8")


async def test_key_is_not_sent_to_another_host_without_consent(gateways: Gateways, locked: DemoServer) -> None:
    profile = await with_key(gateways, locked)
    moved = profile.model_copy(update={"base_url": "https://elsewhere.example/v1"})
    gateways.store.update(moved)
    with pytest.raises(RunRefusedError, match=r"elsewhere\.example") as refused:
        await gateways.client(profile.id)
    assert "Answer in the gateway's settings" in str(refused.value)
    assert CANARY not in str(refused.value)
