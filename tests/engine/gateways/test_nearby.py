"""Looking for gateways on this computer, among servers that are none and some that mean ill."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from playground.engine.gateways.known import KnownGateway, Signature, shipped
from playground.engine.gateways.nearby import Found, Kind, look_nearby
from playground.engine.gateways.profiles import Profile
from tests.support.fault_server import FaultServer, drip, head, hold, send, sleep, whole

LIST = b'{"object": "list", "data": [{"id": "a", "owned_by": "Acme"}, {"id": "b", "owned_by": "acme"}]}'
FINE = send(whole(200, "application/json", LIST))


def known(name: str, *ports: int, path: str = "/v1", **more: Any) -> KnownGateway:
    base = f"http://127.0.0.1:{ports[0]}{path}"
    return KnownGateway.model_validate({"id": name.lower(), "name": name, "base_url": base, "ports": ports, **more})


async def look(among: Sequence[KnownGateway], *profiles: Profile, **more: Any) -> list[Found]:
    found: list[Found] = []
    before = time.monotonic()
    await look_nearby(among, profiles, found.append, **more)
    assert time.monotonic() - before < 15  # not what a server that never ends would take
    return found


@contextmanager
def saying(answer: bytes, host: str = "127.0.0.1", port: int = 0) -> Iterator[int]:
    """A server that says the same to everybody, whatever they ask, and closes."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        listening.settimeout(0.05)
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                try:
                    one, _ = listening.accept()
                except TimeoutError:
                    continue
                with one:
                    one.settimeout(1)
                    try:
                        one.recv(65536)
                        one.sendall(answer)
                    except OSError:
                        pass

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield int(listening.getsockname()[1])
        finally:
            ended.set()
            thread.join()


async def test_a_gateway_is_named_by_what_it_answers() -> None:
    with FaultServer() as server:
        server.play(FINE)
        acme = known("Acme", server.port, signatures=[{"owner": "ACME"}])
        (found,) = await look([acme, known("Other", server.port), known("Away", 1, signatures=[{"owner": "no"}])])
        assert (found.kind, found.known, found.sure, found.models) == (Kind.GATEWAY, (acme,), True, 2)
        assert found.base_url == server.url
        assert found.place == f"127.0.0.1:{server.port}"
        assert found.saved is None
        assert [request.target for request in server.requests] == ["/v1/models"]
        assert server.requests[0].header("Authorization") is None


@pytest.mark.parametrize(
    ("signature", "fits"),
    [
        (Signature(header="Server", said="acme"), True),
        (Signature(header="server", said="ACME/1"), True),
        (Signature(header="Server", said="other"), False),
        (Signature(header="X-None"), False),
        (Signature(header="X-Mark"), True),
        (Signature(member="owned_by"), True),
        (Signature(member="max_model_len"), False),
        (Signature(owner="acme", header="X-Mark"), True),
        (Signature(owner="acme", header="X-None"), False),
        (Signature(), False),
    ],
)
async def test_all_of_a_signature_has_to_fit(signature: Signature, fits: bool) -> None:
    with FaultServer() as server:
        server.play(send(whole(200, "application/json", LIST, "Server: Acme/1.2", "X-Mark: ")))
        (found,) = await look([known("Acme", server.port, signatures=[signature]), known("Other", server.port)])
    assert found.sure is fits
    assert len(found.known) == (1 if fits else 2)


async def test_one_made_of_another_is_told_by_its_port() -> None:
    signed: dict[str, Any] = {"signatures": [{"owner": "acme"}]}
    with FaultServer() as server:
        server.play(FINE)
        (found,) = await look([known("Engine", 1, **signed), known("Around it", server.port, **signed)])
    assert [one.name for one in found.known] == ["Around it"]


async def test_a_list_without_the_usual_path_and_one_that_is_set_up() -> None:
    with FaultServer() as server:
        server.play_next(send(whole(404, "application/json", b'{"detail": "Not Found"}')))
        server.play(FINE)
        saved = Profile(name="Mine", base_url=f"http://localhost:{server.port}/api")
        (found,) = await look([known("Acme", server.port, path="/api")], saved)
        assert [request.target for request in server.requests] == ["/v1/models", "/api/models"]
    assert found.base_url == f"http://127.0.0.1:{server.port}/api"
    assert found.saved == saved


async def test_a_gateway_that_is_set_up_is_looked_at_where_no_other_would_be() -> None:
    with FaultServer() as server:
        server.play(FINE)
        saved, away = Profile(base_url=server.url), Profile(base_url="https://gateway.example/v1")
        (found,) = await look([], saved, away, Profile(base_url="not an address@"))
        assert found.saved == saved
        assert await look([known("Acme", server.port)], besides={f"http://127.0.0.1:{server.port}"}) == []


