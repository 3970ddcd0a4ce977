"""A scripted gateway, the proxy in front of it, and requests to it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from playground.engine.listen.exchanges import Listened, Stage
from playground.engine.listen.server import ListenServer, ListenSettings
from playground.gateway.connection import Auth, Connection
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, sse, text_chunk
from tests.support.raw_http import Answer, ask

GATEWAY_KEY = "sk-gateway-4f8a1c93b7"
PROGRAM_KEY = "sk-program-91e5d07c2b"
REQUEST = b'{"model":"m",  "stream":true,"messages":[{"role":"user","content":"Hi"}]}'
STREAM = sse(text_chunk("Hello"), text_chunk(" there", "stop"), "[DONE]")

MakeServer = Callable[..., Coroutine[Any, Any, ListenServer]]


@pytest.fixture
def gateway() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture
async def listen(gateway: FaultServer) -> AsyncIterator[MakeServer]:
    """Starts proxies in front of the gateway (or another ``base_url``), and closes them in the end."""
    started: list[ListenServer] = []

    async def make(base_url: str = "", **settings: Any) -> ListenServer:
        connection = Connection(
            base_url=base_url or gateway.url,
            key=SecretStr(GATEWAY_KEY),
            auth={"messages": Auth.X_API_KEY},
        )
        server = ListenServer(ListenSettings(connection, **settings))
        started.append(server)
        await server.start()
        return server

    yield make
    for server in started:
        await server.aclose()


@pytest.fixture
def closed_port() -> int:
    """A port at which nothing answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def path_of(server: ListenServer) -> str:
    """The path of the proxy's address, with its secret."""
    return urlsplit(server.base_url).path


async def post(
    server: ListenServer, target: str = "/v1/chat/completions", body: bytes = REQUEST, *headers: tuple[str, str]
) -> Answer:
    """Send a request as a program does, with the program's key."""
    given = [("Host", "127.0.0.1"), ("Authorization", f"Bearer {PROGRAM_KEY}"), ("Content-Type", "application/json")]
    path = path_of(server) + target
    return await asyncio.to_thread(ask, server.base_url, "POST", path, [*given, *headers], body)


async def ended(server: ListenServer, index: int = 0) -> Listened:
    """Wait until an exchange has ended and its row is complete."""

    def is_complete() -> bool:
        listened = server.exchanges[index]
        return listened.stage is Stage.ENDED and listened.summary is not None and bool(listened.summary.ended_by)

    await eventually(lambda: len(server.exchanges) > index and is_complete())
    return server.exchanges[index]
