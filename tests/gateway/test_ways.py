"""The demo gateway behind what real ones have in front: a private authority, a proxy, and each way to send the key."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
import trustme

from playground.demo.server import DemoServer
from playground.domain.errors import FailureKind
from playground.engine.advice import advise
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Auth, Timeouts
from playground.gateway.proxy import proxy_for
from playground.protocols.protocol import get_protocol
from tests.gateway.conftest import CANARY, NAME, answer, client_for, failure, port_of, server_context
from tests.support.fault_server import FaultServer, keep, send, whole
from tests.support.proxy import Front, Proxy

# ---- a private authority


async def test_private_authority(opened: list[GatewayClient], front: Front, ca_file: str) -> None:
    url = f"https://127.0.0.1:{front.port}/v1"
    refused = await failure(client_for(opened, url))
    assert refused.kind is FailureKind.TLS
    assert "cannot be trusted" in refused.message
    assert "private authority" in advise(refused).remedy
    assert "--ca FILE" in advise(refused).command
    trusting = client_for(opened, url, ca_file=ca_file)
    assert (await trusting.list_models()).failure is None
    assert (await answer(trusting)).complete


async def test_certificate_of_another_name_and_an_expired_one_are_told_apart(
    opened: list[GatewayClient], authority: trustme.CA, guarded_gateway: DemoServer, ca_file: str
) -> None:
    for certificate, words, meaning in (
        (authority.issue_cert("elsewhere.example"), "another name", "certificate name"),
        (
            authority.issue_cert("127.0.0.1", not_after=datetime.now(UTC) - timedelta(days=1)),
            "clock",
            "certificate time",
        ),
    ):
        with Front(server_context(certificate), port_of(guarded_gateway)) as front:
            refused = await failure(client_for(opened, f"https://127.0.0.1:{front.port}/v1", ca_file=ca_file))
        assert refused.kind is FailureKind.TLS
        assert words in refused.message
        assert advise(refused).meaning == meaning


async def test_https_to_a_plain_server_is_a_tls_failure(opened: list[GatewayClient]) -> None:
    with FaultServer(reads_request=False) as server:
        server.play(send(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
        refused = await failure(client_for(opened, server.url.replace("http:", "https:")))
    assert refused.kind is FailureKind.TLS
    assert refused.message.endswith("does not speak TLS.")
    assert "http://" in advise(refused).remedy


# ---- a proxy


async def test_tunnel_and_a_private_authority(
    opened: list[GatewayClient], bare: pytest.MonkeyPatch, front: Front, ca_file: str
) -> None:
    with Proxy({NAME: ("127.0.0.1", front.port)}, "person:pass-word-123") as proxy:
        bare.setenv("HTTPS_PROXY", f"http://person:pass-word-123@127.0.0.1:{proxy.port}")
        client = client_for(opened, f"https://{NAME}/v1", ca_file=ca_file)
        assert (await answer(client)).complete
        assert proxy.asked == [(f"CONNECT {NAME}:443 HTTP/1.1", "person:pass-word-123")]
        assert proxy_for(f"https://{NAME}/v1") == f"127.0.0.1:{proxy.port}"


async def test_forwarded_request(
    opened: list[GatewayClient], bare: pytest.MonkeyPatch, guarded_gateway: DemoServer
) -> None:
    with Proxy({NAME: ("127.0.0.1", port_of(guarded_gateway))}) as proxy:
        bare.setenv("ALL_PROXY", f"127.0.0.1:{proxy.port}")
        client = client_for(opened, f"http://{NAME}/v1")
        assert (await client.list_models()).failure is None
        assert (await answer(client)).complete
        assert [first for first, _ in proxy.asked] == [
            f"GET http://{NAME}/v1/models HTTP/1.1",
            f"POST http://{NAME}/v1/chat/completions HTTP/1.1",
        ]


@pytest.mark.parametrize(
    ("login", "host", "words"),
    [("person:wrong-password", NAME, "user name and a password (407)"), ("a:b", "unknown.example", "502 Unknown Host")],
)
async def test_proxy_that_refuses(
    opened: list[GatewayClient], bare: pytest.MonkeyPatch, front: Front, login: str, host: str, words: str
) -> None:
    with Proxy({NAME: ("127.0.0.1", front.port)}, "a:b") as proxy:
        bare.setenv("HTTPS_PROXY", f"http://{login}@127.0.0.1:{proxy.port}")
        refused = await failure(client_for(opened, f"https://{host}/v1"))
    assert refused.kind is FailureKind.CONNECTION
    assert words in refused.message
    assert f"127.0.0.1:{proxy.port}" in refused.message
    assert login not in refused.message
    assert "wrong" not in refused.message


async def test_proxy_that_never_answers_or_refuses_is_named(
    opened: list[GatewayClient], bare: pytest.MonkeyPatch
) -> None:
    with Proxy({}, stalls=True) as proxy:
        bare.setenv("HTTPS_PROXY", f"http://person:word@127.0.0.1:{proxy.port}")
        client = client_for(opened, f"https://{NAME}/v1", timeouts=Timeouts(connect=0.3, first=20))
        silent = await failure(client)
    assert silent.kind is FailureKind.TIMEOUT_CONNECT
    assert "through the proxy" in silent.message
    refused = await failure(client_for(opened, f"https://{NAME}/v1"))
    assert refused.kind is FailureKind.REFUSED
    assert "proxy" in refused.message
    assert "word" not in refused.message
    assert advise(refused).meaning == "no proxy"


async def test_hosts_of_no_proxy_are_reached_directly(
    opened: list[GatewayClient], bare: pytest.MonkeyPatch, guarded_gateway: DemoServer
) -> None:
    with Proxy({}) as proxy:
        bare.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        bare.setenv("NO_PROXY", "inside.example,.corp.example")
        assert (await answer(client_for(opened, guarded_gateway.base_url))).complete  # this machine itself
        assert proxy.asked == []
    for host, straight in (("inside.example", True), ("a.corp.example", True), ("outside.example", False)):
        assert (proxy_for(f"http://{host}/v1") == "") is straight


# ---- the key


async def test_key_is_sent_in_each_way(opened: list[GatewayClient], guarded_gateway: DemoServer) -> None:
    with FaultServer() as server:
        server.play(send(whole(400, "application/json", b"{}")), keep())
        for protocol, auth in product(["chat", "messages"], Auth):
            server.requests.clear()
            client = client_for(opened, server.url, auth={protocol: auth})
            await client.list_models(protocol)
            await answer(client, protocol)
            await client.probe(get_protocol(protocol))
            assert [request.method for request in server.requests] == ["GET", "POST", "POST"]
            bearer = auth in (Auth.BEARER, Auth.BOTH)
            own = auth in (Auth.X_API_KEY, Auth.BOTH)
            for request in server.requests:
                assert request.header("Authorization") == (f"Bearer {CANARY}" if bearer else None)
                assert request.header("x-api-key") == (CANARY if own else None)
                version = "2023-06-01" if own and protocol == "messages" else None
                assert request.header("anthropic-version") == version
            if bearer or (own and protocol == "messages"):
                opened_client = client_for(opened, guarded_gateway.base_url, auth={protocol: auth})
                assert (await answer(opened_client, protocol)).failure is None
