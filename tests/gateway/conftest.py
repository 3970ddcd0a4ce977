"""A fault server, the demo gateway behind TLS and proxies, clients for them, and the pieces of a request."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
import trustme
from pydantic import SecretStr

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.accumulator import Accumulator
from playground.domain.errors import Failure
from playground.domain.events import Event, Failed, TextDelta
from playground.domain.request import Request
from playground.domain.transcript import Role, make_turn
from playground.gateway.call import EventStream
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection, Timeouts
from playground.protocols.protocol import get_protocol
from tests.support.fault_server import FaultServer
from tests.support.proxy import Front

CANARY = "sk-canary-7f3d9a+/e1b2c4"
NAME = "gateway.private.example"

MakeClient = Callable[..., GatewayClient]


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture
def secure(authority: trustme.CA, ca_file: str) -> Iterator[tuple[FaultServer, str]]:
    """A server with TLS and the file of its authority."""
    with FaultServer(server_context(authority.issue_cert("127.0.0.1"))) as running:
        yield running, ca_file


@pytest.fixture(params=[False, True], ids=["plain", "tls"])
def reached(
    secure: tuple[FaultServer, str], server: FaultServer, request: pytest.FixtureRequest
) -> tuple[FaultServer, dict[str, str]]:
    """A server, without TLS and with it, and the settings of a client for it."""
    tls_server, ca_file = secure
    return (tls_server, {"base_url": tls_server.url, "ca_file": ca_file}) if request.param else (server, {})


@pytest.fixture
async def make_client(server: FaultServer) -> AsyncIterator[MakeClient]:
    """Makes clients for the fault server (or another ``base_url``) and closes them in the end."""
    created: list[GatewayClient] = []

    def make(**settings: Any) -> GatewayClient:
        settings.setdefault("base_url", server.url)
        settings.setdefault("key", CANARY)
        settings.setdefault("timeouts", Timeouts(connect=30, first=30, idle=30, settle=1))
        client = GatewayClient(Connection(**settings))
        created.append(client)
        return client

    yield make
    for client in created:
        await client.aclose()


def ask(text: str = "Hello", **extra_body: Any) -> Request:
    """A streamed chat request."""
    return Request(
        protocol="chat", model="m", turns=(make_turn(Role.USER, text),), extra_body={"stream": True, **extra_body}
    )


def open_call(client: GatewayClient, request: Request | None = None) -> EventStream:
    return client.open(get_protocol("chat"), request or ask())


async def collect(call: EventStream) -> list[Event]:
    """All events of a call, in order."""
    out: list[Event] = []
    async with aclosing(call):
        async for events in call:
            out += events
    return out


async def run(client: GatewayClient, request: Request | None = None) -> tuple[EventStream, list[Event]]:
    call = open_call(client, request)
    return call, await collect(call)


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def failure_of(events: list[Event]) -> Failure:
    """The one failure, which is the last event."""
    failures = [event for event in events if isinstance(event, Failed)]
    assert len(failures) == 1
    assert events[-1] is failures[0]
    return failures[0].failure


@pytest.fixture(scope="session")
def guarded_gateway() -> Iterator[DemoServer]:
    """A demo gateway that takes one key."""
    config = DemoConfig(
        key=CANARY, tokens_per_second=0, time_to_first_token=0, rate_limit=100_000, allowed_hosts=(NAME,)
    )
    with DemoServer(config) as running:
        yield running


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("authority") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


def server_context(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


@pytest.fixture(scope="session")
def front(authority: trustme.CA, guarded_gateway: DemoServer) -> Iterator[Front]:
    """The demo gateway behind TLS, for its address and for ``NAME``."""
    context = server_context(authority.issue_cert("127.0.0.1", "localhost", NAME))
    with Front(context, port_of(guarded_gateway)) as running:
        yield running


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No proxy of this machine's own."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


@pytest.fixture
async def opened() -> AsyncIterator[list[GatewayClient]]:
    clients: list[GatewayClient] = []
    yield clients
    for client in clients:
        await client.aclose()


def port_of(guarded_gateway: DemoServer) -> int:
    return int(guarded_gateway.base_url.rpartition(":")[2].partition("/")[0])


def client_for(opened: list[GatewayClient], base_url: str, **settings: Any) -> GatewayClient:
    settings.setdefault("key", SecretStr(CANARY))
    settings.setdefault("timeouts", Timeouts(connect=30, first=30, idle=30))
    opened.append(GatewayClient(Connection(base_url=base_url, **settings)))
    return opened[-1]


async def answer(client: GatewayClient, protocol: str = "chat") -> Accumulator:
    """One streamed run on the demo gateway."""
    extra = {"max_tokens": 50} if protocol == "messages" else {}
    model = "demo-messages" if protocol == "messages" else "demo-chat"
    request = ask("Hello", **extra).model_copy(update={"protocol": protocol, "model": model})
    state = Accumulator()
    async with aclosing(client.open(get_protocol(protocol), request)) as call:
        async for events in call:
            state.add_events(events)
    return state


async def failure(client: GatewayClient) -> Failure:
    state = await answer(client)
    assert state.failure is not None
    return state.failure
