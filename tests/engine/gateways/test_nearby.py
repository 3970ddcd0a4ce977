"""The search for gateways on this computer, among servers that are none and some that are hostile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from playground.engine.gateways.nearby import LocalGateway, LocalKind, find_local_gateways
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.services import KnownGateway, Signature
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, drip, head, hold, send, whole

LIST = b'{"object": "list", "data": [{"id": "a", "owned_by": "Acme"}, {"id": "b", "owned_by": "acme"}]}'
FINE = send(whole(200, "application/json", LIST))


def service(name: str, *ports: int, path: str = "/v1", **more: Any) -> KnownGateway:
    base = f"http://127.0.0.1:{ports[0]}{path}"
    return KnownGateway.model_validate({"id": name.lower(), "name": name, "base_url": base, "ports": ports, **more})


async def look(among: Sequence[KnownGateway], *profiles: Profile, **more: Any) -> list[LocalGateway]:
    results: list[LocalGateway] = []
    await find_local_gateways(among, profiles, results.append, **more)
    return results


@asynccontextmanager
async def saying(answer: bytes, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
    """Serve the same answer to each request, yield the port."""

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65536)
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(reply, host, port) as server:
        yield int(server.sockets[0].getsockname()[1])


async def test_gateway_is_named_by_its_answer() -> None:
    with FaultServer() as server:
        server.play(FINE)
        acme = service("Acme", server.port, signatures=[{"owner": "ACME"}])
        (result,) = await look([acme, service("Other", server.port), service("Away", 1, signatures=[{"owner": "no"}])])
        assert (result.kind, result.services, result.sure, result.models) == (LocalKind.GATEWAY, (acme,), True, 2)
        assert result.base_url == server.url
        assert result.place == f"127.0.0.1:{server.port}"
        assert result.saved is None
        assert [request.target for request in server.requests] == ["/v1/models"]
        assert server.requests[0].header("Authorization") is None


async def test_gateway_is_identified_where_its_whole_signature_fits() -> None:
    fitting = [
        Signature(header="Server", said="acme"),
        Signature(header="server", said="ACME/1"),
        Signature(header="X-Mark"),
        Signature(member="owned_by"),
        Signature(owner="acme", header="X-Mark"),
    ]
    others = [
        Signature(header="Server", said="other"),
        Signature(header="X-None"),
        Signature(member="max_model_len"),
        Signature(owner="acme", header="X-None"),
        Signature(),
    ]
    with FaultServer() as server:
        server.play(send(whole(200, "application/json", LIST, "Server: Acme/1.2", "X-Mark: ")))
        for signature in (*fitting, *others):
            (result,) = await look(
                [service("Acme", server.port, signatures=[signature]), service("Other", server.port)]
            )
            assert (result.sure, len(result.services)) == ((True, 1) if signature in fitting else (False, 2)), signature
        signed: dict[str, Any] = {"signatures": [{"owner": "acme"}]}
        (result,) = await look([service("Engine", 1, **signed), service("Wrapper", server.port, **signed)])
        assert [service.name for service in result.services] == ["Wrapper"], "the port decides between equal signatures"


async def test_saved_gateway_is_searched_at_its_own_port() -> None:
    with FaultServer() as server:
        server.play(FINE)
        saved, away = Profile(base_url=server.url), Profile(base_url="https://gateway.example/v1")
        (result,) = await look([], saved, away, Profile(base_url="not an address@"))
        assert result.saved == saved
        assert await look([service("Acme", server.port)], excluded={f"http://127.0.0.1:{server.port}"}) == []


async def test_answer_that_is_no_model_list_is_classified() -> None:
    with FaultServer() as server:
        for status, content_type, body, kind, words in (
            (401, "application/json", b'{"error": {"message": "No key."}}', LocalKind.KEY, "No key."),
            (
                403,
                "application/json",
                b'{"detail": {"error": {"message": "Incorrect API key"}}}',
                LocalKind.KEY,
                "Incorrect",
            ),
            (400, "application/json", b'{"message": "a header is required"}', LocalKind.ERROR, "HTTP 400: a header is"),
            (500, "text/plain", b"Internal Server Error", LocalKind.ERROR, "HTTP 500"),
            (404, "text/html", b"<html>", LocalKind.NO_GATEWAY, "no model list (HTTP 404)"),
            (
                404,
                "application/json",
                b'{"detail": "Not LocalGateway"}',
                LocalKind.NO_GATEWAY,
                "no model list (HTTP 404)",
            ),
            (403, "text/plain", b"", LocalKind.NO_GATEWAY, "HTTP 403"),
            (200, "text/html", b"<html><body>Hello", LocalKind.NO_GATEWAY, "A web page"),
            (200, "application/json", b'{"hello": 1}', LocalKind.NO_GATEWAY, "no model list"),
            (200, "application/json", b"[" * 100_000, LocalKind.NO_GATEWAY, "no model list"),
            (200, "application/json", b"[1" + b",1" * 100_000 + b"]", LocalKind.GATEWAY, ""),
            (200, "application/json", b'{"object": "list", "data": null}', LocalKind.GATEWAY, ""),
            (302, "text/html", b"", LocalKind.NO_GATEWAY, ""),
        ):
            more = ("Location: http://gateway.example/",) if status == 302 else ()
            server.play(send(whole(status, content_type, body, *more)))
            (result,) = await look([service("Acme", server.port)])
            assert result.kind is kind
            assert words in result.words
            assert result.models == 0


async def test_endless_answers_are_cut_short() -> None:
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
        result = await look([service("A", item.port) for item in (silent, slow, large, headers)])
        kinds = {item.place: item.kind for item in result}
        assert len(kinds) == 4
        assert kinds[f"127.0.0.1:{silent.port}"] is LocalKind.SILENT
        assert set(kinds.values()) <= {LocalKind.SILENT, LocalKind.NO_GATEWAY}
        assert all(len(item.words) <= 200 for item in result)


async def test_both_loopback_addresses_are_searched() -> None:
    answer, second = whole(200, "application/json", LIST), whole(200, "application/json", b'["c"]')
    async with saying(answer, "::1") as port:
        (result,) = await look([service("A", port)])
        assert result.base_url == f"http://[::1]:{port}/v1"
        async with saying(answer, port=port):
            (result,) = await look([service("A", port)])
            assert result.base_url == f"http://127.0.0.1:{port}/v1"
        async with saying(second, port=port):
            assert {(first.place, first.models) for first in await look([service("A", port)])} == {
                (f"127.0.0.1:{port}", 1),
                (f"[::1]:{port}", 2),
            }


async def test_gateways_are_reported_as_they_answer_until_cancelled() -> None:
    with FaultServer() as quick, FaultServer() as slow:
        quick.play(FINE)
        slow.play(hold())
        results: list[str] = []
        services = [service("A", slow.port), service("B", quick.port)]
        search = find_local_gateways(services, (), lambda gateway: results.append(gateway.base_url), seconds=60)
        task = asyncio.get_running_loop().create_task(search)
        await eventually(lambda: results == [quick.url], "the first gateway, while the other one is silent")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_search_uses_no_proxy_and_quotes_other_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with FaultServer() as server:
        server.play(FINE)
        async with saying(b"SSH-2.0-OpenSSH_9.2\r\n") as port:
            services = [service(f"N{number}", number) for number in (*range(1, 50), server.port, port)]
            results = {item.kind: item for item in await look(services)}
    assert set(results) == {LocalKind.GATEWAY, LocalKind.NO_GATEWAY}
    assert "SSH-2.0-OpenSSH_9.2" in results[LocalKind.NO_GATEWAY].words
