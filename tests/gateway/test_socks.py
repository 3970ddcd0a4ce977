"""The demo gateway behind a SOCKS proxy, set for the gateway or named by the environment, and proxies that fail."""

from __future__ import annotations

import asyncio
import socket
from contextlib import aclosing

import pytest

from playground.demo.server import DemoServer
from playground.domain.errors import FailureKind
from playground.engine.advice import advise
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Timeouts
from playground.gateway.proxy import check_proxy, proxy_for, read_proxy
from tests.gateway.conftest import NAME, answer, ask, client_for, failure, open_call, port_of, text_of
from tests.support.fault_server import FaultServer, head, hold, pause, send, sse, text_chunk, whole
from tests.support.proxy import Front, Proxy, Socks

LOGIN = "person:pass-word-123"


async def test_proxy_looks_up_the_name(opened: list[GatewayClient], guarded_gateway: DemoServer) -> None:
    with Socks({NAME: ("127.0.0.1", port_of(guarded_gateway))}) as proxy:
        for scheme in ("socks5", "socks5h", "SOCKS5", "socks"):
            client = client_for(opened, f"http://{NAME}/v1", proxy=f"{scheme}://127.0.0.1:{proxy.port}")
            assert (await client.list_models()).failure is None
            assert (await answer(client)).complete
        assert proxy.asked == [(NAME, 80, "")] * 4, "one connection serves both requests of a client"


async def test_tls_through_it_named_by_the_environment_with_a_login(
    opened: list[GatewayClient], bare: pytest.MonkeyPatch, front: Front, ca_file: str
) -> None:
    with Socks({NAME: ("127.0.0.1", front.port)}, LOGIN) as proxy:
        bare.setenv("ALL_PROXY", f"socks5h://{LOGIN}@127.0.0.1:{proxy.port}")
        client = client_for(opened, f"https://{NAME}/v1", ca_file=ca_file)
        assert (await answer(client)).complete
        assert (await answer(client, "messages")).complete
        assert set(proxy.asked) == {(NAME, 443, LOGIN)}
        assert proxy_for(f"https://{NAME}/v1") == f"127.0.0.1:{proxy.port}"
        strange = await failure(client_for(opened, f"https://{NAME}/v1"))
        assert strange.kind is FailureKind.TLS
        assert "cannot be trusted" in strange.message


async def test_ip_addresses_are_sent_unchanged(opened: list[GatewayClient], guarded_gateway: DemoServer) -> None:
    current = ("127.0.0.1", port_of(guarded_gateway))
    with Socks({"127.0.0.1": current, "::1": current}) as proxy:
        for host in ("127.0.0.1", "[::1]"):
            client = client_for(opened, f"http://{host}:1/v1", proxy=f"socks5://127.0.0.1:{proxy.port}")
            assert (await client.list_models()).failure is None
        assert [host for host, _, _ in proxy.asked] == ["127.0.0.1", "::1"]


async def test_answer_through_the_proxy_is_read_as_it_comes_and_can_be_ended(opened: list[GatewayClient]) -> None:
    with FaultServer() as server, Socks({NAME: ("127.0.0.1", server.port)}) as proxy:
        server.play(send(head(), sse(text_chunk("a"))), pause(), send(sse(text_chunk("b"))), hold())
        client = client_for(opened, f"http://{NAME}/v1", proxy=f"socks5://127.0.0.1:{proxy.port}")
        text = ""
        async with aclosing(open_call(client, ask())) as call:
            async for events in call:
                text += text_of(events)
                if text == "a":
                    server.go_on()
                if text == "ab":
                    break
        await asyncio.to_thread(server.wait_closed)
        assert call.exchange.connected is not None
        assert call.exchange.answered is not None
        assert call.exchange.connected <= call.exchange.answered


async def test_password_echoed_by_a_proxy_is_masked(opened: list[GatewayClient], bare: pytest.MonkeyPatch) -> None:
    with FaultServer() as server, Socks({NAME: ("127.0.0.1", server.port)}, LOGIN) as proxy:
        server.play(send(whole(500, "text/plain", b"your proxy says pass-word-123")))
        bare.setenv("all_proxy", f"socks5://{LOGIN}@127.0.0.1:{proxy.port}")
        client = client_for(opened, f"http://{NAME}/v1")
        result = await client.list_models()
        assert result.failure is not None
        assert result.failure.message.startswith("your proxy says ")
        assert "pass-word" not in result.failure.message + repr(result.exchanges) + repr(result.exchanges[0].body)


