"""Bombs and floods over a real socket: bounded memory, no other task held up. A process of its own measures memory."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest
from pydantic import SecretStr

from playground.domain.accumulator import Accumulator
from playground.domain.errors import FailureKind
from playground.domain.request import Request
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection, Timeouts
from playground.protocols.protocol import get_protocol
from tests.support.fault_server import FaultServer, head, hold, send
from tests.support.slow import slow_except

MEBIBYTE = 1024 * 1024


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


def client_for(server: FaultServer, **more: Any) -> GatewayClient:
    more.setdefault("timeouts", Timeouts(connect=5, first=20, idle=20, settle=1))
    return GatewayClient(Connection(base_url=server.url, key=SecretStr("sk-hostile-0001"), **more))


async def answer(server: FaultServer, protocol: str = "chat", **more: Any) -> Accumulator:
    """One run, folded; its parts and its failure can be saved."""
    state = Accumulator()
    request = Request(protocol=protocol, model="m", turns=(), extra_body={"stream": True, "max_tokens": 9})
    async with client_for(server, **more) as client, aclosing(client.open(get_protocol(protocol), request)) as call:
        async for events in call:
            state.add_events(events)
    if state.failure is not None:
        assert state.failure.kind is not FailureKind.INTERNAL, state.failure.message
        state.failure.model_dump_json()
    for choice in state.choices.values():
        for part in choice.freeze():
            part.model_dump_json()
    return state


def bomb(begin: bytes, fill: bytes, mebibytes: int = 1024) -> bytes:
    """A gzip body that inflates to ``begin`` and that many mebibytes of ``fill``; made without holding them."""
    engine = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = engine.compress(begin) + engine.flush(zlib.Z_FULL_FLUSH)
    engine = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = engine.compress(fill * (MEBIBYTE // len(fill))) + engine.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + start + block * mebibytes + engine.flush()


#: Runs one request, or lists the models, and prints the failure's kind and by how many MiB the process ever grew.
CHILD = """
import asyncio, resource, sys
from playground.domain.events import Failed
from playground.domain.request import Request
from playground.gateway import transport
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from playground.protocols.protocol import get_protocol

def most() -> float:
    kibibyte = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kibibyte / 1048576

async def main(url: str, what: str, event: int, body: int) -> None:
    connection = Connection(base_url=url, max_event_bytes=event, max_body_bytes=body)
    protocol = get_protocol("chat")
    before, kinds = most(), []
    async with GatewayClient(connection) as client:
        if what == "models":
            failure = (await client.list_models()).failure
            kinds = [failure.kind] if failure else []
        else:
            async for events in client.open(protocol, Request(protocol="chat", model="m", turns=())):
                kinds += [event.failure.kind for event in events if isinstance(event, Failed)]
    print(*kinds, round(most() - before))

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
"""

BOMBS = {
    "one event without end": ("run", "text/event-stream", b"data: ", b"a"),
    "a model list": ("models", "application/json", b"[", b'"a",'),
}


@pytest.mark.skipif(sys.platform == "win32", reason="the most memory a process held is not known there")
@pytest.mark.parametrize("name", slow_except(["one event without end"], BOMBS))
def test_a_bomb_of_one_gibibyte_is_bounded(server: FaultServer, name: str) -> None:
    what, content_type, begin, fill = BOMBS[name]
    body = bomb(begin, fill)
    assert len(body) < 2 * MEBIBYTE
    server.play(send(head(200, content_type, "Content-Encoding: gzip")), send(body), hold())
    event, whole_body = 16 * MEBIBYTE, 32 * MEBIBYTE
    command = [sys.executable, "-c", CHILD, server.url, what, str(event), str(whole_body)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    kind, grown = done.stdout.split()
    assert kind == FailureKind.TOO_LARGE
    assert int(grown) < 2 * whole_body / MEBIBYTE, f"grew by {grown} MiB"
    server.wait_closed()


async def test_a_bomb_in_an_error_does_not_hide_the_status(server: FaultServer) -> None:
    server.play(
        send(head(503, "application/json", "Content-Encoding: gzip")), send(bomb(b'{"message":"', b"a")), hold()
    )
    state = await answer(server)
    assert state.failure is not None
    assert (state.failure.kind, state.failure.status) == (FailureKind.HTTP, 503)
    assert len(state.failure.body) <= 64 * 1024


async def test_a_flood_leaves_the_clock_and_the_loop_their_turn(server: FaultServer) -> None:
    """Small events without content, very many in one read: the time-out comes in time and others are not held up."""
    flood = send(bomb(b": x\n\n", b": keep-alive\n\n", 64))
    server.play(send(head(200, "text/event-stream", "Content-Encoding: gzip")), flood, hold())
    longest, last, ticking = 0.0, time.thread_time(), True  # of the loop's own time, whatever else the machine does

    async def tick() -> None:
        nonlocal longest, last
        while ticking:
            now = time.thread_time()
            longest, last = max(longest, now - last), now
            await asyncio.sleep(0.01)

    neighbour = asyncio.get_running_loop().create_task(tick())
    before = time.monotonic()
    state = await answer(server, timeouts=Timeouts(connect=5, first=0.4))
    seconds, ticking = time.monotonic() - before, False
    await neighbour
    assert state.failure is not None
    assert state.failure.kind is FailureKind.TIMEOUT_FIRST
    assert seconds < 15
    assert longest < 2
