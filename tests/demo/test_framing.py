"""Requests whose end can be read in two ways are refused, and nothing after them is read on that connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest

from playground.demo.server import DemoConfig, DemoServer
from playground.engine.cassettes.cassette import Cassette
from playground.engine.cassettes.server import ReplayServer
from tests.support.raw_http import exchange


def request(*headers: str, body: bytes = b"", version: str = "1.1") -> bytes:
    """A POST of JSON with these headers besides."""
    lines = [f"POST /v1/chat/completions HTTP/{version}", "Host: 127.0.0.1", "Content-Type: application/json"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + body


HIDDEN = b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer demo\r\n\r\n"
CHUNKED, SIZED = "Transfer-Encoding: chunked", f"Content-Length: {len(HIDDEN) + 5}"

AMBIGUOUS = {
    "length first": request(SIZED, CHUNKED, body=b"0\r\n\r\n" + HIDDEN),
    "length last": request(CHUNKED, SIZED, body=b"0\r\n\r\n" + HIDDEN),
    "length too small": request("Content-Length: 4", CHUNKED, body=b"5c\r\n" + HIDDEN),
    "other case": request("content-LENGTH: 5", "TRANSFER-encoding: Chunked", body=b"0\r\n\r\n" + HIDDEN),
    "length 0": request("Content-Length: 0", CHUNKED, body=b"0\r\n\r\n" + HIDDEN),
    "two lengths": request("Content-Length: 5", "Content-Length: 6", body=b"0\r\n\r\n" + HIDDEN),
    "two encodings": request("Transfer-Encoding: chunked", "Transfer-Encoding: identity", body=b"0\r\n\r\n" + HIDDEN),
    "old version": request(CHUNKED, body=b"0\r\n\r\n" + HIDDEN, version="1.0"),
    "space in the name": request("Transfer-Encoding : chunked", "Content-Length: 5", body=b"0\r\n\r\n" + HIDDEN),
    "obsolete fold": request("Transfer-Encoding:\r\n chunked", "Content-Length: 5", body=b"0\r\n\r\n" + HIDDEN),
}


@pytest.fixture(params=["demo", "replay"])
async def url(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    if request.param == "demo":
        with DemoServer(DemoConfig(tokens_per_second=0, time_to_first_token=0)) as demo:
            yield demo.base_url
    else:
        server = ReplayServer(Cassette(()))
        yield await server.start()
        await server.aclose()


async def test_request_with_an_ambiguous_length_is_refused_and_the_connection_closed(url: str) -> None:
    for case, content in AMBIGUOUS.items():
        received = await asyncio.to_thread(partial(exchange, url, content))
        status = received.split(b" ", 2)[1]
        assert status in (b"400", b"501"), case
        assert received.count(b"HTTP/1.1 ") == 1, case
        assert b"connection: close" in received.lower(), case


@pytest.mark.parametrize(
    "body", [request(CHUNKED, body=b"2\r\n{}\r\n0\r\n\r\n"), request("Content-Length: 2", body=b"{}")]
)
async def test_connection_stays_open_after_a_request_with_one_length(url: str, body: bytes) -> None:
    last = HIDDEN.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    received = await asyncio.to_thread(partial(exchange, url, body + last))
    assert received.count(b"HTTP/1.1 ") == 2
