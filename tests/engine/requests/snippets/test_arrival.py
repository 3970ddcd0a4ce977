"""Snippets are executed against the demo gateway; what arrives equals what the application itself would send."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from playground.demo.server import DemoConfig, DemoServer
from playground.demo.service import ReceivedRequest
from playground.domain.request import Request
from playground.engine.gateways.profiles import Profile, connection
from playground.engine.gateways.secrets import Secret
from playground.engine.requests.snippets import LANGUAGES, sent_by, write
from playground.gateway.address import resolve
from playground.gateway.connection import Auth
from playground.gateway.outgoing import outgoing
from playground.protocols.protocol import get_protocol
from tests.engine.requests.snippets.cases import CHAT, MESSAGES
from tests.engine.requests.snippets.execution import run
from tests.support.required_tools import CURL, NODE, NODE_PACKAGES, Tool, skip_without
from tests.support.tool_servers import node_modules

KEY = "gw-canary-4f9c1d7e"
TEAM = "team-secret-0a1b2c3d"
VENDOR = "vendor-key-must-stay-here"
CASES = {"chat": CHAT, "messages": MESSAGES}
NEEDED: dict[str, tuple[Tool, ...]] = {"curl": (CURL,), "js-fetch": (NODE,), "js-openai": (NODE, NODE_PACKAGES)}
#: What a language cannot send, and says so.
REFUSED = {
    ("js-openai", "numbers"): "JavaScript cannot hold exactly",
    ("python-openai", "half"): "half of a character",
}


@dataclass(frozen=True)
class Arrival:
    """One snippet that ran: what it printed and what came of it at the gateway."""

    text: str
    printed: str
    received: ReceivedRequest | None


def start() -> DemoServer:
    config = DemoConfig(key=KEY, tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000)
    return DemoServer(config)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where Node.js finds OpenAI's library."""
    scripts = tmp_path_factory.mktemp("snippets")
    (scripts / "node_modules").symlink_to(node_modules(), target_is_directory=True)
    return scripts


def profile_of(gateway: DemoServer, **more: Any) -> Profile:
    return Profile(
        base_url=gateway.base_url,
        key_origin="there",
        headers={"X-Title": 'it\'s $HOME "!"', "X-Empty": ""},
        secret_headers={"X-Team-Token": "there"},
        **more,
    )


def environment() -> dict[str, str]:
    return {
        "GATEWAY_API_KEY": KEY,
        "GATEWAY_X_TEAM_TOKEN": TEAM,
        "OPENAI_API_KEY": VENDOR,
        "ANTHROPIC_API_KEY": VENDOR,
        "ANTHROPIC_AUTH_TOKEN": VENDOR,
    }


def execute(
    gateway: DemoServer, folder: Path, language: str, cases: dict[str, tuple[Profile, Request]]
) -> dict[str, Arrival]:
    """Execute every case as a snippet of that language, in order; skip where the language is missing."""
    skip_without(*NEEDED.get(language, ()))
    row = next(row for row in LANGUAGES if row.id == language)
    texts: dict[str, str] = {}
    for name, (profile, request) in cases.items():
        snippet = write(row, sent_by(profile, request.model_copy(update={"extra_headers": {"X-Case": name}})))
        assert bool(snippet.text) != bool(snippet.refusal)
        if snippet.text:
            texts[name] = snippet.text
        else:
            assert REFUSED[language, name] in snippet.refusal
    files = []
    for number, text in enumerate(texts.values()):
        files.append(folder / f"{language}-{number}{row.suffix}")
        files[-1].write_text(text, encoding="utf-8")
    printed = run(row.lexer, files, environment())
    received = {r.header("x-case"): r for r in gateway.requests}
    return {name: Arrival(texts[name], out, received.get(name)) for (name, out) in zip(texts, printed, strict=True)}


_RUNS = [(row.id, protocol) for row in LANGUAGES for protocol in row.protocols]


@pytest.fixture(scope="module", params=_RUNS, ids=lambda run: f"{run[0]}-{run[1]}")
def arrivals(request: pytest.FixtureRequest, folder: Path) -> tuple[str, str, dict[str, Arrival], Profile]:
    language, protocol = request.param
    with start() as gateway:
        profile = profile_of(gateway)
        cases = {name: (profile, case) for name, case in CASES[protocol].items()}
        return language, protocol, execute(gateway, folder, language, cases), profile


