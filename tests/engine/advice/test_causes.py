"""What our own messages are taken for: each made by the code that says it, over a real socket where one is needed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from playground.domain.accumulator import Accumulator
from playground.domain.request import Request
from playground.domain.transcript import Role, make_turn
from playground.engine.advice import advise
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection, Timeouts
from playground.protocols.protocol import get_protocol
from tests.support.fault_server import FaultServer, head, send, sse, text_chunk, whole


async def meaning(request: Request | None = None, **settings: Any) -> str:
    """What the failure of one run over a connection is taken for."""
    settings.setdefault("timeouts", Timeouts(connect=5, first=3, idle=3, settle=1))
    asked = request or Request(protocol="chat", model="m", turns=(make_turn(Role.USER, "Hello"),))
    state = Accumulator()
    async with GatewayClient(Connection(**settings)) as client:
        async for events in client.open(get_protocol("chat"), asked):
            state.add_events(events)
    assert state.failure is not None
    found = advise(state.failure, arrived=not state.empty)
    assert found.remedy.count(state.failure.message) == 0, "a remedy does not say the message again"
    return found.meaning


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
async def test_before_anything_is_sent(settings: dict[str, Any], expected: str) -> None:
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
async def test_of_what_came(answer: bytes, expected: str) -> None:
    with FaultServer() as server:
        server.play(send(answer))
        assert await meaning(base_url=server.url) == expected


async def test_an_event_above_the_cap() -> None:
    with FaultServer() as server:
        server.play(send(head(), sse(text_chunk("a" * 5000))))
        assert await meaning(base_url=server.url, max_event_bytes=1000) == "too large"
        assert await meaning(base_url=server.url, max_body_bytes=1000) == "too large"
