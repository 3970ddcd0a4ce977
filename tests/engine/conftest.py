"""Gateways that lead to the demo gateway over a real socket, and sessions on them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from keyring.backend import KeyringBackend

from playground.demo.server import DemoServer
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.gateways.profiles import ProfileStore
from playground.engine.gateways.secrets import KeyringError, Keys
from playground.engine.session.session import Experiment, Session
from tests.engine.debugging import MODELS, ToolConversation
from tests.support.fault_server import FaultServer


def no_keyring() -> KeyringBackend:
    raise KeyringError("No system keyring was found.")


@pytest.fixture
async def gateways(gateway: DemoServer, tmp_path: Path) -> AsyncIterator[Gateways]:
    """The demo gateway and a store in a file of its own; keys stay in memory, and nothing is tried again by itself."""
    created = Gateways(ProfileStore(tmp_path / "gateways.json"), Keys(backend=no_keyring), gateway.start)
    created.update(created.get(DEMO_ID).model_copy(update={"retries": 0}))
    yield created
    await created.aclose()


@pytest.fixture
def session(gateways: Gateways) -> Session:
    """An empty experiment on the demo gateway."""
    return Experiment(gateways.client, profile_id=DEMO_ID, model="demo-chat").main


@pytest.fixture(params=["chat", "messages"])
def conversation(request: pytest.FixtureRequest, session: Session, gateway: DemoServer) -> ToolConversation:
    """An experiment with a tool on the demo gateway, in each protocol."""
    session.change(protocol=request.param)
    session.change(model=MODELS[request.param])
    return ToolConversation(session, gateway)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    """A gateway that does what a test has it play."""
    with FaultServer() as running:
        yield running
