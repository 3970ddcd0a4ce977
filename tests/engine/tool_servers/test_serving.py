"""Which servers a session may call, how many calls at once, and answers that do not fit their schema."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from playground.demo.server import DemoServer
from playground.domain.debugging import Debugging, Policy
from playground.domain.tool_servers import Hints, ServerTool, TextBlock
from playground.domain.tools import ToolDefinition
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.session.session import Experiment
from playground.engine.session.tool_calls import Ticket, ToolCallError
from playground.engine.tool_servers.calls import AT_ONCE, ServerToolCaller, is_named
from playground.engine.tool_servers.events import State
from playground.engine.tool_servers.registry import DEMO_ID as DEMO_SERVER
from playground.engine.tool_servers.tools import definition_of
from playground.tasks import Tasks
from tests.engine.debugging import ToolConversation, always
from tests.engine.tool_servers.conftest import Room, hostile
from tests.support.each_case import each_case
from tests.support.eventually import eventually

Open = Callable[..., Room]


async def tools_of(room: Room) -> dict[str, ToolDefinition]:
    """Accept the tools of the server and return them as tools of an experiment."""
    live = await room.servers.start("h")
    room.servers.book.accept("h", live.tools)
    return {tool.name: definition_of(live.server, tool, tool.name) for tool in live.tools}


async def test_call_starts_a_stopped_server(open_servers: Open) -> None:
    room = open_servers(hostile())
    tools = await tools_of(room)
    await room.servers.stop("h")
    serving = ServerToolCaller(lambda: room.servers)
    assert serving.refusal(tools["echo"]) == ""
    answer = await serving.ask(tools["echo"], '{"text": "good morning"}', Ticket())
    assert any(isinstance(block, TextBlock) and "good morning" in block.text for block in answer.blocks)
    assert room.servers.live("h").state is State.READY
    assert (await serving.ask(tools["misfit"], "{}", Ticket())).problems, "structured content that fits no schema"


async def test_calls_at_once_to_one_server_are_bounded(open_servers: Open) -> None:
    room = open_servers(hostile())
    tools = await tools_of(room)
    serving, tickets = ServerToolCaller(lambda: room.servers), [Ticket() for _ in range(100)]
    running = Tasks()
    asked = [running.start(serving.ask(tools["hang"], "{}", ticket)) for ticket in tickets]

    def sent() -> int:
        return sum(entry.method == "tools/call" and entry.frame.sent for entry in room.servers.tape.entries)

    await eventually(lambda: sent() == AT_ONCE, "the calls")
    waiting = [ticket for ticket in tickets if ticket.words]
    assert len(waiting) == len(tickets) - AT_ONCE
    assert "Waits for its turn" in waiting[0].words
    asked[0].cancel()
    await eventually(lambda: sent() == AT_ONCE + 1, "the next call")
    for task in asked:
        task.cancel()
    ended = await asyncio.gather(*asked, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in ended)
    echoed = await serving.ask(tools["echo"], '{"text": "still there"}', Ticket())
    assert echoed.blocks


async def test_server_that_took_the_name_of_another_gets_no_call(open_servers: Open) -> None:
    room = open_servers(hostile())
    tools = await tools_of(room)
    await room.servers.stop("h")
    serving, running, book = ServerToolCaller(lambda: room.servers), Tasks(ToolCallError), room.servers.book
    asked = running.start(serving.ask(tools["echo"], "{}", Ticket()))
    await eventually(lambda: room.servers.live("h").state is State.STARTING, "the start")
    book.update(book.servers[-1].model_copy(update={"name": "Former"}))
    other = book.add(hostile(id="other"))
    book.accept(other.id, book.accepted("h").values())
    with pytest.raises(ToolCallError, match="another server by now"):
        await asked
    assert not [entry for entry in room.servers.tape.entries if entry.method == "tools/call"]


async def test_refused_call_has_a_reason(open_servers: Open) -> None:
    room = open_servers(hostile())
    tools = await tools_of(room)
    serving = ServerToolCaller(lambda: room.servers)
    of_none = tools["echo"].model_copy(update={"server": "Elsewhere"})
    assert "There is no tool server “Elsewhere” here." in serving.refusal(of_none)
    assert "is of no tool server" in serving.refusal(tools["echo"].model_copy(update={"server": ""}))
    other = tools["echo"].model_copy(update={"description": "Something else."})
    assert "is not what you accepted" in serving.refusal(other)
    for arguments, words in (("{", "not JSON"), ("[]", "not a JSON object")):
        with pytest.raises(ToolCallError, match=words):
            await serving.ask(tools["echo"], arguments, Ticket())
    with pytest.raises(ToolCallError, match="not what you accepted"):
        await serving.ask(other, "{}", Ticket())


async def test_changed_definition_is_refused_until_accepted(open_servers: Open) -> None:
    room = open_servers(hostile())
    tools = await tools_of(room)
    serving = ServerToolCaller(lambda: room.servers)
    assert serving.refusal(tools["echo"]) == ""
    await serving.ask(tools["change"], "{}", Ticket())
    await eventually(lambda: serving.refusal(tools["echo"]), "the change")
    with pytest.raises(ToolCallError, match="not what you accepted"):
        await serving.ask(tools["echo"], "{}", Ticket())
    now = {tool.name: tool for tool in room.servers.live("h").tools}["echo"]
    room.servers.book.accept("h", [now])
    assert serving.refusal(definition_of(room.servers.live("h").server, now, "echo")) == ""


async def test_server_that_dies_during_a_call_leaves_it_unanswered_with_a_reason(
    open_servers: Open, gateways: Gateways, demo: DemoServer
) -> None:
    room = open_servers(hostile())
    tools = await tools_of(room)
    serving = ServerToolCaller(lambda: room.servers, ["Hostile.*"])
    session = Experiment(gateways.client, profile_id=DEMO_ID, model="demo-tools", serving=lambda: serving).main
    conversation = ToolConversation(session, demo)
    session.change(tools=(tools["die"],), debugging=always(Policy.SERVER))
    await conversation.ask("Use die")
    assert (conversation.roles, conversation.reasons) == ("uc", ["unanswered"])
    reason = session.debugger.reason(*conversation.keys[0])
    assert reason is not None
    assert reason.words


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
    server = hostile().model_copy(update={"name": "Files"})
    for hints, allowed in ((Hints(), harmless), (Hints(destructive=True), destructive)):
        tool = definition_of(server, ServerTool(name="tool", hints=hints), "fs_tool")
        assert is_named(tool, [pattern]) is allowed
        assert not is_named(tool, [])


async def test_run_starts_a_server_only_when_rules_call_its_tools(
    open_servers: Open, gateways: Gateways, demo: DemoServer
) -> None:
    room = open_servers()
    live = await room.servers.start(DEMO_SERVER)
    room.servers.book.accept(DEMO_SERVER, live.tools)
    await room.servers.stop(DEMO_SERVER)
    tools = {tool.name: definition_of(live.server, tool, tool.name) for tool in live.tools}
    clock = tools["clock"]
    serving = ServerToolCaller(lambda: room.servers)

    async def run(tool: ToolDefinition, debugging: Debugging) -> None:
        session = Experiment(gateways.client, profile_id=DEMO_ID, model="demo-chat", serving=lambda: serving).main
        session.change(tools=(tool,), debugging=debugging)
        conversation = ToolConversation(session, demo)
        await conversation.ask("Good morning")
        assert conversation.roles == "ua"

    room.events.clear()
    await run(clock, always(Policy.PAUSE))
    await run(clock, always(Policy.TABLE))
    await run(clock, always(Policy.SERVER, before=True))
    await run(clock, always(Policy.SERVER, pause_from=1))
    await run(tools["delete_note"], always(Policy.SERVER))
    await run(clock.model_copy(update={"description": "Not accepted."}), always(Policy.SERVER))
    assert room.events == []
    assert room.servers.live(DEMO_SERVER).state is State.STOPPED
    await run(clock, always(Policy.SERVER))
    await eventually(lambda: room.servers.live(DEMO_SERVER).state is State.READY, "the start")
    assert not any(entry.method == "tools/call" for entry in room.servers.tape.entries)
