"""What a test of a connection says, for each thing that can be wrong with it; over real sockets."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from email.utils import formatdate
from time import time
from typing import Any

import pytest
import trustme
from pydantic import SecretStr

from playground.demo.server import DemoConfig, DemoServer
from playground.engine.connection_test import Verdict, try_gateway
from playground.gateway.connection import Auth, Connection, Timeouts
from tests.support.fault_server import FaultServer, Step, hold, keep, reset, send, whole
from tests.support.proxy import Front, Proxy

KEY = "sk-canary-73b1e90ad4"


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture(autouse=True)
def no_proxy_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def judge(base_url: str, key: str = KEY, **settings: Any) -> Verdict:
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


def all_of(verdict: Verdict) -> str:
    return "\n".join([verdict.headline, *verdict.details])


# ---- what is right


async def test_the_demo_gateway() -> None:
    with DemoServer(DemoConfig(key=KEY)) as demo:
        verdict = await judge(demo.base_url)
        assert verdict.ok
        assert verdict.headline.startswith("OK: ")
        assert verdict.details[0].startswith("Models: demo-")
        assert len(verdict.details) == 1  # nothing odd, nothing more to say


async def test_more_models_than_are_named(server: FaultServer) -> None:
    server.play(*answer(200, MODELS))
    verdict = await judge(server.url)
    assert verdict.headline.startswith("OK: 8 models in ")
    assert verdict.details == ("Models: m0, m1, m2, m3, m4, m5 and 2 more",)


async def test_an_empty_list(server: FaultServer) -> None:
    server.play(*answer(200, {"data": []}))
    verdict = await judge(server.url)
    assert verdict.ok
    assert "list is empty" in verdict.headline
    assert "Typing a model id works" in verdict.headline


async def test_no_key_and_an_open_gateway(server: FaultServer) -> None:
    server.play(*answer(200, MODELS))
    verdict = await judge(server.url, "")
    assert verdict.ok
    assert "No key is set; the gateway answered without one." in verdict.details


async def test_two_ways_to_send_the_key(server: FaultServer) -> None:
    server.play_next(*answer(200, MODELS))
    server.play_next(*answer(401, service("x-api-key is unknown here")))
    verdict = await judge(server.url, auth={"messages": Auth.X_API_KEY})
    assert verdict.ok
    assert verdict.details[0].startswith("Chat completions: OK")
    assert verdict.details[1] == "Messages: The key was not accepted (HTTP 401): x-api-key is unknown here"


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
    assert "CA file" in verdict.headline


async def test_plain_http_behind_an_https_address() -> None:
    with FaultServer(reads_request=False) as plain:
        plain.play(send(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
        verdict = await judge(plain.url.replace("http:", "https:"))
    assert "does not speak TLS" in verdict.headline


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


async def test_a_redirect_is_explained(server: FaultServer) -> None:
    server.play(send(whole(301, "text/html", b"", "Location: https://elsewhere.example/v1/models")))
    verdict = await judge(server.url)
    assert not verdict.ok
    assert "https://elsewhere.example/v1/models" in verdict.headline
    assert "Redirects are not followed" in verdict.headline
    assert len(server.requests) == 1


async def test_the_proxy_is_shown_without_its_credentials(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    server.play(*answer(200, MODELS))
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


async def test_line_breaks_in_the_key_are_repaired_and_told(server: FaultServer) -> None:
    server.play(*answer(200, MODELS))
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


# ---- the address, and gateways without a list


async def test_a_doubled_version_is_repaired_and_told() -> None:
    with DemoServer(DemoConfig()) as demo:
        verdict = await judge(f"{demo.base_url}/v1/chat/completions/")
        assert verdict.ok
        assert f"The address was read as {demo.base_url}" in verdict.details[-1]
        assert "/v1/v1" in verdict.details[-1]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/v1/chat/completions/v1", "holds /chat/completions"),
        ("/v1/openai/v2", "a version more than once"),
        ("", "no version segment"),
    ],
)
async def test_a_path_that_leads_nowhere(path: str, words: str) -> None:
    with DemoServer(DemoConfig()) as demo:
        verdict = await judge(demo.base_url.removesuffix("/v1") + path)
    assert not verdict.ok
    assert "Nothing is found below" in verdict.headline
    assert "(HTTP 404): There is no path" in verdict.headline
    said = all_of(verdict)
    assert words in said
    assert "typing a model id works" in said


@pytest.mark.parametrize("status", [404, 405, 501])
async def test_a_gateway_without_a_list(server: FaultServer, status: int) -> None:
    server.play_next(*answer(status, {"detail": "Not Found"}))
    server.play_next(*answer(422, {"detail": [{"loc": ["body", "model"], "msg": "field required"}]}))
    verdict = await judge(server.url)
    assert verdict.ok
    assert verdict.headline == (
        f"The gateway answers, but offers no model list (HTTP {status}). Typing a model id works all the same."
    )
    assert verdict.details == (f"POST {server.url}/chat/completions is there (HTTP 422) and the key was not refused.",)
    assert [request.method for request in server.requests] == ["GET", "POST"]


async def test_a_gateway_with_the_native_protocol_alone(server: FaultServer) -> None:
    for _ in range(2):
        server.play_next(*answer(404, {"detail": "Not Found"}))
    server.play_next(*answer(400, {"type": "error", "error": {"type": "invalid_request_error", "message": "no model"}}))
    verdict = await judge(server.url)
    assert verdict.ok
    assert "/v1/messages is there (HTTP 400)" in verdict.details[0]


async def test_a_gateway_that_misses_the_model_of_a_knock(server: FaultServer) -> None:
    server.play_next(*answer(404, {"detail": "Not Found"}))
    server.play_next(*answer(404, service("Model '' does not exist")))
    assert (await judge(server.url)).ok


async def test_a_gateway_without_a_list_that_refuses_the_key(server: FaultServer) -> None:
    server.play_next(*answer(404, {"detail": "Not Found"}))
    server.play_next(*answer(401, service("bad key")))
    verdict = await judge(server.url)
    assert not verdict.ok
    assert verdict.headline == "The key was not accepted (HTTP 401): bad key"
    assert "Typing a model id works" in verdict.details[-1]


async def test_a_web_page_instead_of_a_list(server: FaultServer) -> None:
    server.play(send(whole(200, "text/html", b"<html><title>Welcome</title></html>")))
    verdict = await judge(server.url.removesuffix("/v1"))
    assert not verdict.ok
    assert "not a model list" in verdict.headline
    assert any("/v1" in detail for detail in verdict.details)


async def test_a_list_that_breaks_off(server: FaultServer) -> None:
    server.play_next(*answer(200, {"data": ["a"], "has_more": True, "last_id": "a"}))
    server.play_next(*answer(500, service("page lost")))
    verdict = await judge(server.url)
    assert not verdict.ok
    assert verdict.headline == "The model list broke off after 1: page lost"


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
    assert len((await judge(server.url)).headline) < 700


async def test_a_verdict_says_what_to_pick_from_and_what_to_change(server: FaultServer) -> None:
    server.play(send(whole(200, "application/json", b'{"data": [{"id": "large"}, {"id": "small"}]}')))
    assert (await judge(server.url)).models == ("large", "small")
    server.play(send(whole(401, "application/json", b'{"error": {"message": "no"}}')))
    refused = await judge(server.url)
    assert refused.about_key
    assert refused.models == ()
    server.play(send(whole(404, "text/plain", b"no")))
    assert not (await judge(server.url)).about_key
