"""Which connection carries which request, over real sockets."""

from __future__ import annotations

import asyncio
import gc
import json

import pytest

from playground.domain.errors import FailureKind
from playground.domain.events import Event
from playground.gateway.client import GatewayClient
from playground.gateway.tape import Exchange
from tests.gateway.conftest import MakeClient, ask, failure_of, text_of
from tests.gateway.conftest import run as run_call
from tests.support.fault_server import FaultServer, Step, chunk, head, hold, keep, pause, reset, send, whole

AT_ONCE = 20


def body(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return json.dumps({"object": "chat.completion", "choices": [choice]}).encode()


ANSWER = whole(200, "application/json", body("Hello"))
WRONG = whole(200, "application/json", body("That was for somebody else"))
CHUNKED = head(200, "application/json", chunked=True)
RECORD = 1 << 14  # bytes of TLS


def in_chunks(last: bytes) -> bytes:
    return CHUNKED + chunk(body("Hello")) + last


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


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER,
        in_chunks(b"0\r\n\r\n"),
        in_chunks(b"0\r\nTrailer: here\r\n\r\n"),
        in_chunks(b"0;odd\r\n\r\n"),
        in_chunks(b"00000000000\r\n\r\n"),
    ],
    ids=["length", "chunks", "trailer", "extension", "zeros"],
)
async def test_what_comes_behind_an_answer_is_not_taken_for_the_next_one(
    server: FaultServer, make_client: MakeClient, answer: bytes
) -> None:
    client = make_client()
    server.play(send(ANSWER), keep())
    server.play_next(send(answer + WRONG), keep())
    for _ in range(2):
        assert text_of(await run(client)) == "Hello"
    assert server.connections == 2


async def test_nor_is_what_comes_in_a_record_of_its_own(
    secure: tuple[FaultServer, str], make_client: MakeClient
) -> None:
    server, ca_file = secure
    client = make_client(base_url=server.url, ca_file=ca_file)
    short = len(whole(200, "application/json", body("Hello") + b" " * 10_000)) - 10_000
    full = whole(200, "application/json", body("Hello") + b" " * (RECORD - short))
    assert len(full) == RECORD
    server.play(send(ANSWER), keep())
    server.play_next(send(full + WRONG), keep())
    for _ in range(2):
        assert text_of(await run(client)) == "Hello"
    assert server.connections == 2


async def test_a_connection_that_is_kept_does_not_keep_what_it_carried(
    secure: tuple[FaultServer, str], make_client: MakeClient
) -> None:
    server, ca_file = secure
    client = make_client(base_url=server.url, ca_file=ca_file)
    server.play(send(ANSWER), keep())
    call, _ = await run_call(client, ask(stream=False))
    exchange_id = call.exchange.id
    del call
    gc.collect()
    assert not [item for item in gc.get_objects() if isinstance(item, Exchange) and item.id == exchange_id]
    await run(client)
    assert server.connections == 1


@pytest.mark.parametrize("status", [204, 304])
async def test_an_answer_without_a_body_has_none_whatever_it_says(
    server: FaultServer, make_client: MakeClient, status: int
) -> None:
    client = make_client()
    server.play(send(ANSWER), keep())
    server.play_next(send(head(status, None, chunked=True)), keep())
    call, _ = await run_call(client, ask(stream=False))
    assert (call.exchange.status, call.exchange.body) == (status, b"")
    assert call.exchange.ended is not None
    assert call.exchange.ended < 1  # nothing was waited for
    assert text_of(await run(client)) == "Hello"


async def test_closed_by_us_an_answer_without_an_end_is_not_whole(server: FaultServer, make_client: MakeClient) -> None:
    client = make_client()
    server.play(send(head(200, "text/event-stream"), b": here\n\n"), pause())
    task = asyncio.get_running_loop().create_task(run_call(client))
    await asyncio.to_thread(server.wait_requests, 1)
    await asyncio.sleep(0.1)
    await client.aclose()
    call, _ = await task
    assert not call.exchange.complete
    assert call.exchange.failure is not None
    assert "broke in the middle" in call.exchange.failure.message


async def test_a_connection_made_while_the_client_closes_is_closed_too(
    server: FaultServer, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is when the window goes while a name is looked up."""
    loop = asyncio.get_running_loop()
    looking, found = asyncio.Event(), asyncio.Event()
    look_up = loop.getaddrinfo

    async def slowly(*given: object, **named: object) -> object:
        looking.set()
        await found.wait()
        return await look_up(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "getaddrinfo", slowly)
    client = make_client()
    server.play(send(ANSWER), keep())
    task = loop.create_task(run(client))
    await looking.wait()
    await client.aclose()
    found.set()
    await task
    await asyncio.to_thread(server.wait_closed, 1)


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


@pytest.mark.parametrize("last", [[], [reset()]], ids=["closed", "reset"])
async def test_a_connection_closed_while_it_is_used_again_is_told_and_not_asked_again(
    server: FaultServer, make_client: MakeClient, last: list[Step]
) -> None:
    client = make_client()
    server.play_next(send(ANSWER), keep())
    server.play(*last)
    await run(client)
    call, events = await run_call(client, ask(stream=False))
    failure = failure_of(events)
    assert failure.kind is FailureKind.CONNECTION
    assert "kept from an earlier request, was closed before an answer came" in failure.message
    assert call.exchange.connected is None
    assert len(server.requests) == 2
    _, events = await run_call(make_client(), ask(stream=False))
    assert "kept" not in failure_of(events).message


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
