"""The reference servers of others, spoken with as people's servers are: every tool, and all that they offer beside."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from playground.domain.tool_servers import (
    DataBlock,
    Elicitation,
    LinkBlock,
    Message,
    ResourceBlock,
    Sampling,
    ServerAnswer,
    TextBlock,
    ToolServer,
    Via,
)
from playground.engine.session.serving import Ticket
from playground.engine.tool_servers.live import ResourceUpdated, State
from playground.engine.tool_servers.servers import ServerError
from playground.tasks import Tasks
from tests.engine.tool_servers.conftest import Room
from tests.support import tool_servers
from tests.support.eventually import eventually
from tests.support.remote_tool_server import NEWEST, RemoteToolServer
from tests.support.required_tools import NODE_PACKAGES, PYTHON_SERVER, requires, skip_without

Open = Callable[..., Room]


@contextmanager
def listening(words: list[str]) -> Iterator[int]:
    """A server over HTTP, on the port that this gives, once it listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(words, env={**os.environ, "PORT": str(port)}, stdout=quiet, stderr=quiet)
    try:
        yield port
    finally:
        process.kill()
        process.wait()


async def reachable(port: int) -> None:
    """Wait until somebody listens there."""

    async def listens() -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return False
        writer.close()
        return True

    await eventually(listens, f"a listener on port {port}")


@pytest.fixture(params=["stdio", "http", "sse"])
async def everything(request: pytest.FixtureRequest) -> AsyncIterator[ToolServer]:
    """The server that has everything, over each transport."""
    skip_without(NODE_PACKAGES)
    if request.param == "stdio":
        yield tool_servers.everything(id="e", name="Everything")
        return
    words = tool_servers.everything_over_http()
    if request.param == "sse":
        words[-1] = "sse"
    with listening(words) as port:
        await reachable(port)
        path = "mcp" if request.param == "http" else "sse"
        via = Via.HTTP if request.param == "http" else Via.SSE
        yield ToolServer(id="e", name="Everything", via=via, url=f"http://127.0.0.1:{port}/{path}")


def text_of(answer: ServerAnswer) -> str:
    """All its texts."""
    return "\n".join(block.text for block in answer.blocks if isinstance(block, TextBlock))


async def test_every_tool_answers_over_every_transport(open_servers: Open, everything: ToolServer) -> None:
    room = open_servers(everything)
    servers = room.servers
    live = await servers.start("e")
    assert live.state is State.READY
    assert {"tools", "prompts", "resources", "completions", "logging"} <= live.can
    asked: dict[str, dict[str, object]] = {
        "echo": {"message": "ü"},
        "get-annotated-message": {"messageType": "error", "includeImage": True},
        "get-env": {},
        "get-resource-links": {"count": 3},
        "get-resource-reference": {"resourceType": "Text", "resourceId": 1},
        "get-structured-content": {"location": "Chicago"},
        "get-sum": {"a": 2, "b": 40},
        "get-tiny-image": {},
        "trigger-long-running-operation": {"duration": 0.4, "steps": 4},
        "toggle-simulated-logging": {},
        "toggle-subscriber-updates": {},
    }
    assert set(asked) <= {tool.name for tool in live.tools}
    answers: dict[str, ServerAnswer] = {}
    for name, arguments in asked.items():
        ticket = Ticket()
        answers[name] = await servers.call("e", name, arguments, ticket)
        assert not answers[name].is_error, (name, answers[name])
        if name == "trigger-long-running-operation":
            assert (ticket.done, ticket.total) == (4, 4)
    assert "ü" in text_of(answers["echo"])
    assert any(isinstance(block, DataBlock) for block in answers["get-tiny-image"].blocks)
    assert sum(isinstance(block, LinkBlock) for block in answers["get-resource-links"].blocks) == 3
    assert any(isinstance(block, ResourceBlock) for block in answers["get-resource-reference"].blocks)
    assert answers["get-structured-content"].structured["conditions"]
    assert "42" in text_of(answers["get-sum"])

    wrong = await servers.call("e", "get-sum", {"a": "x"}, Ticket())
    assert wrong.is_error
    await servers.stop("e")
    assert servers.live("e").state is State.STOPPED


