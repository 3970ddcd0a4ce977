"""A connection keeps its key to itself."""

from __future__ import annotations

import pytest
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
    assert "canary" not in Connection(base_url="", key=SecretStr("canary-ключ")).key_problem
    assert "cyrillic" in Connection(base_url="", key=SecretStr("canary-ключ")).key_problem


@pytest.mark.parametrize(
    ("typed", "repairs"),
    [
        (CANARY, ()),
        ("", ()),
        (f"  {CANARY}\r\n", ("line breaks", "spaces")),
        (f"{CANARY[:9]}\n{CANARY[9:]}", ("line breaks",)),
        (f"{CANARY[:9]} \t\u00a0{CANARY[9:]}", ("spaces",)),
        (f"\ufeff{CANARY}\u200b", ("invisible characters",)),
    ],
)
def test_characters_added_by_pasting_are_removed_and_named(typed: str, repairs: tuple[str, ...]) -> None:
    connection = Connection(base_url="", key=SecretStr(typed))
    assert connection.clean_key == (CANARY if typed else "")
    assert connection.key_repairs == repairs
    assert connection.key_problem == ""
