"""Configurations of tool servers as other applications write them: their forms, references and switches."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.domain.tool_servers import Via
from playground.engine.tool_servers.imports import (
    Imported,
    ImportedServer,
    ImportRefusedError,
    read_servers,
    settle,
    settle_alone,
)
from tests.support.each_case import each_case

NONE: dict[str, str] = {}
SERVER = {"command": "npx", "args": ["-y", "x"]}


def read(value: Any, environment: dict[str, str] = NONE, system: str = "linux") -> Imported:
    return read_servers(value if isinstance(value, str) else json.dumps(value), environment, system)


def one(entry: dict[str, Any], environment: dict[str, str] = NONE, system: str = "linux") -> ImportedServer:
    return read({"mcpServers": {"one": entry}}, environment, system).servers[0]


def test_reference_takes_the_value_of_the_environment_or_its_default() -> None:
    values = dict.fromkeys(("${PORT:-8080}", "${PORT-8080}", "${env:PORT:-8080}"), "8080")
    set_here = ("${A:-${HERE}}", "${HERE:-x}", "${HERE}", "$HERE", "{env:HERE}", "${env:HERE}", "${{ secrets.HERE }}")
    values |= dict.fromkeys(set_here, "there")
    values |= {"at $HERE/x": "at there/x", "${EMPTY:-}": "", "${URL:-{}}": "{}"}
    values |= {"http://${HOST:-${FALLBACK:-localhost}}:${PORT:-80}/mcp": "http://localhost:80/mcp"}
    values |= {text: text for text in ("${lower}", "${your-api-key}", "$lower", "pa$WORD", "$(cat x)")}
    values |= {text: text for text in ("${", "${HERE", "$", "{env:}", "{HERE}")}
    for text, value in values.items():
        server = settle_alone(one({"command": "x", "env": {"V": text}}, {"HERE": "there"}), {"HERE": "there"}).server
        assert server.environment == {"V": value}, text


@each_case("text", ["$TOKEN", "${TOKEN}", "{env:TOKEN}", "${env:TOKEN}", "Bearer $TOKEN", "${TOKEN:?no}"])
@each_case("member", ["env", "headers"])
def test_variable_that_is_not_set_is_asked_for(text: str, member: str) -> None:
    reached = {"command": "x"} if member == "env" else {"url": "https://a.example/mcp"}
    found = one({**reached, member: {"V": text}})
    assert [(asked.label, asked.secret) for asked in found.open_values] == [("Variable TOKEN", True)]
    with pytest.raises(ImportRefusedError, match="set TOKEN in the environment"):
        settle_alone(found, NONE)


def test_references_that_a_program_fills_in_stay_in_its_arguments() -> None:
    script = {"command": "bash", "args": ["-c", "echo $HOME ${FOO}"], "env": {}}
    assert settle(one(script, {"HOME": "/me"}), NONE, NONE).server.arguments == ("-c", "echo $HOME ${FOO}")
    given = {"command": "npx", "args": ["--header", "Authorization:${AUTH}"], "env": {"AUTH": "Bearer x"}}
    assert settle(one(given), NONE, NONE).server.arguments[-1] == "Authorization:${AUTH}"


GEMINI = {
    "mcp": {"allowed": ["a", "b"], "excluded": ["b"]},
    "mcpServers": {"a": SERVER, "b": {"httpUrl": "https://b.example/mcp", "url": "https://b.example/sse"}, "c": SERVER},
}
CLAUDE_CODE = {
    "numStartups": 3,
    "mcpServers": {"all": {"type": "stdio", **SERVER}},
    "projects": {
        "/p": {"mcpServers": {"own": SERVER, "all": SERVER}, "disabledMcpServers": ["own"], "allowedTools": []},
        "/q": {},
    },
}
CODEX = """
model = "o"
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"]
env = { LEVEL = "debug" }
env_vars = ["HERE"]
startup_timeout_sec = 20
[mcp_servers.web]
url = "https://web.example/mcp"
bearer_token_env_var = "HERE"
http_headers = { "X-Region" = "us" }
env_http_headers = { "X-Place" = "HERE" }
"""
CONTINUE = """
name: mine
mcpServers:
  - name: local
    command: npx
    args: [-y, x]
  - name: web
    type: streamable-http
    url: https://web.example/mcp
    requestOptions:
      headers: {X-Place: "${{ secrets.HERE }}"}
