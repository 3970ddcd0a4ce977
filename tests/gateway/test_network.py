"""Bodies over real sockets: chunked, cut anywhere, malformed, reset; and the addresses of a host name."""

from __future__ import annotations

import asyncio
import socket

import pytest

from playground.domain.errors import FailureKind
from playground.domain.events import Event, TextDelta
from tests.gateway.conftest import MakeClient, failure_of, open_call, run, text_of
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, chunk, drip, head, hold, keep, pause, reset, send, sse, text_chunk

WORDS = ("Hel", "lo, ", "w" * 300, "orld")
EVENTS = [sse(text_chunk(word)) for word in WORDS] + [sse(text_chunk("", "stop")), sse("[DONE]")]
BODY = b"".join(EVENTS)
CHUNKED = b"".join(map(chunk, EVENTS)) + chunk(b"")


async def test_chunks_cut_anywhere_give_the_whole_body(server: FaultServer, make_client: MakeClient) -> None:
    client = make_client()
    for size in (1, 3, 17, 64, 301):
        server.play(send(head(chunked=True)), drip(CHUNKED, size), keep())
        call, events = await run(client)
        assert text_of(events) == "".join(WORDS)
        assert call.exchange.body in (BODY, BODY[:-1])  # the last line end may come behind the end marker
        assert call.exchange.failure is None


async def test_chunks_in_odd_but_valid_forms_are_read(server: FaultServer, make_client: MakeClient) -> None:
    extension = b"%X;name=value\r\n%s\r\n" % (len(EVENTS[1]), EVENTS[1])
    zeros = b"0000%X\r\n%s\r\n" % (len(EVENTS[2]), EVENTS[2])
    rest = b"".join(map(chunk, EVENTS[3:]))
    server.play(send(head(chunked=True), chunk(EVENTS[0]), extension, zeros, rest, b"0\r\nTrailer: x\r\n\r\n"), keep())
    call, events = await run(make_client())
    assert text_of(events) == "".join(WORDS)
    assert call.exchange.body == BODY


@pytest.mark.parametrize("wrong", [b"xyz\r\n", b"-5\r\nhello\r\n", b"5\r\nhelloo\r\n", b"\r\n\r\n"])
async def test_malformed_chunk_is_a_failure_that_names_it(
    server: FaultServer, make_client: MakeClient, wrong: bytes
) -> None:
    server.play(send(head(chunked=True), chunk(EVENTS[0]), wrong, chunk(EVENTS[1])))
    call, events = await run(make_client())
    assert text_of(events).startswith("Hel")
    assert failure_of(events).kind is FailureKind.CONNECTION
    assert "chunk" in failure_of(events).message
    assert call.exchange.body.startswith(EVENTS[0])


async def test_reset_in_the_middle_of_an_answer_keeps_the_text_and_is_named(
    reached: tuple[FaultServer, dict[str, str]], make_client: MakeClient
) -> None:
    server, settings = reached
    server.play(send(head(chunked=True), chunk(EVENTS[0])), pause(), reset())
    received: list[Event] = []
    async for events in open_call(make_client(**settings)):
        received += events
        if text_of(events):
            server.go_on()
    assert text_of(received) == "Hel"
    failure = failure_of(received)
    assert failure.kind is FailureKind.CONNECTION
    assert "in the middle of the answer (it was reset)" in failure.message


async def test_reads_are_stamped_and_given_one_by_one(
    reached: tuple[FaultServer, dict[str, str]], make_client: MakeClient
) -> None:
    server, settings = reached
    server.play(send(head(chunked=True)), [step for event in EVENTS for step in (send(chunk(event)), pause())])
    call = open_call(make_client(**settings))
    texts = []
    async for events in call:
        texts += [event.text for event in events if isinstance(event, TextDelta)]
        if events:  # the first list comes with the headers
            server.go_on()
    assert texts == list(WORDS)
    reads = call.exchange.reads
    assert [read.data for read in reads[: len(WORDS)]] == EVENTS[: len(WORDS)]
    assert sorted(read.time for read in reads) == [read.time for read in reads]


async def test_stop_keeps_the_events_that_were_not_given_yet(
    reached: tuple[FaultServer, dict[str, str]], make_client: MakeClient
) -> None:
    server, settings = reached
    server.play(send(head(chunked=True), chunk(EVENTS[0])), pause(), send(*map(chunk, EVENTS[1:3])), hold())
    call = open_call(make_client(**settings))
    events: list[Event] = []
    while not text_of(events):
        events += await anext(call)
    server.go_on()
    task = asyncio.get_running_loop().create_task(anext(call))
    await eventually(lambda: task.done() or call.exchange.wire_bytes == sum(map(len, EVENTS[:3])))
    task.cancel()
    await asyncio.wait([task])
    await call.aclose()
    values = [] if task.cancelled() else task.result()
    assert b"".join(EVENTS).startswith(call.exchange.body)
    assert text_of([*events, *values, *call.left]) == "".join(WORDS[: call.exchange.body.count(b"data:")])
    assert not call.exchange.complete


async def test_next_address_of_a_name_is_tried_when_one_refuses(
    server: FaultServer, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(*_arguments: object, **_options: object) -> list[tuple[object, ...]]:
        return [  # nothing listens at the first
            (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.2", server.port)),
            (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", server.port)),
        ]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    server.play(send(head()), send(BODY))
    _, events = await run(make_client(base_url=f"http://localhost:{server.port}/v1"))
    assert text_of(events) == "".join(WORDS)
