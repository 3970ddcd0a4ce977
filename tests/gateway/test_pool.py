"""Which connection carries which request, over real sockets."""

from __future__ import annotations

import asyncio
import json

import pytest

from playground.domain.events import Event
from playground.gateway.client import GatewayClient
from tests.gateway.conftest import MakeClient, ask, text_of
from tests.gateway.conftest import run as run_call
from tests.support.fault_server import FaultServer, head, hold, keep, send, whole

AT_ONCE = 20
CHOICE = {"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}
ANSWER = whole(200, "application/json", json.dumps({"object": "chat.completion", "choices": [CHOICE]}).encode())


async def run(client: GatewayClient) -> list[Event]:
    _, events = await run_call(client, ask(stream=False))
    return events


async def test_as_many_at_once_again_need_no_more_connections(server: FaultServer, make_client: MakeClient) -> None:
    client = make_client()
    server.play(send(ANSWER), keep())
    for _ in range(3):
        answered = await asyncio.gather(*(run(client) for _ in range(AT_ONCE)))
        assert [text_of(events) for events in answered] == ["Hello"] * AT_ONCE
    assert server.connections <= AT_ONCE
    assert len(server.requests) == 3 * AT_ONCE


async def test_one_after_the_other_have_the_connection_that_was_free_last(
    server: FaultServer, make_client: MakeClient
) -> None:
    client = make_client()
    server.play(send(ANSWER), keep())
    await asyncio.gather(*(run(client) for _ in range(AT_ONCE)))
    for _ in range(AT_ONCE):
        await run(client)
    assert len({request.connection for request in server.requests[AT_ONCE:]}) == 1


async def test_connections_that_were_closed_at_the_other_end_carry_nothing(
    server: FaultServer, make_client: MakeClient
) -> None:
    client = make_client()
    server.play(send(ANSWER))  # and closes, without a word of it
    await asyncio.gather(*(run(client) for _ in range(AT_ONCE)))
    await asyncio.sleep(0.1)  # the ends are on their way
    server.play(send(ANSWER), keep())
    for _ in range(3):
        assert text_of(await run(client)) == "Hello"
    assert server.connections == AT_ONCE + 1


async def test_a_connection_that_waited_for_long_is_closed(
    server: FaultServer, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("playground.gateway.transport.KEEP_OPEN", 0.05)
    client = make_client()
    server.play(send(ANSWER), keep())
    await asyncio.gather(*(run(client) for _ in range(3)))
    await asyncio.sleep(0.1)
    before = server.connections
    await run(client)
    await asyncio.to_thread(server.wait_closed, before)
    assert server.connections == before + 1


async def test_closing_the_client_closes_what_is_free_and_what_is_in_use(
    server: FaultServer, make_client: MakeClient
) -> None:
    client = make_client()
    server.play(send(ANSWER), keep())
    await run(client)
    server.play(send(head(200, "text/event-stream")), hold())
    task = asyncio.get_running_loop().create_task(run(client))
    other = asyncio.get_running_loop().create_task(run(client))
    await asyncio.to_thread(server.wait_requests, 3)
    closings = len(server.closings)
    await client.aclose()
    await asyncio.to_thread(server.wait_closed, closings + 2)
    for one in (task, other):
        one.cancel()
    await asyncio.gather(task, other, return_exceptions=True)
