"""A canary key in every place of an exchange is in nothing that is saved, shown or exported."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from playground.domain.transcript import Role, make_turn
from playground.engine.cassettes import cassette, har
from playground.engine.cassettes.replay import CassettePlayer
from playground.engine.gateways.profiles import Profile, connection
from playground.engine.gateways.secrets import Secret
from playground.engine.inspect.compare import compare
from playground.engine.inspect.lint import findings, report
from playground.engine.requests.snippets import LANGUAGES, prepare_snippet_request, read_recorded_request, write
from playground.engine.requests.view import request_view
from playground.engine.session.session import Experiment, Session
from playground.gateway.client import GatewayClient
from tests.engine.exchanges import indexed
from tests.support.fault_server import FaultServer, head, send, sleep, sse, text_chunk, whole

KEY = "sk-canary+Zq7/Kw_2xVb.9Jt=Lm4"
TOKEN = "canary-token~Hd8&Rf3<Yp6>Ns1%Gc5"
SECRETS = (Secret(KEY), Secret(TOKEN))


def text_encodings(secret: str) -> Iterator[str]:
    """Yield the secret as texts may encode it."""
    yield secret
    for quoted in (quote(secret), quote(secret, safe=""), quote_plus(secret)):
        yield quoted
        yield re.sub("%..", lambda expected: expected[0].lower(), quoted)
    yield html.escape(secret)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(json.dumps(secret)[1:-1])[1:-1]


def base64_encodings(secret: str) -> Iterator[str]:
    """Yield the secret in base64 of both alphabets, with other text around it."""
    for lead in range(3):
        text = base64.b64encode(b"-" * lead + secret.encode() + b"--").decode()
        yield text
        yield text.replace("+", "-").replace("/", "_")


def leaks(text: str) -> list[str]:
    """Return the encodings of a secret that are in a text, and each nine characters of one in a row."""
    forms = [form for secret in (KEY, TOKEN) for form in text_encodings(secret)]
    forms += [
        form[4:-8] for secret in (KEY, TOKEN) for form in base64_encodings(secret)
    ]  # without bits of the neighbours
    forms += [secret[index : index + 9] for secret in (KEY, TOKEN) for index in range(len(secret) - 8)]
    return [form for form in forms if form in text]


@pytest.fixture
async def make(server: FaultServer) -> AsyncIterator[Callable[[str], Session]]:
    """Return a function that makes sessions with the secrets in key, header, address, prompt and extra body."""
    clients: list[GatewayClient] = []

    def session(protocol: str) -> Session:
        profile = Profile(
            base_url=f"{server.url}/t/{quote(TOKEN, safe='')}",
            secret_headers={"X-Team-Token": server.url},
            key_origin=server.url,
            retries=0,
        )
        client = GatewayClient(connection(profile, Secret(KEY), {"X-Team-Token": Secret(TOKEN)}))
        clients.append(client)

        async def connect(_: str) -> GatewayClient:
            return client

        created = Experiment(connect, profile_id="p", protocol=protocol, model="m-1", profile_of=lambda _: profile).main
        created.turns.add_turn(make_turn(Role.USER, f"My key is {KEY}, my token {TOKEN}, {quote(KEY)}."))
        created.change(extra_body={"note": base64.b64encode(KEY.encode()).decode()})
        if protocol == "messages":
            created.set_parameters(created.settings.current.with_value("max_tokens", 9))
        return created

    yield session
    for client in clients:
        await client.aclose()


def echo(prefix: str = "") -> str:
    """Return the words of a gateway that repeats the secrets in each encoding."""
    forms = [form for secret in (KEY, TOKEN) for form in (*text_encodings(secret), *base64_encodings(secret))]
    return prefix + " | ".join([*forms, base64.b64encode(f"Basic x:{KEY}".encode()).decode()])


def everything(session: Session, tmp_path: Path) -> dict[str, str]:
    """Return all that is saved of the exchanges or made of them."""
    tapes = list(session.exchanges.values())
    indexes = [indexed(tape) for tape in tapes]
    path = tmp_path / "file.json"
    cassette.save(path, tapes, f"About {KEY}", SECRETS)
    assert session.profile is not None
    sent = prepare_snippet_request(session.profile, session.next_request.build(), SECRETS)
    results = {
        "tape": repr(tapes) + "".join(f"{tape.request_body!r} {tape.body!r}" for tape in tapes),
        "frames": "".join(f"{index.row(n)} {index.data(n, 100_000)}" for index in indexes for n in range(len(index))),
        "cassette": path.read_text(encoding="utf-8"),
        "cassette without keys at hand": cassette.write(tapes).decode(),
        "har": har.write(tapes, SECRETS).decode(),
        "lint": "".join(report(index, findings(index)) for index in indexes),
        "comparison": repr(compare(indexes[0], indexes[-1])),
        "request": repr(request_view(session, SECRETS)),
        "cassette opened": repr(CassettePlayer(cassette.open_file(path)).session().transcript),
    }
    was = (read_recorded_request(tape.protocol, tape.url, tape.request_headers, tape.request_body) for tape in tapes)
    requests = [("will be", sent), *(("was", request) for request in was)]
    for language in LANGUAGES:
        for kind, request in requests:
            snippet = write(language, request)
            results[f"{language.title}, as it {kind} sent"] = repr(snippet) + snippet.text
    return results


@pytest.mark.parametrize("protocol", ["chat", "messages"])
async def test_secret_is_in_nothing_saved_shown_or_exported(
    protocol: str, server: FaultServer, make: Callable[[str], Session], tmp_path: Path
) -> None:
    session = make(protocol)
    body = json.dumps({"code": 1, "message": echo("You sent: "), "data": None}).encode()
    messages = f"X-Echo: {KEY}", f"Set-Cookie: s={TOKEN}", "Connection: close"
    server.play(send(whole(400, "application/json", body, *messages)))
    await session.run()
    answer = sse(text_chunk(f"Your key is {KEY}."), text_chunk(echo()), text_chunk("", "stop"), "[DONE]")
    if protocol == "messages":
        answer = json.dumps({"type": "message", "content": [{"type": "text", "text": echo()}]}).encode()
    index = answer.find(b"canary") + 4
    odd = f"stray {echo()}\n\n".encode() if protocol == "chat" else b""
    server.play(send(head(200, None), answer[:index]), sleep(0.05), send(answer[index:], odd))
    await session.run()
    assert [tape.status for tape in session.exchanges.values()] == [400, 200]
    assert server.requests[0].header("X-Team-Token") == TOKEN
    assert leaks(server.requests[0].raw.decode()), "the search finds them"
    result = everything(session, tmp_path)
    for name, text in result.items():
        assert not leaks(text), f"{name}: {leaks(text)[:3]}"
    for name in ("tape", "frames", "cassette", "har", "comparison", "request", "curl, as it was sent"):
        assert "••••" in result[name], name
    texts = [repr(turn.parts) + repr(turn.outcome) for turn in session.transcript.turns.values() if turn.outcome]
    assert not leaks("".join(texts))
