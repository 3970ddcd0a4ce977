"""Configuration files of VS Code and Cursor, imported."""

from __future__ import annotations

import json
from pathlib import Path

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


def by_name(found: Imported) -> dict[str, ImportedServer]:
    return {server.name: server for server in found.servers}


def test_file_of_vs_code_asks_for_inputs_variables_and_folder(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"# mine\nexport API_TOKEN='{CANARY}'\nMODE=\"a\\nb\" # x\nPLAIN = c # d\n")
    found = by_name(read_servers(VS_CODE, {"WHERE_IT_IS": "/there"}))
    asked = {one.key: one for one in found["Perplexity"].open_values}
    assert list(asked) == ["input:mode", "workspaceFolder", "input:perplexity-key", "env:WHERE_IT_IS"]
    assert (asked["input:mode"].choices, asked["input:mode"].default) == (("fast", "slow"), "slow")
    assert asked["workspaceFolder"].folder
    key = asked["input:perplexity-key"]
    assert (key.label, key.help, key.secret) == ("perplexity-key", "Perplexity API Key", True)
    assert (asked["env:WHERE_IT_IS"].default, asked["env:WHERE_IT_IS"].secret) == ("/there", False)
    answers = {"input:mode": "fast", "workspaceFolder": str(tmp_path), "input:perplexity-key": CANARY}
    settled = settle(found["Perplexity"], answers | {"env:WHERE_IT_IS": "/here"}, NONE)
    server = settled.server
    assert server.arguments == ("-y", "server-perplexity-ask", "--mode", "fast")
    assert server.folder == f"{tmp_path}/tools"
    assert server.environment == {"HOME_OF": "/here", "MODE": "a\nb", "PLAIN": "c"}
    assert set(server.secret_environment) == {"PERPLEXITY_API_KEY", "API_TOKEN"}
    assert {secret.get_secret_value() for secret in settled.secrets.values()} == {CANARY}
    assert "sandboxEnabled" in found["fetch"].notes[0]
    http = settle(found["git-hub"], {"input:perplexity-key": CANARY}, NONE)
    assert (http.server.via, http.server.oauth) == (Via.HTTP, False)
    assert http.server.headers == {"X-MCP-Toolsets": "repos"}
    assert http.secrets["header:Authorization"].get_secret_value() == f"Bearer {CANARY}"
    old = settle(found["old"], NONE, NONE).server
    assert (old.via, old.url, old.oauth) == (Via.SSE, "http://localhost:3001/sse", True)


def test_file_of_cursor_is_imported(tmp_path: Path) -> None:
    (tmp_path / "variables").write_text(f"TOOL_SECRET={CANARY}\n")
    text = CURSOR.replace("ENV_FILE", (tmp_path / "variables").as_posix())
    found = by_name(read_servers(text, {"TOOL_KEY": CANARY}))
    web = settle(found["web"], NONE, NONE)
    assert web.server.url == "https://mcp.example/s/{{secret:address}}/mcp"
    assert web.server.secret_headers == ("API_KEY",)
    assert set(web.secrets) == {"header:API_KEY", "argument:address"}
    assert found["oauth"].oauth
    assert "sign in" in found["oauth"].notes[0]
    local = settle(found["local"], {"env:TOOL_KEY": CANARY}, NONE)
    assert local.server.command == str(Path.home()) + "/bin/tool"
    assert local.server.arguments == ("--api-key", "{{secret:tool_key}}")
    assert set(local.secrets) == {"argument:tool_key", "env:TOOL_SECRET"}
    assert not local.server.trusted
    notes = " ".join(local.notes)
    assert "without a question is not taken over" in notes
    assert "switched off there" in notes
    assert found["local"].open_values[0].secret
    assert CANARY not in repr(found)
    (missing,) = read_servers(json.dumps({"command": "x", "envFile": str(tmp_path / "none")}), NONE).servers
    assert "cannot be read" in settle(missing, NONE, NONE).notes[0]


@pytest.mark.parametrize("text", [VS_CODE, CURSOR])
def test_imported_servers_are_saved_without_secrets(tmp_path: Path, text: str) -> None:
    book = ServerRegistry(tmp_path / "tool-servers.json")
    for found in read_servers(text, NONE).servers:
        settled = settle(found, {asked.key: CANARY if asked.secret else "x" for asked in found.open_values}, NONE)
        assert not book.confirmed(book.add(settled.server))
    for file in tmp_path.rglob("*"):
        assert CANARY not in file.read_text()


@each_case(
    "text",
    [
        '{"command": "uvx", "args": ["x"]}',
        '{"name": "one", "command": "uvx", "args": ["x"]}',
        '{"one": {"command": ["uvx", "x"]}}',
        '"one": {"command": "uvx", "args": ["x"]},',
        '```json\n{"mcpServers": {"one": {"command": "uvx", "args": ["x"]}}}\n```',
        '{"editor.fontSize": 12, "mcp": {"servers": {"one": {"command": "uvx", "args": ["x"]}}}}',
        '\ufeff{"mcpServers": {"one": {"type": "local", "command": "uvx", "args": "x"}}}',
    ],
)
def test_fragment_of_instructions_is_imported(text: str) -> None:
    (found,) = read_servers(text, NONE).servers
    server = settle(found, NONE, NONE).server
    assert (server.command, server.arguments) == ("uvx", ("x",))
    assert server.name in ("one", "uvx")


@each_case(
    ("text", "words"),
    [
        ("", "nothing to import"),
        ("npx -y server", "not JSON"),
        ("[1]", "must be an object"),
        ('{"tools": []}', "neither"),
        ('{"mcpServers": {}}', "No server"),
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
    found = read_servers(f'{{"mcpServers": {{"bad": {entry}, "good": {{"command": "x"}}}}}}', NONE)
    assert words in found.servers[0].problem
    assert not found.servers[1].problem
    with pytest.raises(ImportRefusedError, match=words):
        settle(found.servers[0], NONE, NONE)


def test_odd_members_are_reported() -> None:
    entry = {"command": "x", "env": {"A=B": "1", "C": {}, "D": None}, "odd": 1, "type": "y"}
    text = json.dumps({"mcpServers": {"a\u202e\nb": entry}})
    (found,) = read_servers(text, NONE).servers
    assert found.name == "a b"
    assert len(found.notes) == 4


def test_inputs_without_a_person_come_from_the_environment() -> None:
    found = by_name(read_servers(VS_CODE, NONE))["git-hub"]
    with pytest.raises(ImportRefusedError, match="PLAYGROUND_INPUT_PERPLEXITY_KEY"):
        settle_alone(found, NONE)
    settled = settle_alone(found, {"PLAYGROUND_INPUT_PERPLEXITY_KEY": CANARY})
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
