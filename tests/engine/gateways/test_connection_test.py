"""The test of a connection, for each thing that can be wrong with it, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
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
from tests.support.fault_server import FaultServer, Step, drip, head, hold, keep, reset, send, whole
from tests.support.proxy import Front, Proxy

KEY = "sk-canary-73b1e90ad4"


async def run_test(base_url: str, key: str = KEY, **settings: Any) -> ConnectionReport:
    settings.setdefault("timeouts", Timeouts(connect=5, first=2, idle=2, settle=1))
    report = await try_gateway(Connection(base_url=base_url, key=SecretStr(key) if key else None, **settings))
    assert "canary" not in repr(report)
    assert report.ok is report.headline.startswith("OK: ")
    return report


def answer(status: int, value: Any, *headers: str) -> list[Step]:
    """A JSON answer, on a connection that stays."""
    return [send(whole(status, "application/json", json.dumps(value).encode(), *headers)), keep()]


def message_body(message: str) -> dict[str, Any]:
    return {"code": 1, "message": message, "data": None}


MODELS = {"object": "list", "data": [{"id": f"m{number}"} for number in range(8)]}


MISSING_PARAMETER = {"error": {"message": "Missing required parameter: 'messages'.", "param": "messages"}}
NOT_FOUND = {"detail": "Not Found"}


def text_of(report: ConnectionReport) -> str:
    return "\n".join(
        [report.headline, *(f"{line.title} {line.words}" for line in report.lines), *report.details, report.asked]
    )


def states(report: ConnectionReport) -> list[str]:
    return [line.state.value for line in report.lines]


def offers(report: ConnectionReport) -> list[tuple[Mends, str]]:
    return [(offer.mends, offer.value) for offer in report.offers]


def gateway(
    server: FaultServer,
    base: str = "/v1",
    models: Any = MODELS,
    *,
    chat: list[Step] | None = None,
    messages: list[Step] | None = None,
) -> None:
    """Play a gateway whose list and endpoints are at ``base``, with nothing anywhere else."""
    server.play(*answer(404, NOT_FOUND))
    server.play_at(f"{base}/models", *answer(200, models))
    server.play_at(f"{base}/chat/completions", *(chat or answer(400, MISSING_PARAMETER)))
    server.play_at(f"{base}/messages", *(messages or answer(400, MISSING_PARAMETER)))


async def test_demo_gateway_passes() -> None:
    with DemoServer(DemoConfig(key=KEY)) as demo:
        report = await run_test(demo.base_url)
        assert report.headline == "OK: Chat completions, Messages and Responses are there, 6 models listed."
        assert states(report) == ["ok"] * 4
        assert report.lines[0].words.endswith(
            ": demo-chat, demo-reasoner, demo-tools, demo-vision, demo-messages, demo-responses"
        )
        assert (report.details, report.offers) == ((), ())
        report = await run_test(f"{demo.base_url}/v1/chat/completions/")
        assert report.ok
        assert "/v1/v1" in next(detail for detail in report.details if detail.startswith("The address was read as"))


async def test_requests_of_a_test_generate_nothing_and_are_listed(server: FaultServer) -> None:
    gateway(server)
    report = await run_test(server.url, "")
    assert sorted((request.method, request.target, request.body) for request in server.requests) == [
        ("GET", "/v1/models", b""),
        ("POST", "/v1/chat/completions", b"{}"),
        ("POST", "/v1/messages", b"{}"),
        ("POST", "/v1/responses", b"{}"),
    ]
    assert report.asked.startswith(f"Asked: GET {server.url}/models, and an empty request to")
    assert "refused before anything is generated" in report.asked
    assert report.headline == "OK: Chat completions and Messages are there, 8 models listed."
    assert report.lines[0].words.endswith(": m0, m1, m2, m3, m4, m5 and 2 more")
    assert [model.id for model in report.models] == [f"m{number}" for number in range(8)]
    assert "No key is set; the gateway answered without one." in report.details


async def test_empty_list_and_long_ids_are_reported_in_few_words(server: FaultServer) -> None:
    gateway(server, models={"data": []})
    report = await run_test(server.url)
    assert "The model list is empty; typing a model id works." in report.headline
    gateway(server, models={"data": ["x" * 100_000, "\u202egnp", "b\nc"]})
    report = await run_test(server.url)
    assert len(report.lines[0].words) < 300
    assert report.models[0].id == "x" * 100_000
    server.play_at("/v1/models", *answer(500, message_body("x" * 5000)))
    report = await run_test(server.url)
    assert all(len(words) < 700 for words in (report.headline, *(line.words for line in report.lines)))


async def test_list_is_asked_with_each_way_to_send_the_key(server: FaultServer) -> None:
    gateway(server)
    report = await run_test(server.url, auth={"messages": Auth.X_API_KEY})
    lists = [request for request in server.requests if request.method == "GET"]
    assert sorted((request.header("authorization") or "", request.header("x-api-key") or "") for request in lists) == [
        ("", KEY),
        (f"Bearer {KEY}", ""),
    ]
    assert [line.title for line in report.lines] == [
        "Model list, key as Authorization: Bearer",
        "Model list, key as x-api-key",
        "Chat completions",
        "Messages",
        "Responses",
    ]


async def test_unknown_certificate_is_reported(server: FaultServer) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with Front(context, server.port) as front:
        report = await run_test(f"https://127.0.0.1:{front.port}/v1")
    assert "certificate of 127.0.0.1 cannot be trusted" in report.headline
    assert "name that authority's file" in report.details[0]


async def test_local_gateway_without_tls_is_offered_by_http() -> None:
    with DemoServer(DemoConfig()) as demo:
        report = await run_test(demo.base_url.replace("http:", "https:"))
        assert "does not speak TLS" in report.headline
        assert f"More is at {demo.base_url}" in " ".join(report.details)
        assert [(offer.mends, offer.value) for offer in report.offers] == [(Mends.ADDRESS, demo.base_url)]
        assert (await run_test(report.offers[0].value)).ok


async def test_key_is_not_sent_without_tls() -> None:
    received: list[bytes] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read(65536))
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        await run_test(f"https://127.0.0.1:{port}/v1", headers={"X-Key": KEY})
    assert any(request.startswith(b"GET /v1/models HTTP/1.1") for request in received)
    assert b"canary" not in b"".join(received)


async def test_failed_connection_has_its_cause_in_the_headline(server: FaultServer) -> None:
    with FaultServer() as closed:
        refused = closed.url
    reset_at = server.url
    server.play(reset())
    for url, words in (
        ("gopher://x", "starts with https:// or http://"),
        ("http://no-such-gateway.invalid/v1", "no-such-gateway.invalid was not found"),
        (refused, "Nothing answers at 127.0.0.1:"),
        (reset_at, "closed before an answer was received"),
    ):
        report = await run_test(url)
        assert words in report.headline


async def test_connection_that_is_not_accepted_in_time_is_reported() -> None:
    """A listener with a full queue takes no more connections."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        port = listener.getsockname()[1]
        for _ in range(3):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        report = await run_test(f"http://127.0.0.1:{port}/v1", timeouts=Timeouts(connect=0.3))
    assert report.headline.startswith(f"No connection to 127.0.0.1:{port} within 0.3 s.")


