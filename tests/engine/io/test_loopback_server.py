"""The server on loopback sends each piece at once, hangs up on one client, and closes in the middle of an answer."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator

import pytest
from starlette.types import Receive, Scope, Send

from playground.engine.io.loopback_server import LoopbackServer, wait_for_disconnect

ASKS = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
ROUNDS = 40


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer in pieces: headers, two letters, and for /hold nothing more."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"a", "more_body": True})
    if scope["path"] == "/hold":
        await wait_for_disconnect(receive)
    else:
        await send({"type": "http.response.body", "body": b"b"})


@pytest.fixture
async def server() -> AsyncIterator[tuple[LoopbackServer, int]]:
    running = LoopbackServer(application)
    _, port = await running.start()
    yield running, port
    await running.aclose()


async def test_small_pieces_are_sent_without_waiting_for_acknowledgements(server: tuple[LoopbackServer, int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server[1])
    times = []
    for _ in range(ROUNDS):
        begun = time.monotonic()
        writer.write(ASKS % b"/")
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(2)
        times.append(time.monotonic() - begun)
    writer.close()

    assert statistics.median(times) < 0.03  # an acknowledgement is delayed by 40 ms


async def test_close_ends_a_running_answer(server: tuple[LoopbackServer, int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server[1])
    writer.write(ASKS % b"/hold")
    await reader.readuntil(b"\r\n\r\na")

    await server[0].aclose()

    with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    writer.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", server[1])


async def test_connection_without_a_request_is_closed() -> None:
    running = LoopbackServer(application, idle=0.05)
    _, port = await running.start()
    silent, silent_writer = await asyncio.open_connection("127.0.0.1", port)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(ASKS % b"/hold")
    await reader.readuntil(b"\r\n\r\na")

    assert await silent.read() == b""
    assert not reader.at_eof()
    await running.aclose()
    for connection in (silent_writer, writer):
        connection.close()


async def test_hang_up_closes_the_connection_of_one_client(server: tuple[LoopbackServer, int]) -> None:
    connections = [await asyncio.open_connection("127.0.0.1", server[1]) for _ in range(2)]
    for reader, writer in connections:
        writer.write(ASKS % b"/hold")
        await reader.readuntil(b"\r\n\r\na")

    server[0].hang_up(connections[0][1].get_extra_info("sockname"))

    assert await connections[0][0].read() == b""
    assert not connections[1][0].at_eof()
    for _, writer in connections:
        writer.close()
