"""Hostile tool servers in a registry of their own, and the events of them."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

import tests.support.hostile_tool_server as hostile_program
from playground.domain.tool_servers import ToolServer
from playground.engine.gateways.secrets import Keys
from playground.engine.tool_servers.events import Event
from playground.engine.tool_servers.process import HostProcess
from playground.engine.tool_servers.registry import ServerRegistry
from playground.engine.tool_servers.servers import Servers
from tests.engine.conftest import no_keyring
from tests.support.shared_tool_host import SharedToolHost


def hostile(*modes: str, **more: Any) -> ToolServer:
    """Return a server that misbehaves in these modes."""
    arguments = (str(hostile_program.__file__), *modes)
    return ToolServer(**{"id": "h", "name": "Hostile", "command": sys.executable, "arguments": arguments, **more})


@dataclass
class Room:
    """Servers under test and their events."""

    servers: Servers
    events: list[Event] = field(default_factory=list)


@pytest.fixture(scope="module")
def tool_host() -> Iterator[SharedToolHost]:
    """One tool-host process for the tests of a module; each test that used it leaves it empty."""
    host = SharedToolHost()
    yield host
    host.close()


@pytest.fixture
async def open_servers(tool_host: SharedToolHost) -> AsyncIterator[Callable[..., Room]]:
    """Open the given servers, each confirmed, and close them after the test.

    They share the module's tool host unless ``own_host`` asks for a new process, as for its environment or its end.
    """
    rooms: list[Room] = []

    def make(*servers: ToolServer, keys: Keys | None = None, own_host: bool = False) -> Room:
        open_host = HostProcess if own_host else tool_host.open
        room = Room(Servers(ServerRegistry.temporary(servers), keys or Keys(backend=no_keyring), open_host))
        room.servers.subscribe(room.events.append)
        rooms.append(room)
        return room

    yield make
    for room in rooms:
        await room.servers.close()
