"""Hostile tool servers in a registry of their own, and the events of them."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pytest

import tests.support.hostile_tool_server as hostile_program
from playground.domain.tool_servers import ServerAnswer, TextBlock, ToolServer
from playground.engine.gateways.secrets import Keys
from playground.engine.session.tool_calls import Ticket
from playground.engine.tool_servers.events import Event, ServerSnapshot
from playground.engine.tool_servers.process import HostProcess
from playground.engine.tool_servers.registry import ServerRegistry
from playground.engine.tool_servers.servers import Servers
from tests.engine.conftest import no_keyring
from tests.support.eventually import eventually
from tests.support.shared_tool_host import SharedToolHost


def hostile(*modes: str, **more: Any) -> ToolServer:
    """Return a server that misbehaves in these modes."""
    arguments = (str(hostile_program.__file__), *modes)
    return ToolServer(**{"id": "h", "name": "Hostile", "command": sys.executable, "arguments": arguments, **more})


def text_of(answer: ServerAnswer) -> str:
    """Return the text blocks of an answer as lines."""
    return "\n".join(block.text for block in answer.blocks if isinstance(block, TextBlock))


@dataclass
class Room:
    """Servers under test and their events; the methods are for the first server."""

    servers: Servers
    server_id: str
    events: list[Event] = field(default_factory=list)

    @property
    def live(self) -> ServerSnapshot:
        """The present state."""
        return self.servers.live(self.server_id)

    @property
    def methods(self) -> list[str]:
        """The methods of all messages sent and received."""
        return [entry.method for entry in self.servers.tape.entries]

    async def start(self) -> ServerSnapshot:
        """Start the server."""
        return await self.servers.start(self.server_id)

    async def call(self, tool: str, ticket: Ticket | None = None, **arguments: object) -> ServerAnswer:
        """Call a tool."""
        return await self.servers.call(self.server_id, tool, arguments, ticket or Ticket())

    async def wait_for_frame(self, text: str) -> None:
        """Wait until a message or notice with this text is on the tape."""
        tape = self.servers.tape
        await eventually(
            lambda: any(text in entry.frame.text + entry.frame.notice for entry in tape.entries),
            f"“{text}” on the tape",
        )


OpenServers: TypeAlias = Callable[..., Room]


@pytest.fixture(scope="module")
def tool_host() -> Iterator[SharedToolHost]:
    """One tool-host process for the tests of a module; each test that used it leaves it empty."""
    host = SharedToolHost()
    yield host
    host.close()


@pytest.fixture
async def open_servers(tool_host: SharedToolHost) -> AsyncIterator[OpenServers]:
    """Open the given servers, each confirmed, and close them after the test.

    They share the module's tool host unless ``own_host`` asks for a new process, as for its environment or its end.
    """
    rooms: list[Room] = []

    def make(*servers: ToolServer, keys: Keys | None = None, own_host: bool = False) -> Room:
        open_host = HostProcess if own_host else tool_host.open
        registry = ServerRegistry.temporary(servers)
        room = Room(Servers(registry, keys or Keys(backend=no_keyring), open_host), registry.servers[-1].id)
        room.servers.subscribe(room.events.append)
        rooms.append(room)
        return room

    yield make
    for room in rooms:
        await room.servers.close()
