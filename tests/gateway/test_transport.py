"""Certificates, plain servers and proxies: how a client gets to a gateway, and why it does not."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest

from playground.domain.errors import FailureKind
from tests.gateway.conftest import MakeClient, failure_of, run, text_of
from tests.support.fault_server import FaultServer, head, hold, send, sse, whole


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    """A certificate for 127.0.0.1 that nobody trusts, and a server context that shows it."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "fault server")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return path, context


async def test_an_unknown_certificate(certificate: tuple[Path, ssl.SSLContext], make_client: MakeClient) -> None:
    path, context = certificate
    with FaultServer(context) as server:
        server.play(send(head()), send(sse('{"choices":[{"index":0,"delta":{"content":"safe"}}]}', "[DONE]")), hold())
        _, events = await run(make_client(base_url=server.url))
        failure = failure_of(events)
        assert failure.kind is FailureKind.TLS
        assert "CA file" in failure.message
        assert server.requests == []
        _, events = await run(make_client(base_url=server.url, ca_file=str(path)))
        assert text_of(events) == "safe"
        await asyncio.to_thread(server.wait_closed)


async def test_https_to_a_plain_server(make_client: MakeClient) -> None:
    with FaultServer(reads_request=False) as server:
        server.play(send(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
        _, events = await run(make_client(base_url=server.url.replace("http:", "https:")))
        failure = failure_of(events)
        assert failure.kind is FailureKind.TLS
        assert "http://" in failure.message


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
        assert "word" not in failure.message
        monkeypatch.setenv("HTTP_PROXY", "socks5://127.0.0.1:1")
        _, events = await run(make_client(base_url="http://gateway.invalid/v1"))
        assert failure_of(events).kind is FailureKind.INPUT


def _free_port() -> int:
    with FaultServer() as gone:
        return gone.port
