"""Servers of the hostile kind, in a book of their own, and what was told of them."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import tests.support.hostile_tool_server as hostile_program
from playground.domain.tool_servers import ToolServer
from playground.engine.gateways.secrets import Keys
from playground.engine.tool_servers.book import ServerBook
from playground.engine.tool_servers.live import Event
from playground.engine.tool_servers.process import HostProcess
from playground.engine.tool_servers.servers import Servers
from tests.engine.conftest import no_keyring
from tests.support.shared_tool_host import SharedToolHost

SECONDS = 30.0  # in which whatever is waited for has to be


def hostile(*modes: str, **more: Any) -> ToolServer:
    """A server that misbehaves in these ways."""
    arguments = (str(hostile_program.__file__), *modes)
    return ToolServer(**{"id": "h", "name": "Hostile", "command": sys.executable, "arguments": arguments, **more})


@dataclass
class Room:
    """Servers under test, and the events they told of."""

    servers: Servers
    events: list[Event] = field(default_factory=list)

    async def until(self, true: Callable[[], object], what: str = "it") -> None:
        """Wait for something to be so."""
        changed = asyncio.Event()
        unsubscribe = self.servers.subscribe(lambda _event: changed.set())
        try:
            async with asyncio.timeout(SECONDS):
                while not true():
                    changed.clear()
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(changed.wait(), 0.05)
        except TimeoutError:
            pytest.fail(f"{what} did not come about")
        finally:
            unsubscribe()


@pytest.fixture(scope="module")
def tool_host() -> Iterator[SharedToolHost]:
    """One tool-host process for the tests of a module; each test that used it leaves it empty."""
    host = SharedToolHost()
    yield host
    host.close()


@pytest.fixture
async def open_servers(tool_host: SharedToolHost) -> AsyncIterator[Callable[..., Room]]:
    """Makes rooms with the given servers, each confirmed; all are closed at the end.

    They share the module's tool host unless ``own_host`` asks for a new process: for its environment, its end, or how
    it hands over what comes.
    """
    rooms: list[Room] = []

    def make(*servers: ToolServer, keys: Keys | None = None, own_host: bool = False) -> Room:
        open_host = HostProcess if own_host else tool_host.open
        room = Room(Servers(ServerBook.passing(servers), keys or Keys(backend=no_keyring), open_host))
        room.servers.subscribe(room.events.append)
        rooms.append(room)
        return room

    yield make
    for room in rooms:
        await room.servers.close()


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    """The file in which the processes of a hostile server are noted."""
    return tmp_path / "pids"
