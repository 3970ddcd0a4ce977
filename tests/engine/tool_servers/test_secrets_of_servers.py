"""Secrets of a tool server reach that server and nothing else: no tape, no log, no event, no file."""

from __future__ import annotations

import json

import httpx
import pytest

from playground.domain.tool_servers import ToolServer, Via
from playground.engine.gateways.secrets import Keys, Secret
from playground.engine.session.tool_calls import Ticket
from playground.engine.tool_servers.events import SignInWanted, State
from playground.engine.tool_servers.secret_values import OAUTH, ORIGIN
from playground.engine.tool_servers.servers import ServerError
from playground.system.tasks import Tasks
from tests.engine.conftest import no_keyring
from tests.engine.tool_servers.conftest import OpenServers, Room, hostile, text_of
from tests.support.eventually import eventually
from tests.support.remote_tool_server import RemoteToolServer

CANARY = "canary-3f9c1b7ae2d84c55"


def assert_hidden(room: Room, *secrets: str) -> None:
    """Assert that no secret is in anything that could be shown, saved or exported."""
    servers = room.servers
    frames = [entry.frame.text + entry.frame.notice for entry in servers.tape.entries]
    lives = [repr(servers.live(server.id)) for server in servers.book.servers]
    text = "\n".join([*frames, *lives, *map(repr, room.events), *servers.tape.lines(servers.tape.entries)])
    assert [secret for secret in secrets if secret in text] == []


