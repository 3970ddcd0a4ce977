"""Snippets in every language: refusals, settings that they carry, and no secret in any of them."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from playground.domain.request import Request
from playground.domain.secret_spellings import spellings
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.engine.requests.snippets import (
    LANGUAGES,
    SnippetRequest,
    language,
    prepare_snippet_request,
    read_recorded_request,
    write,
)
from playground.gateway.connection import Auth, Timeouts
from playground.gateway.redact import MASK, SHORTEST
from tests.support.each_case import each_case

CANARY = "sk-canary/7f3a9c21e5+bd"
BASE = "https://gateway.example/v1"


def ask(protocol: str = "chat", text: str = "Hi", **more: object) -> Request:
    return Request(protocol=protocol, model="m", turns=(make_turn(Role.USER, text),)).model_copy(update=more)


def texts(sent: SnippetRequest) -> list[str]:
    """Return the snippets in every language of the protocol."""
    snippets = [write(row, sent) for row in LANGUAGES if sent.protocol in row.protocols]
    assert all(snippet.text for snippet in snippets), [snippet.refusal for snippet in snippets]
    return [snippet.text for snippet in snippets]


@each_case(("protocol", "auth"), [(protocol, auth) for protocol in ("chat", "messages") for auth in Auth])
def test_no_spelling_of_a_secret_is_in_a_snippet(protocol: str, auth: Auth) -> None:
    profile = Profile(
        base_url=f"https://gateway.example/{quote(CANARY, safe='')}/v1",
        key_origin="there",
        auth={protocol: auth},
        headers={"X-Auth-Token": CANARY, "X-Note": f"the key is {CANARY}", "X-Plain": "plain"},
        secret_headers={"X-Team": "there", "Cookie": "there"},
    )
    request = ask(
        protocol,
        f"My key is {CANARY}, encoded {json.dumps(CANARY)}.",
        extra_body={"note": CANARY},
        extra_headers={"Proxy-Authorization": f"Basic {CANARY}"},
    )
    sent = prepare_snippet_request(profile, request, [Secret(CANARY)])
    assert sent.masked
    outputs = [*texts(sent), repr(sent)]
    assert len(outputs) == (6 if protocol == "chat" else 5)
    for text in outputs:
        assert not [spelling for spelling in spellings(CANARY, SHORTEST) if spelling in text]
        assert MASK in text
    for text in outputs[:-1]:
        for variable in sent.variables:
            assert variable in text
    assert set(sent.variables) >= {"GATEWAY_API_KEY", "GATEWAY_X_TEAM", "GATEWAY_COOKIE", "GATEWAY_X_AUTH_TOKEN"}
    notes = write("curl", sent).notes
    assert any("masked" in note for note in notes)
    assert any("GATEWAY_X_TEAM" in note for note in notes)


def test_variables_have_names_of_their_own_and_notes_on_the_demo_gateway() -> None:
    profile = Profile(base_url=BASE, key_origin="there", secret_headers={"Api-Key": "o", "X.Key": "o", "X-Key": "o"})
    sent = prepare_snippet_request(profile, ask())
    assert sent.variables == ("GATEWAY_API_KEY", "GATEWAY_API_KEY_2", "GATEWAY_X_KEY", "GATEWAY_X_KEY_2")
    assert "demo" not in " ".join(write("curl", sent).notes)
    notes = write("curl", prepare_snippet_request(Profile(base_url=BASE, demo=True), ask())).notes
    assert "The demo gateway accepts any GATEWAY_API_KEY and answers at this address" in " ".join(notes)


def test_recorded_request_is_written_like_the_next_one() -> None:
    profile = Profile(base_url=BASE, key_origin="there", headers={"X-Title": "t"})
    before = prepare_snippet_request(profile, ask())
    headers = (
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
        ("Authorization", f"Bearer {MASK}"),
        ("X-Title", "t"),
    )
    after = read_recorded_request("chat", f"{BASE}/chat/completions", headers, json.dumps(before.body).encode())
    assert texts(after) == texts(before)
    with pytest.raises(ValueError, match="sent no JSON body"):
        read_recorded_request("chat", BASE, (), b"")


def test_library_that_cannot_send_the_request_names_another() -> None:
    sent = prepare_snippet_request(Profile(base_url=BASE), ask("messages"))
    snippet = write("python-openai", sent)
    assert snippet.refusal.startswith(
        "Python · openai speaks Chat completions and Responses, and this request goes over Messages."
    )
    assert "Python · anthropic" in snippet.refusal
    assert not snippet.text
    snippet = write(
        "python-anthropic", prepare_snippet_request(Profile(base_url="https://gateway.example/api/v2"), ask("messages"))
    )
    assert "https://gateway.example/api/v2/messages" in snippet.refusal
    assert "curl" in snippet.refusal
    good = write(
        "python-anthropic", prepare_snippet_request(Profile(base_url="https://gateway.example/api/v1"), ask("messages"))
    )
    assert 'base_url="https://gateway.example/api"' in good.text
    body: dict[str, object] = {}
    for _ in range(3000):
        body = {"a": body}
    deep = SnippetRequest("chat", f"{BASE}/chat/completions", (), {"model": "m", "messages": [], "deep": body})
    for row in LANGUAGES:
        if "chat" in row.protocols:
            assert "nested too deeply" in write(row, deep).refusal


def test_request_that_cannot_be_sent_is_refused() -> None:
    with pytest.raises(ValueError, match="base URL"):
        prepare_snippet_request(Profile(), ask())
    with pytest.raises(ValueError, match="NaN or Infinity"):
        prepare_snippet_request(Profile(base_url=BASE), ask(extra_body={"x": float("nan")}))
    with pytest.raises(ValueError, match="starts when it is first used"):
        prepare_snippet_request(Profile(demo=True), ask())
    with pytest.raises(ValueError, match="unknown language"):
        language("cobol")


def test_certificates_and_timeouts_are_written() -> None:
    profile = Profile(
        base_url=BASE, ca_file="/etc/it's\nours.pem", timeouts=Timeouts(connect=3, first=7, idle=9, total=60)
    )
    curl, openai_, httpx, fetch, js_openai = texts(prepare_snippet_request(profile, ask()))
    assert "--cacert '/etc/it'\\''s\nours.pem'" in curl
    assert "--connect-timeout 3" in curl
    assert "--max-time 60" in curl
    assert "timeout=9,\n" in openai_
    assert "httpx.Timeout(9, connect=3)" in httpx
    assert "AbortSignal.timeout(60000)" in fetch
    assert "timeout: 9000" in js_openai
    for text, start in ((openai_, "# Run with SSL_CERT_FILE"), (fetch, "// Run with NODE_EXTRA_CA_CERTS")):
        assert text.startswith(start)
        assert "it's ours.pem" in text.splitlines()[0]  # a line break in a comment would end it


def test_long_body_is_passed_on_standard_input() -> None:
    short = write("curl", prepare_snippet_request(Profile(base_url=BASE), ask(text="Hi!"))).text
    long = write("curl", prepare_snippet_request(Profile(base_url=BASE), ask(text="Hi! " * 50_000))).text
    assert "--data-raw '{" in short
    assert "--data-binary @- <<'JSON'\n{" in long
    assert "!" not in long
