"""What a test of a connection says, for each thing that can be wrong with it; over real sockets."""

from __future__ import annotations

import asyncio
import json
import ssl
from email.utils import formatdate
from time import time
from typing import Any

import pytest
import trustme
from pydantic import SecretStr

from playground.demo.server import DemoConfig, DemoServer
from playground.engine.gateways.connection_test import ConnectionReport, Mends, State, try_gateway
from playground.gateway.connection import Auth, Connection, Timeouts
from tests.support.fault_server import FaultServer, Step, drip, head, hold, keep, reset, send, sse, whole
from tests.support.proxy import Front, Proxy

KEY = "sk-canary-73b1e90ad4"


@pytest.fixture(autouse=True)
def no_proxy_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def judge(base_url: str, key: str = KEY, **settings: Any) -> ConnectionReport:
    settings.setdefault("timeouts", Timeouts(connect=5, first=2, idle=2, settle=1))
    verdict = await try_gateway(Connection(base_url=base_url, key=SecretStr(key) if key else None, **settings))
    assert "canary" not in repr(verdict)
    return verdict


def answer(status: int, value: Any, *headers: str) -> list[Step]:
    """A JSON answer, on a connection that stays."""
    return [send(whole(status, "application/json", json.dumps(value).encode(), *headers)), keep()]


def service(message: str) -> dict[str, Any]:
    return {"code": 1, "message": message, "data": None}


MODELS = {"object": "list", "data": [{"id": f"m{number}"} for number in range(8)]}


THERE = {"error": {"message": "Missing required parameter: 'messages'.", "param": "messages"}}
NOT_FOUND = {"detail": "Not Found"}


def all_of(verdict: ConnectionReport) -> str:
    return "\n".join(
        [verdict.headline, *(f"{line.title} {line.words}" for line in verdict.lines), *verdict.details, verdict.asked]
    )


def states(verdict: ConnectionReport) -> list[str]:
    return [line.state.value for line in verdict.lines]


def offers(verdict: ConnectionReport) -> list[tuple[Mends, str]]:
    return [(offer.mends, offer.value) for offer in verdict.offers]


def gateway(server: FaultServer, base: str = "/v1", models: Any = MODELS, **more: list[Step]) -> None:
    """A gateway whose list and endpoints are at ``base``, and nothing anywhere else."""
    server.play(*answer(404, NOT_FOUND))
    server.play_at(f"{base}/models", *answer(200, models))
    server.play_at(f"{base}/chat/completions", *more.get("chat", answer(400, THERE)))
    server.play_at(f"{base}/messages", *more.get("messages", answer(400, THERE)))


# ---- what is right


async def test_the_demo_gateway() -> None:
    with DemoServer(DemoConfig(key=KEY)) as demo:
        verdict = await judge(demo.base_url)
        assert verdict.ok
        assert verdict.headline == "OK: Chat completions and Messages are there, 5 models listed."
        assert states(verdict) == ["ok", "ok", "ok"]
        assert verdict.lines[0].words.endswith(": demo-chat, demo-reasoner, demo-tools, demo-vision, demo-messages")
        assert verdict.details == ()  # nothing odd, nothing more to say
        assert verdict.offers == ()


async def test_what_is_asked_generates_nothing_and_is_said(server: FaultServer) -> None:
    gateway(server)
    verdict = await judge(server.url)
    assert sorted((request.method, request.target, request.body) for request in server.requests) == [
        ("GET", "/v1/models", b""),
        ("POST", "/v1/chat/completions", b"{}"),
        ("POST", "/v1/messages", b"{}"),
    ]
    assert verdict.asked.startswith(f"Asked: GET {server.url}/models, and an empty request to")
    assert "refused before anything is generated" in verdict.asked


async def test_more_models_than_are_named(server: FaultServer) -> None:
    gateway(server)
    verdict = await judge(server.url)
    assert verdict.headline == "OK: Chat completions and Messages are there, 8 models listed."
    assert verdict.lines[0].words.endswith(": m0, m1, m2, m3, m4, m5 and 2 more")
    assert [model.id for model in verdict.models] == [f"m{number}" for number in range(8)]


