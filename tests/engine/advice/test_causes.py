"""Advice by the cause of a failure, each made by the code that reports it, over a real socket where one is needed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.accumulator import Accumulator
from playground.domain.request import Request
from playground.domain.transcript import Role, make_turn
from playground.engine.advice import advise
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection, Timeouts
from playground.protocols.protocol import get_protocol
from tests.support.fault_server import FaultServer, head, send, sse, text_chunk, whole
from tests.support.proxy import Proxy


async def meaning(request: Request | None = None, **settings: Any) -> str:
    """Return the meaning of the failure of one run."""
    settings.setdefault("timeouts", Timeouts(connect=5, first=3, idle=3, settle=1))
    request = request or Request(protocol="chat", model="m", turns=(make_turn(Role.USER, "Hello"),))
    state = Accumulator()
    async with GatewayClient(Connection(**settings)) as client:
        async for events in client.open(get_protocol("chat"), request):
            state.add_events(events)
    assert state.failure is not None
    advice = advise(state.failure, arrived=not state.empty)
    assert advice.remedy.count(state.failure.message) == 0, "a remedy does not say the message again"
    return advice.meaning


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"base_url": "gopher://x"}, "address"),
        ({"base_url": "https://person:word@gateway.example/v1"}, "address"),
        ({"base_url": ""}, "address"),
        ({"key": SecretStr("sk-ключ")}, "key"),
        ({"headers": {"X Bad": "1"}}, "own header"),
        ({"headers": {"X-Bad": "a\nb"}}, "own header"),
        ({"headers": {"Content-Length": "1"}}, "own header"),
        ({"base_url": "https://gateway.example/v1", "ca_file": "/no/such.pem"}, "ca file"),
        ({"base_url": "https://gateway.example/v1", "proxy": "socks4://127.0.0.1:1"}, "own proxy"),
        ({"base_url": "http://gateway.example/v1", "proxy": "http://127.0.0.1:9"}, "no proxy"),
        ({"base_url": "http://no-such-gateway.invalid/v1"}, "name"),
        ({"base_url": "http://127.0.0.1:9/v1"}, "refused"),
    ],
)
async def test_invalid_setting_before_a_request_has_its_own_advice(settings: dict[str, Any], expected: str) -> None:
    assert await meaning(**{"base_url": "http://127.0.0.1:9/v1", **settings}) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (whole(200, "application/json", b'{"choices": [,]}'), "malformed"),
        (whole(200, "application/json", b'{"choices": [{"message": {"cont'), "broken off"),
        (whole(200, "application/json", b""), "no body"),
        (head() + b"data: [DONE]\n\n", "empty"),
        (head() + sse(text_chunk("Hel")), "cut off"),
        (whole(200, "text/event-stream", b"x", "Content-Encoding: br"), "compressed"),
        (whole(200, "text/event-stream", b"plain", "Content-Encoding: gzip"), "compressed"),
        (whole(307, None, b"", "Location: https://elsewhere.example/v1"), "redirect"),
        (whole(200, "text/html", b"<html><title>Welcome</title></html>"), "decode"),
        (head(200, None, "X-Long: " + "a" * 200_000), "answer headers"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "not http"),
    ],
)
async def test_invalid_answer_has_its_own_advice(answer: bytes, expected: str) -> None:
    with FaultServer() as server:
        server.play(send(answer))
        assert await meaning(base_url=server.url) == expected


async def test_answer_above_the_limit_has_its_own_advice() -> None:
    with FaultServer() as server:
        server.play(send(head(), sse(text_chunk("a" * 5000))))
        assert await meaning(base_url=server.url, max_event_bytes=1000) == "too large"
        assert await meaning(base_url=server.url, max_body_bytes=1000) == "too large"


async def test_server_without_tls_has_its_own_advice() -> None:
    with DemoServer(DemoConfig()) as demo:
        assert await meaning(base_url=demo.base_url.replace("http:", "https:")) == "plain http"


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("http://127.0.0.1:{port}", "own proxy password"),
        ("http://person:wrong@127.0.0.1:{port}", "own proxy password"),
    ],
)
async def test_refusal_of_a_proxy_has_its_own_advice(setting: str, expected: str) -> None:
    with Proxy({}, "person:word") as proxy:
        assert await meaning(base_url="https://gateway.example/v1", proxy=setting.format(port=proxy.port)) == expected
