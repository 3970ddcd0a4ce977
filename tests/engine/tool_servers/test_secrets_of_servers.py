"""Secrets of servers reach the server that they are for, and nothing else: no tape, no log, no event, no file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import httpx
import pytest

from playground.domain.tool_servers import ServerAnswer, TextBlock, ToolServer, Via
from playground.engine.gateways.secrets import Keys, Secret
from playground.engine.session.serving import Ticket
from playground.engine.tool_servers.live import SignInWanted, State
from playground.engine.tool_servers.secret_values import OAUTH, ORIGIN
from playground.engine.tool_servers.servers import ServerError
from playground.tasks import Tasks
from tests.engine.conftest import no_keyring
from tests.engine.tool_servers.conftest import Room, hostile
from tests.support.remote_tool_server import RemoteToolServer

Open = Callable[..., Room]
CANARY = "canary-3f9c1b7ae2d84c55"


def said(answer: ServerAnswer) -> str:
    """All its texts."""
    return "\n".join(block.text for block in answer.blocks if isinstance(block, TextBlock))


def told(room: Room) -> str:
    """Everything that could be shown, kept or exported."""
    servers = room.servers
    frames = [entry.frame.text + entry.frame.notice for entry in servers.tape.entries]
    lives = [repr(servers.live(server.id)) for server in servers.book.servers]
    return "\n".join([*frames, *lives, *map(repr, room.events), *servers.tape.lines(servers.tape.entries)])


def clean(room: Room, canaries: Iterable[str]) -> None:
    """None of them stands anywhere."""
    text = told(room)
    for canary in canaries:
        assert canary not in text


async def test_a_command_gets_its_variables_and_the_safe_ones_only(
    open_servers: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS_ALONE", "not for servers")
    keys = Keys(backend=no_keyring)
    await keys.set("h", ORIGIN, Secret(CANARY), "env:API_TOKEN")
    await keys.set("h", ORIGIN, Secret(CANARY + "-2"), "argument:place")
    server = hostile(environment={"PLAIN": "seen"}, secret_environment=("API_TOKEN",))
    arguments = (*server.arguments, "--pids", "{{secret:place}}")
    room = open_servers(server.model_copy(update={"arguments": arguments}), keys=keys, own_host=True)
    answer = await room.servers.call("h", "environment", {}, Ticket())
    text = said(answer)
    assert CANARY in text
    assert CANARY + "-2" in text
    assert '"PLAIN": "seen"' in text
    assert "OURS_ALONE" not in text
    assert "PYTHONPATH" not in text
    await room.until(lambda: len(room.servers.tape) > 5, "the tape")
    clean(room, [CANARY])


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"data": "said by the client"},
        {"like": "Failed to parse JSON response: the answer "},
        {"like": "x", "data": "said by the client", "long": 1_000_000},
    ],
)
async def test_one_that_says_its_secret_wherever_it_can_has_it_nowhere_but_in_answers(
    open_servers: Open, arguments: dict[str, object]
) -> None:
    keys = Keys(backend=no_keyring)
    await keys.set("h", ORIGIN, Secret(CANARY), "env:API_TOKEN")
    room = open_servers(hostile("leaks", secret_environment=("API_TOKEN",)), keys=keys)
    live = await room.servers.start("h")
    leaky = next(tool for tool in live.tools if tool.name == "leaky")
    assert leaky.description == "Uses ••••"
    assert leaky.parameters["properties"] == {"key": {"type": "string", "default": "••••"}, "••••": {}}
    assert live.instructions == "I hold ••••"
    ticket = Ticket()
    with pytest.raises(ServerError, match="••••") as refused:
        await room.servers.call("h", "leak", dict(arguments), ticket)
    assert CANARY not in str(refused.value)
    assert len(str(refused.value)) < 25_000
    await room.until(lambda: room.servers.live("h").stderr and room.servers.live("h").log, "the log")
    assert CANARY not in repr((ticket, ticket.log))
    clean(room, [CANARY])


async def test_one_whose_secret_is_gone_is_not_started(open_servers: Open) -> None:
    room = open_servers(hostile(secret_environment=("API_TOKEN",)))
    with pytest.raises(ServerError, match="keyring"):
        await room.servers.start("h")
    assert room.servers.live("h").state is State.FAILED
    assert not room.servers.host_pid


async def test_a_header_that_is_secret_goes_to_the_server_only(open_servers: Open) -> None:
    keys = Keys(backend=no_keyring)
    await keys.set("r", ORIGIN, Secret(CANARY), "header:X-Key")
    with RemoteToolServer(key=CANARY) as remote:
        server = ToolServer(id="r", name="R", via=Via.HTTP, url=remote.url, secret_headers=("X-Key",))
        room = open_servers(server, keys=keys)
        answer = await room.servers.call("r", "say", {"text": f"it is {CANARY}"}, Ticket())
        assert CANARY in said(answer)
        await room.until(lambda: any("••••" in entry.frame.text for entry in room.servers.tape.entries), "the mask")
        clean(room, [CANARY])


async def test_one_that_refuses_is_said_with_its_status(open_servers: Open) -> None:
    with RemoteToolServer(key=CANARY) as remote:
        room = open_servers(ToolServer(id="r", name="R", via=Via.HTTP, url=remote.url))
        with pytest.raises(ServerError, match="HTTP 403 Forbidden"):
            await room.servers.start("r")


@pytest.mark.parametrize(
    ("arguments", "why"), [({}, "The answer has over 33,554,432 bytes"), ({"events": True}, "33554432 byte limit")]
)
async def test_an_answer_over_http_that_is_too_long_is_let_go(
    open_servers: Open, arguments: dict[str, object], why: str
) -> None:
    with RemoteToolServer() as remote:
        room = open_servers(ToolServer(id="r", name="R", via=Via.HTTP, url=remote.url))
        with pytest.raises(ServerError, match=why):
            await room.servers.call("r", "huge", arguments, Ticket())
        assert said(await room.servers.call("r", "say", {"text": "still here"}, Ticket())) == "still here"


async def test_an_answer_that_is_compressed_unasked_is_let_go(open_servers: Open) -> None:
    with RemoteToolServer() as remote:
        room = open_servers(ToolServer(id="r", name="R", via=Via.HTTP, url=remote.url))
        with pytest.raises(ServerError, match="compressed"):
            await room.servers.call("r", "packed", {}, Ticket())


async def browse(room: Room, times: int = 1) -> None:
    """Be the person with the browser."""

    def wanted() -> list[SignInWanted]:
        return [event for event in room.events if isinstance(event, SignInWanted)]

    await room.until(lambda: len(wanted()) >= times, "the page to sign in on")
    async with httpx.AsyncClient(follow_redirects=True) as browser:
        page = await browser.get(wanted()[-1].url)
    assert "go back to Gateway Playground" in page.text


async def test_a_person_signs_in_once_and_the_token_is_kept_and_renewed(open_servers: Open) -> None:
    keys = Keys(backend=no_keyring)
    tasks = Tasks()
    with RemoteToolServer(oauth=True) as remote:
        server = ToolServer(id="r", name="R", via=Via.HTTP, url=remote.url, oauth=True)
        room = open_servers(server, keys=keys)
        starting = tasks.start(room.servers.start("r"))
        await browse(room)
        assert (await starting).state is State.READY
        assert said(await room.servers.call("r", "say", {"text": "signed in"}, Ticket())) == "signed in"
        assert (len(remote.registered), remote.authorised) == (1, 1)
        token = next(iter(remote.tokens))
        await room.servers.call("r", "say", {"text": f"your token: {token}"}, Ticket())
        await room.until(lambda: any("••••" in entry.frame.text for entry in room.servers.tape.entries), "the mask")
        kept = await keys.get("r", ORIGIN, OAUTH)
        assert kept is not None
        assert token in kept.get_secret_value()
        clean(room, [*remote.tokens, *remote.refresh_tokens])
        for secret in (*remote.tokens, *remote.refresh_tokens):  # not by what the keyring holds of them as one text
            assert secret not in keys.redactor.text(f"an answer with {secret} in it")

        await room.servers.restart("r")
        assert said(await room.servers.call("r", "say", {"text": "again"}, Ticket())) == "again"
        assert (len(remote.registered), remote.authorised) == (1, 1)

        value = {**json.loads(kept.get_secret_value()), "expires": 1.0}  # its time is over
        await keys.set("r", ORIGIN, Secret(json.dumps(value)), OAUTH)
        await room.servers.restart("r")
        assert (remote.refreshed, remote.authorised) == (1, 1)

        remote.tokens.clear()  # the server knows it no more
        starting = tasks.start(room.servers.restart("r"))
        await browse(room, 2)
        assert (await starting).state is State.READY
        assert len(remote.registered) == 1
        later = Keys(backend=no_keyring)  # those of the next start of the application
        kept = await keys.get("r", ORIGIN, OAUTH)
        assert kept is not None
        await later.set("r", ORIGIN, kept, OAUTH)
        await room.servers.stop("r")
        other = open_servers(server, keys=later)
        await other.servers.start("r")
        assert not any(token in later.redactor.text(f"it is {token}") for token in remote.tokens)
        clean(room, [*remote.tokens, *remote.refresh_tokens])
    await tasks.end()


async def test_a_sign_in_that_nobody_finishes_is_called_off_by_a_stop(open_servers: Open) -> None:
    tasks = Tasks(ServerError)
    with RemoteToolServer(oauth=True) as remote:
        room = open_servers(ToolServer(id="r", name="R", via=Via.HTTP, url=remote.url, oauth=True))
        starting = tasks.start(room.servers.start("r"))
        await room.until(lambda: any(isinstance(event, SignInWanted) for event in room.events), "the page")
        await room.servers.stop("r")
        with pytest.raises(ServerError):
            await starting
        assert room.servers.live("r").state is State.STOPPED
