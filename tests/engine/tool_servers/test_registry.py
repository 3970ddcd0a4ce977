"""The registry of tool servers in a real file: confirmation, acceptance, damage, and no secret."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from playground.domain.tool_servers import Hints, ServerTool, ToolServer, Via
from playground.engine.tool_servers.registry import DEMO_ID, ServerRegistry, ServerRegistryError, missing_setting
from tests.support.each_case import each_case

CANARY = "sk-canary-8f2a61c0de"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "tool-servers.json"


def a_server(**fields: object) -> ToolServer:
    defaults = {"id": "files", "name": "Files", "command": "npx", "arguments": ("-y", "server-filesystem", "/srv")}
    return ToolServer.model_validate(defaults | fields)


def test_saved_server_is_loaded_again(path: Path) -> None:
    server = a_server(environment={"LEVEL": "debug"}, secret_environment=("API_KEY",), roots=("/srv",), trusted=True)
    ServerRegistry(path).add(server)
    again = ServerRegistry(path)
    assert again.servers[1:] == (server,)
    assert again.by_name("Files") == again.get("files") == server


def test_demo_server_is_first_and_never_saved(path: Path) -> None:
    book = ServerRegistry(path)
    demo = book.servers[0]
    assert demo.demo
    assert book.confirmed(demo)
    assert book.update(demo.model_copy(update={"trusted": False, "command": "rm"})).command == demo.command
    book.add(a_server())
    assert DEMO_ID not in [entry["id"] for entry in json.loads(path.read_text())["servers"]]


def test_changed_command_is_not_confirmed(path: Path) -> None:
    book = ServerRegistry(path)
    server = book.add(a_server())
    assert not book.confirmed(server)
    book.confirm(server)
    assert book.confirmed(server)
    assert ServerRegistry(path).confirmed(server)
    others: dict[str, object] = {"command": "node", "arguments": ("-y", "other"), "folder": "/", "via": Via.HTTP}
    others |= {"environment": {"NODE_OPTIONS": "x"}, "secret_environment": ("API_KEY",)}
    for name, value in others.items():
        assert not book.confirmed(server.model_copy(update={name: value})), name
    same: tuple[dict[str, object], ...] = ({"name": "New"}, {"timeout": 5.0}, {"trusted": True}, {"prefix": "f_"})
    for change in same:
        assert book.confirmed(book.update(server.model_copy(update=change))), change


@each_case(
    "fields",
    [
        {"environment": {"API_KEY": CANARY}},
        {"environment": {"DATABASE": f"postgres://me:{CANARY}@db.example/x"}},
        {"headers": {"Authorization": f"Bearer {CANARY}"}},
        {"arguments": ("--api-key", CANARY)},
        {"arguments": (f"--token={CANARY}",)},
        {"arguments": (CANARY,)},
        {"via": Via.HTTP, "url": f"https://me:{CANARY}@a.example/mcp"},
        {"via": Via.HTTP, "url": f"https://a.example/mcp?api_key={CANARY}"},
        {"via": Via.HTTP, "url": "https://a.example/s/Zm9vYmFyMTIzNDU2Nzg5MGFi/mcp"},
    ],
)
def test_secret_in_a_server_is_refused(path: Path, fields: dict[str, object]) -> None:
    book = ServerRegistry(path)
    with pytest.raises(ServerRegistryError, match="keyring") as raised:
        book.add(a_server(**fields))
    assert CANARY not in str(raised.value)
    assert not path.exists()
    assert len(book.servers) == 1


def test_name_in_use_is_refused(path: Path) -> None:
    book = ServerRegistry(path)
    book.add(a_server())
    with pytest.raises(ServerRegistryError, match="called “Files” already"):
        book.add(a_server(id="other", name=" files "))
    with pytest.raises(ServerRegistryError, match="needs a name"):
        book.add(a_server(id="other", name=" \n"))
    assert book.free_name("files") == "files 2"


def test_accepted_tools_are_saved(path: Path) -> None:
    book = ServerRegistry(path)
    book.add(a_server())
    tool = ServerTool(name="read", description="Reads.", parameters={"type": "object"}, hints=Hints(read_only=True))
    notices: list[int] = []
    end = book.subscribe(lambda: notices.append(1))
    book.accept("files", [tool, ServerTool(name="write")])
    book.accept("files", [tool])
    end()
    changed = tool.model_copy(update={"description": "Reads, and sends it on.", "parameters": {"default": 1}})
    book.accept("files", [changed])
    asyncio.run(book.accept_in_thread("files", [changed.model_copy(update={"parameters": {"default": True}})]))
    assert len(notices) == 1
    again = ServerRegistry(path)
    assert set(again.accepted("files")) == {"read", "write"}
    read = again.accepted("files")["read"]
    assert (read.description, read.hints) == ("Reads, and sends it on.", tool.hints)
    assert read.parameters["default"] is True, "though 1 == True"
    assert again.accepted("others") == {}


def test_removed_server_is_restored_or_forgotten(path: Path) -> None:
    book = ServerRegistry(path)
    server = book.add(a_server())
    book.add(a_server(id="other", name="Other"))
    book.confirm(server)
    book.accept("files", [ServerTool(name="read")])
    book.remove("files")
    book.add(server, 0)
    assert [it.id for it in book.servers] == [DEMO_ID, "files", "other"]
    assert book.confirmed(server)
    book.remove("files")
    book.forget("files")
    book.add(server)
    assert not book.confirmed(server)
    assert book.accepted("files") == {} == ServerRegistry(path).accepted("files")


def test_damaged_file_is_set_aside_and_unreadable_entries_are_preserved(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("{broken")
    book = ServerRegistry(path)
    assert "set aside" in book.messages[0]
    assert list(path.parent.glob("*.damaged-*"))
    odd = {"id": "odd", "name": "Odd", "timeout": "never"}
    path.write_text(json.dumps({"version": 9, "more": 1, "servers": [odd, 5, {"id": "../up", "name": "Up", "x": 2}]}))
    book = ServerRegistry(path)
    assert "“Odd” could not be read" in book.messages[0]
    (up,) = book.servers[1:]
    assert up.id != "../up"
    assert not book.confirmed(up)
    book.add(a_server())
    content = json.loads(path.read_text())
    assert content["more"] == 1
    assert odd in content["servers"]
    assert 5 in content["servers"]
    assert next(it for it in content["servers"] if it != 5 and it["name"] == "Up")["x"] == 2


@each_case(
    ("fields", "words"),
    [
        ({"command": " "}, "A command is needed."),
        ({"via": Via.HTTP}, "An address is needed."),
        ({"via": Via.SSE, "url": "file:///etc/passwd"}, "http:// or https://"),
        ({}, ""),
        ({"via": Via.HTTP, "url": "https://a.example/mcp"}, ""),
    ],
)
def test_missing_command_or_address_is_reported(fields: dict[str, object], words: str) -> None:
    assert words in missing_setting(a_server(**fields))
    assert bool(words) == bool(missing_setting(a_server(**fields)))