async def test_it_asks_the_person_and_a_model(open_servers: Open, everything: ToolServer) -> None:
    room = open_servers(everything)
    servers, tasks = room.servers, Tasks()
    await servers.start("e")
    await room.until(
        lambda: (
            {"trigger-elicitation-request", "trigger-sampling-request"}
            <= {tool.name for tool in servers.live("e").tools}
        ),
        "the tools of a client that can answer",
    )
    for action, said in (("accept", "provided"), ("decline", "declined"), ("cancel", "cancelled")):
        call = tasks.start(servers.call("e", "trigger-elicitation-request", {}, Ticket()))
        await room.until(lambda: servers.asks, "the question")
        (ask,) = servers.asks
        assert isinstance(ask, Elicitation)
        assert ask.server == "Everything"
        assert "name" in ask.form["properties"]
        servers.answer(ask.id, action, {"name": "Ada"} if action == "accept" else None)
        assert said in text_of(await call).lower()
        assert not servers.asks

    call = tasks.start(servers.call("e", "trigger-sampling-request", {"prompt": "hello", "maxTokens": 7}, Ticket()))
    await room.until(lambda: servers.asks, "the request for a model")
    (ask,) = servers.asks
    assert isinstance(ask, Sampling)
    assert ask.max_tokens == 7
    assert "hello" in str(ask.messages)
    servers.answer_sampling(ask.id, Message(role="assistant", blocks=(TextBlock(text="42!"),)), "m-1", "endTurn")
    assert "42!" in text_of(await call)

    call = tasks.start(servers.call("e", "trigger-sampling-request", {"prompt": "hello", "maxTokens": 7}, Ticket()))
    await room.until(lambda: servers.asks, "the request for a model")
    servers.refuse(servers.asks[0].id, "not today")
    refused = await call
    assert refused.is_error
    assert "not today" in text_of(refused)


@requires(NODE_PACKAGES)
async def test_a_person_may_take_longer_than_the_time_of_a_call(open_servers: Open) -> None:
    room = open_servers(tool_servers.everything(id="e", name="Everything", timeout=1.0))
    servers, tasks = room.servers, Tasks()
    await servers.start("e")
    await room.until(lambda: "trigger-elicitation-request" in {it.name for it in servers.live("e").tools}, "the tool")
    call = tasks.start(servers.call("e", "trigger-elicitation-request", {}, Ticket()))
    await room.until(lambda: servers.asks, "the question")
    await asyncio.sleep(1.6)  # longer than a call may take
    assert not call.done()
    servers.answer(servers.asks[0].id, "decline")
    assert "declined" in text_of(await call).lower()


@requires(NODE_PACKAGES)
async def test_a_question_ends_with_the_call_it_belongs_to(open_servers: Open) -> None:
    room = open_servers(tool_servers.everything(id="e", name="Everything"))
    servers, tasks = room.servers, Tasks()
    await servers.start("e")
    await room.until(lambda: "trigger-elicitation-request" in {it.name for it in servers.live("e").tools}, "the tool")
    tasks.start(servers.call("e", "trigger-elicitation-request", {}, Ticket()))
    await room.until(lambda: servers.asks, "the question")
    await servers.stop("e")
    await room.until(lambda: not servers.asks, "its end")
    await tasks.end()


async def test_prompts_resources_templates_and_completion(open_servers: Open, everything: ToolServer) -> None:
    room = open_servers(everything)
    servers = room.servers
    live = await servers.start("e")
    prompts = {prompt.name: prompt for prompt in live.prompts}
    assert prompts["args-prompt"].arguments[0].required
    messages = await servers.prompt("e", "args-prompt", {"city": "Oslo"})
    assert "Oslo" in str(messages[0].blocks)
    with pytest.raises(ServerError):
        await servers.prompt("e", "args-prompt", {})
    assert "Engineering" in await servers.complete("e", "completable-prompt", "department", "Eng", {})
    names = await servers.complete("e", "completable-prompt", "name", "", {"department": "Engineering"})
    assert names

    templates = [resource for resource in live.resources if resource.template]
    assert templates
    plain = next(resource for resource in live.resources if not resource.template)
    (block,) = await servers.read("e", plain.uri)
    assert isinstance(block, ResourceBlock)
    assert block.text
    text = next(template for template in templates if "text" in template.uri)
    (block,) = await servers.read("e", text.uri.replace("{resourceId}", "1"))
    assert isinstance(block, ResourceBlock)
    blob = next(template for template in templates if "blob" in template.uri)
    (found,) = await servers.read("e", blob.uri.replace("{resourceId}", "1"))
    assert isinstance(found, DataBlock)
    with pytest.raises(ServerError, match="refused"):
        await servers.read("e", "demo://nothing/here")


