"""Tool servers are started, called, edited and stopped through the tool host."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from playground.domain.tool_servers import DataBlock, LinkBlock, OtherBlock, ResourceBlock, TextBlock
from playground.engine.gateways.secrets import Keys, Secret
from playground.engine.tool_servers.events import ServersChanged, State
from playground.engine.tool_servers.registry import ServerRegistry
from playground.engine.tool_servers.secret_values import ORIGIN
from playground.engine.tool_servers.servers import ServerError, Servers
from playground.system.tasks import Tasks
from tests.engine.conftest import no_keyring
from tests.engine.tool_servers.conftest import OpenServers, hostile, text_of
from tests.support.eventually import eventually


async def test_server_starts_answers_and_stops(open_servers: OpenServers) -> None:
    room = open_servers(hostile())
    live = await room.start()
    assert live.state is State.READY
    assert "tools" in live.can
    echo = next(tool for tool in live.tools if tool.name == "echo")
    assert (echo.hints.read_only, echo.hints.destructive) == (True, False)

    answer = await room.call("echo", text="good morning")
    assert answer.server == "Hostile"
    assert "good morning" in text_of(answer)
    answer = await room.call("kinds", text="unknown")
    assert {TextBlock, DataBlock, ResourceBlock, LinkBlock, OtherBlock} <= set(map(type, answer.blocks))

    await room.servers.stop("h")
    assert room.live.state is State.STOPPED
    assert ServersChanged("h") in room.events


async def test_cancelled_call_is_cancelled_at_the_server(open_servers: OpenServers, tmp_path: Path) -> None:
    room = open_servers(hostile())
    await room.start()
    marker = tmp_path / "cancelled"
    task = Tasks().start(room.call("cancelled", text=str(marker)))
    await eventually(lambda: "tools/call" in room.methods, "the call")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(marker.exists, "the notification of the server")
    assert room.live.state is State.READY


async def test_server_edited_during_the_wait_for_the_keyring_does_not_start(tmp_path: Path) -> None:
    class Waiting(Keys):
        """A keyring that waits for a person, who edits the server meanwhile."""

        async def get(self, profile_id: str, origin: str, name: str = "") -> Secret | None:
            secret = await super().get(profile_id, origin, name)
            registry.update(registry.servers[-1].model_copy(update={"arguments": ("-c", "pass")}))
            return secret

    keys, registry = Waiting(backend=no_keyring), ServerRegistry(tmp_path / "tool-servers.json")
    await keys.set("h", ORIGIN, Secret("a-secret"), "env:API_TOKEN")
    pids = tmp_path / "pids"
    registry.confirm(registry.add(hostile("--pids", str(pids), secret_environment=("API_TOKEN",))))
    servers = Servers(registry, keys)
    with pytest.raises(ServerError, match="was changed while it started"):
        await servers.start("h")
    assert servers.live("h").state is State.UNCONFIRMED
    await servers.close()
    assert not pids.exists()
