"""How a client gets to a gateway, and why it does not; certificates and working proxies are in ``test_ways``."""

from __future__ import annotations

import pytest

from playground.domain.errors import FailureKind
from playground.engine.advice import advise
from tests.gateway.conftest import MakeClient, failure_of, run
from tests.support.fault_server import FaultServer, send, whole


async def test_https_to_a_plain_server(make_client: MakeClient) -> None:
    with FaultServer(reads_request=False) as server:
        server.play(send(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
        _, events = await run(make_client(base_url=server.url.replace("http:", "https:")))
        failure = failure_of(events)
        assert failure.kind is FailureKind.TLS
        assert failure.message.endswith("does not speak TLS.")
        assert "http://" in advise(failure).remedy


async def test_the_environments_proxy(monkeypatch: pytest.MonkeyPatch, make_client: MakeClient) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with FaultServer() as proxy, FaultServer() as direct:
        monkeypatch.setenv("HTTP_PROXY", f"http://person:word@127.0.0.1:{proxy.port}")
        proxy.play(send(whole(502, "text/plain", b"proxy says no")))
        direct.play(send(whole(500, "text/plain", b"direct")))
        _, events = await run(make_client(base_url="http://gateway.invalid/v1"))
        assert failure_of(events).message == "proxy says no"
        assert proxy.requests[0].target == "http://gateway.invalid/v1/chat/completions"
        _, events = await run(make_client(base_url=direct.url))
        assert failure_of(events).message == "direct"  # loopback never goes through a proxy
        monkeypatch.setenv("HTTP_PROXY", f"http://person:word@127.0.0.1:{_free_port()}")
        _, events = await run(make_client(base_url="http://gateway.invalid/v1"))
        failure = failure_of(events)
        assert failure.kind is FailureKind.REFUSED
        assert "proxy" in failure.message
        assert advise(failure).meaning == "no proxy"
        assert "word" not in failure.message
        monkeypatch.setenv("HTTP_PROXY", "gopher://127.0.0.1:1")
        _, events = await run(make_client(base_url="http://gateway.invalid/v1"))
        assert failure_of(events).kind is FailureKind.INPUT


def _free_port() -> int:
    with FaultServer() as gone:
        return gone.port
