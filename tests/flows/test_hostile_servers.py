"""Tool servers that misbehave, in the real window: it answers all the while, whatever is looked at."""

from __future__ import annotations

import asyncio

import pytest

from playground.domain.tool_servers import ServerAnswer, ToolServer
from playground.engine.session.serving import ServingError, Ticket
from playground.engine.tool_servers.acceptance import arriving
from playground.engine.tool_servers.live import Live, State
from tests.flows.conftest import Person, Stage
from tests.flows.pages.tool_servers import ToolServersDialog
from tests.hostile.gaps import LAID_OUT, LIMIT, MARGIN, Gaps
from tests.support import tool_servers
from tests.support.slow import slow_except

SECONDS = 4.0  # that it goes on
PATIENCE = 12.0  # seconds of a server that says nothing; a busy machine may take half of it for 100 MB


async def started(person: Person, server: ToolServer) -> Live:
    """The server, confirmed and ready."""
    servers = person.app.workspace.tool_servers
    servers.book.confirm(servers.book.add(server))
    return await servers.start(server.id)


async def called(person: Person, tool: str, **arguments: object) -> ServerAnswer | str:
    """What a tool of it answers, or why it does not."""
    try:
        return await person.app.workspace.tool_servers.call("hostile", tool, dict(arguments), Ticket())
    except ServingError as error:
        return str(error)


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


@pytest.mark.slow
def test_the_window_answers_whatever_a_call_brings(stage: Stage) -> None:
    held: dict[str, float] = {}
    said: dict[str, ServerAnswer | str] = {}

    async def scene(person: Person) -> None:
        live = await started(person, tool_servers.hostile(timeout=PATIENCE))
        person.app.window.action("view.servers").trigger()
        person.session.change(tools=arriving((), live.server, live.tools, {}))
        for tool in ("flood", "huge", "endless", "deep", "noise", "odd", "kinds", "twice", "half", "die"):
            await person.app.workspace.tool_servers.restart("hostile")  # what one left in the pipe is gone
            async with Gaps(LAID_OUT) as gaps:
                said[tool] = await called(person, tool, seconds=3)
            held[tool] = gaps.seconds

    stage.play(scene)
    late = {tool: f"{seconds * 1000:.0f} ms" for tool, seconds in held.items() if seconds > LIMIT * MARGIN}
    assert not late
    for tool in ("flood", "noise", "odd", "kinds", "twice"):
        assert isinstance(said[tool], ServerAnswer), f"{tool}: {said[tool]}"
    assert "100,000,0" in str(said["huge"])
    assert "without the end of a line, and was stopped" in str(said["endless"])
    assert "exit code 7" in str(said["die"])
    assert "out of luck" in str(said["die"])


@pytest.mark.slow
def test_the_window_answers_when_very_many_tools_come(stage: Stage) -> None:
    held: list[float] = []

    async def scene(person: Person) -> None:
        async with Gaps(LAID_OUT) as gaps:
            live = await started(person, tool_servers.hostile("many"))
            await person.until(lambda: len(person.app.workspace.tool_servers.live("hostile").tools) == 10_000, "all")
        held.append(gaps.seconds)
        assert live.state is State.READY

    stage.play(scene)
    assert held[0] <= LIMIT * MARGIN, f"{held[0] * 1000:.0f} ms"