async def test_redirect_is_offered_on_the_same_host_only(server: FaultServer) -> None:
    server.play(send(whole(301, "text/html", b"", "Location: https://elsewhere.example/v1/models")), keep())
    report = await run_test(server.url)
    assert "https://elsewhere.example/v1/models" in report.headline
    assert "Redirects are not followed" in report.details[0]
    assert len(server.requests) == 4
    assert report.offers == ()
    server.play(send(whole(308, "text/html", b"", "Location: /gateway/v1/models")), keep())
    report = await run_test(server.url)
    assert offers(report) == [(Mends.ADDRESS, server.url.replace("/v1", "/gateway/v1"))]


async def test_proxy_is_shown_without_its_credentials(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    gateway(server)
    with Proxy({"gateway.example": ("127.0.0.1", server.port)}, "person:pass-word-1") as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://person:pass-word-1@127.0.0.1:{proxy.port}")
        report = await run_test("http://gateway.example/v1")
        assert report.ok
        assert f"It goes through the proxy 127.0.0.1:{proxy.port}, which the environment names." in report.details
        assert "person" not in repr(report)
        assert "pass-word" not in repr(report)
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        report = await run_test("http://gateway.example/v1")
        assert "requires a user name and a password" in report.headline


async def test_refused_key_is_reported_with_likely_causes(server: FaultServer) -> None:
    server.play(*answer(401, message_body("Invalid  key — “no”")))
    report = await run_test(server.url)
    assert states(report) == ["refused"] * 4
    assert report.about_key
    assert report.headline == "The key was not accepted (HTTP 401): Invalid  key — “no”"
    causes = ("revoked", "token has expired", "another service", "no spaces or line breaks", "Authorization: Bearer")
    assert [cause for cause in causes if cause not in text_of(report)] == []
    report = await run_test(server.url, headers={"Authorization": "Token 1"})
    assert "Your own header Authorization was sent" in report.details[0]
    report = await run_test(server.url, "  \n")
    assert report.details[0] == "No key is set. Enter the one that this gateway issued."
    gateway(server)
    server.play_at("/v1/models", *answer(401, message_body("bad key")))
    report = await run_test(server.url)
    assert states(report)[:3] == ["refused", "ok", "ok"], "endpoints may look at the body first"
    assert report.headline == "The key was not accepted (HTTP 401): bad key"


async def test_missing_key_behind_another_status_is_reported(server: FaultServer) -> None:
    for status in (403, 500):
        server.play(*answer(status, {"error": {"message": "Internal trouble"}}))
        report = await run_test(server.url, "")
        assert not report.ok
        assert report.about_key
        assert "No key is set" in text_of(report)
        assert "No key is set" not in text_of(await run_test(server.url))
    server.play(*answer(400, {"error": {"message": "No connected db.", "type": "no_db_connection", "code": "400"}}))
    report = await run_test(server.url)
    assert (report.ok, report.about_key) == (False, True)
    assert report.headline == "The key was not accepted (HTTP 400): No connected db."


async def test_other_header_for_the_key_is_offered(server: FaultServer) -> None:
    message = {"type": "error", "error": {"type": "authentication_error", "message": "x-api-key header is required"}}
    server.play(*answer(401, message))
    report = await run_test(server.url)
    assert report.about_key
    assert offers(report) == [(Mends.KEY_STYLE, "x-api-key")]
    assert report.offers[0].label == "Send the key as x-api-key"


async def test_line_breaks_in_the_key_are_removed_with_a_note(server: FaultServer) -> None:
    gateway(server)
    report = await run_test(server.url, f" {KEY[:8]}\r\n{KEY[8:]}\n")
    assert server.requests[0].header("Authorization") == f"Bearer {KEY}"
    assert report.ok
    assert "The key had line breaks and spaces in it; they are taken out before it is sent." in report.details


async def test_key_that_no_header_can_carry_is_not_sent(server: FaultServer) -> None:
    report = await run_test(server.url, "sk-canary-ключ")
    assert "which no header can carry" in report.headline
    assert server.requests == []


async def test_refusal_by_status_has_a_remedy(server: FaultServer) -> None:
    for status, headers, words in (
        (402, (), "balance"),
        (403, (), "identity verification"),
        (429, ("Retry-After: 90",), "It requests a wait of 1 min 30 s."),
        (500, (), "Retry"),
        (503, (), "Retry later"),
        (529, (), "overloaded"),
    ):
        server.play(*answer(status, message_body("TPM exceeded"), *headers))
        report = await run_test(server.url)
        assert f"(HTTP {status}): TPM exceeded" in report.headline
        assert words in text_of(report)
        assert "The limit that was hit: TPM." in report.details


async def test_missing_header_is_offered(server: FaultServer) -> None:
    server.play(*answer(400, {"message": "Either x-portkey-config or x-portkey-provider header is required"}))
    report = await run_test(server.url, "")
    assert not report.about_key
    assert report.headline.startswith("The gateway requires the header x-portkey-provider (HTTP 400): Either")
    assert offers(report) == [(Mends.HEADER, "x-portkey-provider"), (Mends.HEADER, "x-portkey-config")]
    assert "No key is set" not in text_of(report)
    with_it = await run_test(server.url, "", headers={"X-Portkey-Provider": "openai"})
    assert offers(with_it) == [(Mends.HEADER, "x-portkey-config")]


@pytest.mark.parametrize("path", ["", "/v1/chat/completions/v1"])
async def test_address_that_works_is_offered(path: str) -> None:
    with DemoServer(DemoConfig()) as demo:
        report = await run_test(demo.base_url.removesuffix("/v1") + path)
        assert "Nothing is found below" in report.headline
        assert "(HTTP 404): There is no path" in report.headline
        assert states(report) == ["missing"] * 4
        assert offers(report) == [(Mends.ADDRESS, demo.base_url)]
        assert report.offers[0].label == f"Use {demo.base_url}"
        assert report.details[0] == f"More is at {demo.base_url}: model list, Chat completions, Messages and Responses."
        assert demo.base_url in report.asked, "the report names the other request"
        assert (await run_test(report.offers[0].value)).ok


async def test_address_without_a_gateway_is_reported(server: FaultServer) -> None:
    server.play(*answer(404, NOT_FOUND))
    report = await run_test(server.url)
    assert not report.ok
    assert report.offers == ()
    assert "The base URL ends in the version segment" in text_of(report)
    assert f"Nothing more is at {server.url.removesuffix('/v1')}." in report.details


async def test_gateway_without_a_usable_list_passes_by_its_endpoints(server: FaultServer) -> None:
    missing = {"detail": [{"loc": ["body", "model"], "msg": "field required"}]}
    gateway(server, chat=answer(422, missing))
    for status in (404, 405, 501):
        server.requests.clear()
        server.play_at("/v1/models", *answer(status, NOT_FOUND))
        server.play_at("/v1/messages", *answer(status, NOT_FOUND))
        server.play_at("/v1/responses", *answer(status, NOT_FOUND))
        report = await run_test(server.url)
        assert report.headline == "OK: Chat completions is there, without a model list; typing a model id works."
        assert states(report) == ["missing", "ok", "missing", "missing"]
        assert report.lines[1].words == "is there and does not refuse the key (HTTP 422 to an empty request)"
        assert len(server.requests) == 4
    server.play_at("/v1/models", send(whole(503, "text/plain", b"Internal Server Error")), keep())
    report = await run_test(server.url)
    assert report.headline == "OK: Chat completions is there. The model list fails; typing a model id works."
    assert states(report) == ["failed", "ok", "missing", "missing"]
    assert report.lines[0].words == "Internal Server Error (HTTP 503)"


async def test_list_without_endpoints_fails(server: FaultServer) -> None:
    gateway(server, chat=answer(404, NOT_FOUND), messages=answer(405, NOT_FOUND))
    report = await run_test(server.url)
    assert report.headline == (
        "The gateway lists its models, but neither Chat completions, Messages nor Responses is at this address."
    )


async def test_endpoint_is_judged_by_its_answer_to_an_empty_request(server: FaultServer) -> None:
    native = {"type": "error", "error": {"type": "invalid_request_error", "message": "model: Field required"}}
    unexpected = {"error": "Unexpected endpoint or method. (POST /v1/messages)"}
    no_model = answer(404, message_body("Model '' does not exist"))
    endless = [send(head(200, "application/json")), *drip(b" " * 65_536 * 4, 65_536), hold()]
    for chat, messages, lines in (
        (answer(404, NOT_FOUND), answer(400, native), ["ok", "missing", "ok"]),
        (no_model, None, ["ok", "ok", "ok"]),
        (None, answer(200, unexpected), ["ok", "ok", "missing"]),
        (endless, None, ["ok", "ok", "ok"]),
    ):
        gateway(server, chat=chat, messages=messages)
        assert states(await run_test(server.url, timeouts=Timeouts(first=5, idle=5)))[:3] == lines
    gateway(server, chat=answer(500, {"error": {"message": "KeyError: 'messages'"}}), messages=answer(404, NOT_FOUND))
    report = await run_test(server.url)
    assert report.ok
    assert report.lines[1].state is State.UNSURE
    assert "fails at an empty request (HTTP 500): KeyError: 'messages'" in report.lines[1].words


async def test_endpoint_that_fails_is_asked_again_with_an_empty_model(server: FaultServer) -> None:
    """A server of local models that is pinned to one; its list fails for want of a cache."""
    gateway(server, messages=answer(404, NOT_FOUND))
    server.play_at("/v1/models", send(whole(500, "text/plain; charset=utf-8", b"Internal Server Error")), keep())
    pinned = {"detail": "Server is pinned to 'tiny'; requested ''."}
    crash = [send(whole(500, "text/plain; charset=utf-8", b"Internal Server Error")), keep()]
    server.play_at("/v1/chat/completions", *crash)
    assert not (await run_test(server.url, key="")).ok
    requests = [request.json for request in server.requests if request.target == "/v1/chat/completions"]
    assert requests == [{}, {"model": "", "messages": []}]
    server.play_once_at("/v1/chat/completions", *crash)
    server.play_at("/v1/chat/completions", *answer(400, pinned))
    report = await run_test(server.url, key="")
    assert report.headline == "OK: Chat completions is there. The model list fails; typing a model id works."
    assert states(report) == ["failed", "ok", "missing", "missing"]


async def test_expired_key_is_reported_only_where_the_gateway_names_that_reason(server: FaultServer) -> None:
    for status, code, message, words in (
        (401, "token_expired", "no", "The token has expired"),
        (403, "invalid_api_key", "Your token has expired.", "The token has expired"),
        (403, "invalid_api_key", "Invalid token: it expired yesterday", "The token has expired"),
        (403, "invalid_api_key", "your API key is invalid, expired, or revoked.", "Likely causes"),
        (403, "invalid_api_key", "The API key is invalid or has expired", "Likely causes"),
        (403, "invalid_api_key", "Key expired or revoked", "Likely causes"),
    ):
        server.play(*answer(status, {"error": {"message": message, "type": "invalid_request_error", "code": code}}))
        report = await run_test(server.url)
        assert not report.ok
        assert any(line.startswith(words) for line in report.details), report.details


async def test_web_page_at_the_address_is_reported(server: FaultServer) -> None:
    server.play(send(whole(200, "text/html; charset=utf-8", b"<html><title>Welcome</title></html>")), keep())
    report = await run_test(server.url.removesuffix("/v1"))
    assert report.headline == f"No gateway answers at {server.url.removesuffix('/v1')}: a web page is there instead."
    assert states(report) == ["missing"] * 4
    assert any("/v1" in detail for detail in report.details)


async def test_list_that_breaks_off_shows_its_first_page(server: FaultServer) -> None:
    gateway(server)
    server.play_at("/v1/models", *answer(200, {"data": ["a"], "has_more": True, "last_id": "a"}))
    server.play_at("/v1/models?after_id=a", *answer(500, message_body("page lost")))
    report = await run_test(server.url)
    assert report.ok
    assert [model.id for model in report.models] == ["a"]
    assert (report.lines[0].state, report.lines[0].words) == (State.FAILED, "broke off after 1: page lost")


async def test_clock_of_the_gateway_that_differs_is_reported(server: FaultServer) -> None:
    for ahead, status, words in (
        (7530, 401, "2 h 5 min ahead of"),
        (-7530, 200, "2 h 5 min behind"),
        (3 * 86400 + 40, 200, "3 days ahead of"),
        (0, 401, ""),
        (20, 200, ""),
    ):
        server.play(*answer(status, MODELS, f"Date: {formatdate(time() + ahead, usegmt=True)}"))
        clocks = [detail for detail in (await run_test(server.url)).details if "clock" in detail]
        assert len(clocks) == bool(words)
        assert all(f"The gateway's clock is {words} this computer's" in detail for detail in clocks)


async def test_silent_server_is_reported_once(server: FaultServer) -> None:
    server.play(hold())
    quick = Timeouts(connect=5, first=0.3, idle=0.3, settle=1)
    report = await run_test(server.url, timeouts=quick)
    assert report.headline == "Connected, but no content within 0.3 s."
    assert report.lines == (), "three times the same says no more"
    assert report.details[0].startswith("Something takes the connection and says nothing. Check the port")