def expected(profile: Profile, request: Request) -> bytes:
    """The body that the application sends."""
    made = connection(profile, Secret(KEY), {"X-Team-Token": Secret(TEAM)})
    return outgoing(made, resolve(profile.base_url), get_protocol(request.protocol), request).body


def canonical(language: str, body: bytes) -> object:
    """The body as values to compare.

    JavaScript has one kind of number, so there 1.0 may arrive as 1; the libraries have an order of their own for the
    body's fields. In all else, types, spelling of numbers and the order of names have to be the same.
    """
    numbers: dict[str, Any] = {"parse_int": Decimal, "parse_float": Decimal} if language.startswith("js-") else {}
    value = json.loads(body, object_pairs_hook=lambda pairs: ("object", pairs), **numbers)
    if language in ("python-openai", "python-anthropic"):
        value = (value[0], sorted(value[1], key=lambda pair: str(pair[0])))
    if language == "js-openai":
        value = json.loads(body, **numbers)
    return value if numbers else repr(value)


def test_every_body_arrives_as_the_application_sends_it(
    arrivals: tuple[str, str, dict[str, Arrival], Profile],
) -> None:
    language, protocol, ran, profile = arrivals
    refused = {name for (row, name) in REFUSED if row == language}
    assert set(ran) == set(CASES[protocol]) - refused
    for name, arrival in ran.items():
        assert arrival.received is not None, f"{name} sent nothing:\n{arrival.text}\n{arrival.printed}"
        sent = expected(profile, CASES[protocol][name])
        assert canonical(language, arrival.received.body) == canonical(language, sent), (
            f"{name}:\n{arrival.text[:5000]}"
        )
        assert arrival.received.method == "POST"
        assert arrival.received.path == f"/v1/{get_protocol(protocol).endpoint}"


def test_headers_arrive_and_no_other_key_does(arrivals: tuple[str, str, dict[str, Arrival], Profile]) -> None:
    _, _, ran, _ = arrivals
    for name, arrival in ran.items():
        received = arrival.received
        assert received is not None
        assert received.header("authorization") == f"Bearer {KEY}", name
        assert received.header("x-title") == 'it\'s $HOME "!"'
        assert received.header("x-empty") == ""
        assert received.header("x-team-token") == TEAM
        assert (received.header("content-type") or "").startswith("application/json")
        assert VENDOR not in str(received.headers)
        for secret in (KEY, TEAM):
            assert secret not in arrival.text


def test_the_answer_is_printed_as_text(arrivals: tuple[str, str, dict[str, Arrival], Profile]) -> None:
    language, protocol, ran, _ = arrivals
    for name in ("streamed", "whole", "tools", *(["conversation"] if protocol == "chat" else [])):
        assert "FAILED" not in ran[name].printed, f"{name}:\n{ran[name].text[-1500:]}\n{ran[name].printed}"
        assert ran[name].printed.strip(), name
    if language == "curl":
        assert "data:" in ran["streamed"].printed
        return
    if protocol == "chat":  # with a seed, the demo gives the same answer in pieces and in one
        assert ran["streamed"].printed.strip() == ran["whole"].printed.strip()
    assert not {"data:", '"content"', "undefined", "None"} & set(ran["streamed"].printed.split())
    assert "get_weather" in ran["tools"].printed
    assert "Oslo" in ran["tools"].printed


@pytest.mark.parametrize("language", [row.id for row in LANGUAGES])
def test_the_key_goes_under_the_header_that_was_set(folder: Path, language: str) -> None:
    protocol = next(row for row in LANGUAGES if row.id == language).protocols[-1]
    changes: dict[str, dict[str, Any]] = {
        "own": {"auth": {protocol: Auth.X_API_KEY}},
        "both": {"auth": {protocol: Auth.BOTH}},
        "none": {"key_origin": ""},
    }
    bare = CASES[protocol]["bare"]
    with start() as gateway:
        profile = profile_of(gateway)
        cases = {name: (profile.model_copy(update=change), bare) for name, change in changes.items()}
        arrived = execute(gateway, folder, language, cases)
    for name, arrival in arrived.items():
        received = arrival.received
        assert received is not None, arrival.printed
        assert received.header("authorization") == (f"Bearer {KEY}" if name == "both" else None), name
        assert received.header("x-api-key") == (None if name == "none" else KEY), name
        if protocol == "messages" and name != "none":
            assert received.header("anthropic-version") == "2023-06-01"
