"""What sessions may ask of which servers, how many calls at once, and what is said of an answer that does not fit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from playground.demo.server import DemoServer
from playground.domain.debugging import Debugging, Policy
from playground.domain.tool_servers import Hints, ServerTool, TextBlock
from playground.domain.tools import ToolDefinition
from playground.engine.gateways.offered import DEMO_ID, Gateways
from playground.engine.gateways.secrets import Keys
from playground.engine.session.serving import ServingError, Ticket
from playground.engine.session.session import Session
from playground.engine.tool_servers.book import DEMO_ID as DEMO_SERVER
from playground.engine.tool_servers.book import ServerBook
from playground.engine.tool_servers.live import State
from playground.engine.tool_servers.naming import definition_of
from playground.engine.tool_servers.servers import Servers
from playground.engine.tool_servers.serving import AT_ONCE, Serving, is_named
from playground.tasks import Tasks
from tests.engine.conftest import no_keyring
from tests.engine.debugging import ToolConversation, always
from tests.engine.tool_servers.conftest import Room, hostile

Open = Callable[..., Room]


async def tools_of(room: Room) -> dict[str, ToolDefinition]:
    """What the server lists, accepted, as tools of an experiment."""
    live = await room.servers.start("h")
    room.servers.book.accept("h", live.tools)
    return {tool.name: definition_of(live.server, tool, tool.name) for tool in live.tools}


async def test_an_answer_comes_and_one_that_is_stopped_is_started(open_servers: Open) -> None:
    room = open_servers(hostile())
    tools = await tools_of(room)
    await room.servers.stop("h")
    serving = Serving(lambda: room.servers)
    assert serving.refusal(tools["echo"]) == ""
    answer = await serving.ask(tools["echo"], '{"text": "good morning"}', Ticket())
    assert any(isinstance(block, TextBlock) and "good morning" in block.text for block in answer.blocks)
    assert room.servers.live("h").state is State.READY


async def test_no_more_than_so_many_calls_at_once_go_to_one_server(open_servers: Open) -> None:
    room = open_servers(hostile())
    tools = await tools_of(room)
    serving, tickets = Serving(lambda: room.servers), [Ticket() for _ in range(100)]
    running = Tasks()
    asked = [running.start(serving.ask(tools["hang"], "{}", ticket)) for ticket in tickets]

    def sent() -> int:
        return sum(entry.method == "tools/call" and entry.frame.sent for entry in room.servers.tape.entries)

    await room.until(lambda: sent() == AT_ONCE, "the calls")
    waiting = [ticket for ticket in tickets if ticket.words]
    assert len(waiting) == len(tickets) - AT_ONCE
    assert "Waits for its turn" in waiting[0].words
    asked[0].cancel()
    await room.until(lambda: sent() == AT_ONCE + 1, "the next call")
    for task in asked:
        task.cancel()
    ended = await asyncio.gather(*asked, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in ended)
    echoed = await serving.ask(tools["echo"], '{"text": "still there"}', Ticket())
    assert echoed.blocks


async def test_a_server_that_takes_anothers_name_meanwhile_gets_none_of_its_calls(open_servers: Open) -> None:
    room = open_servers(hostile())
    tools = await tools_of(room)
    await room.servers.stop("h")
    serving, running, book = Serving(lambda: room.servers), Tasks(ServingError), room.servers.book
    asked = running.start(serving.ask(tools["echo"], "{}", Ticket()))
    await room.until(lambda: room.servers.live("h").state is State.STARTING, "the start")
    book.update(book.servers[-1].model_copy(update={"name": "Former"}))
    other = book.add(hostile(id="other"))
    book.accept(other.id, book.accepted("h").values())
    with pytest.raises(ServingError, match="another server by now"):
        await asked
    assert not [entry for entry in room.servers.tape.entries if entry.method == "tools/call"]


async def test_what_cannot_be_asked_says_why(open_servers: Open) -> None:
    room = open_servers(hostile())
    tools = await tools_of(room)
    serving = Serving(lambda: room.servers)
    of_none = tools["echo"].model_copy(update={"server": "Elsewhere"})
    assert "There is no tool server “Elsewhere” here." in serving.refusal(of_none)
    assert "is of no tool server" in serving.refusal(tools["echo"].model_copy(update={"server": ""}))
    other = tools["echo"].model_copy(update={"description": "Something else."})
    assert "is not what you accepted" in serving.refusal(other)
    for arguments, words in (("{", "not JSON"), ("[]", "not a JSON object")):
        with pytest.raises(ServingError, match=words):
            await serving.ask(tools["echo"], arguments, Ticket())
    with pytest.raises(ServingError, match="not what you accepted"):
        await serving.ask(other, "{}", Ticket())


async def test_a_definition_that_changed_while_it_was_stopped_is_not_asked(open_servers: Open) -> None:
    room = open_servers(hostile())
    tools = await tools_of(room)
    serving = Serving(lambda: room.servers)
    assert serving.refusal(tools["echo"]) == ""
    await serving.ask(tools["change"], "{}", Ticket())
    await room.until(lambda: serving.refusal(tools["echo"]), "the change")
    with pytest.raises(ServingError, match="not what you accepted"):
        await serving.ask(tools["echo"], "{}", Ticket())
    now = {tool.name: tool for tool in room.servers.live("h").tools}["echo"]
    room.servers.book.accept("h", [now])
    assert serving.refusal(definition_of(room.servers.live("h").server, now, "echo")) == ""


async def test_structured_content_is_held_to_its_schema(open_servers: Open) -> None:
    room = open_servers(hostile())
    tools = await tools_of(room)
    serving = Serving(lambda: room.servers)
    answer = await serving.ask(tools["misfit"], "{}", Ticket())
    assert answer.problems
    promised = tools["echo"].model_copy(update={"output": {"type": "object"}})
    live = room.servers.live("h")
    assert serving.refusal(promised)  # that is another tool than what is listed
    assert live.state is State.READY


@pytest.mark.parametrize("tool", ["die", "half"])
async def test_one_that_dies_in_the_middle_of_a_call_says_so_on_the_call(
    open_servers: Open, gateways: Gateways, demo: DemoServer, tool: str
) -> None:
    room = open_servers(hostile())
    tools = await tools_of(room)
    serving = Serving(lambda: room.servers, ["Hostile.*"])
    session = Session(gateways.client, profile_id=DEMO_ID, model="demo-tools", serving=lambda: serving)
    conversation = ToolConversation(session, demo)
    session.change(tools=(tools[tool],), debugging=always(Policy.SERVER))
    await conversation.ask(f"Use {tool}")
    assert (conversation.roles, conversation.reasons) == ("uc", ["unanswered"])
    reason = session.debugger.reason(*conversation.keys[0])
    assert reason is not None
    assert reason.words


@pytest.mark.parametrize(
    ("patterns", "named"),
    [
        (["read"], True),
        (["Files.read"], True),
        (["Files.*"], True),
        (["Files.re*"], True),
        (["*"], True),
        (["Other.*"], False),
        (["write"], False),
        ([], False),
    ],
)
def test_tools_are_named_alone_or_with_their_server(patterns: list[str], named: bool) -> None:
    tool = definition_of(hostile().model_copy(update={"name": "Files"}), ServerTool(name="read"), "read")
    assert is_named(tool, patterns) is named


def test_one_that_destroys_is_named_by_its_whole_name_only() -> None:
    tool = definition_of(
        hostile().model_copy(update={"name": "Files"}),
        ServerTool(name="write", hints=Hints(destructive=True)),
        "files_write",
    )
    assert [is_named(tool, [one]) for one in ("*", "Files.*", "wr*")] == [False] * 3
    assert [is_named(tool, [one]) for one in ("write", "Files.write", "files_write")] == [True] * 3


async def demo_tools(room: Room) -> dict[str, ToolDefinition]:
    """Those of the demo's own server, accepted; it is stopped again."""
    live = await room.servers.start(DEMO_SERVER)
    room.servers.book.accept(DEMO_SERVER, live.tools)
    await room.servers.stop(DEMO_SERVER)
    return {tool.name: definition_of(live.server, tool, tool.name) for tool in live.tools}