@pytest.mark.parametrize(
    ("settings", "url", "words", "meaning"),
    [
        ({"login": LOGIN}, "", "requires a user name and a password", "own proxy password"),
        ({"login": LOGIN}, "me:other-word@", "does not let in the user name", "proxy login"),
        ({"refuses": 1}, "", f"does not lead to {NAME}:80: it gives no reason", "proxy way"),
        ({"refuses": 2}, "", "its rules do not allow it", "proxy way"),
        ({"refuses": 5}, "", "nothing answers there", "proxy way"),
        ({"names": {}}, "", "cannot reach that host, or does not know the name", "proxy way"),
        ({"says": (0, b"HTTP/1.1 400 Bad Request\r\n\r\n")}, "", "it says “HTTP/1.1 400 Bad Request”", "no socks"),
        ({"says": (0, b"\x05")}, "", "is no SOCKS 5 proxy", "no socks"),
        ({"says": (0, b"\x05\x01")}, "", "another sign-in method", "proxy login"),
        ({"says": (1, b"\x05\x00\x00\x07")}, "", "is no SOCKS 5 proxy", "no socks"),
        ({"says": (1, b"X" * 100_000)}, "", "is no SOCKS 5 proxy", "no socks"),
    ],
)
async def test_fault_of_a_proxy_is_named(
    opened: list[GatewayClient], settings: dict[str, object], url: str, words: str, meaning: str
) -> None:
    values = {"names": {NAME: ("127.0.0.1", 1)}, **settings}
    with Socks(**values) as proxy:  # type: ignore[arg-type]
        way = f"socks5://{url}127.0.0.1:{proxy.port}"
        refused = await failure(client_for(opened, f"http://{NAME}/v1", proxy=way))
    assert refused.kind is FailureKind.CONNECTION
    assert refused.message.startswith(f"The proxy 127.0.0.1:{proxy.port} (given for this gateway) ")
    assert words in refused.message
    assert "other-word" not in refused.message
    assert advise(refused).meaning == meaning


@pytest.mark.parametrize("step", [0, 1])
async def test_silent_proxy_is_a_connect_timeout_and_can_be_given_up(opened: list[GatewayClient], step: int) -> None:
    with Socks({NAME: ("127.0.0.1", 1)}, says=(step, b"")) as proxy:
        url = f"socks5://127.0.0.1:{proxy.port}"
        times = Timeouts(connect=0.3, first=20)
        silent = await failure(client_for(opened, f"http://{NAME}/v1", proxy=url, timeouts=times))
        assert silent.kind is FailureKind.TIMEOUT_CONNECT
        assert "through the proxy" in silent.message
        client = client_for(opened, f"http://{NAME}/v1", proxy=url)
        task = asyncio.get_running_loop().create_task(client.list_models())
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_proxy_that_closes_or_is_not_there_is_named(opened: list[GatewayClient]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closing:
        asyncio.get_running_loop().run_in_executor(None, lambda: closing.accept()[0].close())
        url = f"socks5://127.0.0.1:{closing.getsockname()[1]}"
        closed = await failure(client_for(opened, f"http://{NAME}/v1", proxy=url))
        assert closed.kind is FailureKind.CONNECTION
        assert "proxy" in closed.message
    refused = await failure(client_for(opened, f"http://{NAME}/v1", proxy=url))
    assert advise(refused).meaning == "no proxy"


async def test_proxy_of_the_other_kind_is_named(opened: list[GatewayClient]) -> None:
    with FaultServer(reads_request=False) as server:
        server.play(send(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
        refused = await failure(client_for(opened, f"http://{NAME}/v1", proxy=f"socks5://127.0.0.1:{server.port}"))
    assert "One for HTTP begins with http://" in refused.message
    with Socks({}) as socks, Proxy({}) as proxy:
        odd = await failure(client_for(opened, f"http://{NAME}/v1", proxy=f"http://127.0.0.1:{socks.port}"))
        assert odd.kind in (FailureKind.CONNECTION, FailureKind.NOT_HTTP)
        assert proxy.asked == []


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("socks4://127.0.0.1:1080", "SOCKS 4, which is not supported"),
        ("socks4a://127.0.0.1:1080", "begin it with socks5://"),
        ("ftp://127.0.0.1:1080", "begins with none of http://"),
        (f"socks5://{'n' * 256}:word@127.0.0.1", "longer than the 255 bytes"),
    ],
)
async def test_invalid_proxy_address_is_an_input_failure(
    opened: list[GatewayClient], bare: pytest.MonkeyPatch, typed: str, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        read_proxy(typed)
    bare.setenv("HTTP_PROXY", typed)
    refused = await failure(client_for(opened, f"http://{NAME}/v1"))
    assert refused.kind is FailureKind.INPUT
    assert refused.message.startswith("The proxy set in the environment ")
    assert words in refused.message
    assert advise(refused).meaning == "proxy"


async def test_host_name_too_long_for_socks_is_an_input_failure(opened: list[GatewayClient]) -> None:
    with Socks({}) as proxy:
        way = f"socks5://127.0.0.1:{proxy.port}"
        refused = await failure(client_for(opened, f"http://{'.'.join(['a' * 60] * 5)}/v1", proxy=way))
    assert refused.kind is FailureKind.INPUT
    assert "longer than the 255 letters" in refused.message
    assert advise(refused).meaning == "address"


def test_proxy_of_a_file_is_normalized_and_has_no_login() -> None:
    assert check_proxy(" socks5h://proxy.example:1080/ ") == "socks5h://proxy.example:1080"
    assert check_proxy("socks://proxy.example") == "socks5://proxy.example"
    with pytest.raises(ValueError, match="a user name or a password"):
        check_proxy("socks5://me:word@proxy.example")
