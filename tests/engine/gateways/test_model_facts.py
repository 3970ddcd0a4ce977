"""Pages on models besides the list: requested once, only where the service is known to have them, never an error."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from playground.domain.model_facts import NOTHING_TOLD
from playground.domain.prices import Price
from playground.engine.gateways import model_catalog
from playground.engine.gateways.credentials import store_secret
from playground.engine.gateways.gateways import Gateways
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.engine.gateways.services import KnownGateway
from playground.protocols import DEFAULT
from tests.support.fault_server import FaultServer, Step, head, hold, keep, send, whole


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as fault_server:
        fault_server.play(send(whole(404, "application/json", b"{}")), keep())
        yield fault_server


def page(value: Any) -> list[Step]:
    """An answer behind which the connection stays open: a request in the moment of its closing would be lost."""
    return [send(whole(200, "application/json", json.dumps(value).encode())), keep()]


def add(gateways: Gateways, server: FaultServer, service: str) -> str:
    return gateways.store.add_profile(Profile(name="Told", base_url=f"{server.url}/v1", service=service)).id


def requests_to(server: FaultServer) -> list[str]:
    return [f"{request.method} {request.target}" for request in server.requests]


async def test_page_of_all_models_completes_the_list(gateways: Gateways, server: FaultServer) -> None:
    server.play_at("/v1/models", page({"data": [{"id": "gpt"}, {"id": "twice"}, {"id": "untold"}]}))
    info = {"max_input_tokens": 128000, "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}
    entries = [
        {"model_name": "gpt", "model_info": info},
        {"model_name": "twice", "model_info": {**info, "supports_vision": True}},
        {"model_name": "twice", "model_info": {**info, "max_input_tokens": 8000}},
    ]
    server.play_at("/v1/model/info", page({"data": entries}))
    key = add(gateways, server, "litellm")
    listed = await gateways.models(key, DEFAULT)
    assert listed.facts("gpt") is NOTHING_TOLD
    assert gateways.lacks_facts(key, "gpt")
    assert await gateways.fetch_facts(key, DEFAULT, "gpt")
    result = gateways.listed(key)
    assert result is not None
    assert (result.facts("gpt").context, gateways.facts(key, "twice").context) == (128000, None)
    assert result.facts("twice").takes("image") is True
    assert gateways.price(key, "gpt") == Price(input=1, output=2, told=True)
    assert [exchange.url.rpartition("/v1")[2] for exchange in result.exchanges] == ["/models", "/model/info"]
    assert not gateways.lacks_facts(key, "gpt")
    assert not await gateways.fetch_facts(key, DEFAULT, "twice")
    assert len(requests_to(server)) == 2
    gateways.set_price(key, "gpt", Price(input=5))
    assert gateways.price(key, "gpt") == Price(input=5)
    gateways.forget_models(key)
    assert gateways.facts(key, "gpt") is NOTHING_TOLD


async def test_page_of_one_model_is_requested_once(gateways: Gateways, server: FaultServer) -> None:
    server.play_at("/v1/models", page({"data": [{"id": "llama", "owned_by": "library"}]}))
    server.play_at("/api/show", page({"model_info": {"llama.context_length": 8192}, "capabilities": ["completion"]}))
    key = add(gateways, server, "")  # told by its signature
    await gateways.models(key, DEFAULT)
    odd = 'typed "by hand"/é'
    for model in ("llama", odd, "llama"):
        await gateways.fetch_facts(key, DEFAULT, model)
    assert requests_to(server) == ["GET /v1/models", "POST /api/show", "POST /api/show"]
    assert [request.json for request in server.requests[1:]] == [{"model": "llama"}, {"model": odd}]
    facts = gateways.facts(key, "llama")
    assert (facts.context, facts.owner, facts.tools, facts.takes("image")) == (8192, "library", False, False)
    assert gateways.facts(key, odd).context == 8192  # not listed, but fetched by itself


async def test_page_that_fails_leaves_the_list_as_it_was(gateways: Gateways, server: FaultServer) -> None:
    server.play_at("/v1/models", page(["one"]))
    for number, answer in enumerate(
        [
            [send(whole(401, "application/json", b'{"error": "no"}')), keep()],
            [send(whole(200, "text/html", b"<html>")), keep()],
            [send(whole(200, "application/json", b"[" * 100_000)), keep()],
            page({"error": {"message": "not here"}}),
            page({"data": [7, None, "llama", {"id": "other"}]}),
        ]
    ):
        server.play_at("/v1/model/info", answer)
        server.play_at("/model/info", answer)
        profile = Profile(name=f"Gateway {number}", base_url=f"{server.url}/v1", service="litellm")
        key = gateways.store.add_profile(profile).id
        before = await gateways.models(key, DEFAULT)
        await gateways.fetch_facts(key, DEFAULT, "one")
        after = gateways.listed(key)
        assert after is not None
        assert after.failure is None
        assert after.models is before.models
        assert len(after.exchanges) > 1


async def test_silent_page_is_abandoned(
    gateways: Gateways, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_catalog, "MAX_SECONDS", 0.2)
    server.play_at("/v1/models", page(["one"]))
    server.play_at("/api/show", hold())
    key = add(gateways, server, "ollama")
    await gateways.models(key, DEFAULT)
    async with asyncio.timeout(5):
        assert not await gateways.fetch_facts(key, DEFAULT, "one")
    assert not gateways.lacks_facts(key, "one")


async def test_own_service_names_its_pages_and_units(gateways: Gateways, server: FaultServer) -> None:
    entry: dict[str, Any] = {"id": "team", "name": "Team", "base_url": server.url, "price_tokens": 1_000_000}
    entry["details"] = [{"path": "more"}]
    server.play_at("/v1/models", page([{"id": "one", "pricing": {"input": 0.88, "output": 0.9}}]))
    server.play_at("/v1/more", page([{"id": "one", "context_length": 4096}]))
    gateways.services.put(KnownGateway.model_validate(entry))
    key, unknown = add(gateways, server, "team"), add(gateways, server, "")
    for profile in (key, unknown):
        await gateways.models(profile, DEFAULT)
    assert await gateways.fetch_facts(key, DEFAULT, "one")
    assert gateways.price(key, "one") == Price(input=0.88, output=0.9, told=True)
    assert gateways.facts(key, "one").context == 4096
    assert not await gateways.fetch_facts(unknown, DEFAULT, "one")
    assert gateways.price(unknown, "one") is None, "no unit is known"


@pytest.mark.parametrize(
    "path", ["//{other}/more", "http://{other}/more", "@{other}/more", "../../more", "\r\nHost: {other}"]
)
async def test_page_at_another_host_is_not_requested(gateways: Gateways, server: FaultServer, path: str) -> None:
    canary = "sk-canary-5f0c2b7e9921"
    with FaultServer() as fault_server:
        fault_server.play(page([{"id": "one", "context_length": 4096}]))
        place = f"127.0.0.1:{fault_server.port}"
        away = head(302, None, f"Location: {fault_server.url}/more", "Content-Length: 0")
        server.play(send(away), keep())
        server.play_at("/v1/models", page([{"id": "one"}]))
        details = [{"path": path.replace("{other}", place)}]
        entry = {"id": "team", "name": "Team", "base_url": server.url, "details": details}
        gateways.services.put(KnownGateway.model_validate(entry))
        key = add(gateways, server, "team")
        profile, _ = await store_secret(gateways.get(key), gateways.keys, Secret(canary))
        gateways.store.update(profile)
        await gateways.models(key, DEFAULT)
        assert not await gateways.fetch_facts(key, DEFAULT, "one")
        assert fault_server.requests == []
    assert {first.header("Authorization") for first in server.requests} == {f"Bearer {canary}"}
    assert {first.header("Host") for first in server.requests} == {f"127.0.0.1:{server.port}"}
