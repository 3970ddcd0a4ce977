"""Sessions on a gateway at any address, and an experiment with a tool in a single protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from playground.demo.server import DemoServer
from playground.engine.gateways.secrets import Secret
from playground.engine.session.session import Experiment, Session
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from tests.engine.debugging import MODELS, ToolConversation

Connect = Callable[..., Session]


@pytest.fixture
def conversation(request: pytest.FixtureRequest, session: Session, gateway: DemoServer) -> ToolConversation:
    """An experiment with a tool on the demo gateway: in Chat completions, unless a test names the protocol."""
    protocol = getattr(request, "param", "chat")
    session.change(protocol=protocol)
    session.change(model=MODELS[protocol])
    return ToolConversation(session, gateway)


@pytest.fixture
async def connect_to() -> AsyncIterator[Connect]:
    """A function that makes a session on the gateway at a base URL."""
    async with AsyncExitStack() as stack:

        def make(
            base_url: str, *, model: str = "demo-chat", key: str = "demo", retries: int = 0, **fields: Any
        ) -> Session:
            client = GatewayClient(Connection(base_url=base_url, key=Secret(key), retries=retries))
            stack.push_async_callback(client.aclose)

            async def connect(_profile_id: str) -> GatewayClient:
                return client

            return Experiment(connect, profile_id="p", model=model, **fields).main

        yield make