"""
GOOSE = """
extensions:
  local: {type: stdio, cmd: npx, args: [-y, x], envs: {A: b}, env_keys: [HERE], enabled: false, timeout: 300}
  web: {type: streamable_http, uri: "https://web.example/mcp"}
  developer: {type: builtin, bundled: true}
"""


def test_mcp_beside_mcp_servers_says_which_are_switched_off() -> None:
    servers = read(GEMINI).servers
    assert [(server.name, server.enabled) for server in servers] == [("a", True), ("b", False), ("c", False)]
    assert (servers[1].via, servers[1].url) == (Via.HTTP, "https://b.example/mcp")
    assert any("“url” is left out" in note for note in servers[1].notes)


def test_servers_of_projects_are_read_with_their_folder() -> None:
    servers = read(CLAUDE_CODE).servers
    assert [(server.name, server.enabled) for server in servers] == [("all", True), ("own", False), ("all 2", True)]
    assert "It is of the project /p." in servers[2].notes


def test_toml_of_codex_is_read() -> None:
    here = {"HERE": "there-1234"}
    docs, web = (settle_alone(server, here).server for server in read(CODEX, here).servers)
    assert (docs.command, docs.arguments, docs.environment["LEVEL"]) == ("npx", ("-y", "docs"), "debug")
    assert "HERE" in {**docs.environment, **dict.fromkeys(docs.secret_environment)}
    secrets = settle_alone(read(CODEX, here).servers[1], here).secrets
    assert secrets["header:Authorization"].get_secret_value() == "Bearer there-1234"
    assert web.headers["X-Region"] == "us"
    assert "X-Place" in {**web.headers, **dict.fromkeys(web.secret_headers)}


@each_case("text", [CONTINUE, GOOSE])
def test_yaml_is_read(text: str) -> None:
    local, web, *rest = read(text).servers
    assert settle(local, NONE, NONE).server.arguments == ("-y", "x")
    assert (web.name, web.via, web.url) == ("web", Via.HTTP, "https://web.example/mcp")
    assert all("part of that application" in server.problem for server in rest)
    asked = [asked.key for server in (local, web) for asked in server.open_values]
    assert asked == ["env:HERE"]


@each_case(
    "value",
    [
        [{"name": "one", **SERVER}],
        {"mcpServers": [{"name": "one", **SERVER}]},
        {"context_servers": {"one": {"source": "custom", "command": {"path": "npx", "args": ["-y", "x"]}}}},
        {"amp.mcpServers": {"one": SERVER}},
        {"settings": {"mcp": {"servers": {"one": SERVER}}}},
        {"customizations": {"vscode": {"mcp": {"servers": {"one": SERVER}}}}},
        {"mcpServers": {"one": {"command": "npx -y x"}}},
        {"mcpServers": {"one": {"command": "npx -y x", "args": []}}},
        {"mcpServers": {"one": {"command": "npx -y", "args": ["x"]}}},
        {"mcpServers": {"one": {"command": ["npx", "-y", "x"]}}},
        {"mcpServers": {"one": {"command": "cmd", "args": ["/c", "npx", "-y", "x"]}}},
        {"mcpServers": {"one": {"command": "C:\\Windows\\System32\\cmd.exe", "args": ["/C", "npx", "-y", "x"]}}},
        '{"mcpServers": {"one": {"command": "npx", "args": ["-y", "x",], /* of mine */ },},}',
        "mcpServers:\n  one: {command: npx, args: [-y, x]}\n",
        '[mcp_servers.one]\ncommand = "npx"\nargs = ["-y", "x"]\n',
    ],
)
def test_server_is_read_in_every_form(value: Any) -> None:
    (found,) = read(value).servers
    server = settle(found, NONE, NONE).server
    assert (server.name, server.command, server.arguments) == ("one", "npx", ("-y", "x"))


@each_case(
    ("command", "words"),
    [
        ("npx -y @a/b --name 'x y'", ("npx", "-y", "@a/b", "--name", "x y")),
        ("/usr/bin/node /srv/server.js", ("/usr/bin/node", "/srv/server.js")),
        ("/Applications/My App/bin/tool", ("/Applications/My App/bin/tool",)),
        ("C:\\Program Files\\nodejs\\npx.cmd -y x", ("C:\\Program Files\\nodejs\\npx.cmd", "-y", "x")),
        ("C:\\Program Files\\tool.exe", ("C:\\Program Files\\tool.exe",)),
        ("npx 'open", ("npx 'open",)),
    ],
)
def test_command_in_one_text_is_split_except_in_a_path(command: str, words: tuple[str, ...]) -> None:
    found = one({"command": command})
    assert (found.command, *found.arguments) == words
    windows = one({"command": "cmd", "args": ["/c", "npx", "x"]}, system="win32")
    assert (windows.command, windows.arguments) == ("cmd", ("/c", "npx", "x"))


def test_transport_follows_the_type_or_the_address() -> None:
    sse: tuple[dict[str, Any], ...] = (
        *({"url": f"https://a.example{path}"} for path in ("/sse", "/sse/", "/SSE/?key=1", "/v1/sse#x")),
        {"serverUrl": "https://a.example/sse/"},
        {"type": "remote", "url": "https://a.example/sse/"},
        {"transport": {"type": "sse"}, "url": "https://a.example/"},
        {"transportType": "sse", "url": "https://a.example/"},
    )
    http: tuple[dict[str, Any], ...] = (
        *({"url": f"https://a.example{path}"} for path in ("/sse/messages", "/mcp?from=/sse")),
        {"type": "http", "url": "https://a.example/sse"},
        {"httpUrl": "https://a.example/sse"},
        {"type": "streamableHttp", "url": "https://a.example/"},
        {"type": "url", "url": "https://a.example/x", "authorization_token": "t"},
    )
    assert {one(entry).via for entry in sse} == {Via.SSE}
    assert {one(entry).via for entry in http} == {Via.HTTP}


@each_case(
    ("member", "words"),
    [
        ({"enabled": False}, "switched off there"),
        ({"disabled": True}, "switched off there"),
        ({"isActive": False}, "switched off there"),
        ({"sandbox": True}, "runs in a sandbox there"),
        ({"tool_timeout_sec": 3}, "time-out is not taken over"),
        ({"includeTools": ["a"]}, "Which of its tools are offered"),
        ({"odd": 1}, "“odd” is not known here"),
    ],
)
def test_member_that_is_not_taken_over_is_named(member: dict[str, Any], words: str) -> None:
    assert any(words in note for note in one({**SERVER, **member}).notes)
    assert one({**SERVER, "enabled": True, "disabled": False, "sandbox": False}).notes == ()


@each_case("text", [json.dumps(CLAUDE_CODE), json.dumps(GEMINI), CODEX, CONTINUE, GOOSE])
def test_configuration_cut_off_anywhere_is_read_or_refused(text: str) -> None:
    for end in range(0, len(text), 3):
        try:
            servers = read(text[:end]).servers
        except ImportRefusedError:
            continue
        for server in servers:
            if not server.problem:
                settle(server, NONE, NONE)


def test_references_nested_without_measure_are_read() -> None:
    found = one({"command": "x", "env": {"A": "${A:-" * 3_000 + "}" * 3_000, "B": "$" * 19_000, "C": "${" * 9_000}})
    assert settle(found, NONE, NONE).server.command == "x"
