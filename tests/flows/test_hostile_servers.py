"""Tool servers that misbehave, in the real window: it answers all the while, whatever is looked at."""

from __future__ import annotations

import asyncio

import pytest

from playground.domain.tool_servers import ToolServer
from playground.engine.tool_servers.events import ServerSnapshot, State
from tests.flows.conftest import Person, Stage
from tests.flows.pages.tool_servers import ToolServersDialog
from tests.hostile.gaps import LAID_OUT, LIMIT, MARGIN, Gaps
from tests.support import tool_servers
from tests.support.slow import slow_except

SECONDS = 1.5  # of flood that are watched


async def started(person: Person, server: ToolServer) -> ServerSnapshot:
    """The server, confirmed and ready."""
    servers = person.app.workspace.tool_servers
    servers.book.confirm(servers.book.add(server))
    return await servers.start(server.id)


@pytest.mark.parametrize("mode", slow_except(["flood"], ["flood", "stderr", "restless", "asks"]))
@pytest.mark.parametrize("looked_at", slow_except(["messages"], ["messages", "servers"]))
def test_the_window_answers_while_one_floods(stage: Stage, mode: str, looked_at: str) -> None:
    held: list[float] = []

    async def scene(person: Person) -> None:
        await started(person, tool_servers.hostile())  # what is loaded once is loaded
        person.app.window.action("view.servers").trigger()
        await person.app.workspace.tool_servers.stop("hostile")
        server = tool_servers.hostile(mode, id="flooding", name="flooding")
        dialog: ToolServersDialog | None = None
        if looked_at == "servers":
            person.app.workspace.tool_servers.book.add(server)
            dialog = await ToolServersDialog.open(person)
            await dialog.select("flooding")
            person.app.workspace.tool_servers.book.confirm(server)
            await person.app.workspace.tool_servers.start("flooding")
        else:
            await started(person, server)
        async with Gaps(LAID_OUT) as gaps:
            await asyncio.sleep(SECONDS)  # it goes on for ever
        held.append(gaps.seconds)
        assert person.app.workspace.tool_servers.live("flooding").state is State.READY
        if dialog is not None:
            await dialog.close("Close")

    stage.play(scene)
    assert held[0] <= LIMIT * MARGIN, f"{held[0] * 1000:.0f} ms"