async def test_ids_without_measure_are_shortened_in_words_and_whole_in_the_list(server: FaultServer) -> None:
    gateway(server, models={"data": ["x" * 100_000, "\u202egnp", "b\nc"]})
    verdict = await judge(server.url)
    assert len(verdict.lines[0].words) < 300
    assert verdict.models[0].id == "x" * 100_000


async def test_an_empty_list(server: FaultServer) -> None:
    gateway(server, models={"data": []})
    verdict = await judge(server.url)
    assert verdict.ok
    assert "The model list is empty; typing a model id works." in verdict.headline


async def test_no_key_and_an_open_gateway(server: FaultServer) -> None:
    gateway(server)
    verdict = await judge(server.url, "")
    assert verdict.ok
    assert "No key is set; the gateway answered without one." in verdict.details
    assert "key" not in " ".join(line.words for line in verdict.lines)


async def test_a_server_that_answers_anything(server: FaultServer) -> None:
    """Mock servers do, even an empty request, and a small server of local models generates at it."""
    whole_answer = {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}
    gateway(server, chat=answer(200, whole_answer), messages=[send(head()), send(sse('{"type": "message_start"}'))])
    verdict = await judge(server.url)
    assert states(verdict) == ["ok", "ok", "ok"]
    assert "which Chat completions and Messages answered instead of refusing it" in verdict.asked
    assert "refused before anything is generated" not in verdict.asked


async def test_two_ways_to_send_the_key(server: FaultServer) -> None:
    gateway(server)
    verdict = await judge(server.url, auth={"messages": Auth.X_API_KEY})
    lists = [request for request in server.requests if request.method == "GET"]
    assert sorted((request.header("authorization") or "", request.header("x-api-key") or "") for request in lists) == [
        ("", KEY),
        (f"Bearer {KEY}", ""),
    ]
    assert [line.title for line in verdict.lines] == [
        "Model list, key as Authorization: Bearer",
        "Model list, key as x-api-key",
        "Chat completions",
        "Messages",
    ]


# ---- the way there


async def test_a_name_that_is_not_resolved() -> None:
    verdict = await judge("http://no-such-gateway.invalid/v1")
    assert not verdict.ok
    assert "no-such-gateway.invalid was not found" in verdict.headline


async def test_refused() -> None:
    with FaultServer() as gone:
        url = gone.url
    verdict = await judge(url)
    assert not verdict.ok
    assert verdict.headline.startswith("Nothing answers at 127.0.0.1:")


async def test_a_certificate_nobody_knows(server: FaultServer) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with Front(context, server.port) as front:
        verdict = await judge(f"https://127.0.0.1:{front.port}/v1")
    assert not verdict.ok
    assert "certificate of 127.0.0.1 cannot be trusted" in verdict.headline
    assert "name that authority's file" in verdict.details[0]