@pytest.mark.parametrize(
    ("status", "content_type", "body", "kind", "words"),
    [
        (401, "application/json", b'{"error": {"message": "No key."}}', Kind.KEY, "No key."),
        (403, "application/json", b'{"detail": {"error": {"message": "Incorrect API key"}}}', Kind.KEY, "Incorrect"),
        (400, "application/json", b'{"message": "a header is required"}', Kind.ERROR, "HTTP 400: a header is"),
        (500, "text/plain", b"Internal Server Error", Kind.ERROR, "HTTP 500"),
        (404, "text/html", b"<html>", Kind.OTHER, "no model list (HTTP 404)"),
        (404, "application/json", b'{"detail": "Not Found"}', Kind.OTHER, "no model list (HTTP 404)"),
        (403, "text/plain", b"", Kind.OTHER, "HTTP 403"),
        (200, "text/html", b"<html><body>Hello", Kind.OTHER, "A web page"),
        (200, "application/json", b'{"hello": 1}', Kind.OTHER, "no model list"),
        (200, "application/json", b"[" * 100_000, Kind.OTHER, "no model list"),
        (200, "application/json", b"[1" + b",1" * 100_000 + b"]", Kind.GATEWAY, ""),
        (200, "application/json", b'{"object": "list", "data": null}', Kind.GATEWAY, ""),
        (302, "text/html", b"", Kind.OTHER, ""),
    ],
)
async def test_what_answers_otherwise_is_named_as_what_it_is(
    status: int, content_type: str, body: bytes, kind: Kind, words: str
) -> None:
    more = ("Location: http://gateway.example/",) if status == 302 else ()
    with FaultServer() as server:
        server.play(send(whole(status, content_type, body, *more)))
        (found,) = await look([known("Acme", server.port)])
    assert found.kind is kind
    assert words in found.words
    assert found.models == 0


async def test_what_means_ill_is_cut_short() -> None:
    endless = [
        send(head(content_type="application/json"), b'{"data": ["'),
        *drip(b"a" * 1_000_000, 50_000, 0.02),
        hold(),
    ]
    with FaultServer() as silent, FaultServer() as slow, FaultServer() as large, FaultServer() as headers:
        silent.play(hold())
        slow.play(*endless)
        large.play(send(whole(200, "application/json", b'["' + b"a" * 40_000_000 + b'"]')))
        headers.play(send(b"HTTP/1.1 200 OK\r\n"), *drip(b"X-A: " + b"a" * 1_000_000, 50_000, 0.001), hold())
        before = time.monotonic()
        found = await look([known("A", one.port) for one in (silent, slow, large, headers)])
        assert time.monotonic() - before < 15
        kinds = {urlport(one): one.kind for one in found}
        assert kinds[silent.port] is Kind.SILENT
        assert kinds[slow.port] in (Kind.SILENT, Kind.OTHER)
        assert kinds[large.port] in (Kind.SILENT, Kind.OTHER)
        assert kinds[headers.port] in (Kind.SILENT, Kind.OTHER)
        assert all(len(one.words) <= 200 for one in found)


def urlport(found: Found) -> int:
    return int(found.place.rpartition(":")[2])


async def test_another_protocol_is_quoted() -> None:
    with saying(b"SSH-2.0-OpenSSH_9.2\r\n") as port:
        (found,) = await look([known("A", port)])
    assert found.kind is Kind.OTHER
    assert "SSH-2.0-OpenSSH_9.2" in found.words


async def test_both_names_of_this_computer() -> None:
    answer, other = whole(200, "application/json", LIST), whole(200, "application/json", b'["c"]')
    with saying(answer, "::1") as port:
        (found,) = await look([known("A", port)])
        assert found.base_url == f"http://[::1]:{port}/v1"
        with saying(answer, port=port):
            (found,) = await look([known("A", port)])
            assert found.base_url == f"http://127.0.0.1:{port}/v1"
        with saying(other, port=port):
            assert {(one.place, one.models) for one in await look([known("A", port)])} == {
                (f"127.0.0.1:{port}", 1),
                (f"[::1]:{port}", 2),
            }


async def test_they_are_told_as_they_come_and_it_can_be_ended() -> None:
    with FaultServer() as quick, FaultServer() as slow:
        quick.play(FINE)
        slow.play(sleep(0.3), FINE)
        found: list[tuple[float, str]] = []
        before = time.monotonic()
        await look_nearby(
            [known("A", slow.port), known("B", quick.port)],
            (),
            lambda one: found.append((time.monotonic() - before, one.base_url)),
            seconds=5,
        )
        assert [url for _, url in found] == [quick.url, slow.url]
        assert found[1][0] - found[0][0] > 0.1
        slow.play(hold())
        task = asyncio.get_running_loop().create_task(look([known("A", slow.port)], seconds=30))
        await asyncio.to_thread(slow.wait_requests, 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_the_environments_proxy_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with FaultServer() as server:
        server.play(FINE)
        assert [one.kind for one in await look([known("A", server.port)])] == [Kind.GATEWAY]


async def test_nothing_there_is_nothing() -> None:
    known_here = [one for one in shipped() if one.ports]
    assert {11434, 1234, 8080, 8000, 4000, 1337, 5000, 5001, 30000} <= {
        port for one in known_here for port in one.ports
    }
    closed = [known(f"N{port}", port) for port in range(1, 200)]
    assert await look(closed) == []