@requires(NODE_PACKAGES)
async def test_a_resource_that_is_watched_tells_of_changes(open_servers: Open) -> None:
    room = open_servers(tool_servers.everything(id="e", name="Everything"))
    live = await room.servers.start("e")
    uri = next(resource.uri for resource in live.resources if not resource.template)
    await room.servers.watch("e", uri, True)
    await room.servers.call("e", "toggle-subscriber-updates", {}, Ticket())
    await room.until(lambda: ResourceUpdated("e", uri) in room.events, "the change")
    await room.servers.watch("e", uri, False)


@requires(NODE_PACKAGES)
async def test_the_level_of_the_log_is_set(open_servers: Open) -> None:
    room = open_servers(tool_servers.everything(id="e", name="Everything"))
    await room.servers.start("e")
    room.servers.set_log_level("e", "debug")
    await room.until(
        lambda: any(entry.method == "logging/setLevel" for entry in room.servers.tape.entries), "the level"
    )
    await room.servers.call("e", "toggle-simulated-logging", {}, Ticket())
    await room.until(lambda: room.servers.live("e").log, "the first line")


@requires(NODE_PACKAGES)
async def test_a_server_of_files_sees_the_roots_and_their_change(open_servers: Open, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    (first / "a.txt").write_text("one", encoding="utf-8")
    (second / "b.txt").write_text("two", encoding="utf-8")
    room = open_servers(tool_servers.filesystem(first, id="f", name="Files", roots=(str(first),)))
    servers = room.servers
    live = await servers.start("f")
    reads = next(tool for tool in live.tools if tool.name == "read_text_file")
    assert reads.hints.read_only
    assert "one" in text_of(await servers.call("f", "read_text_file", {"path": str(first / "a.txt")}, Ticket()))
    assert (await servers.call("f", "read_text_file", {"path": str(second / "b.txt")}, Ticket())).is_error

    server = servers.book.get("f")
    assert server is not None
    servers.book.update(server.model_copy(update={"roots": (str(second),)}))

    async def is_read() -> bool:
        return "two" in text_of(await servers.call("f", "read_text_file", {"path": str(second / "b.txt")}, Ticket()))

    await eventually(is_read, "the file in the new folder")


@requires(PYTHON_SERVER)
async def test_one_from_the_python_registry(open_servers: Open) -> None:
    room = open_servers(tool_servers.clock(id="c", name="Clock"))
    live = await room.servers.start("c")
    assert {tool.name for tool in live.tools} == {"get_current_time", "convert_time"}
    answer = await room.servers.call("c", "get_current_time", {"timezone": "Europe/Oslo"}, Ticket())
    assert "Europe/Oslo" in text_of(answer)


@requires(NODE_PACKAGES)
async def test_one_over_http_that_goes_away_fails_its_calls(open_servers: Open) -> None:
    with listening(tool_servers.everything_over_http()) as port:
        await reachable(port)
        server = ToolServer(id="e", name="E", via=Via.HTTP, url=f"http://127.0.0.1:{port}/mcp", timeout=20)
        room = open_servers(server)
        await room.servers.start("e")
    with pytest.raises(ServerError):
        await room.servers.call("e", "echo", {"message": "x"}, Ticket())
    await room.until(lambda: room.servers.live("e").state is State.FAILED, "its end")
    assert room.servers.live("e").problem


async def test_one_over_http_that_is_not_there_says_so(open_servers: Open) -> None:
    room = open_servers(ToolServer(id="e", name="E", via=Via.HTTP, url="http://127.0.0.1:9/mcp"))
    with pytest.raises(ServerError, match=r"no connection to 127\.0\.0\.1:9"):
        await room.servers.start("e")


async def test_one_that_speaks_the_newest_form_only_is_spoken_with(open_servers: Open) -> None:
    tasks = Tasks()
    with RemoteToolServer(stateless=True) as remote:
        room = open_servers(ToolServer(id="r", name="R", via=Via.HTTP, url=remote.url))
        live = await room.servers.start("r")
        assert live.protocol == NEWEST
        assert "say" in {tool.name for tool in live.tools}
        call = tasks.start(room.servers.call("r", "say", {}, Ticket()))
        await room.until(lambda: room.servers.asks, "the question before the answer")
        (ask,) = room.servers.asks
        assert isinstance(ask, Elicitation)
        assert ask.message == "Who?"
        room.servers.answer(ask.id, "accept", {"name": "Ada"})
        assert text_of(await call) == "half way: Ada, say"
