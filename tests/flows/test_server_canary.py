"""Secrets of tool servers, one in every place that has one: servers say them back; no file and no export has them."""

from __future__ import annotations

import json
import logging
import socket
import sqlite3
import sys
import traceback
import zlib
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import tests.support.hostile_tool_server as hostile_program
from playground.domain.debugging import Debugging, Policy, ToolRule
from playground.domain.tool_servers import ToolServer, Via
from playground.engine.files.export import FORMATS, export
from playground.engine.gateways.secrets import Secret
from playground.engine.session.changes import RunState
from playground.engine.session.snapshot import snapshot
from playground.engine.tool_servers.secret_values import OAUTH, ORIGIN
from playground.engine.tool_servers.tools import definition_of
from playground.system import log
from tests.flows.conftest import Person, Stage
from tests.flows.pages.code import CodeWindow
from tests.flows.pages.dialogs import choose_file
from tests.flows.test_canary import logged as logged
from tests.flows.test_store import opened
from tests.support.remote_tool_server import RemoteToolServer

PLACES = ("variable", "argument", "header", "address", "access", "refresh", "client")
CANARIES = {place: f"canary-{place}-5d1e90c7ab" for place in PLACES}


def clean(text: str, where: object) -> None:
    """Assert that it holds no canary."""
    assert not [place for place, canary in CANARIES.items() if canary in text], where


def free_port() -> int:
    with socket.socket() as item:
        item.bind(("127.0.0.1", 0))
        port: int = item.getsockname()[1]
        return port


def unpacked(path: Path) -> Iterator[str]:
    """Return the content of a file: of a database, all its rows, decompressed."""
    raw = path.read_bytes()
    yield raw.decode("utf-8", "replace")
    if not raw.startswith(b"SQLite format 3"):
        return
    with closing(sqlite3.connect(path)) as database, database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in database.execute(f'SELECT * FROM "{table}"'):
                yield from map(text_of, row)
    database.close()


def text_of(value: object) -> str:
    if not isinstance(value, bytes):
        return str(value)
    results, rest = b"", value
    while rest:  # several packed one behind the other
        unpacker = zlib.decompressobj()
        try:
            results += unpacker.decompress(rest)
        except zlib.error:
            return (results + rest).decode("utf-8", "replace")
        rest = unpacker.unused_data
    return results.decode("utf-8", "replace")


def search_files(folder: Path) -> set[str]:
    """The names of all files below it, none of which has a canary."""
    results = [path for path in folder.rglob("*") if path.is_file()]
    for path in results:
        for text in unpacked(path):
            clean(text, path)
    return {path.name for path in results}


def command_line(pid: int) -> str:
    """Return what all users of this computer see of a process, where a file shows it."""
    file = Path(f"/proc/{pid}/cmdline")
    return file.read_text(encoding="utf-8") if file.exists() else ""


async def set_up(person: Person, remote: RemoteToolServer, signed: RemoteToolServer) -> None:
    """Three servers with every kind of secret, their tools on offer, each asked by a rule of its own."""
    workspace = person.app.workspace
    servers, keys = workspace.tool_servers, person.app.gateways.keys
    arguments = (str(hostile_program.__file__), "leaks", "--pids", "{{secret:place}}")
    command = ToolServer(id="c", name="Command", command=sys.executable, arguments=arguments)
    command = command.model_copy(update={"secret_environment": ("API_TOKEN",)})
    url = f"{remote.url}?key={{{{secret:key}}}}"
    header = ToolServer(id="r", name="Header", via=Via.HTTP, url=url, secret_headers=("X-Key",), prefix="r_")
    oauth = ToolServer(id="o", name="Signed", via=Via.HTTP, url=signed.url, oauth=True, prefix="o_")
    tokens = {"access_token": CANARIES["access"], "refresh_token": CANARIES["refresh"], "token_type": "Bearer"}
    port = free_port()
    client = {"client_id": "us", "redirect_uris": [f"http://127.0.0.1:{port}/callback"]}
    client["client_secret"] = CANARIES["client"]
    sign_in = json.dumps({"port": port, "tokens": {**tokens, "expires_in": 3600}, "client": client})
    signed.tokens.add(CANARIES["access"])
    for server_id, name, secret in (
        ("c", "env:API_TOKEN", CANARIES["variable"]),
        ("c", "argument:place", CANARIES["argument"]),
        ("r", "header:X-Key", CANARIES["header"]),
        ("r", "argument:key", CANARIES["address"]),
        ("o", OAUTH, sign_in),
    ):
        await keys.set(server_id, ORIGIN, Secret(secret), name)
    tools = []
    for server in (command, header, oauth):
        servers.book.confirm(servers.book.add(server))
        live = await servers.start(server.id)
        servers.book.accept(server.id, live.tools)
        expected = [item for item in live.tools if item.name in ("environment", "leak", "leaky", "say")]
        tools += [definition_of(live.server, item, server.prefix + item.name) for item in expected]
    rules = Debugging(rules={tool.name: ToolRule(policy=Policy.SERVER) for tool in tools})
    await person.do(lambda: person.session.change(tools=tuple(tools), model="demo-tools", debugging=rules))


