"""Drafts of tool servers: secrets, names and saved form."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from playground.domain.tool_servers import ToolServer, Via
from playground.engine.gateways.secrets import Secret
from playground.ui.features.tool_servers.draft import (
    Draft,
    PlaceSecret,
    ServerHeader,
    Variable,
    from_json,
    problem,
    settle,
    to_json,
)
from tests.support.each_case import each_case

CANARY = "sk-canary-8f2a61c0de"

STORED = ToolServer(
    id="one",
    name="One",
    command="npx",
    arguments=("-y", "two\nlines", "--token={{secret:token}}"),
    folder="/srv",
    environment={"LEVEL": "debug"},
    secret_environment=("API_KEY",),
    headers={"X-Any": "1"},
    secret_headers=("Authorization",),
    url="https://a.example/mcp",
    roots=("/srv",),
    timeout=5,
)


def with_url(draft: Draft, url: str) -> Draft:
    return replace(draft, server=draft.server.model_copy(update={"url": url}))


def test_secrets_of_a_draft_are_separated() -> None:
    draft = replace(
        Draft.from_server(STORED),
        arguments=f"-y\n--api-key\n{CANARY}",
        environment=(
            Variable("OTHER_TOKEN", CANARY),
            Variable("LEVEL", "info"),
            Variable("PLAIN", "hidden", locked=True),
            Variable(),
        ),
        headers=(ServerHeader("Authorization", stored=True),),
    )
    settled = settle(draft, STORED)
    assert settled.server.arguments == ("-y", "--api-key", "{{secret:api-key}}")
    assert settled.server.environment == {"LEVEL": "info"}
    assert settled.server.secret_environment == ("OTHER_TOKEN", "PLAIN")
    assert settled.server.secret_headers == ("Authorization",)
    assert settled.secrets == {
        "env:OTHER_TOKEN": Secret(CANARY),
        "env:PLAIN": Secret("hidden"),
        "argument:api-key": Secret(CANARY),
    }
    assert set(settled.obsolete) == {"env:API_KEY", "argument:token"}
    assert CANARY not in repr(draft) + repr(settled)


def test_sign_in_is_forgotten_with_its_address() -> None:
    stored = STORED.model_copy(update={"via": Via.HTTP, "oauth": True})
    draft = Draft.from_server(stored)
    assert settle(draft, stored).obsolete == ()
    assert settle(with_url(draft, "https://b.example/mcp"), stored).obsolete == ("oauth",)
    without = replace(draft, server=draft.server.model_copy(update={"oauth": False}))
    assert settle(without, stored).obsolete == ("oauth",)


@each_case(
    "change, words",
    [
        ({"environment": (Variable("A", "1"), Variable("a", "2"))}, "is there twice"),
        ({"environment": (Variable("", "1"),)}, "a value but no name"),
        ({"environment": (Variable("A=B", "1"),)}, "cannot hold"),
        ({"headers": (ServerHeader("A B", "1"),)}, "not allowed"),
        ({"headers": (ServerHeader("X-A", "1"), ServerHeader("", ""))}, ""),
    ],
)
def test_unsavable_draft_gives_its_reason(change: dict[str, Any], words: str) -> None:
    draft = Draft.new()
    draft = replace(draft, server=draft.server.model_copy(update={"command": "npx"}))
    draft = replace(draft, **change)
    assert words in problem(draft)
    assert bool(words) == bool(problem(draft))


def test_draft_without_a_command_or_an_address_cannot_be_saved() -> None:
    draft = Draft.new()
    assert "command" in problem(draft)
    address = replace(draft, server=draft.server.model_copy(update={"via": Via.HTTP}))
    assert "address" in problem(address)
    assert not problem(with_url(address, "https://a.example/mcp"))


def test_copy_of_a_draft_has_no_secrets() -> None:
    settled = settle(Draft.from_server(STORED).copy("Two"), None)
    assert settled.server.id != STORED.id
    assert settled.server.name == "Two"
    assert settled.secrets["env:API_KEY"] == Secret("")


def test_draft_from_a_file_always_needs_consent() -> None:
    saved = to_json(Draft.from_server(STORED))
    saved["server"] = {**STORED.model_dump(mode="json"), "demo": True}
    again = from_json(saved)
    assert again is not None
    assert not again.server.demo


def test_saved_draft_omits_only_typed_secrets() -> None:
    draft = replace(
        Draft.from_server(STORED), environment=(*Draft.from_server(STORED).environment, Variable("PLAIN", "1"))
    )
    assert from_json(json.loads(json.dumps(to_json(draft)))) == draft
    typed = replace(
        with_url(draft, f"https://a.example/?token={CANARY}"),
        arguments=f"--key={CANARY}",
        environment=(Variable("A_TOKEN", CANARY), Variable("LOCKED", CANARY[5:], locked=True)),
        headers=(ServerHeader("X-Any", f"Bearer {CANARY}"),),
        places=(PlaceSecret("token", CANARY),),
    )
    text = json.dumps(to_json(typed))
    assert "canary" not in text
    again = from_json(json.loads(text))
    assert again is not None
    assert [row.name for row in again.environment] == ["A_TOKEN", "LOCKED"]


@each_case("entry", [None, 5, {}, {"server": {}}, {"server": {"id": "a", "name": "b"}, "arguments": 1}])
def test_invalid_saved_draft_is_ignored(entry: object) -> None:
    assert from_json(entry) is None
