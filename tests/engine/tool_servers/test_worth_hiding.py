"""Which values of a tool server's configuration are secrets because of where they come from."""

from __future__ import annotations

import json
from pathlib import Path

from playground.engine.tool_servers.imports import read_servers, settle_alone
from playground.engine.tool_servers.secret_values import worth_hiding


def test_value_as_of_ordinary_text_is_not_hidden() -> None:
    ordinary = ("", "1", "true", "8080", "65535", "1700000000", "0.25", "/tmp", "debug", str(Path(__file__).parent))
    secret = (
        "/nowhere/at-all/51c0",
        "harmless-51c0",
        "correct horse battery",
        "123456789012345",
        "x" * 300,
        "n\0l-51c0",
    )
    assert [value for value in ordinary if worth_hiding(value)] == []
    assert [value for value in secret if not worth_hiding(value)] == []


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


def test_variables_of_a_file_are_hidden_unless_they_are_plain_settings(tmp_path: Path) -> None:
    plain = {"NODE_ENV": "production", "LOG_LEVEL": "debug", "API_URL": "https://api.example.com/v1", "PORT": "8080"}
    hook = "https://example.com/hooks/T0f9A8b7C6d5E4f3A2b1"
    secret = {"WORKSPACE": "harmless-51c0", "HOOK": hook, "TOKEN": "short"}
    lines = (f"{name}={value}\n" for name, value in (plain | secret).items())
    (tmp_path / ".env").write_text("".join(lines), encoding="utf-8")
    text = json.dumps({"servers": {"A": {"command": "run", "envFile": str(tmp_path / ".env")}}})
    (found,) = read_servers(text, {}).servers
    settled = settle_alone(found, {})
    assert settled.server.environment == plain
    assert set(settled.server.secret_environment) == set(secret)
