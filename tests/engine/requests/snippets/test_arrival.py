"""Snippets are executed against the demo gateway; what arrives equals what the application itself would send."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
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
from playground.engine.requests.snippets import LANGUAGES, prepare_snippet_request, python, write
from playground.gateway.address import resolve
from playground.gateway.connection import Auth
from playground.gateway.prepared_request import prepare_request
from playground.protocols.chat.library import CHAT_COMPLETIONS
from playground.protocols.protocol import get_protocol
from playground.protocols.responses.library import RESPONSES as RESOURCE
from tests.engine.requests.snippets.cases import CHAT, MESSAGES, RESPONSES
from tests.support.required_tools import CURL, NODE, NODE_PACKAGES, Tool, skip_without
from tests.support.tool_servers import node_modules

KEY = "gw-canary-4f9c1d7e"
TEAM = "team-secret-0a1b2c3d"
VENDOR = "vendor-key-must-stay-here"
ENVIRONMENT = {
    "GATEWAY_API_KEY": KEY,
    "GATEWAY_X_TEAM_TOKEN": TEAM,
    "OPENAI_API_KEY": VENDOR,
    "ANTHROPIC_API_KEY": VENDOR,
    "ANTHROPIC_AUTH_TOKEN": VENDOR,
}
CASES = {"chat": CHAT, "messages": MESSAGES, "responses": RESPONSES}
NEEDED: dict[str, tuple[Tool, ...]] = {"curl": (CURL,), "js-fetch": (NODE,), "js-openai": (NODE, NODE_PACKAGES)}
#: Requests that a language cannot send, and the words of its refusal.
REFUSED = {
    ("js-openai", "chat numbers"): "JavaScript cannot hold exactly",
    ("python-openai", "chat half"): "half of a character",
}
PRINT = "import inspect, {library}; print(*inspect.signature({method}).parameters)"
#: A script that prints the arguments of a library's method, and those that its snippets use.
ARGUMENTS: dict[str, list[tuple[str, frozenset[str] | set[str]]]] = {
    "python-openai": [
        (
            PRINT.format(library="openai", method="openai.OpenAI(api_key='x').chat.completions.create"),
            CHAT_COMPLETIONS.arguments,
        ),
        (PRINT.format(library="openai", method="openai.OpenAI(api_key='x').responses.create"), RESOURCE.arguments),
    ],
    "python-anthropic": [
        (
            PRINT.format(library="anthropic", method=f"anthropic.Anthropic(auth_token='x').messages.{method}"),
            python.ANTHROPIC_ARGUMENTS - without,
        )
        for method, without in (("create", set[str]()), ("stream", {"stream"}))
    ],
}


MARK = "\x1e"  # precedes the output of each snippet

_PYTHON = """
import runpy, sys, traceback
for path in sys.argv[1:]:
    print("\\x1e", end="")
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        print("FAILED", end)
    except Exception as error:
        print("FAILED", type(error).__name__, error)
        traceback.print_exc()
"""
_NODE = """
import { pathToFileURL } from "node:url";
for (const path of process.argv.slice(2)) {
  process.stdout.write("\\x1e");
  try { await import(pathToFileURL(path)); } catch (error) { console.log("FAILED", error); console.error(error); }
}
"""
_SHELL = 'for path in "$@"; do printf "\\036"; sh "$path" || echo FAILED; done'


def run(lexer: str, files: list[Path], environment: Mapping[str, str]) -> list[str]:
    """Return the output of each file."""
    folder = files[0].parent
    if lexer == "bash":
        command = ["sh", "-c", _SHELL, "sh"]
    elif lexer == "python":
        driver = folder / "driver.py"
        driver.write_text(_PYTHON, encoding="utf-8")
        command = [sys.executable, str(driver)]
    else:
        driver = folder / "driver.mjs"
        driver.write_text(_NODE, encoding="utf-8")
        command = ["node", str(driver)]
    inherited = {
        name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "HOME", "LANG", "TMPDIR") if name in os.environ
    }
    done = subprocess.run(
        [*command, *map(str, files)],
        env={**inherited, "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1", **environment},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=90,
        check=False,
    )
    printed = done.stdout.split(MARK)[1:]
    assert len(printed) == len(files), f"{done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return printed


@dataclass(frozen=True)
class Arrival:
    """An executed snippet: its case, its text, its output, and the request at the gateway."""

    profile: Profile
    request: Request
    text: str
    printed: str
    received: ReceivedRequest


def cases_of(protocols: tuple[str, ...], profile: Profile) -> dict[str, tuple[Profile, Request]]:
    """The requests of both protocols, and the last protocol's shortest one with the key in other headers."""
    cases = {
        f"{protocol} {name}": (profile, request) for protocol in protocols for name, request in CASES[protocol].items()
    }
    changes: dict[str, dict[str, Any]] = {
        "own": {"auth": {protocols[-1]: Auth.X_API_KEY}},
        "both": {"auth": {protocols[-1]: Auth.BOTH}},
        "none": {"key_origin": ""},
    }
    bare = CASES[protocols[-1]]["bare"]
    return cases | {name: (profile.model_copy(update=change), bare) for name, change in changes.items()}


