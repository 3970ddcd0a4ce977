"""Servers are started, asked, watched and ended through the process that speaks with them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from playground.domain.tool_servers import DataBlock, LinkBlock, OtherBlock, ResourceBlock, TextBlock, ToolServer
from playground.engine.gateways.secrets import Keys, Secret
from playground.engine.session.serving import Ticket
from playground.engine.tool_servers.book import ServerBook
from playground.engine.tool_servers.live import FramesCame, ServersChanged, State
from playground.engine.tool_servers.secret_values import ORIGIN
from playground.engine.tool_servers.servers import ServerError, Servers
from playground.engine.tool_servers.tape import Entry
from playground.tasks import Tasks
from tests.engine.conftest import no_keyring
from tests.engine.tool_servers.conftest import Room, hostile

Open = Callable[..., Room]


async def test_one_is_started_lists_its_tools_answers_and_ends(open_servers: Open) -> None:
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

    await room.servers.stop("h")
    assert room.servers.live("h").state is State.STOPPED
    assert ServersChanged("h") in room.events


async def test_a_call_starts_one_that_is_stopped(open_servers: Open) -> None:
    room = open_servers(hostile())
    await room.servers.call("h", "echo", {"text": "x"}, Ticket())
    assert room.servers.live("h").state is State.READY


async def test_what_goes_both_ways_is_on_the_tape_with_its_call(open_servers: Open) -> None:
    room = open_servers(hostile())
    ticket = Ticket()
    await room.servers.call("h", "echo", {"text": "on tape"}, ticket)

    def of_the_call() -> list[Entry]:
        return [entry for entry in room.servers.tape.entries if entry.call == ticket.id]

    await room.until(lambda: len(of_the_call()) > 1, "the call on the tape")
    asked, answered = of_the_call()
    assert asked.frame.sent
    assert asked.method == "tools/call"
    assert "on tape" in asked.frame.text
    assert answered.request == asked.number
    methods = [entry.method for entry in room.servers.tape.entries if entry.frame.sent]
    assert methods[:3] == ["initialize", "notifications/initialized", "tools/list"]


async def test_content_of_every_kind_arrives(open_servers: Open) -> None:
    room = open_servers(hostile())
    answer = await room.servers.call("h", "kinds", {"text": "unknown"}, Ticket())
    kinds = {type(block) for block in answer.blocks}
    assert {TextBlock, DataBlock, ResourceBlock, LinkBlock, OtherBlock} <= kinds


async def test_one_that_cannot_be_started_says_why(open_servers: Open) -> None:
    room = open_servers(ToolServer(id="n", name="None", command="no-such-command-anywhere"))
    with pytest.raises(ServerError, match="was not found"):
        await room.servers.start("n")
    live = room.servers.live("n")
    assert live.state is State.FAILED
    assert "no-such-command-anywhere" in live.problem


async def test_one_that_dies_at_once_says_so_with_its_last_words(open_servers: Open) -> None:
    room = open_servers(hostile("dies"))
    with pytest.raises(ServerError, match="exit code 3"):
        await room.servers.start("h")
    assert room.servers.live("h").stderr
    assert room.servers.live("h").stderr[-1] in room.servers.live("h").problem


async def test_a_cancelled_call_is_called_off_at_the_server(open_servers: Open, tmp_path: Path) -> None:
    room = open_servers(hostile())
    await room.servers.start("h")
    told = tmp_path / "told"
    task = Tasks().start(room.servers.call("h", "cancelled", {"text": str(told)}, Ticket()))
    await room.until(lambda: any(entry.method == "tools/call" for entry in room.servers.tape.entries), "the call")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await room.until(told.exists, "the word to the server")
    assert room.servers.live("h").state is State.READY


async def test_neither_a_missing_home_nor_tracing_that_is_not_installed_is_in_the_way(
    open_servers: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    monkeypatch.setenv("OTEL_PROPAGATORS", "nobody-installed-this")
    room = open_servers(hostile(), own_host=True)
    assert (await room.servers.start("h")).state is State.READY


async def test_one_that_is_edited_while_the_keyring_is_asked_runs_neither_way(tmp_path: Path) -> None:
    class Waiting(Keys):
        """A keyring that waits for a person, who edits the server meanwhile."""

        async def get(self, profile_id: str, origin: str, name: str = "") -> Secret | None:
            found = await super().get(profile_id, origin, name)
            book.update(book.servers[-1].model_copy(update={"arguments": ("-c", "pass")}))
            return found

    keys, book = Waiting(backend=no_keyring), ServerBook(tmp_path / "tool-servers.json")
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


async def test_one_that_is_stopped_at_the_moment_of_its_start_says_so_and_can_be_started_again(
    open_servers: Open,
) -> None:
    room = open_servers(hostile())
    running = Tasks(ServerError)
    await room.servers.stop("h")
    first = running.start(room.servers.start("h"))
    await running.start(room.servers.stop("h"))
    with pytest.raises(ServerError, match="stopped while it started"):
        await first
    assert (await room.servers.start("h")).state is State.READY


async def test_what_fails_to_hear_of_a_server_keeps_no_answer_back(open_servers: Open) -> None:
    room = open_servers(hostile(), own_host=True)
    failed: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: failed.append(context["message"]))

    await room.servers.start("h")

    def deaf(event: object) -> None:
        if isinstance(event, FramesCame):
            if len(failed) < 3:
                time.sleep(0.3)  # answers come meanwhile, behind further frames
            raise LookupError

    unsubscribe = room.servers.subscribe(deaf)
    async with asyncio.timeout(30):
        calls = (room.servers.call("h", "echo", {"text": "heard"}, Ticket()) for _ in range(50))
        answers = await asyncio.gather(*calls)
    unsubscribe()
    assert all(answer.blocks for answer in answers)
    assert failed