async def test_plain_http_behind_an_https_address() -> None:
    with FaultServer(reads_request=False) as plain:
        plain.play(send(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
        verdict = await judge(plain.url.replace("http:", "https:"))
    assert "does not speak TLS" in verdict.headline


async def test_a_gateway_of_this_machine_that_speaks_no_tls_is_offered_without() -> None:
    with DemoServer(DemoConfig()) as demo:
        verdict = await judge(demo.base_url.replace("http:", "https:"))
        assert not verdict.ok
        assert "does not speak TLS" in verdict.headline
        assert f"More is at {demo.base_url}" in " ".join(verdict.details)
        assert [(offer.mends, offer.value) for offer in verdict.offers] == [(Mends.ADDRESS, demo.base_url)]
        assert (await judge(verdict.offers[0].value)).ok


async def test_a_key_is_not_sent_without_tls_before_a_person_says_so() -> None:
    came: list[bytes] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(await reader.read(65536))
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        await judge(f"https://127.0.0.1:{port}/v1", headers={"X-Key": KEY})
    assert any(request.startswith(b"GET /v1/models HTTP/1.1") for request in came)
    assert b"canary" not in b"".join(came)


async def test_no_connection_in_time() -> None:
    """A listener whose queue is full takes no more connections."""
    import socket

    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        port = listener.getsockname()[1]
        queued = [socket.socket() for _ in range(3)]
        for one in queued:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        verdict = await judge(f"http://127.0.0.1:{port}/v1", timeouts=Timeouts(connect=0.3))
        for one in queued:
            one.close()
    assert not verdict.ok
    assert verdict.headline.startswith(f"No connection to 127.0.0.1:{port} within 0.3 s.")


async def test_no_answer_in_time(server: FaultServer) -> None:
    server.play(hold())
    verdict = await judge(server.url, timeouts=Timeouts(first=0.2))
    assert not verdict.ok
    assert "no content within 0.2 s" in verdict.headline
    assert "streaming" not in verdict.headline


async def test_reset(server: FaultServer) -> None:
    server.play(reset())
    verdict = await judge(server.url)
    assert "closed before an answer came" in verdict.headline


async def test_a_redirect_is_explained_and_followed_only_on_the_same_host(server: FaultServer) -> None:
    server.play(send(whole(301, "text/html", b"", "Location: https://elsewhere.example/v1/models")), keep())
    verdict = await judge(server.url)
    assert not verdict.ok
    assert "https://elsewhere.example/v1/models" in verdict.headline
    assert "Redirects are not followed" in verdict.details[0]
    assert len(server.requests) == 3
    assert verdict.offers == ()
    server.play(send(whole(308, "text/html", b"", "Location: /gateway/v1/models")), keep())
    verdict = await judge(server.url)
    assert offers(verdict) == [(Mends.ADDRESS, server.url.replace("/v1", "/gateway/v1"))]


async def test_the_proxy_is_shown_without_its_credentials(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    gateway(server)
    with Proxy({"gateway.example": ("127.0.0.1", server.port)}, "person:pass-word-1") as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://person:pass-word-1@127.0.0.1:{proxy.port}")
        verdict = await judge("http://gateway.example/v1")
        assert verdict.ok
        assert f"It goes through the proxy 127.0.0.1:{proxy.port}, which the environment names." in verdict.details
        assert "person" not in repr(verdict)
        assert "pass-word" not in repr(verdict)
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        verdict = await judge("http://gateway.example/v1")
        assert not verdict.ok
        assert "wants a user name and a password" in verdict.headline


async def test_an_address_that_is_none() -> None:
    verdict = await judge("gopher://x")
    assert not verdict.ok
    assert "starts with https:// or http://" in verdict.headline


# ---- the key


async def test_a_key_that_is_refused(server: FaultServer) -> None:
    server.play(*answer(401, service("Invalid  key — “no”")))
    verdict = await judge(server.url)
    assert states(verdict) == ["refused", "refused", "refused"]
    assert verdict.about_key
    assert verdict.headline == "The key was not accepted (HTTP 401): Invalid  key — “no”"
    words = all_of(verdict)
    for cause in (
        "revoked",
        "token has expired",
        "another service",
        "no spaces or line breaks",
        "Authorization: Bearer",
    ):
        assert cause in words


async def test_no_key(server: FaultServer) -> None:
    server.play(*answer(401, service("missing key")))
    verdict = await judge(server.url, "  \n")
    assert verdict.details[0] == "No key is set. Enter the one that this gateway issued."


async def test_an_expired_token(server: FaultServer) -> None:
    server.play(*answer(401, {"error": {"message": "no", "code": "token_expired"}}))
    assert (await judge(server.url)).details[0].startswith("The token has expired")


async def test_a_list_that_refuses_the_key_counts_where_endpoints_look_at_the_body_first(server: FaultServer) -> None:
    gateway(server)
    server.play_at("/v1/models", *answer(401, service("bad key")))
    verdict = await judge(server.url)
    assert not verdict.ok
    assert states(verdict) == ["refused", "ok", "ok"]
    assert verdict.headline == "The key was not accepted (HTTP 401): bad key"


@pytest.mark.parametrize("status", [400, 403, 500])
async def test_a_missing_key_behind_another_status(server: FaultServer, status: int) -> None:
    server.play(*answer(status, {"error": {"message": "Internal trouble"}}))
    verdict = await judge(server.url, "")
    if status == 400:  # what an empty request is worth: the endpoints are there
        assert states(verdict) == ["failed", "ok", "ok"]
        return
    assert not verdict.ok
    assert verdict.about_key
    assert "No key is set" in all_of(verdict)
    assert "No key is set" not in all_of(await judge(server.url))


async def test_a_proxy_that_does_not_know_the_key(server: FaultServer) -> None:
    server.play(*answer(400, {"error": {"message": "No connected db.", "type": "no_db_connection", "code": "400"}}))
    verdict = await judge(server.url)
    assert (verdict.ok, verdict.about_key) == (False, True)
    assert verdict.headline == "The key was not accepted (HTTP 400): No connected db."


async def test_a_key_wanted_in_another_header(server: FaultServer) -> None:
    message = {"type": "error", "error": {"type": "authentication_error", "message": "x-api-key header is required"}}
    server.play(*answer(401, message))
    verdict = await judge(server.url)
    assert verdict.about_key
    assert offers(verdict) == [(Mends.KEY_STYLE, "x-api-key")]
    assert verdict.offers[0].label == "Send the key as x-api-key"


async def test_line_breaks_in_the_key_are_repaired_and_told(server: FaultServer) -> None:
    gateway(server)
    verdict = await judge(server.url, f" {KEY[:8]}\r\n{KEY[8:]}\n")
    assert server.requests[0].header("Authorization") == f"Bearer {KEY}"
    assert verdict.ok
    assert "The key had line breaks and spaces in it; they are taken out before it is sent." in verdict.details


async def test_a_key_that_no_header_can_carry(server: FaultServer) -> None:
    verdict = await judge(server.url, "sk-canary-ключ")
    assert not verdict.ok
    assert "which no header can carry" in verdict.headline
    assert server.requests == []


async def test_a_header_of_the_persons_own(server: FaultServer) -> None:
    server.play(*answer(401, service("no")))
    verdict = await judge(server.url, headers={"Authorization": "Token 1"})
    assert "Your own header Authorization was sent" in verdict.details[0]


async def test_forbidden(server: FaultServer) -> None:
    server.play(*answer(403, service("verify first")))
    verdict = await judge(server.url)
    assert "(HTTP 403): verify first" in verdict.headline
    assert "identity verification" in verdict.details[0]


@pytest.mark.parametrize(
    ("status", "headers", "words"),
    [
        (402, (), "balance"),
        (429, ("Retry-After: 90",), "It asks to wait 1 min 30 s."),
        (500, (), "Retry"),
        (503, (), "Retry later"),
        (529, (), "overloaded"),
    ],
)
async def test_other_refusals(server: FaultServer, status: int, headers: tuple[str, ...], words: str) -> None:
    server.play(*answer(status, service("TPM exceeded"), *headers))
    verdict = await judge(server.url)
    assert not verdict.ok
    assert f"(HTTP {status}): TPM exceeded" in verdict.headline
    assert words in all_of(verdict)
    assert "The limit that was hit: TPM." in verdict.details


# ---- headers that a gateway wants


async def test_a_header_that_is_missing_is_offered(server: FaultServer) -> None:
    server.play(*answer(400, {"message": "Either x-portkey-config or x-portkey-provider header is required"}))
    verdict = await judge(server.url, "")
    assert not verdict.ok
    assert not verdict.about_key
    assert verdict.headline.startswith("The gateway wants the header x-portkey-provider (HTTP 400): Either")
    assert offers(verdict) == [(Mends.HEADER, "x-portkey-provider"), (Mends.HEADER, "x-portkey-config")]
    assert "No key is set" not in all_of(verdict)
    with_it = await judge(server.url, "", headers={"X-Portkey-Provider": "openai"})
    assert offers(with_it) == [(Mends.HEADER, "x-portkey-config")]


# ---- the address, and gateways without a list


async def test_a_doubled_version_is_repaired_and_told() -> None:
    with DemoServer(DemoConfig()) as demo:
        verdict = await judge(f"{demo.base_url}/v1/chat/completions/")
        assert verdict.ok
        (read,) = [detail for detail in verdict.details if detail.startswith("The address was read as")]
        assert "/v1/v1" in read


@pytest.mark.parametrize("path", ["", "/v1/chat/completions/v1", "/v1/openai/v2", "/openai/v1", "/v1/models/v1"])
async def test_the_address_that_works_is_found_and_offered(path: str) -> None:
    with DemoServer(DemoConfig()) as demo:
        verdict = await judge(demo.base_url.removesuffix("/v1") + path)
        assert not verdict.ok
        assert "Nothing is found below" in verdict.headline
        assert "(HTTP 404): There is no path" in verdict.headline
        assert states(verdict) == ["missing"] * 3
        assert offers(verdict) == [(Mends.ADDRESS, demo.base_url)]
        assert verdict.offers[0].label == f"Use {demo.base_url}"
        assert verdict.details[0] == f"More is at {demo.base_url}: model list, Chat completions and Messages."
        assert demo.base_url in verdict.asked, "what was asked besides is said"
        assert (await judge(verdict.offers[0].value)).ok


async def test_a_version_that_only_messages_miss(server: FaultServer) -> None:
    """A well-known proxy serves its list and chat with and without the version, messages only with it."""
    gateway(server)
    server.play_at("/models", *answer(200, MODELS))
    server.play_at("/chat/completions", *answer(400, THERE))
    verdict = await judge(server.url.removesuffix("/v1"))
    assert verdict.ok
    assert verdict.headline == "OK: Chat completions is there, 8 models listed."
    assert states(verdict) == ["ok", "ok", "missing"]
    assert offers(verdict) == [(Mends.ADDRESS, server.url)]
    assert states(await judge(server.url)) == ["ok", "ok", "ok"]


async def test_an_address_without_a_version_that_needs_none(server: FaultServer) -> None:
    gateway(server, "")
    verdict = await judge(server.url.removesuffix("/v1"))
    assert verdict.ok
    assert verdict.offers == ()
    assert len(server.requests) == 3, "nothing is missing, so nothing else is asked"
    lost = await judge(server.url)
    assert offers(lost) == [(Mends.ADDRESS, server.url.removesuffix("/v1"))]


async def test_nothing_anywhere(server: FaultServer) -> None:
    server.play(*answer(404, NOT_FOUND))
    verdict = await judge(server.url)
    assert not verdict.ok
    assert verdict.offers == ()
    assert "The base URL ends in the version segment" in all_of(verdict)
    assert f"Nothing more is at {server.url.removesuffix('/v1')}." in verdict.details


@pytest.mark.parametrize("status", [404, 405, 501])
async def test_a_gateway_without_a_list(server: FaultServer, status: int) -> None:
    missing = {"detail": [{"loc": ["body", "model"], "msg": "field required"}]}
    gateway(server, chat=answer(422, missing))
    server.play_at("/v1/models", *answer(status, NOT_FOUND))
    server.play_at("/v1/messages", *answer(status, NOT_FOUND))
    verdict = await judge(server.url)
    assert verdict.ok
    assert verdict.headline == "OK: Chat completions is there, without a model list; typing a model id works."
    assert states(verdict) == ["missing", "ok", "missing"]
    assert verdict.lines[1].words == "is there and does not refuse the key (HTTP 422 to an empty request)"
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [500, 503])
async def test_a_list_that_fails_and_chat_that_works(server: FaultServer, status: int) -> None:
    gateway(server, chat=answer(422, {"detail": [{"loc": ["body", "model"], "msg": "field required"}]}))
    server.play_at("/v1/models", send(whole(status, "text/plain", b"Internal Server Error")), keep())
    server.play_at("/v1/messages", *answer(404, NOT_FOUND))
    verdict = await judge(server.url)
    assert verdict.ok
    assert verdict.headline == "OK: Chat completions is there. The model list fails; typing a model id works."
    assert states(verdict) == ["failed", "ok", "missing"]
    assert verdict.lines[0].words == f"Internal Server Error (HTTP {status})"


async def test_a_list_that_never_comes(server: FaultServer) -> None:
    gateway(server)
    server.play_at("/v1/models", hold())
    verdict = await judge(server.url, timeouts=Timeouts(first=0.3))
    assert verdict.ok
    assert "no content within 0.3 s" in verdict.lines[0].words


async def test_a_list_alone_is_not_enough(server: FaultServer) -> None:
    gateway(server, chat=answer(404, NOT_FOUND), messages=answer(405, NOT_FOUND))
    verdict = await judge(server.url)
    assert not verdict.ok
    assert verdict.headline == (
        "The gateway lists its models, but neither Chat completions nor Messages is at this address."
    )


async def test_an_endpoint_that_fails_at_an_empty_request(server: FaultServer) -> None:
    gateway(server, chat=answer(500, {"error": {"message": "KeyError: 'messages'"}}), messages=answer(404, NOT_FOUND))
    verdict = await judge(server.url)
    assert verdict.ok
    assert verdict.lines[1].state is State.UNSURE
    assert "fails at an empty request (HTTP 500): KeyError: 'messages'" in verdict.lines[1].words


async def test_what_stumbles_over_an_empty_request_is_asked_with_a_model_that_has_no_name(server: FaultServer) -> None:
    """A server of local models that is pinned to one; its list fails for want of a cache."""
    gateway(server, messages=answer(404, NOT_FOUND))
    server.play_at("/v1/models", send(whole(500, "text/plain; charset=utf-8", b"Internal Server Error")), keep())
    pinned = {"detail": "Server is pinned to 'tiny'; requested ''."}
    crash = [send(whole(500, "text/plain; charset=utf-8", b"Internal Server Error")), keep()]
    server.play_at("/v1/chat/completions", *crash)
    assert not (await judge(server.url, key="")).ok
    asked = [request.json for request in server.requests if request.target == "/v1/chat/completions"]
    assert asked == [{}, {"model": "", "messages": []}]
    server.play_once_at("/v1/chat/completions", *crash)
    server.play_at("/v1/chat/completions", *answer(400, pinned))
    verdict = await judge(server.url, key="")
    assert verdict.ok
    assert verdict.headline == "OK: Chat completions is there. The model list fails; typing a model id works."
    assert states(verdict) == ["failed", "ok", "missing"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Your token has expired.", "The token has expired"),
        ("Invalid token: it expired yesterday", "The token has expired"),
        ("Incorrect API key provided: your API key is invalid, expired, or revoked.", "Likely causes"),
        ("The API key is invalid or has expired", "Likely causes"),
        ("Key expired or revoked", "Likely causes"),
    ],
)
async def test_an_expired_key_is_only_called_so_where_that_is_the_reason(
    server: FaultServer, said: str, told: str
) -> None:
    refusal = answer(403, {"error": {"message": said, "type": "invalid_request_error", "code": "invalid_api_key"}})
    gateway(server, chat=refusal, messages=refusal)
    server.play_at("/v1/models", *refusal)
    verdict = await judge(server.url)
    assert not verdict.ok
    assert any(line.startswith(told) for line in verdict.details), verdict.details


async def test_a_gateway_with_the_native_protocol_alone(server: FaultServer) -> None:
    told = {"type": "error", "error": {"type": "invalid_request_error", "message": "model: Field required"}}
    gateway(server, chat=answer(404, NOT_FOUND), messages=answer(400, told))
    verdict = await judge(server.url)
    assert verdict.headline == "OK: Messages is there, 8 models listed."


async def test_a_gateway_that_misses_the_model_of_a_knock(server: FaultServer) -> None:
    gateway(server, chat=answer(404, service("Model '' does not exist")))
    server.play_at("/v1/models", *answer(404, NOT_FOUND))
    assert states(await judge(server.url)) == ["missing", "ok", "ok"]


async def test_a_route_that_is_missing_under_a_status_of_success(server: FaultServer) -> None:
    gateway(server, messages=answer(200, {"error": "Unexpected endpoint or method. (POST /v1/messages)"}))
    assert states(await judge(server.url)) == ["ok", "ok", "missing"]


async def test_a_web_site_for_every_path(server: FaultServer) -> None:
    server.play(send(whole(200, "text/html; charset=utf-8", b"<html><title>Welcome</title></html>")), keep())
    verdict = await judge(server.url.removesuffix("/v1"))
    assert not verdict.ok
    assert verdict.headline == f"No gateway answers at {server.url.removesuffix('/v1')}: a web page is there instead."
    assert states(verdict) == ["missing"] * 3
    assert any("/v1" in detail for detail in verdict.details)


async def test_an_answer_without_end_is_not_read_to_it(server: FaultServer) -> None:
    gateway(server, chat=[send(head(200, "application/json")), *drip(b" " * 65_536 * 4, 65_536), hold()])
    verdict = await judge(server.url, timeouts=Timeouts(first=5, idle=5))
    assert states(verdict) == ["ok", "ok", "ok"]


async def test_a_list_that_breaks_off(server: FaultServer) -> None:
    gateway(server)
    server.play_at("/v1/models", *answer(200, {"data": ["a"], "has_more": True, "last_id": "a"}))
    server.play_at("/v1/models?after_id=a", *answer(500, service("page lost")))
    verdict = await judge(server.url)
    assert verdict.ok
    assert [model.id for model in verdict.models] == ["a"]
    assert (verdict.lines[0].state, verdict.lines[0].words) == (State.FAILED, "broke off after 1: page lost")


# ---- the clock


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (7530, "2 h 5 min ahead of"),
        (-7530, "2 h 5 min behind"),
        (3 * 86400 + 40, "3 days ahead of"),
        (0, ""),
        (20, ""),
    ],
)
@pytest.mark.parametrize("status", [200, 401])
async def test_a_clock_that_differs(server: FaultServer, ahead: int, words: str, status: int) -> None:
    server.play(*answer(status, MODELS, f"Date: {formatdate(time() + ahead, usegmt=True)}"))
    clocks = [detail for detail in (await judge(server.url)).details if "clock" in detail]
    if words:
        assert len(clocks) == 1
        assert f"The gateway's clock is {words} this computer's" in clocks[0]
    else:
        assert clocks == []


