"""The model list, the connection test, and the demo gateway end to end."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
from pydantic import SecretStr

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.accumulator import Accumulator
from playground.domain.errors import FailureKind
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Auth, Connection, Timeouts
from tests.gateway.conftest import CANARY, MakeClient, ask, failure_of, run, text_of
from tests.support.fault_server import FaultServer, head, hold, keep, send, sse, whole


def listing(value: Any) -> bytes:
    return whole(200, "application/json", json.dumps(value).encode())


async def test_the_list(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(listing({"data": [{"id": "a", "display_name": "Model A", "owned_by": "x"}, {"id": "b"}]})))
    found = await make_client().list_models()
    assert found.failure is None
    assert found.ids == ("a", "b")
    assert (found.models[0].title, found.models[0].raw["owned_by"], found.models[1].title) == ("Model A", "x", "")
    request = server.requests[0]
    assert (request.method, request.target, request.body) == ("GET", "/v1/models", b"")
    assert request.header("Authorization") == f"Bearer {CANARY}"


async def test_pages_are_followed(server: FaultServer, make_client: MakeClient) -> None:
    server.play_next(send(listing({"data": [{"id": "a"}, {"id": "b&c"}], "has_more": True, "last_id": "b&c"})), keep())
    server.play_next(send(listing({"data": [{"id": "d"}], "has_more": True, "last_id": "d"})), keep())
    server.play_next(send(listing({"data": [{"id": "d"}], "has_more": True, "last_id": "d"})), keep())
    found = await make_client(auth={"messages": Auth.X_API_KEY}).list_models("messages")
    assert found.ids == ("a", "b&c", "d")
    assert [request.target for request in server.requests] == [
        "/v1/models",
        "/v1/models?after_id=b%26c",
        "/v1/models?after_id=d",  # it repeats itself, so that was the last
    ]
    assert server.requests[0].header("x-api-key") == CANARY
    assert server.connections == 1


@pytest.mark.parametrize(
    ("answer", "kind", "word"),
    [
        (whole(200, "text/html", b"<html>Login</html>"), FailureKind.DECODE, "not a model list"),
        (whole(200, "application/json", b""), FailureKind.DECODE, "not a model list"),
        (whole(200, "application/json", b"[" * 100_000), FailureKind.DECODE, "not a model list"),
        (listing({"error": {"message": "key expired"}}), FailureKind.STREAM, "key expired"),
        (whole(401, "application/json", b'{"code":1,"message":"bad key","data":null}'), FailureKind.HTTP, "bad key"),
        (head(200, "application/json", "Content-Length: 90") + b'{"data":[', FailureKind.CONNECTION, "broke"),
    ],
)
async def test_lists_that_are_none(
    server: FaultServer, make_client: MakeClient, answer: bytes, kind: FailureKind, word: str
) -> None:
    server.play(send(answer))
    found = await make_client().list_models()
    assert found.ids == ()
    assert found.failure is not None
    assert found.failure.kind is kind
    assert word in found.failure.message


async def test_reports(server: FaultServer, make_client: MakeClient) -> None:
    client = make_client(timeouts=Timeouts(first=0.2))
    server.play_next(send(listing({"data": ["a", "b"]})))
    report = await client.test()
    assert report.ok
    assert report.words.startswith("OK: 2 models in ")
    server.play_next(send(whole(404, "text/plain", b"nothing here")))
    report = await client.test()
    assert not report.ok
    assert report.reachable
    assert "no model list" in report.words
    server.play_next(send(whole(401, "application/json", b'{"code":1,"message":"bad key","data":null}')))
    report = await client.test()
    assert "401" in report.words
    assert "bad key" in report.words
    server.play_next(hold())
    report = await client.test()
    assert not report.reachable
    assert report.failure is not None
    assert report.failure.kind is FailureKind.TIMEOUT_FIRST
    assert "streaming" not in report.words
    report = await make_client(base_url="gopher://x").test()
    assert report.failure is not None
    assert report.failure.kind is FailureKind.INPUT
    report = await make_client(key="line\nbroken-key").test()
    assert "line break" in report.words


async def test_test_and_run_use_the_same_address(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head()), send(sse("[DONE]")))
    client = make_client(base_url=f" {server.url}/v1/chat/completions/ ")
    await client.test()
    await run(client)
    assert [request.target for request in server.requests] == ["/v1/models", "/v1/chat/completions"]


async def test_runs_side_by_side(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head()), send(sse('{"choices":[{"index":0,"delta":{"content":"x"}}]}')), hold())
    client = make_client(timeouts=Timeouts(idle=0.3))
    results = await asyncio.gather(*(run(client) for _ in range(30)))
    assert all(text_of(events) == "x" for _, events in results)
    assert server.connections == 30


async def test_the_demo_gateway() -> None:
    with DemoServer(DemoConfig(tokens_per_second=0, time_to_first_token=0)) as demo:
        async with GatewayClient(Connection(base_url=demo.base_url, key=SecretStr("demo-key-12345"))) as client:
            report = await client.test()
            assert report.ok, report.words
            model = report.listing.ids[0]
            call, events = await run(client, ask("Hello").model_copy(update={"model": model}))
            state = Accumulator()
            state.add(events)
            assert state.complete, state.failure
            assert text_of(events)
            assert call.exchange.status == 200
            _, events = await run(client, ask("Hello").model_copy(update={"model": "no-such-model"}))
            assert failure_of(events).status == 404


def test_importing_costs_nothing() -> None:
    """httpx comes late: a fresh process that imports the client has not loaded it."""
    code = (
        "import sys, playground.gateway.address, playground.gateway.connection, playground.gateway.client;"
        "print([name for name in ('httpx', 'httpcore', 'anyio', 'truststore', 'PySide6') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.strip() == "[]"
