"""Callers of a replay: programs under loopback names, and web pages of named origins only."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator

import anthropic
import openai
import pytest

from playground.engine.cassettes.cassette import Cassette
from playground.engine.cassettes.server import PlaybackClock, ReplayServer
from tests.engine.exchanges import exchange
from tests.protocols.streams import DONE, chunk
from tests.support.raw_http import LOOPBACK, STRANGERS, Answer, ask

RECORDED = exchange(
    [(0.01, chunk({"content": "Hello"}, "stop") + DONE)],
    response_headers=(
        ("Content-Type", "text/event-stream"),
        ("Access-Control-Allow-Origin", "*"),
        ("access-control-allow-credentials", "true"),
        ("Timing-Allow-Origin", "*"),
        ("Cross-Origin-Resource-Policy", "cross-origin"),
        ("X-Request-Id", "r-1"),
    ),
)
JSON = ("Content-Type", "application/json")
BODY = b'{"stream": true}'
PAGE = "http://page.example:3000"
ASKS_FIRST = [
    ("Host", "localhost"),
    ("Origin", PAGE),
    ("Access-Control-Request-Method", "POST"),
    ("Access-Control-Request-Headers", "authorization,content-type"),
]


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
async def server(log: list[str]) -> AsyncIterator[ReplayServer]:
    server = ReplayServer(Cassette((RECORDED,)), PlaybackClock(math.inf), log=log.append)
    await server.start()
    yield server
    await server.aclose()


async def sent(server: ReplayServer, method: str, headers: list[tuple[str, str]], body: bytes = b"") -> Answer:
    target = "/v1/models" if method == "GET" else "/v1/chat/completions"
    return await asyncio.to_thread(ask, server.base_url, method, target, headers, body)


def for_pages(answer: Answer) -> set[str]:
    marks = ("access-control-", "timing-allow-", "cross-origin-", "vary")
    return {name for name in answer.headers if name.startswith(marks)}


async def test_loopback_host_is_answered(server: ReplayServer) -> None:
    for host in LOOPBACK:
        assert (await sent(server, "GET", [("Host", host)])).status == 200
        answer = await sent(server, "POST", [("Host", host), JSON], BODY)
        assert (answer.status, answer.body, answer.headers["x-request-id"]) == (200, RECORDED.body, "r-1")


async def test_other_host_is_refused_and_logged(server: ReplayServer, log: list[str]) -> None:
    for host in STRANGERS:
        for method, body in (("GET", b""), ("POST", BODY), ("OPTIONS", b"")):
            answer = await sent(server, method, [("Host", host), JSON], body)
            assert answer.status == 421
            assert "playground replay --allow-host" in json.loads(answer.body)["message"]
            assert b"Hello" not in answer.body
    assert all("refused" in line and len(line) < 500 and line.isprintable() for line in log)
    assert len(log) == 3 * len(STRANGERS)


async def test_missing_double_or_absolute_host_is_refused(server: ReplayServer) -> None:
    def status(target: str, headers: list[tuple[str, str]], version: str = "HTTP/1.1") -> int:
        return ask(server.base_url, "GET", target, headers, version=version).status

    assert await asyncio.to_thread(status, "/v1/models", [], "HTTP/1.0") == 200
    assert await asyncio.to_thread(status, "http://evil.example/v1/models", [("Host", "localhost")]) == 421
    for headers in ([], [("Host", "localhost"), ("Host", "evil.example")]):
        assert await asyncio.to_thread(status, "/v1/models", headers) == 400


async def test_content_type_other_than_json_is_refused(server: ReplayServer) -> None:
    for types in ([], ["text/plain"], ["text/plain;a=application/json"], ["application/json", "a/b"]):
        answer = await sent(server, "POST", [("Host", "localhost"), *(("Content-Type", text) for text in types)], BODY)
        assert answer.status == 415
        assert "must be application/json" in json.loads(answer.body)["message"]


async def test_recorded_permissions_for_pages_are_not_replayed(server: ReplayServer, log: list[str]) -> None:
    answer = await sent(server, "POST", [("Host", "localhost"), ("Origin", PAGE), JSON], BODY)
    assert answer.status == 200
    assert not for_pages(answer)
    log.clear()
    preflight = await sent(server, "OPTIONS", ASKS_FIRST)
    assert preflight.status == 403
    assert not for_pages(preflight)
    assert f"playground replay --cors {PAGE}" in log[0]
    hostile = await sent(server, "OPTIONS", [*ASKS_FIRST[:1], ("Origin", "http://x; rm -rf ~"), *ASKS_FIRST[2:]])
    assert b"rm -rf" not in hostile.body


async def test_page_of_a_named_origin_may_read(log: list[str]) -> None:
    for pages, others in (((PAGE,), False), (("*",), True)):
        server = ReplayServer(
            Cassette((RECORDED,)), PlaybackClock(math.inf), log=log.append, pages=pages, hosts=("proxy.test",)
        )
        await server.start()
        preflight = await sent(server, "OPTIONS", ASKS_FIRST)
        assert preflight.status == 200
        assert preflight.headers["access-control-allow-headers"] == "authorization,content-type"
        for method, body in (("POST", BODY), ("GET", b"")):
            for host in ("localhost", "proxy.test:1"):
                answer = await sent(server, method, [("Host", host), ("Origin", PAGE), JSON], body)
                assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, PAGE)
                assert "access-control-allow-credentials" not in answer.headers
            other_page = await sent(
                server, method, [("Host", "localhost"), ("Origin", "http://evil.example"), JSON], body
            )
            assert ("access-control-allow-origin" in other_page.headers) is others
            assert not for_pages(await sent(server, method, [("Host", "localhost"), JSON], body))
        assert (await sent(server, "POST", [("Host", "evil.example"), ("Origin", PAGE), JSON], BODY)).status == 421
        await server.aclose()


async def test_vendor_libraries_are_answered(server: ReplayServer) -> None:
    for url in (server.base_url, server.base_url.replace("127.0.0.1", "localhost")):
        async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as chat:
            assert [model.id async for model in chat.models.list()] == ["m-1"]
            stream = await chat.chat.completions.create(
                model="m-1", messages=[{"role": "user", "content": "Hi"}], stream=True
            )
            assert "".join([part.choices[0].delta.content or "" async for part in stream if part.choices]) == "Hello"
        async with anthropic.AsyncAnthropic(base_url=url.removesuffix("/v1"), api_key="k", max_retries=0) as native:
            with pytest.raises(anthropic.NotFoundError, match="Nothing is recorded"):
                await native.messages.create(model="m-1", max_tokens=9, messages=[{"role": "user", "content": "Hi"}])