async def test_a_message_without_end_is_shortened(server: FaultServer) -> None:
    server.play(*answer(500, service("x" * 5000)))
    verdict = await judge(server.url)
    assert len(verdict.headline) < 700
    assert all(len(line.words) < 400 for line in verdict.lines)


async def test_a_verdict_says_what_to_pick_from_and_what_to_change(server: FaultServer) -> None:
    gateway(server, models={"data": [{"id": "large"}, {"id": "small"}]})
    assert [model.id for model in (await judge(server.url)).models] == ["large", "small"]
    with FaultServer() as closed:
        closed.play(*answer(401, {"error": {"message": "no"}}))
        refused = await judge(closed.url)
        assert refused.about_key
        assert refused.models == ()
        closed.play(send(whole(404, "text/plain", b"no")), keep())
        assert not (await judge(closed.url)).about_key


async def test_a_server_that_takes_the_connection_and_says_nothing_is_told_so_once(server: FaultServer) -> None:
    server.play(hold())
    quick = Timeouts(connect=5, first=0.3, idle=0.3, settle=1)
    verdict = await judge(server.url, timeouts=quick)
    assert not verdict.ok
    assert verdict.headline == "Connected, but no content within 0.3 s."
    assert verdict.lines == (), "three times the same says no more"
    assert verdict.details[0].startswith("Something takes the connection and says nothing. Check the port")


async def test_an_endpoint_that_is_silent_beside_others_that_answer_has_a_line(server: FaultServer) -> None:
    gateway(server, messages=[hold()])
    verdict = await judge(server.url, timeouts=Timeouts(connect=5, first=1, idle=1, settle=1))
    assert verdict.ok
    assert states(verdict) == ["ok", "ok", "failed"]
    assert "no content" in verdict.lines[2].words
