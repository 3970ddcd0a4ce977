"""Reference servers of the protocol's authors: tools, questions, prompts, resources, roots and logs."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
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
from playground.engine.session.tool_calls import Ticket
from playground.engine.tool_servers.events import ResourceUpdated, State
from playground.engine.tool_servers.servers import ServerError
from playground.system.tasks import Tasks
from tests.engine.tool_servers.conftest import OpenServers, Room, text_of
from tests.support import tool_servers
from tests.support.eventually import eventually
from tests.support.remote_tool_server import NEWEST, RemoteToolServer
from tests.support.required_tools import NODE_PACKAGES, PYTHON_SERVER, requires, skip_without


@contextmanager
def listening(words: list[str]) -> Iterator[int]:
    """Run a server over HTTP and yield its port, on which it listens soon."""
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


async def wait_for_listener(port: int) -> None:
    def listens() -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    await eventually(listens, f"a listener on port {port}")


@pytest.fixture(params=["stdio", "http", "sse"])
async def everything(request: pytest.FixtureRequest) -> AsyncIterator[ToolServer]:
    """The reference server over each transport."""
    skip_without(NODE_PACKAGES)
    if request.param == "stdio":
        yield tool_servers.everything(id="e", name="Everything")
        return
    command = tool_servers.everything_over_http()
    if request.param == "sse":
        command[-1] = "sse"
    via, path = {"http": (Via.HTTP, "mcp"), "sse": (Via.SSE, "sse")}[request.param]
    with listening(command) as port:
        await wait_for_listener(port)
        yield ToolServer(id="e", name="Everything", via=via, url=f"http://127.0.0.1:{port}/{path}")


async def start(room: Room) -> None:
    """Start the reference server and wait for the tools that it offers to a client that can answer questions."""
    await room.start()
    expected = {"trigger-elicitation-request", "trigger-sampling-request"}
    await eventually(lambda: expected <= {tool.name for tool in room.live.tools}, "the tools that ask")


async def test_tools_over_each_transport_answer(open_servers: OpenServers, everything: ToolServer) -> None:
    room = open_servers(everything)
    servers = room.servers
    live = await servers.start("e")
    assert live.state is State.READY
    assert {"tools", "prompts", "resources", "completions", "logging"} <= live.can
    answers: dict[str, ServerAnswer] = {}

    async def call(tool: str, **arguments: object) -> Ticket:
        ticket = Ticket()
        answers[tool] = await servers.call("e", tool, arguments, ticket)
        assert not answers[tool].is_error, (tool, answers[tool])
        return ticket

    for tool in ("get-env", "get-tiny-image", "toggle-simulated-logging", "toggle-subscriber-updates"):
        await call(tool)
    await call("echo", message="ü")
    await call("get-annotated-message", messageType="error", includeImage=True)
    await call("get-resource-links", count=3)
    await call("get-resource-reference", resourceType="Text", resourceId=1)
    await call("get-structured-content", location="Chicago")
    await call("get-sum", a=2, b=40)
    ticket = await call("trigger-long-running-operation", duration=0.4, steps=4)
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


@requires(NODE_PACKAGES)
async def test_questions_of_a_call_are_answered_by_the_person_and_by_a_model(open_servers: OpenServers) -> None:
    room = open_servers(tool_servers.everything(id="e", name="Everything", timeout=2.0))
    servers, tasks = room.servers, Tasks()
    await start(room)

    async def call(tool: str, **arguments: object) -> asyncio.Future[ServerAnswer]:
        task = tasks.start(servers.call("e", f"trigger-{tool}-request", arguments, Ticket()))
        await eventually(lambda: servers.asks, "the question")
        return task

    for action, words in (("accept", "provided"), ("decline", "declined"), ("cancel", "cancelled")):
        answer = await call("elicitation")
        (ask,) = servers.asks
        assert isinstance(ask, Elicitation)
        assert ask.server == "Everything"
        assert "name" in ask.form["properties"]
        if action == "decline":  # an answer may take longer than a call, here as long as another one with progress
            await servers.call("e", "trigger-long-running-operation", {"duration": 2.4, "steps": 12}, Ticket())
            assert not answer.done()
        servers.answer(ask.id, action, {"name": "Ada"} if action == "accept" else None)
        assert words in text_of(await answer).lower()
        assert not servers.asks

    answer = await call("sampling", prompt="hello", maxTokens=7)
    (ask,) = servers.asks
    assert isinstance(ask, Sampling)
    assert ask.max_tokens == 7
    assert "hello" in str(ask.messages)
    servers.answer_sampling(ask.id, Message(role="assistant", blocks=(TextBlock(text="42!"),)), "m-1", "endTurn")
    assert "42!" in text_of(await answer)
    answer = await call("sampling", prompt="hello", maxTokens=7)
    servers.refuse(servers.asks[0].id, "not today")
    assert (await answer).is_error
    assert "not today" in text_of(await answer)

    await call("elicitation")
    await servers.stop("e")
    await eventually(lambda: not servers.asks, "the end of the question with its call")
    await tasks.end()


@requires(NODE_PACKAGES)
async def test_prompts_resources_and_log_of_a_server_are_read(open_servers: OpenServers) -> None:
    room = open_servers(tool_servers.everything(id="e", name="Everything"))
    servers = room.servers
    live = await servers.start("e")
    prompts = {prompt.name: prompt for prompt in live.prompts}
    assert prompts["args-prompt"].arguments[0].required
    messages = await servers.prompt("e", "args-prompt", {"city": "Oslo"})
    assert "Oslo" in str(messages[0].blocks)
    with pytest.raises(ServerError):
        await servers.prompt("e", "args-prompt", {})
    assert "Engineering" in await servers.complete("e", "completable-prompt", "department", "Eng", {})
    assert await servers.complete("e", "completable-prompt", "name", "", {"department": "Engineering"})

    plain = next(resource.uri for resource in live.resources if not resource.template)
    templates = [resource.uri.replace("{resourceId}", "1") for resource in live.resources if resource.template]
    text, blob = (next(uri for uri in templates if kind in uri) for kind in ("text", "blob"))
    for uri, kind in ((plain, ResourceBlock), (text, ResourceBlock), (blob, DataBlock)):
        (block,) = await servers.read("e", uri)
        assert isinstance(block, kind)
    with pytest.raises(ServerError, match="refused"):
        await servers.read("e", "demo://nothing/here")

    await servers.watch("e", plain, True)
    await servers.call("e", "toggle-subscriber-updates", {}, Ticket())
    await eventually(lambda: ResourceUpdated("e", plain) in room.events, "the change of the resource")
    await servers.watch("e", plain, False)
    servers.set_log_level("e", "debug")
    await eventually(lambda: "logging/setLevel" in {entry.method for entry in servers.tape.entries}, "the level")
    await servers.call("e", "toggle-simulated-logging", {}, Ticket())
    await eventually(lambda: servers.live("e").log, "the first line of the log")


@requires(NODE_PACKAGES)
async def test_changed_roots_reach_the_server(open_servers: OpenServers, tmp_path: Path) -> None:
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
async def test_server_in_python_answers(open_servers: OpenServers) -> None:
    room = open_servers(tool_servers.clock(id="c", name="Clock"))
    live = await room.start()
    assert {tool.name for tool in live.tools} == {"get_current_time", "convert_time"}
    answer = await room.call("get_current_time", timezone="Europe/Oslo")
    assert "Europe/Oslo" in text_of(answer)


@requires(NODE_PACKAGES)
async def test_server_over_http_that_ends_fails_its_calls(open_servers: OpenServers) -> None:
    with listening(tool_servers.everything_over_http()) as port:
        await wait_for_listener(port)
        server = ToolServer(id="e", name="E", via=Via.HTTP, url=f"http://127.0.0.1:{port}/mcp", timeout=20)
        room = open_servers(server)
        await room.start()
    with pytest.raises(ServerError):
        await room.call("echo", message="x")
    await eventually(lambda: room.live.state is State.FAILED, "its end")
    assert room.live.problem


async def test_server_over_http_that_is_not_there_is_reported(open_servers: OpenServers) -> None:
    room = open_servers(ToolServer(id="e", name="E", via=Via.HTTP, url="http://127.0.0.1:9/mcp"))
    with pytest.raises(ServerError, match=r"no connection to 127\.0\.0\.1:9"):
        await room.start()


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("text/html", "<h1>Sorry</h1>", r"refused: HTTP 503 Service Unavailable\.$"),
        ("application/json", '{"error": "Sorry"}', r"refused: HTTP 503 Service Unavailable\.$"),
        (
            "application/json",
            '{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "Too busy"}}',
            r"refused: Too busy \(code -32600\)",
        ),
    ],
)
async def test_refusal_over_http_is_reported_in_the_words_of_the_server_or_by_its_status(
    open_servers: OpenServers, kind: str, body: str, words: str
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 503 Service Unavailable\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}"
        writer.write(f"{head}\r\nConnection: close\r\n\r\n{body}".encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        room = open_servers(ToolServer(id="e", name="E", via=Via.HTTP, url=f"http://127.0.0.1:{port}/mcp"))
        with pytest.raises(ServerError, match=words):
            await room.start()


async def test_stateless_server_is_asked_again_with_the_answer(open_servers: OpenServers) -> None:
    tasks = Tasks()
    with RemoteToolServer(stateless=True) as remote:
        room = open_servers(ToolServer(id="r", name="R", via=Via.HTTP, url=remote.url))
        live = await room.start()
        assert live.protocol == NEWEST
        assert "say" in {tool.name for tool in live.tools}
        call = tasks.start(room.call("say"))
        await eventually(lambda: room.servers.asks, "the question before the answer")
        (ask,) = room.servers.asks
        assert isinstance(ask, Elicitation)
        assert ask.message == "Who?"
        room.servers.answer(ask.id, "accept", {"name": "Ada"})
        assert text_of(await call) == "half way: Ada, say"
