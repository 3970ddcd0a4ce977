"""A fault server, a client for it, and the pieces of a request."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
import trustme

from playground.domain.errors import Failure
from playground.domain.events import Event, Failed, TextDelta
from playground.domain.request import Request
from playground.domain.transcript import Role, make_turn
from playground.gateway.call import EventStream
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection, Timeouts
from playground.protocols.protocol import get_protocol
from tests.support.fault_server import FaultServer

CANARY = "sk-canary-7f3d9a+/e1b2c4"

MakeClient = Callable[..., GatewayClient]


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[FaultServer, str]]:
    """One with TLS, and the file of who vouches for it."""
    authority, ca_file = trustme.CA(), tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with FaultServer(context) as running:
        yield running, str(ca_file)


@pytest.fixture
async def make_client(server: FaultServer) -> AsyncIterator[MakeClient]:
    """Makes clients for the fault server (or another ``base_url``) and closes them in the end."""
    made: list[GatewayClient] = []

    def make(**settings: Any) -> GatewayClient:
        settings.setdefault("base_url", server.url)
        settings.setdefault("key", CANARY)
        settings.setdefault("timeouts", Timeouts(connect=5, first=3, idle=3, settle=1))
        client = GatewayClient(Connection(**settings))
        made.append(client)
        return client

    yield make
    for client in made:
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