@pytest.fixture(scope="module", params=LANGUAGES, ids=lambda row: row.id)
def arrivals(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, Arrival]]:
    """Execute every case of a language in one process; skip where the language is missing."""
    row = request.param
    skip_without(*NEEDED.get(row.id, ()))
    folder = tmp_path_factory.mktemp("snippets")
    (folder / "node_modules").symlink_to(node_modules(), target_is_directory=True)
    config = DemoConfig(key=KEY, tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000)
    with DemoServer(config) as gateway:
        profile = Profile(
            base_url=gateway.base_url,
            key_origin="there",
            headers={"X-Title": 'it\'s $HOME "!"', "X-Empty": ""},
            secret_headers={"X-Team-Token": "there"},
        )
        cases = cases_of(row.protocols, profile)
        texts: dict[str, str] = {}
        for name, (case_profile, case) in cases.items():
            snippet = write(
                row, prepare_snippet_request(case_profile, case.model_copy(update={"extra_headers": {"X-Case": name}}))
            )
            assert bool(snippet.text) != bool(snippet.refusal)
            if snippet.text:
                texts[name] = snippet.text
            else:
                assert REFUSED[row.id, name] in snippet.refusal
        expected = ARGUMENTS.get(row.id, [])
        files = []
        for number, text in enumerate([*texts.values(), *(script for script, _ in expected)]):
            files.append(folder / f"{row.id}-{number}{row.suffix}")
            files[-1].write_text(text, encoding="utf-8")
        printed = run(row.lexer, files, ENVIRONMENT)
        for output, (_, arguments) in zip(printed[len(texts) :], expected, strict=True):
            assert set(output.split()) >= arguments, "the library has no such argument"
        received = {r.header("x-case"): r for r in gateway.requests}
    out = {}
    for (name, text), output in zip(texts.items(), printed, strict=False):
        assert name in received, f"{name} sent nothing:\n{text}\n{output}"
        out[name] = Arrival(*cases[name], text, output, received[name])
    return row.id, out


def canonical(language: str, body: bytes) -> object:
    """Return the body as values to compare.

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


def test_body_and_headers_arrive_as_the_application_sends_them(arrivals: tuple[str, dict[str, Arrival]]) -> None:
    language, ran = arrivals
    for name, arrival in ran.items():
        received, protocol = arrival.received, get_protocol(arrival.request.protocol)
        prepared_connection = connection(arrival.profile, Secret(KEY), {"X-Team-Token": Secret(TEAM)})
        sent = prepare_request(prepared_connection, resolve(arrival.profile.base_url), protocol, arrival.request).body
        assert canonical(language, received.body) == canonical(language, sent), f"{name}:\n{arrival.text[:5000]}"
        assert (received.method, received.path) == ("POST", f"/v1/{protocol.endpoint}")
        bearer, own = {"own": (False, True), "both": (True, True), "none": (False, False)}.get(name, (True, False))
        assert received.header("authorization") == (f"Bearer {KEY}" if bearer else None), name
        assert received.header("x-api-key") == (KEY if own else None), name
        if arrival.request.protocol == "messages" and own:
            assert received.header("anthropic-version") == "2023-06-01"
        assert received.header("x-title") == 'it\'s $HOME "!"'
        assert received.header("x-empty") == ""
        assert received.header("x-team-token") == TEAM
        assert (received.header("content-type") or "").startswith("application/json")
        assert VENDOR not in str(received.headers)
        for secret in (KEY, TEAM):
            assert secret not in arrival.text


def test_answer_is_printed_as_text(arrivals: tuple[str, dict[str, Arrival]]) -> None:
    language, ran = arrivals
    for protocol in CASES:
        if f"{protocol} streamed" not in ran:
            continue
        printed = {name: ran[f"{protocol} {name}"].printed.strip() for name in ("streamed", "whole", "tools")}
        if protocol == "chat":
            printed["conversation"] = ran["chat conversation"].printed.strip()
        for name, output in printed.items():
            assert output, name
            assert "FAILED" not in output, f"{name}:\n{output}"
        if language == "curl":
            assert "data:" in printed["streamed"]
            continue
        if protocol == "chat":  # with a seed, the demo gives the same answer in pieces and in one
            assert printed["streamed"] == printed["whole"]
        assert not {"data:", '"content"', "undefined", "None"} & set(printed["streamed"].split())
        assert "get_weather" in printed["tools"]
        assert "Oslo" in printed["tools"]
