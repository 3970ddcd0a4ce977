"""A connection keeps its key to itself."""

from __future__ import annotations

from pydantic import SecretStr

from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from tests.gateway.conftest import CANARY


def test_nothing_shows_the_key() -> None:
    connection = Connection(
        base_url="https://g.example/v1", key=SecretStr(f" {CANARY}"), headers={"X-Auth-Token": CANARY}
    )
    assert "canary" not in f"{connection!r} {connection} {GatewayClient(connection)!r}"
    assert connection.clean_key == CANARY
    assert connection.key_was_stripped
    assert "canary" not in Connection(base_url="", key=SecretStr("canary\u200b-key")).key_problem
    assert "zero width space" in Connection(base_url="", key=SecretStr("canary\u200b-key")).key_problem
