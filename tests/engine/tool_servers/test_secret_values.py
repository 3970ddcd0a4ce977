"""Secrets of a tool server are recognised, taken out, saved and put back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from playground.domain.tool_servers import ToolServer, Via
from playground.engine.gateways.secrets import Keys, Secret
from playground.engine.tool_servers.imports import read_servers, settle_alone
from playground.engine.tool_servers.secret_values import (
    MissingSecretError,
    fetch,
    forget,
    keep,
    keyring_names,
    part_address,
    part_arguments,
    put_in,
    secret_header,
    secret_variable,
    worth_hiding,
)
from tests.engine.conftest import no_keyring
from tests.support.each_case import each_case

CANARY = "sk-canary-8f2a61c0de"


def test_variables_and_headers_with_secrets_are_recognised() -> None:
    secret = {"GITHUB_PERSONAL_ACCESS_TOKEN": "x", "BRAVE_API_KEY": "", "apiKey": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    secret |= {"AWS_ACCESS_KEY_ID": "x", "DB_PASSWORD": "x", "CLIENTSECRET": "x", "SLACK_AUTH": "x"}
    secret |= {"ANYTHING": "ghp_0123456789abcdef0123", "DATABASE_URL": "postgres://me:word@db.example/x"}
    secret |= {"NOTION": "Bearer abc"}
    plain = {"PATH": "/usr/bin", "PWD": "/srv", "MONKEY": "1", "MAX_TOKENS": "400", "USE_TOKEN": "true"}
    plain |= {"KEYCLOAK_URL": "https://a.example", "DATABASE_URL": "postgres://db.example/x"}
    plain |= {"API_KEY": "${env:API_KEY}"}
    assert [name for name, value in secret.items() if not secret_variable(name, value)] == []
    assert [name for name, value in plain.items() if secret_variable(name, value)] == []
    headers = {"Authorization": "x", "X-Api-Key": "", "X-Any": "Bearer x", "Accept": "text/plain"}
    assert [name for name, value in headers.items() if not secret_header(name, value)] == ["Accept"]
    assert not secret_header("MCP-Protocol-Version", "2025-06-18")


@each_case(
    ("arguments", "without"),
    [
        (("-y", "x", "--api-key", CANARY), ("-y", "x", "--api-key", "{{secret:api-key}}")),
        ((f"--token={CANARY}", f"--token={CANARY}"), ("--token={{secret:token}}", "--token={{secret:token-2}}")),
        (("-e", f"API_KEY={CANARY}", "image"), ("-e", "API_KEY={{secret:api_key}}", "image")),
        (("-e", "API_KEY", "image"), ("-e", "API_KEY", "image")),
        (("--header", f"Authorization: Bearer {CANARY}"), ("--header", "Authorization: {{secret:authorization}}")),
        (("--header", "Authorization:${AUTH}"), ("--header", "Authorization:${AUTH}")),
        (("--header", "Accept: text/plain"), ("--header", "Accept: text/plain")),
        ((f"postgres://me:{CANARY}@db/x",), ("postgres://me:{{secret:password}}@db/x",)),
        ((f"--db=postgres://me:{CANARY}@db/x",), ("--db=postgres://me:{{secret:password}}@db/x",)),
        ((CANARY,), ("{{secret:key}}",)),
        (("--api-key", "${input:key}"), ("--api-key", "${input:key}")),
        (("--token", "--verbose"), ("--token", "--verbose")),
        (("/srv/files", "https://a.example/x"), ("/srv/files", "https://a.example/x")),
    ],
)
def test_secrets_of_arguments_are_taken_out_and_put_back(arguments: tuple[str, ...], without: tuple[str, ...]) -> None:
    parted = part_arguments(arguments)
    assert parted.texts == without
    secrets = {f"argument:{name}": secret.get_secret_value() for name, secret in parted.secrets.items()}
    assert tuple(put_in(text, secrets) for text in parted.texts) == arguments
    assert CANARY not in repr(parted)
    assert part_arguments(parted.texts) == (parted.texts, {})


def test_secrets_of_an_address_are_taken_out() -> None:
    url = f"https://me:{CANARY}@a.example/s/Zm9vYmFyMTIzNDU2Nzg5MGFi/mcp?api_key={CANARY}&mode=fast"
    parted = part_address(url, ["password"])
    assert parted.texts == (
        "https://me:{{secret:password-2}}@a.example/s/{{secret:address}}/mcp?api_key={{secret:api_key}}&mode=fast",
    )
    assert part_address("https://api.example.com/mcp/?mode=fast").secrets == {}


async def test_saved_secrets_are_fetched_until_forgotten() -> None:
    keys = Keys(backend=no_keyring)
    server = ToolServer(
        id="one",
        name="One",
        via=Via.HTTP,
        url="https://a.example/{{secret:address}}",
        secret_environment=("API_KEY",),
        secret_headers=("Authorization",),
    )
    names = keyring_names(server)
    assert names == ("env:API_KEY", "header:Authorization", "argument:address")
    with pytest.raises(MissingSecretError):
        await fetch(server, keys)
    message = await keep(server, keys, {name: Secret(CANARY + name[0]) for name in names})
    assert "memory" in message
    match = await fetch(server, keys)
    assert match == {name: CANARY + name[0] for name in names}
    assert CANARY not in keys.redactor.text(f"it says {CANARY}e and {CANARY}h")
    assert put_in(server.url, match) == f"https://a.example/{CANARY}a"
    await forget(server.id, keys, names)
    with pytest.raises(MissingSecretError) as raised:
        await fetch(server, keys)
    assert CANARY not in str(raised.value)


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
    first, second = (settle_alone(match, environment) for match in read_servers(text, environment).servers)
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
    (match,) = read_servers(text, {}).servers
    settled = settle_alone(match, {})
    assert settled.server.environment == plain
    assert set(settled.server.secret_environment) == set(secret)
