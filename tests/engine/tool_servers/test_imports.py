"""Configurations of other applications are imported: their forms, references, switches and secrets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from playground.domain.tool_servers import Via
from playground.engine.tool_servers.config_file import usual_places
from playground.engine.tool_servers.imports import (
    Imported,
    ImportedServer,
    ImportRefusedError,
    read_servers,
    read_variables,
    settle,
    settle_alone,
)
from playground.engine.tool_servers.registry import ServerRegistry
from tests.support.each_case import each_case

CANARY = "ghp_canary8f2a61c0de0123456789"
NONE: dict[str, str] = {}
SERVER = {"command": "npx", "args": ["-y", "x"]}


def read(value: Any, environment: dict[str, str] = NONE, system: str = "linux") -> Imported:
    return read_servers(value if isinstance(value, str) else json.dumps(value), environment, system)


def single(entry: dict[str, Any], environment: dict[str, str] = NONE, system: str = "linux") -> ImportedServer:
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
        server = settle_alone(single({"command": "x", "env": {"V": text}}, {"HERE": "there"}), {"HERE": "there"}).server
        assert server.environment == {"V": value}, text


@each_case("text", ["$TOKEN", "${TOKEN}", "{env:TOKEN}", "${env:TOKEN}", "Bearer $TOKEN", "${TOKEN:?no}"])
@each_case("member", ["env", "headers"])
def test_variable_that_is_not_set_is_asked_for(text: str, member: str) -> None:
    reached = {"command": "x"} if member == "env" else {"url": "https://a.example/mcp"}
    imported = single({**reached, member: {"V": text}})
    assert [(value.label, value.secret) for value in imported.open_values] == [("Variable TOKEN", True)]
    with pytest.raises(ImportRefusedError, match="set TOKEN in the environment"):
        settle_alone(imported, NONE)


def test_references_that_a_program_fills_in_stay_in_its_arguments() -> None:
    script = {"command": "bash", "args": ["-c", "echo $HOME ${FOO}"], "env": {}}
    assert settle(single(script, {"HOME": "/me"}), NONE, NONE).server.arguments == ("-c", "echo $HOME ${FOO}")
    entry = {"command": "npx", "args": ["--header", "Authorization:${AUTH}"], "env": {"AUTH": "Bearer x"}}
    assert settle(single(entry), NONE, NONE).server.arguments[-1] == "Authorization:${AUTH}"


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
    environment = {"HERE": "there-1234"}
    docs, web = (settle_alone(server, environment).server for server in read(CODEX, environment).servers)
    assert (docs.command, docs.arguments, docs.environment["LEVEL"]) == ("npx", ("-y", "docs"), "debug")
    assert "HERE" in {**docs.environment, **dict.fromkeys(docs.secret_environment)}
    secrets = settle_alone(read(CODEX, environment).servers[1], environment).secrets
    assert secrets["header:Authorization"].get_secret_value() == "Bearer there-1234"
    assert web.headers["X-Region"] == "us"
    assert "X-Place" in {**web.headers, **dict.fromkeys(web.secret_headers)}


@each_case("text", [CONTINUE, GOOSE])
def test_yaml_is_read(text: str) -> None:
    local, web, *rest = read(text).servers
    assert settle(local, NONE, NONE).server.arguments == ("-y", "x")
    assert (web.name, web.via, web.url) == ("web", Via.HTTP, "https://web.example/mcp")
    assert all("part of that application" in server.problem for server in rest)
    assert [value.key for server in (local, web) for value in server.open_values] == ["env:HERE"]


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
        '{"name": "one", "command": "npx", "args": ["-y", "x"]}',
        '"one": {"command": "npx", "args": ["-y", "x"]},',
        '```json\n{"one": {"command": "npx", "args": ["-y", "x"]}}\n```',
        '\ufeff{"font": 12, "mcp": {"servers": {"one": {"type": "local", "command": "npx -y", "args": "x"}}}}',
        '[mcp_servers.one]\ncommand = "npx"\nargs = ["-y", "x"]\n',
    ],
)
def test_server_is_read_in_every_form(value: Any) -> None:
    (imported,) = read(value).servers
    server = settle(imported, NONE, NONE).server
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
    imported = single({"command": command})
    assert (imported.command, *imported.arguments) == words
    windows = single({"command": "cmd", "args": ["/c", "npx", "x"]}, system="win32")
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
    assert {single(entry).via for entry in sse} == {Via.SSE}
    assert {single(entry).via for entry in http} == {Via.HTTP}


@each_case(
    ("member", "words"),
    [
        ({"enabled": False}, "switched off there"),
        ({"disabled": True}, "switched off there"),
        ({"isActive": False}, "switched off there"),
        ({"sandbox": True}, "runs in a sandbox there"),
        ({"tool_timeout_sec": 3}, "time-out is not imported"),
        ({"includeTools": ["a"]}, "Which of its tools are offered"),
        ({"odd": 1}, "“odd” is unknown"),
    ],
)
def test_member_that_is_not_taken_over_is_named(member: dict[str, Any], words: str) -> None:
    assert any(words in note for note in single({**SERVER, **member}).notes)
    assert single({**SERVER, "enabled": True, "disabled": False, "sandbox": False}).notes == ()


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
    imported = single(
        {"command": "x", "env": {"A": "${A:-" * 3_000 + "}" * 3_000, "B": "$" * 19_000, "C": "${" * 9_000}}
    )
    assert settle(imported, NONE, NONE).server.command == "x"


VS_CODE = """{
  // asked once
  "inputs": [
    {"type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true},
    {"type": "pickString", "id": "mode", "description": "How", "options": ["fast", {"label": "S", "value": "slow"}],
     "default": "slow"},
  ],
  "servers": {
    "Perplexity": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "server-perplexity-ask", "--mode", "${input:mode}"],
      "cwd": "${workspaceFolder}/tools",
      "env": {"PERPLEXITY_API_KEY": "${input:perplexity-key}", "HOME_OF": "${env:WHERE_IT_IS}"},
      "envFile": "${workspaceFolder}/.env",
      "dev": {"watch": "src/**/*.ts"},
    },
    "fetch": {"command": "uvx", "args": ["mcp-server-fetch"], "sandboxEnabled": true},
    "git-hub": {
      "type": "http",
      "url": "https://api.githubcopilot.com/mcp/",
      "headers": {"Authorization": "Bearer ${input:perplexity-key}", "X-MCP-Toolsets": "repos"}
    },
    "old": {"type": "sse", "url": "http://localhost:3001/sse"},
  },
}"""

CURSOR = """{
  "mcpServers": {
    "web": {"url": "https://mcp.example/s/Zm9vYmFyMTIzNDU2Nzg5MGFi/mcp", "headers": {"API_KEY": "CANARY"}},
    "oauth": {"url": "https://mcp.example/mcp", "auth": {"CLIENT_ID": "x", "CLIENT_SECRET": "CANARY"}},
    "local": {"type": "stdio", "command": "${userHome}/bin/tool", "args": ["--api-key", "${env:TOOL_KEY}"],
              "envFile": "ENV_FILE", "autoApprove": ["read"], "disabled": true}
  }
}""".replace("CANARY", CANARY)


def by_name(imported: Imported) -> dict[str, ImportedServer]:
    return {server.name: server for server in imported.servers}


def test_file_of_vs_code_asks_for_inputs_variables_and_folder(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"# mine\nexport API_TOKEN='{CANARY}'\nMODE=\"a\\nb\" # x\nPLAIN = c # d\n")
    imported = by_name(read_servers(VS_CODE, {"WHERE_IT_IS": "/there"}))
    values = {value.key: value for value in imported["Perplexity"].open_values}
    assert list(values) == ["input:mode", "workspaceFolder", "input:perplexity-key", "env:WHERE_IT_IS"]
    assert (values["input:mode"].choices, values["input:mode"].default) == (("fast", "slow"), "slow")
    assert values["workspaceFolder"].folder
    key = values["input:perplexity-key"]
    assert (key.label, key.help, key.secret) == ("perplexity-key", "Perplexity API Key", True)
    assert (values["env:WHERE_IT_IS"].default, values["env:WHERE_IT_IS"].secret) == ("/there", False)
    answers = {"input:mode": "fast", "workspaceFolder": str(tmp_path), "input:perplexity-key": CANARY}
    settled = settle(imported["Perplexity"], answers | {"env:WHERE_IT_IS": "/here"}, NONE)
    server = settled.server
    assert server.arguments == ("-y", "server-perplexity-ask", "--mode", "fast")
    assert server.folder == f"{tmp_path}/tools"
    assert server.environment == {"HOME_OF": "/here", "MODE": "a\nb", "PLAIN": "c"}
    assert set(server.secret_environment) == {"PERPLEXITY_API_KEY", "API_TOKEN"}
    assert {secret.get_secret_value() for secret in settled.secrets.values()} == {CANARY}
    assert "sandboxEnabled" in imported["fetch"].notes[0]
    http = settle(imported["git-hub"], {"input:perplexity-key": CANARY}, NONE)
    assert (http.server.via, http.server.oauth) == (Via.HTTP, False)
    assert http.server.headers == {"X-MCP-Toolsets": "repos"}
    assert http.secrets["header:Authorization"].get_secret_value() == f"Bearer {CANARY}"
    old = settle(imported["old"], NONE, NONE).server
    assert (old.via, old.url, old.oauth) == (Via.SSE, "http://localhost:3001/sse", True)


def test_file_of_cursor_is_imported(tmp_path: Path) -> None:
    (tmp_path / "variables").write_text(f"TOOL_SECRET={CANARY}\n")
    text = CURSOR.replace("ENV_FILE", (tmp_path / "variables").as_posix())
    imported = by_name(read_servers(text, {"TOOL_KEY": CANARY}))
    web = settle(imported["web"], NONE, NONE)
    assert web.server.url == "https://mcp.example/s/{{secret:address}}/mcp"
    assert web.server.secret_headers == ("API_KEY",)
    assert set(web.secrets) == {"header:API_KEY", "argument:address"}
    assert imported["oauth"].oauth
    assert "sign-in" in imported["oauth"].notes[0]
    local = settle(imported["local"], {"env:TOOL_KEY": CANARY}, NONE)
    assert local.server.command == str(Path.home()) + "/bin/tool"
    assert local.server.arguments == ("--api-key", "{{secret:tool_key}}")
    assert set(local.secrets) == {"argument:tool_key", "env:TOOL_SECRET"}
    assert not local.server.trusted
    notes = " ".join(local.notes)
    assert "auto-run rules are not imported" in notes
    assert "switched off there" in notes
    assert imported["local"].open_values[0].secret
    assert CANARY not in repr(imported)
    (missing,) = read_servers(json.dumps({"command": "x", "envFile": str(tmp_path / "none")}), NONE).servers
    assert "cannot be read" in settle(missing, NONE, NONE).notes[0]


@pytest.mark.parametrize("text", [VS_CODE, CURSOR])
def test_imported_servers_are_saved_without_secrets(tmp_path: Path, text: str) -> None:
    book = ServerRegistry(tmp_path / "tool-servers.json")
    for imported in read_servers(text, NONE).servers:
        settled = settle(
            imported, {values.key: CANARY if values.secret else "x" for values in imported.open_values}, NONE
        )
        assert not book.confirmed(book.add(settled.server))
    for file in tmp_path.rglob("*"):
        assert CANARY not in file.read_text()


@each_case(
    ("text", "words"),
    [
        ("", "nothing to import"),
        ("npx -y server", "not JSON"),
        ("[1]", "must be an object"),
        ('{"tools": []}', "neither"),
        ('{"mcpServers": {}}', "no server"),
        ('{"mcpServers": {' + ",".join(f'"{n}": {{"command": "x"}}' for n in range(501)) + "}}", "More than 500"),
        ("[" * 100_000, "not JSON"),
        ('{"openapi": "3.1.0", "servers": [{"url": "https://a.example"}]}', "OpenAPI document"),
        ("mcpServers: [\n", "no TOML or YAML"),
    ],
)
def test_text_that_is_no_configuration_is_refused(text: str, words: str) -> None:
    with pytest.raises(ImportRefusedError, match=words):
        read_servers(text, NONE)


@each_case(
    ("entry", "words"),
    [
        ("5", "not an object"),
        ('{"command": 5}', "not a list of texts"),
        ('{"command": "x", "args": [{}]}', "not a list of texts"),
        ('{"command": "x", "env": []}', "not an object"),
        ('{"type": "stdio"}', "no command"),
        ('{"type": "http", "command": "x"}', "no address"),
        ('{"command": "x\\u0000y"}', "null character"),
    ],
)
def test_unreadable_server_leaves_the_others(entry: str, words: str) -> None:
    imported = read_servers(f'{{"mcpServers": {{"bad": {entry}, "good": {{"command": "x"}}}}}}', NONE)
    assert words in imported.servers[0].problem
    assert not imported.servers[1].problem
    with pytest.raises(ImportRefusedError, match=words):
        settle(imported.servers[0], NONE, NONE)


def test_odd_members_are_reported() -> None:
    entry = {"command": "x", "env": {"A=B": "1", "C": {}, "D": None}, "odd": 1, "type": "y"}
    text = json.dumps({"mcpServers": {"a\u202e\nb": entry}})
    (imported,) = read_servers(text, NONE).servers
    assert imported.name == "a b"
    assert len(imported.notes) == 4
    assert read_servers('{"command": "uvx"}', NONE).servers[0].name == "uvx"


def test_inputs_without_a_person_come_from_the_environment() -> None:
    imported = by_name(read_servers(VS_CODE, NONE))["git-hub"]
    with pytest.raises(ImportRefusedError, match="PLAYGROUND_INPUT_PERPLEXITY_KEY"):
        settle_alone(imported, NONE)
    settled = settle_alone(imported, {"PLAYGROUND_INPUT_PERPLEXITY_KEY": CANARY})
    assert settled.secrets["header:Authorization"].get_secret_value() == f"Bearer {CANARY}"
    local = by_name(read_servers(CURSOR, {"TOOL_KEY": CANARY}))["local"]
    assert settle_alone(local, {"TOOL_KEY": CANARY}).secrets["argument:tool_key"].get_secret_value() == CANARY


def test_variables_of_a_file_are_read() -> None:
    text = '\ufeffA=1\n\n# B=2\n C = three # four\nexport D=\'a # \\n\'\nE="x\\"y"\nnothing\nF=\nG=a#b\n'
    assert read_variables(text) == {"A": "1", "C": "three", "D": "a # \\n", "E": 'x"y', "F": "", "G": "a#b"}


def test_usual_places_depend_on_the_system() -> None:
    home = Path("/srv/me")
    linux = {str(place.path) for place in usual_places("linux", home, NONE)}
    assert {f"{home}/.config/Claude/claude_desktop_config.json", f"{home}/.config/Code/User/mcp.json"} <= linux
    assert {f"{home}/.cursor/mcp.json", f"{home}/.lmstudio/mcp.json"} <= linux
    mac = {str(place.path) for place in usual_places("darwin", home, NONE)}
    assert f"{home}/Library/Application Support/Claude/claude_desktop_config.json" in mac
    windows = {str(place.path) for place in usual_places("win32", home, {"APPDATA": "/roaming"})}
    assert "/roaming/Code/User/mcp.json" in windows