async def use(person: Person, words: str) -> None:
    """Run with that message until all is answered."""
    before = len(person.path)
    await person.run(words)
    await person.until(lambda: person.session.state is RunState.IDLE and len(person.path) > before + 2, words)


async def export_everything(person: Person, folder: Path) -> None:
    """Return everything written of the experiment and of its servers."""
    app, session = person.app, person.session
    secrets = app.gateways.keys.known_secrets()
    for form in FORMATS:
        clean(export(snapshot(session), form, secrets, whole_tree=True), form)
    for name, action in (
        ("experiment.playground.json", "file.save"),
        ("one.cassette.json", "cassette.save"),
        ("all.cassette.json", "cassette.save-all"),
        ("archive.har", "cassette.export"),
    ):
        await choose_file(person, action, folder / name)
        await person.until((folder / name).exists, action)
    code = await CodeWindow.opened(person, "run.code")
    for number in range(code.request_count):
        await code.choose_request(number)
        await person.until(lambda: code.text, "some code")
        clean(code.text, f"code {number}")
    await code.close()
    servers = app.workspace.tool_servers
    clean("".join(servers.tape.lines(servers.tape.entries)), "the tape")
    clean(repr([servers.live(server.id) for server in servers.book.servers]), "what is known of servers")
    clean(command_line(servers.host_pid), "the command line of their process")
    try:
        raise ValueError(" ".join(CANARIES.values()))
    except ValueError as error:
        clean(app.without_secrets("".join(traceback.format_exception(error))), "a report")


def test_no_secret_of_a_tool_server_is_in_any_file_or_export(stage: Stage, tmp_path: Path) -> None:
    async def scene(person: Person) -> None:
        await opened(person)
        await set_up(person, remote, signed)
        await use(person, "Use environment")
        message = "".join(result.text for turn in person.path for result in turn.results)
        assert CANARIES["variable"] in message, "the server was given its variable, and said so"
        assert CANARIES["argument"] in message
        await use(person, f"Use r_say with text {CANARIES['header']}{CANARIES['address']}")
        words = "-".join(CANARIES[place] for place in ("access", "refresh", "client"))
        await use(person, f"Use o_say with text {words}")
        assert any("canary-access" in result.text for turn in person.path for result in turn.results)
        logging.getLogger("playground").error("All of them: %s", person.app.without_secrets(repr(CANARIES)))
        await person.do(partial(person.pane.composer.set_text, f"And {CANARIES['access']}?"))
        await person.app.workspace.flush()
        search_files(tmp_path)
        await export_everything(person, tmp_path)
        await person.trigger("debug.record")
        await person.app.workspace.flush()

    with RemoteToolServer(key=CANARIES["header"]) as remote, RemoteToolServer(oauth=True) as signed:
        stage.play(scene)
        assert any(CANARIES["header"] in headers.get("x-key", "") for headers in remote.headers), "it got there"
        assert any(CANARIES["access"] in headers.get("authorization", "") for headers in signed.headers)
    actual = search_files(tmp_path)
    assert {"tool-servers.json", "c.json", "experiment.playground.json", "archive.har"} <= actual
    assert "All of them" in log.log_path().read_text(encoding="utf-8")
