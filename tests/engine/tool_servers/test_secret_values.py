"""Secrets of a tool server are recognised, taken out, saved and put back."""

from __future__ import annotations

import pytest

from playground.domain.tool_servers import ToolServer, Via
from playground.engine.gateways.secrets import Keys, Secret
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
    said = await keep(server, keys, {name: Secret(CANARY + name[0]) for name in names})
    assert "memory" in said
    found = await fetch(server, keys)
    assert found == {name: CANARY + name[0] for name in names}
    assert CANARY not in keys.redactor.text(f"it says {CANARY}e and {CANARY}h")
    assert put_in(server.url, found) == f"https://a.example/{CANARY}a"
    await forget(server.id, keys, names)
    with pytest.raises(MissingSecretError) as raised:
        await fetch(server, keys)
    assert CANARY not in str(raised.value)
