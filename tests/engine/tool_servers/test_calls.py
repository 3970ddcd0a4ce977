"""Calls of tools by sessions: permitted calls, their limit at once, and answers that do not fit their schema."""

from __future__ import annotations

import asyncio

import pytest

from playground.demo.server import DemoServer
from playground.domain.debugging import Debugging, Policy
from playground.domain.tool_servers import Hints, ServerTool
from playground.domain.tools import ToolDefinition
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.session.session import Experiment
from playground.engine.session.tool_calls import Ticket, ToolCallError
from playground.engine.tool_servers.calls import AT_ONCE, ServerToolCaller, is_named
from playground.engine.tool_servers.events import State
from playground.engine.tool_servers.tools import definition_of
from playground.system.tasks import Tasks
from tests.engine.debugging import ToolConversation, always
from tests.engine.tool_servers.conftest import OpenServers, Room, hostile, text_of
from tests.support.each_case import each_case
from tests.support.eventually import eventually


async def accepted_tools(room: Room) -> dict[str, ToolDefinition]:
    """Accept the tools of the server and return them as tools of an experiment."""
    live = await room.start()
    room.servers.book.accept(room.server_id, live.tools)
    return {tool.name: definition_of(live.server, tool, tool.name) for tool in live.tools}


async def test_call_starts_a_stopped_server(open_servers: OpenServers) -> None:
    room = open_servers(hostile())
    tools, caller = await accepted_tools(room), ServerToolCaller(lambda: room.servers)
    await room.servers.stop("h")
    assert caller.refusal(tools["echo"]) == ""
    assert "good morning" in text_of(await caller.ask(tools["echo"], '{"text": "good morning"}', Ticket()))
    assert room.live.state is State.READY
    assert (await caller.ask(tools["misfit"], "{}", Ticket())).problems, "structured content that fits no schema"


async def test_calls_at_once_to_one_server_are_bounded(open_servers: OpenServers) -> None:
    room = open_servers(hostile())
    tools, caller, tasks = await accepted_tools(room), ServerToolCaller(lambda: room.servers), Tasks()
    tickets = [Ticket() for _ in range(100)]
    calls = [tasks.start(caller.ask(tools["hang"], "{}", ticket)) for ticket in tickets]

    def sent() -> int:
        return sum(entry.method == "tools/call" and entry.frame.sent for entry in room.servers.tape.entries)

    await eventually(lambda: sent() == AT_ONCE, "the calls")
    waiting = [ticket for ticket in tickets if ticket.words]
    assert len(waiting) == len(tickets) - AT_ONCE
    assert "Waits for its turn" in waiting[0].words
    calls[0].cancel()
    await eventually(lambda: sent() == AT_ONCE + 1, "the next call")
    for call in calls:
        call.cancel()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results)
    assert (await caller.ask(tools["echo"], '{"text": "ready"}', Ticket())).blocks


async def test_server_that_took_the_name_of_another_gets_no_call(open_servers: OpenServers) -> None:
    room = open_servers(hostile())
    tools, caller, registry = await accepted_tools(room), ServerToolCaller(lambda: room.servers), room.servers.book
    await room.servers.stop("h")
    call = Tasks(ToolCallError).start(caller.ask(tools["echo"], "{}", Ticket()))
    await eventually(lambda: room.live.state is State.STARTING, "the start")
    registry.update(registry.servers[-1].model_copy(update={"name": "Former"}))
    registry.accept(registry.add(hostile(id="other")).id, registry.accepted("h").values())
    with pytest.raises(ToolCallError, match="another server by now"):
        await call
    assert "tools/call" not in room.methods


async def test_refused_call_has_a_reason(open_servers: OpenServers) -> None:
    room = open_servers(hostile())
    echo, caller = (await accepted_tools(room))["echo"], ServerToolCaller(lambda: room.servers)
    for changes, words in (
        ({"server": "Elsewhere"}, "There is no tool server “Elsewhere”."),
        ({"server": ""}, "belongs to no tool server"),
        ({"description": "Something else."}, "is not what you accepted"),
    ):
        tool = echo.model_copy(update=changes)
        assert words in caller.refusal(tool)
        with pytest.raises(ToolCallError, match=words):
            await caller.ask(tool, "{}", Ticket())
    for arguments, words in (("{", "not JSON"), ("[]", "not a JSON object")):
        with pytest.raises(ToolCallError, match=words):
            await caller.ask(echo, arguments, Ticket())


async def test_changed_definition_is_refused_until_accepted(open_servers: OpenServers) -> None:
    room = open_servers(hostile())
    tools, caller = await accepted_tools(room), ServerToolCaller(lambda: room.servers)
    assert caller.refusal(tools["echo"]) == ""
    await caller.ask(tools["change"], "{}", Ticket())
    await eventually(lambda: caller.refusal(tools["echo"]), "the change")
    with pytest.raises(ToolCallError, match="not what you accepted"):
        await caller.ask(tools["echo"], "{}", Ticket())
    now = {tool.name: tool for tool in room.live.tools}["echo"]
    room.servers.book.accept("h", [now])
    assert caller.refusal(definition_of(room.live.server, now, "echo")) == ""


@each_case(
    ("pattern", "harmless", "destructive"),
    [
        ("tool", True, True),
        ("Files.tool", True, True),
        ("fs_tool", True, True),
        ("Files.*", True, False),
        ("Files.to*", True, False),
        ("*", True, False),
        ("Other.*", False, False),
        ("write", False, False),
    ],
)
def test_pattern_allows_a_destructive_tool_by_its_whole_name_only(
    pattern: str, harmless: bool, destructive: bool
) -> None:
    server = hostile(name="Files")
    for hints, allowed in ((Hints(), harmless), (Hints(destructive=True), destructive)):
        tool = definition_of(server, ServerTool(name="tool", hints=hints), "fs_tool")
        assert is_named(tool, [pattern]) is allowed
        assert not is_named(tool, [])


async def test_run_starts_a_server_only_when_rules_call_its_tools(
    open_servers: OpenServers, gateways: Gateways, demo: DemoServer
) -> None:
    room = open_servers()
    tools, caller = await accepted_tools(room), ServerToolCaller(lambda: room.servers)
    await room.servers.stop(room.server_id)
    clock = tools["clock"]

    async def run(tool: ToolDefinition, debugging: Debugging) -> None:
        session = Experiment(gateways.client, profile_id=DEMO_ID, model="demo-chat", serving=lambda: caller).main
        session.change(tools=(tool,), debugging=debugging)
        conversation = ToolConversation(session, demo)
        await conversation.ask("Good morning")
        assert conversation.roles == "ua"

    room.events.clear()
    for debugging in (
        always(Policy.PAUSE),
        always(Policy.TABLE),
        always(Policy.SERVER, before=True),
        always(Policy.SERVER, pause_from=1),
    ):
        await run(clock, debugging)
    await run(tools["delete_note"], always(Policy.SERVER))
    await run(clock.model_copy(update={"description": "Not accepted."}), always(Policy.SERVER))
    assert room.events == []
    assert room.live.state is State.STOPPED
    await run(clock, always(Policy.SERVER))
    await eventually(lambda: room.live.state is State.READY, "the start")
    assert "tools/call" not in room.methods
