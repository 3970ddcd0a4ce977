"""Which values of a tool server's configuration are secrets because of where they come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from playground.engine.tool_servers.imports import read_servers, settle_alone
from playground.engine.tool_servers.secret_values import worth_hiding


@pytest.mark.parametrize(
    ("value", "hidden"),
    [
        ("", False),
        ("1", False),
        ("true", False),
        ("8080", False),
        ("65535", False),
        ("1700000000", False),
        ("0.25", False),
        ("/tmp", False),
        ("debug", False),
        (str(Path(__file__)), False),
        (str(Path(__file__).parent), False),
        ("/nowhere/at-all/51c0", True),
        ("harmless-51c0", True),
        ("correct horse battery", True),
        ("123456789012345", True),
        ("x" * 300, True),
        ("nul\0byte-51c0", True),
    ],
)
def test_values_that_would_spoil_ordinary_text_are_not_hidden(value: str, hidden: bool) -> None:
    assert worth_hiding(value) is hidden


def test_reference_in_an_argument_and_in_an_address_becomes_a_place_for_a_secret() -> None:
    environment = {"PLAIN": "harmless-51c0", "PORT": "8080"}
    text = json.dumps(
        {
            "mcpServers": {
                "A": {"command": "run", "args": ["--workspace", "${PLAIN}", "--port=${PORT}"]},
                "B": {"url": "https://example.com/${PLAIN}/mcp", "headers": {"X-Team": "team-51c0-name"}},
            }
        }
    )
    first, second = (settle_alone(found, environment) for found in read_servers(text, environment).servers)
    assert first.server.arguments == ("--workspace", "{{secret:plain}}", "--port=8080")
    assert [secret.get_secret_value() for secret in first.secrets.values()] == ["harmless-51c0"]
    assert second.server.url == "https://example.com/{{secret:plain}}/mcp"
    assert second.server.secret_headers == ("X-Team",)


@pytest.mark.parametrize(
    ("line", "hidden"),
    [
        ("NODE_ENV=production", False),
        ("LOG_LEVEL=debug", False),
        ("API_URL=https://api.example.com/v1", False),
        ("PORT=8080", False),
        ("WORKSPACE=harmless-51c0", True),
        ("HOOK=https://example.com/hooks/T0f9A8b7C6d5E4f3A2b1", True),
        ("TOKEN=short", True),
    ],
)
def test_variables_of_a_file_are_hidden_unless_they_are_plain_settings(tmp_path: Path, line: str, hidden: bool) -> None:
    (tmp_path / ".env").write_text(line + "\n", encoding="utf-8")
    text = json.dumps({"servers": {"A": {"command": "run", "envFile": str(tmp_path / ".env")}}})
    (found,) = read_servers(text, {}).servers
    settled = settle_alone(found, {})
    assert bool(settled.secrets) is hidden
    assert bool(settled.server.environment) is not hidden


def test_ordinary_headers_of_a_configuration_stay_readable() -> None:
    headers = {"Accept": "application/json", "Content-Type": "application/json", "MCP-Protocol-Version": "2025-06-18"}
    text = json.dumps({"mcpServers": {"B": {"url": "https://example.com/mcp", "headers": headers}}})
    (found,) = read_servers(text, {}).servers
    assert settle_alone(found, {}).server.headers == headers


def test_command_made_of_a_harmless_variable_is_imported(tmp_path: Path) -> None:
    text = json.dumps({"mcpServers": {"A": {"command": "${RUNNER}/bin/run"}}})
    environment = {"RUNNER": "/opt/nowhere-51c0"}
    (found,) = read_servers(text, environment).servers
    assert settle_alone(found, environment).server.command == "/opt/nowhere-51c0/bin/run"