async def test_command_gets_its_variables_and_secrets_only(
    open_servers: OpenServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS_ALONE", "not for servers")
    keys = Keys(backend=no_keyring)
    await keys.set("h", ORIGIN, Secret(CANARY), "env:API_TOKEN")
    await keys.set("h", ORIGIN, Secret(CANARY + "-2"), "argument:place")
    server = hostile(environment={"PLAIN": "seen"}, secret_environment=("API_TOKEN",))
    arguments = (*server.arguments, "--pids", "{{secret:place}}")
    room = open_servers(server.model_copy(update={"arguments": arguments}), keys=keys, own_host=True)
    answer = await room.call("environment")
    text = text_of(answer)
    assert CANARY in text
    assert CANARY + "-2" in text
    assert '"PLAIN": "seen"' in text
    assert "OURS_ALONE" not in text
    assert "PYTHONPATH" not in text
    await eventually(lambda: len(room.servers.tape) > 5, "the tape")
    assert_hidden(room, CANARY)


async def test_secret_that_a_server_repeats_everywhere_is_masked(open_servers: OpenServers) -> None:
    keys = Keys(backend=no_keyring)
    await keys.set("h", ORIGIN, Secret(CANARY), "env:API_TOKEN")
    room = open_servers(hostile("leaks", secret_environment=("API_TOKEN",)), keys=keys)
    live = await room.start()
    leaky = next(tool for tool in live.tools if tool.name == "leaky")
    assert leaky.description == "Uses ••••"
    assert leaky.parameters["properties"] == {"key": {"type": "string", "default": "••••"}, "••••": {}}
    assert live.instructions == "I hold ••••"
    arguments: tuple[dict[str, object], ...] = (
        {},
        {"data": "said by the client"},
        {"like": "Failed to parse JSON response: the answer "},
        {"like": "x", "data": "said by the client", "long": 1_000_000},
    )
    for fields in arguments:
        ticket = Ticket()
        with pytest.raises(ServerError, match="••••") as refused:
            await room.servers.call("h", "leak", fields, ticket)
        assert CANARY not in str(refused.value) + repr((ticket, ticket.log))
        assert len(str(refused.value)) < 25_000
    await eventually(lambda: room.live.stderr and room.live.log, "the log")
    assert_hidden(room, CANARY)


async def test_server_without_its_secret_is_not_started(open_servers: OpenServers) -> None:
    room = open_servers(hostile(secret_environment=("API_TOKEN",)))
    with pytest.raises(ServerError, match="keyring"):
        await room.start()
    assert room.live.state is State.FAILED
    assert not room.servers.host_pid


async def test_secret_header_reaches_its_server_only(open_servers: OpenServers) -> None:
    keys = Keys(backend=no_keyring)
    await keys.set("r", ORIGIN, Secret(CANARY), "header:X-Key")
    with RemoteToolServer(key=CANARY) as remote:
        server = ToolServer(id="r", name="R", via=Via.HTTP, url=remote.url, secret_headers=("X-Key",))
        room = open_servers(server, keys=keys)
        answer = await room.servers.call("r", "say", {"text": f"it is {CANARY}"}, Ticket())
        assert CANARY in text_of(answer)
        await room.wait_for_frame("••••")
        assert_hidden(room, CANARY)
        second = open_servers(ToolServer(id="x", name="X", via=Via.HTTP, url=remote.url))
        with pytest.raises(ServerError, match="HTTP 403 Forbidden"):
            await second.servers.start("x")


async def test_answer_over_http_that_is_too_long_or_compressed_fails_its_call(open_servers: OpenServers) -> None:
    with RemoteToolServer() as remote:
        room = open_servers(ToolServer(id="r", name="R", via=Via.HTTP, url=remote.url))
        for tool, arguments, words in (
            ("huge", {}, "The answer has over 33,554,432 bytes"),
            ("huge", {"events": True}, "33554432 byte limit"),
            ("packed", {}, "compressed"),
        ):
            with pytest.raises(ServerError, match=words):
                await room.servers.call("r", tool, arguments, Ticket())
        assert text_of(await room.call("say", text="still here")) == "still here"


async def sign_in(room: Room, times: int = 1) -> None:
    """Open the page of the last sign-in that is asked for, as a browser does."""
    pages: list[str] = []

    def opened() -> bool:
        pages[:] = [event.url for event in room.events if isinstance(event, SignInWanted)]
        return len(pages) >= times

    await eventually(opened, "the page to sign in on")
    async with httpx.AsyncClient(follow_redirects=True) as browser:
        page = await browser.get(pages[-1])
    assert "go back to Gateway Playground" in page.text


async def test_sign_in_is_saved_and_renewed(open_servers: OpenServers) -> None:
    keys = Keys(backend=no_keyring)
    tasks = Tasks()
    with RemoteToolServer(oauth=True) as remote:
        server = ToolServer(id="r", name="R", via=Via.HTTP, url=remote.url, oauth=True)
        room = open_servers(server, keys=keys)
        starting = tasks.start(room.start())
        await sign_in(room)
        assert (await starting).state is State.READY
        assert text_of(await room.call("say", text="signed in")) == "signed in"
        assert (len(remote.registered), remote.authorised) == (1, 1)
        token = next(iter(remote.tokens))
        await room.servers.call("r", "say", {"text": f"your token: {token}"}, Ticket())
        await room.wait_for_frame("••••")
        saved = await keys.get("r", ORIGIN, OAUTH)
        assert saved is not None
        assert token in saved.get_secret_value()
        assert_hidden(room, *remote.tokens, *remote.refresh_tokens)
        for secret in (*remote.tokens, *remote.refresh_tokens):  # not by what the keyring holds of them as one text
            assert secret not in keys.redactor.text(f"an answer with {secret} in it")

        await room.servers.restart("r")
        assert text_of(await room.call("say", text="again")) == "again"
        assert (len(remote.registered), remote.authorised) == (1, 1)

        value = {**json.loads(saved.get_secret_value()), "expires": 1.0}  # its time is over
        await keys.set("r", ORIGIN, Secret(json.dumps(value)), OAUTH)
        await room.servers.restart("r")
        assert (remote.refreshed, remote.authorised) == (1, 1)

        remote.tokens.clear()  # the server knows it no more
        starting = tasks.start(room.servers.restart("r"))
        await sign_in(room, 2)
        assert (await starting).state is State.READY
        assert len(remote.registered) == 1
        assert_hidden(room, *remote.tokens, *remote.refresh_tokens)
    await tasks.end()


async def test_stop_ends_an_open_sign_in(open_servers: OpenServers) -> None:
    tasks = Tasks(ServerError)
    with RemoteToolServer(oauth=True) as remote:
        room = open_servers(ToolServer(id="r", name="R", via=Via.HTTP, url=remote.url, oauth=True))
        starting = tasks.start(room.start())
        await eventually(lambda: any(isinstance(event, SignInWanted) for event in room.events), "the page")
        await room.servers.stop("r")
        with pytest.raises(ServerError):
            await starting
        assert room.live.state is State.STOPPED
