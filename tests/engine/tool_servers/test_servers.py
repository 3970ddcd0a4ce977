"""Tool servers are started, called, edited and stopped through the tool host."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from playground.domain.tool_servers import DataBlock, LinkBlock, OtherBlock, ResourceBlock, TextBlock
from playground.engine.gateways.secrets import Keys, Secret
from playground.engine.session.tool_calls import Ticket
from playground.engine.tool_servers.events import ServersChanged, State
from playground.engine.tool_servers.registry import ServerRegistry
from playground.engine.tool_servers.secret_values import ORIGIN
from playground.engine.tool_servers.servers import ServerError, Servers
from playground.tasks import Tasks
from tests.engine.conftest import no_keyring
from tests.engine.tool_servers.conftest import Room, hostile
from tests.support.eventually import eventually

Open = Callable[..., Room]


async def test_server_starts_answers_and_stops(open_servers: Open) -> None:
    room = open_servers(hostile())
    live = await room.servers.start("h")
    assert live.state is State.READY
    assert "echo" in {tool.name for tool in live.tools}
    assert "tools" in live.can
    echo = next(tool for tool in live.tools if tool.name == "echo")
    assert (echo.hints.read_only, echo.hints.destructive) == (True, False)

    answer = await room.servers.call("h", "echo", {"text": "good morning"}, Ticket())
    assert answer.server == "Hostile"
    assert any(isinstance(block, TextBlock) and "good morning" in block.text for block in answer.blocks)

    answer = await room.servers.call("h", "kinds", {"text": "unknown"}, Ticket())
    assert {TextBlock, DataBlock, ResourceBlock, LinkBlock, OtherBlock} <= set(map(type, answer.blocks))

    await room.servers.stop("h")
    assert room.servers.live("h").state is State.STOPPED
    assert ServersChanged("h") in room.events


async def test_cancelled_call_is_cancelled_at_the_server(open_servers: Open, tmp_path: Path) -> None:
    room = open_servers(hostile())
    await room.servers.start("h")
    told = tmp_path / "told"
    task = Tasks().start(room.servers.call("h", "cancelled", {"text": str(told)}, Ticket()))
    await eventually(lambda: any(entry.method == "tools/call" for entry in room.servers.tape.entries), "the call")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(told.exists, "the word to the server")
    assert room.servers.live("h").state is State.READY


async def test_server_edited_during_the_wait_for_the_keyring_does_not_start(tmp_path: Path) -> None:
    class Waiting(Keys):
        """A keyring that waits for a person, who edits the server meanwhile."""

        async def get(self, profile_id: str, origin: str, name: str = "") -> Secret | None:
            found = await super().get(profile_id, origin, name)
            book.update(book.servers[-1].model_copy(update={"arguments": ("-c", "pass")}))
            return found

    keys, book = Waiting(backend=no_keyring), ServerRegistry(tmp_path / "tool-servers.json")
    await keys.set("h", ORIGIN, Secret("a-secret"), "env:API_TOKEN")
    pids = tmp_path / "pids"
    server = hostile("--pids", str(pids), secret_environment=("API_TOKEN",))
    book.confirm(book.add(server))
    servers = Servers(book, keys)
    with pytest.raises(ServerError, match="was changed while it started"):
        await servers.start("h")
    assert servers.live("h").state is State.UNCONFIRMED
    await servers.close()
    assert not pids.exists()
