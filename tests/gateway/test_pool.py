"""Which connection carries which request, over real sockets."""

from __future__ import annotations

import asyncio
import json

import pytest

from playground.domain.errors import FailureKind
from playground.domain.events import Event
from playground.gateway.client import GatewayClient
from tests.gateway.conftest import MakeClient, ask, collect, failure_of, open_call, text_of
from tests.gateway.conftest import run as run_call
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, Step, chunk, head, hold, keep, pause, reset, send, whole

AT_ONCE = 20


def body(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return json.dumps({"object": "chat.completion", "choices": [choice]}).encode()


ANSWER = whole(200, "application/json", body("Hello"))
SURPLUS = whole(200, "application/json", body("an answer that no request asked for"))
CHUNKED = head(200, "application/json", chunked=True)


async def run(client: GatewayClient) -> list[Event]:
    _, events = await run_call(client, ask(stream=False))
    return events


async def test_connections_are_used_again_by_as_many_requests(server: FaultServer, make_client: MakeClient) -> None:
    client = make_client()
    server.play(send(ANSWER), keep())
    for _ in range(3):
        answers = await asyncio.gather(*(run(client) for _ in range(AT_ONCE)))
        assert [text_of(events) for events in answers] == ["Hello"] * AT_ONCE
    assert server.connections <= AT_ONCE
    assert len(server.requests) == 3 * AT_ONCE


async def test_connections_closed_by_the_gateway_carry_no_further_request(
    server: FaultServer, make_client: MakeClient
) -> None:
    client = make_client()
    server.play(send(ANSWER))  # and closes without a “Connection: close”
    await asyncio.gather(*(run(client) for _ in range(AT_ONCE)))
    await asyncio.sleep(0.1)  # the ends are on their way
    server.play(send(ANSWER), keep())
    for _ in range(3):
        assert text_of(await run(client)) == "Hello"
    assert server.connections == AT_ONCE + 1


async def _check_surplus_is_dropped(server: FaultServer, client: GatewayClient, answer: bytes) -> None:
    server.play(send(ANSWER), keep())
    server.play_next(send(answer + SURPLUS), keep())
    for _ in range(2):
        assert text_of(await run(client)) == "Hello"
    assert server.connections == 2


@pytest.mark.parametrize(
    "answer", [ANSWER, CHUNKED + chunk(body("Hello")) + b"0\r\nTrailer: here\r\n\r\n"], ids=["length", "chunks"]
)
async def test_bytes_behind_an_answer_are_not_taken_for_the_next_one(
    server: FaultServer, make_client: MakeClient, answer: bytes
) -> None:
    await _check_surplus_is_dropped(server, make_client(), answer)


@pytest.mark.parametrize("status", [204, 304])
async def test_status_without_a_body_has_none_whatever_its_headers(
    server: FaultServer, make_client: MakeClient, status: int
) -> None:
    client = make_client()
    server.play(send(ANSWER), keep())
    server.play_next(send(head(status, None, chunked=True)), keep())
    call, _ = await run_call(client, ask(stream=False))
    assert (call.exchange.status, call.exchange.body) == (status, b"")
    assert call.exchange.failure is None or call.exchange.failure.kind is not FailureKind.TIMEOUT_FIRST
    assert text_of(await run(client)) == "Hello"


async def test_body_behind_a_status_without_one_is_not_taken_for_the_next_answer(
    server: FaultServer, make_client: MakeClient
) -> None:
    client = make_client()
    server.play(send(ANSWER), keep())
    server.play_next(send(head(204, None) + b"a body"), keep())
    await run_call(client, ask(stream=False))
    assert text_of(await run(client)) == "Hello"
    assert server.connections == 2


async def test_client_closed_in_the_middle_of_an_answer_makes_it_incomplete(
    server: FaultServer, make_client: MakeClient
) -> None:
    client = make_client()
    server.play(send(head(200, "text/event-stream"), b": here\n\n"), pause())
    call = open_call(client)
    task = asyncio.get_running_loop().create_task(collect(call))
    await eventually(lambda: call.exchange.wire_bytes)
    await client.aclose()
    await task
    assert not call.exchange.complete
    assert call.exchange.failure is not None
    assert "broke in the middle" in call.exchange.failure.message


async def test_client_closed_while_a_name_is_looked_up_closes_the_late_connection(
    server: FaultServer, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    looking, resolved = asyncio.Event(), asyncio.Event()
    look_up = loop.getaddrinfo

    async def slowly(*arguments: object, **options: object) -> object:
        looking.set()
        await resolved.wait()
        return await look_up(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "getaddrinfo", slowly)
    client = make_client(base_url=server.url.replace("127.0.0.1", "localhost"))
    server.play(send(ANSWER), keep())
    task = loop.create_task(run(client))
    await looking.wait()
    await client.aclose()
    resolved.set()
    await task
    await asyncio.to_thread(server.wait_closed, 1)


async def test_idle_connection_is_closed_after_its_time(
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


@pytest.mark.parametrize("last", [[], [reset()]], ids=["closed", "reset"])
async def test_connection_closed_while_it_is_used_again_fails_without_a_second_request(
    server: FaultServer, make_client: MakeClient, last: list[Step]
) -> None:
    client = make_client()
    server.play_next(send(ANSWER), keep())
    server.play(*last)
    await run(client)
    call, events = await run_call(client, ask(stream=False))
    failure = failure_of(events)
    assert failure.kind is FailureKind.CONNECTION
    assert "kept from an earlier request, was closed before an answer was received" in failure.message
    assert call.exchange.connected is None
    assert len(server.requests) == 2
    _, events = await run_call(make_client(), ask(stream=False))
    assert "kept" not in failure_of(events).message


async def test_client_that_closes_ends_free_and_busy_connections(server: FaultServer, make_client: MakeClient) -> None:
    client = make_client()
    server.play(send(ANSWER), keep())
    await run(client)
    server.play(send(head(200, "text/event-stream")), hold())
    tasks = [asyncio.get_running_loop().create_task(run(client)) for _ in range(2)]
    await eventually(lambda: len(server.requests) == 3)
    closings = len(server.closings)
    await client.aclose()
    await eventually(lambda: len(server.closings) >= closings + 2)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
