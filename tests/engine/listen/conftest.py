"""A scripted gateway, and the proxy in front of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from playground.engine.listen.server import ListenServer, ListenSettings
from playground.gateway.connection import Auth, Connection
from tests.support.fault_server import FaultServer

GATEWAY_KEY = "sk-gateway-4f8a1c93b7"
PROGRAM_KEY = "sk-program-91e5d07c2b"

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
