"""The proxy answers programs of this computer only, and keeps their keys out of everything that it records."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from playground.engine.listen.server import ListenServer, ListenSettings
from playground.gateway.connection import Connection
from tests.engine.listen.conftest import GATEWAY_KEY, PROGRAM_KEY, REQUEST, MakeServer, ended, path_of, post
from tests.support.fault_server import FaultServer, head, keep, send, sse, text_chunk, whole
from tests.support.raw_http import LOOPBACK, STRANGERS, Answer, ask, exchange

GIVEN = [("Content-Type", "application/json")]


async def sent(
    server: ListenServer, *headers: tuple[str, str], target: str = "/v1/models", method: str = "GET"
) -> Answer:
    return await asyncio.to_thread(ask, server.base_url, method, path_of(server) + target, list(headers))


async def test_loopback_host_is_passed_on(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen()

    statuses = [(await sent(server, ("Host", host))).status for host in LOOPBACK]

    assert statuses == [200] * len(LOOPBACK)


async def test_other_host_is_refused_unless_allowed(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen(hosts=frozenset({"host.docker.internal"}))

    statuses = {(await sent(server, ("Host", host))).status for host in STRANGERS}

    assert statuses == {403}
    assert not server.exchanges
    assert (await sent(server, ("Host", "host.docker.internal:80"))).status == 200


@pytest.mark.parametrize(
    "header",
    [
        ("Origin", "null"),
        ("Origin", "http://localhost:3000"),
        ("Origin", ""),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-origin"),
    ],
)
async def test_web_page_is_refused(listen: MakeServer, gateway: FaultServer, header: tuple[str, str]) -> None:
    server = await listen()

    for method in ("GET", "OPTIONS"):
        answer = await sent(server, ("Host", "localhost"), header, method=method)
        assert answer.status == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert not gateway.requests
    assert not server.exchanges


async def test_native_program_with_sec_fetch_site_none_is_passed_on(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen()

    browser = ("anthropic-dangerous-direct-browser-access", "true")
    assert (await sent(server, ("Host", "localhost"), ("Sec-Fetch-Site", "none"), browser)).status == 200
    assert gateway.requests[0].header("anthropic-dangerous-direct-browser-access") == "true"


async def test_wrong_secret_is_not_found(listen: MakeServer, gateway: FaultServer) -> None:
    server = await listen()
    secret = path_of(server).removeprefix("/r/")
    assert len(secret) == 32
    wrong = (
        "/v1/models",
        "/r/v1/models",
        f"/r/{secret[:-1]}0x/v1/models",
        f"/r/{secret}x/v1/models",
        f"/R/{secret}/v1/models",
    )

    answers = [await asyncio.to_thread(ask, server.base_url, "GET", path, [("Host", "localhost")]) for path in wrong]

    assert [answer.status for answer in answers] == [404] * len(wrong)
    assert not gateway.requests
    assert not any(secret.encode() in answer.body for answer in answers)


async def test_absolute_target_is_refused(listen: MakeServer, gateway: FaultServer) -> None:
    server = await listen(secret_path=False)

    received = await asyncio.to_thread(
        exchange, server.base_url, b"GET http://other.test/v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
    )

    assert received.startswith(b"HTTP/1.1 403")
    assert not gateway.requests


async def test_request_of_uncertain_length_is_refused(listen: MakeServer, gateway: FaultServer) -> None:
    server = await listen()
    lines = [f"POST {path_of(server)}/v1/messages HTTP/1.1", "Host: localhost", "Content-Length: 2"]
    lines += ["Transfer-Encoding: chunked", "", "2\r\n{}\r\n0\r\n\r\n"]

    received = await asyncio.to_thread(exchange, server.base_url, "\r\n".join(lines).encode())

    assert received.startswith(b"HTTP/1.1 400")
    assert not gateway.requests


async def test_web_socket_is_answered_with_426_at_once(listen: MakeServer, gateway: FaultServer) -> None:
    server = await listen()
    upgrade = [
        ("Host", "localhost"),
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
    ]

    answer = await sent(server, *upgrade, ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), target="/v1/responses")

    assert answer.status == 426
    assert answer.headers["connection"].lower() == "upgrade"
    assert not gateway.requests
    assert any("WebSocket" in note for note in (await ended(server)).notes)


async def test_request_that_is_too_large_is_refused_in_words(listen: MakeServer, gateway: FaultServer) -> None:
    server = await listen(max_request=1024 * 1024)

    answer = await post(server, "/v1/messages", b"x" * (1024 * 1024 + 1))

    assert answer.status == 413
    assert "larger than 1 MiB" in json.loads(answer.body)["error"]["message"]
    assert not gateway.requests
    assert (await ended(server)).exchange.request_body == b""


async def test_header_block_over_64_kib_is_refused(listen: MakeServer, gateway: FaultServer) -> None:
    server = await listen()

    answer = await sent(server, ("Host", "localhost"), ("X-Long", "x" * 80_000))

    assert answer.status == 431
    assert not gateway.requests


async def test_gateway_that_is_the_proxy_itself_is_refused(closed_port: int) -> None:
    connection = Connection(base_url=f"http://localhost:{closed_port}/v1")

    with pytest.raises(ValueError, match="the address of Listen itself"):
        await ListenServer(ListenSettings(connection, port=closed_port)).start()


async def test_port_in_use_is_named_in_the_error(listen: MakeServer) -> None:
    with socket.socket() as occupied:
        occupied.bind(("127.0.0.1", 0))
        occupied.listen()
        port = occupied.getsockname()[1]

        with pytest.raises(OSError, match=f"Cannot listen on port {port}"):
            await listen(port=port)


async def test_keys_in_every_place_are_kept_out_of_recording(
    listen: MakeServer, gateway: FaultServer, tmp_path: Path
) -> None:
    placed = {
        "authorization": f"Bearer {PROGRAM_KEY}",
        "x-api-key": "sk-ant-api03-aaBB11ccDD",
        "api-key": "azure-3f2b8c77d1e0",
        "x-goog-api-key": "AIzaSyD3m0K3y99",
        "proxy-authorization": f"Basic {base64.b64encode(b'user:proxy-pass-77').decode()}",
        "cookie": "session=cookie-8f1e2d3c4b",
        "x-openwebui-user-email": "person@mail.test",
    }
    in_query = "query-key-66aa55bb"
    secrets = [
        *(PROGRAM_KEY, GATEWAY_KEY, "sk-ant-api03-aaBB11ccDD", "azure-3f2b8c77d1e0", "AIzaSyD3m0K3y99"),
        *("cookie-8f1e2d3c4b", "person@mail.test", in_query, base64.b64encode(b"user:proxy-pass-77").decode()),
    ]
    echo = json.dumps(secrets)
    half = len(PROGRAM_KEY) // 2
    body = sse(text_chunk(PROGRAM_KEY[:half]), text_chunk(PROGRAM_KEY[half:]), text_chunk(echo, "stop"), "[DONE]")
    gateway.play(send(head(200, "text/event-stream", *(f"x-echo-{i}: {s}" for i, s in enumerate(secrets)))), send(body))
    server = await listen(folder=tmp_path / "recording", stored_key=False)
    request = json.dumps(
        {"model": "m", "messages": [{"role": "user", "content": f"{echo} {path_of(server)}"}]}
    ).encode()
    given = [("Host", "localhost"), ("User-Agent", f"program/{PROGRAM_KEY}"), *placed.items()]

    answer = await asyncio.to_thread(
        ask, server.base_url, "POST", f"{path_of(server)}/v1/chat/completions?key={in_query}", given, request
    )
    listened = await ended(server)
    await server.aclose()

    assert answer.body == body  # the program gets its answer unchanged
    assert gateway.requests[0].body == request
    texts = [str(listened), str(dataclasses.asdict(listened.exchange)), str(listened.summary)]
    texts += [path.read_text() for path in (tmp_path / "recording").iterdir()]
    assert len(texts) == 5
    for secret in [*secrets, path_of(server).removeprefix("/r/")]:
        assert not any(secret in text for text in texts), secret


async def test_recording_can_be_read_by_its_owner_only(
    listen: MakeServer, gateway: FaultServer, tmp_path: Path
) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    folder = tmp_path / "recording"
    server = await listen(folder=folder)
    await post(server, "/v1/chat/completions", REQUEST)
    await ended(server)

    modes = [path.stat().st_mode & 0o077 for path in (folder, *folder.iterdir())]

    assert len(modes) >= 3
    assert not any(modes)
    assert urlsplit(server.base_url).hostname == "127.0.0.1"