async def test_a_server_that_rules_ask_by_themselves_is_started_when_a_run_begins(
    open_servers: Open, gateways: Gateways, demo: DemoServer
) -> None:
    room = open_servers()
    tools = await demo_tools(room)
    serving = Serving(lambda: room.servers)
    session = Session(gateways.client, profile_id=DEMO_ID, model="demo-chat", serving=lambda: serving)
    conversation = ToolConversation(session, demo)
    session.change(tools=(tools["clock"],), debugging=always(Policy.SERVER))
    await conversation.ask("Good morning")
    assert conversation.roles == "ua"  # it called nothing
    await room.until(lambda: room.servers.live(DEMO_SERVER).state is State.READY, "the start")
    assert not any(entry.method == "tools/call" for entry in room.servers.tape.entries)


@pytest.mark.parametrize(
    ("tool", "debugging"),
    [
        ("clock", always(Policy.PAUSE)),
        ("clock", always(Policy.TABLE)),
        ("clock", always(Policy.SERVER, before=True)),
        ("clock", always(Policy.SERVER, pause_from=1)),
        ("delete_note", always(Policy.SERVER)),
        ("refused", always(Policy.SERVER)),
    ],
)
async def test_one_that_no_rule_asks_by_itself_is_not_started(
    open_servers: Open, gateways: Gateways, demo: DemoServer, tool: str, debugging: Debugging
) -> None:
    room = open_servers()
    tools = await demo_tools(room)
    tools["refused"] = tools["clock"].model_copy(update={"description": "Another."})
    room.events.clear()
    serving = Serving(lambda: room.servers)
    session = Session(gateways.client, profile_id=DEMO_ID, model="demo-chat", serving=lambda: serving)
    conversation = ToolConversation(session, demo)
    session.change(tools=(tools[tool],), debugging=debugging)
    await conversation.ask("Good morning")
    assert conversation.roles == "ua"
    assert room.events == []
    assert room.servers.live(DEMO_SERVER).state is State.STOPPED


async def test_one_that_nobody_confirmed_is_not_expected(open_servers: Open, tmp_path: Path) -> None:
    book = ServerBook(tmp_path / "tool-servers.json")
    server = book.add(hostile())
    room = Room(Servers(book, Keys(backend=no_keyring)))
    room.servers.subscribe(room.events.append)
    tool = definition_of(server, ServerTool(name="echo"), "echo")
    Serving(lambda: room.servers, ["*"]).expect([tool])
    await asyncio.sleep(0)
    assert (room.events, room.servers.live(server.id).state) == ([], State.UNCONFIRMED)
    await room.servers.close()
