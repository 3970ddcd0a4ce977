"""Runs over real sockets: what is sent, what comes, what Stop does, and where the key never shows."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from contextlib import aclosing

import pytest

from playground.domain.errors import FailureKind
from playground.domain.events import Event, Failed, StreamEnd
from playground.gateway import transfer
from playground.gateway.call import EventStream
from playground.protocols.protocol import get_protocol
from tests.gateway.conftest import CANARY, MakeClient, ask, collect, failure_of, open_call, run, text_of
from tests.support.eventually import eventually
from tests.support.fault_server import (
    FaultServer,
    chunk,
    drip,
    head,
    hold,
    keep,
    pause,
    send,
    sleep,
    sse,
    text_chunk,
    whole,
)

HELLO = sse(text_chunk("Hel"), text_chunk("lo"), text_chunk("", "stop"))
DONE = sse("[DONE]")


async def test_streamed_answer(server: FaultServer, make_client: MakeClient) -> None:
    server.play(
        send(head(200, "text/event-stream", "X-RateLimit-Remaining: 7", "X-RateLimit-Limit: 60")), send(HELLO, DONE)
    )
    call, events = await run(make_client())
    assert text_of(events) == "Hello"
    assert StreamEnd() in events
    assert not any(isinstance(event, Failed) for event in events)
    exchange = call.exchange
    assert (exchange.status, exchange.reason, exchange.complete, exchange.failure) == (200, "Scripted", True, None)
    assert exchange.body == HELLO + DONE
    assert exchange.connected is not None
    assert exchange.sent is not None
    assert exchange.answered is not None
    assert exchange.ended is not None
    assert 0 <= exchange.connected <= exchange.sent <= exchange.answered <= exchange.reads[0].time <= exchange.ended < 3
    assert abs(exchange.started_at - time.time()) < 5
    assert call.limits.windows[0].remaining == 7


async def test_request_has_its_headers_and_body(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head()), send(DONE))
    await run(make_client(key=f"  {CANARY}\r\n"), ask("Zoë \ud83d & “x”"))
    request = server.requests[0]
    assert (request.method, request.target) == ("POST", "/v1/chat/completions")
    assert request.header("Authorization") == f"Bearer {CANARY}"
    assert request.header("Content-Type") == "application/json"
    assert request.header("Accept") == "text/event-stream"
    assert request.header("Accept-Encoding") == "gzip, deflate"
    assert str(request.header("User-Agent")).startswith("gateway-playground/")
    assert request.header("x-api-key") is None
    assert request.header("Cookie") is None
    body = request.body.decode()
    assert body.startswith('{"model":"m","messages":')
    assert "Zoë" in body
    assert "“x”" in body
    assert request.json["stream"] is True


async def test_framing_headers_are_sent_once(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head()), send(DONE))
    await run(make_client(headers={"host": "gateway.example"}), ask())
    await run(make_client(), ask())
    own, plain = server.requests
    names = [name.lower() for name, _ in plain.headers]
    assert len(set(names)) == len(names)
    assert plain.header("Host") == server.url.removeprefix("http://").split("/")[0]
    assert plain.header("Content-Length") == str(len(plain.body))
    assert [value for name, value in own.headers if name.lower() == "host"] == ["gateway.example"]


async def read_into(received: list[Event], call: EventStream) -> None:
    async with aclosing(call):
        async for events in call:
            received += events


async def test_stop_closes_the_socket_and_keeps_the_text(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head(chunked=True)), send(chunk(sse(text_chunk("Hel")))), hold())
    call = open_call(make_client())
    received: list[Event] = []
    task = asyncio.get_running_loop().create_task(read_into(received, call))
    await eventually(lambda: text_of(received))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(server.wait_closed)
    assert text_of(received) == "Hel"
    exchange = call.exchange
    assert exchange.body == sse(text_chunk("Hel"))
    assert exchange.ended is not None
    assert (exchange.complete, exchange.failure) == (False, None)


async def test_closing_the_call_closes_the_socket(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head()), send(sse(text_chunk("a"))), hold())
    async with aclosing(open_call(make_client())) as call:
        async for events in call:
            if events:
                break
    await asyncio.to_thread(server.wait_closed)
    assert [events async for events in call] == []


async def test_stop_while_waiting_for_headers(server: FaultServer, make_client: MakeClient) -> None:
    server.play(hold())
    call = open_call(make_client())
    task = asyncio.get_running_loop().create_task(call.__anext__())
    await asyncio.to_thread(server.wait_requests)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(server.wait_closed)
    assert call.exchange.ended is not None


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw deflate"])
async def test_compressed_stream(server: FaultServer, make_client: MakeClient, encoding: str) -> None:
    packer = zlib.compressobj(wbits={"gzip": 31, "deflate": 15, "raw deflate": -15}[encoding])
    first = packer.compress(sse(text_chunk("Hel"))) + packer.flush(zlib.Z_SYNC_FLUSH)
    rest = packer.compress(sse(text_chunk("lo"), text_chunk("", "stop"), "[DONE]")) + packer.flush()
    name = encoding.split()[-1]
    server.play(send(head(200, "text/event-stream", f"Content-Encoding: {name}")), send(first), pause(), send(rest))
    got: list[str] = []
    async with aclosing(open_call(make_client())) as call:
        async for events in call:
            if text := text_of(events):
                got.append(text)
                server.go_on()  # the first part is not held back until the end: it would never come
    assert got == ["Hel", "lo"]
    assert call.exchange.body == HELLO + DONE
    assert call.exchange.wire_bytes < len(call.exchange.body)


async def test_answer_that_is_one_json_body_is_read(server: FaultServer, make_client: MakeClient) -> None:
    message = {"role": "assistant", "content": "Hello"}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    server.play(send(head(200, "application/json", f"Content-Length: {len(body)}")), drip(body, 7))
    call, events = await run(make_client(), ask(stream=False))
    assert text_of(events) == "Hello"
    assert server.requests[0].header("Accept") == "application/json"
    assert (call.exchange.body, call.exchange.complete) == (body, True)


async def test_tape_replays_to_the_same_events(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head()), drip(HELLO + DONE, 37))
    call, events = await run(make_client())
    replayed: list[Event] = []
    for read, some in call.exchange.replay(get_protocol("chat").decoder(call.exchange.content_type)):
        assert read.time >= 0
        replayed += some
    assert replayed == events


async def test_streamed_answers_leave_their_connection_free(server: FaultServer, make_client: MakeClient) -> None:
    client = make_client()
    server.play(send(head(chunked=True), chunk(HELLO)), send(chunk(DONE), chunk(b"")), keep())
    await run(client)
    call, events = await run(client)
    assert text_of(events) == "Hello"
    assert call.exchange.body == HELLO + DONE
    assert call.exchange.connected is None
    assert len(server.requests) == 2
    assert server.connections == 1


@pytest.mark.parametrize("more", [b"", chunk(b": and on\n\n" * 1000) * 9, b"no chunk\r\n"], ids=["held", "more", "odd"])
async def test_answer_whose_body_does_not_end_is_complete_at_the_end_marker(
    more: bytes, server: FaultServer, make_client: MakeClient
) -> None:
    client = make_client()
    server.play(send(head(chunked=True), chunk(HELLO + DONE)), send(more), hold())
    call, events = await run(client)
    assert text_of(events) == "Hello"
    assert not any(isinstance(event, Failed) for event in events)
    assert call.exchange.complete
    await asyncio.to_thread(server.wait_closed)
    await run(client)
    assert server.connections == 2


@pytest.mark.parametrize("moment", ["arrival", "end"])
async def test_stop_at_the_arrival_of_a_read_or_at_the_end_loses_no_event(
    server: FaultServer, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    monkeypatch.setattr(transfer, "END_S", 60.0)  # the wait for the last chunk, which never comes
    server.play(send(head(chunked=True), chunk(HELLO + DONE)), hold())
    call = open_call(make_client())
    received: list[Event] = []
    reading = asyncio.get_running_loop().create_task(read_into(received, call))
    while not (call.exchange.wire_bytes if moment == "arrival" else call.exchange.ended):  # noqa: ASYNC110 - at once
        await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await asyncio.to_thread(server.wait_closed)
    events = [*received, *call.left]
    assert text_of(events) == "Hello"
    assert StreamEnd() in events


async def test_bad_settings_are_input_failures(server: FaultServer, make_client: MakeClient) -> None:
    for settings, words in (
        ({"key": "sk-canary-ü-12345"}, "U+00FC"),
        ({"headers": {"X-Bad": "a\r\nInjected: 1"}}, "X-Bad"),
        ({"headers": {"Bad Name": "1"}}, "Bad Name"),
        ({"headers": {"Content-Length": "1"}}, "Content-Length"),
        ({"base_url": "ftp://gateway.example"}, "ftp"),
        ({"base_url": "https://gateway.example/v1", "ca_file": "/no/such/file.pem"}, "CA file"),
    ):
        call, events = await run(make_client(**settings))
        failure = failure_of(events)
        assert failure.kind is FailureKind.INPUT
        assert words in failure.message
        assert "sk-canary" not in failure.message
        assert call.exchange.ended is not None
    _, events = await run(make_client(), ask(temperature=float("nan")))
    assert failure_of(events).kind is FailureKind.INPUT
    assert server.requests == []


async def test_own_headers_replace_the_default_ones(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head()), send(DONE))
    await run(make_client(headers={"user-agent": "mine", "X-Team": "blue", "authorization": "Token abcdefgh-123"}))
    headers = [name.lower() for name, _ in server.requests[0].headers]
    assert len(headers) == len(set(headers))
    assert server.requests[0].header("User-Agent") == "mine"
    assert server.requests[0].header("Authorization") == "Token abcdefgh-123"


async def test_key_echoed_by_a_gateway_is_masked_everywhere(server: FaultServer, make_client: MakeClient) -> None:
    """A gateway that echoes the key, raw, escaped and split over reads, in headers, body and error."""
    half = len(CANARY) // 2
    echo = sse(text_chunk(f"your key is {CANARY}"))
    index = echo.index(b"sk-canary") + half
    client = make_client(headers={"X-Auth-Token": "second-canary-000111"})
    header = f"X-Echo: {CANARY}"
    server.play_next(
        send(head(200, "text/event-stream", header)), send(echo[:index]), sleep(0.05), send(echo[index:]), send(HELLO)
    )
    error = json.dumps({"error": {"message": f"bad key {CANARY} second-canary-000111"}}).replace("/", "\\/").encode()
    server.play_next(send(whole(401, "application/json", error, header)), keep())
    server.play_next(send(whole(302, "text/html", b"", f"Location: https://x.example/?key={CANARY}")))
    for _ in range(3):
        call, events = await run(client, ask(f"my key is {CANARY}"))
        displayed = (
            f"{call.exchange!r} {call.exchange.body!r} {events!r} {client!r} {client.connection!r} {client.redactor!r}"
        )
        assert CANARY not in displayed
        assert "canary" not in displayed.replace("••••", "")
        assert "••••" in displayed
    assert CANARY.encode() in server.requests[0].body
    assert server.requests[0].header("x-auth-token") == "second-canary-000111"


async def test_text_held_back_by_the_redactor_keeps_the_time_of_its_arrival(
    server: FaultServer, make_client: MakeClient
) -> None:
    first = sse(text_chunk("ends with s"))  # which may be the beginning of the key
    server.play(send(head()), send(first), pause(), send(HELLO, DONE))
    call = open_call(make_client())
    collecting = asyncio.get_running_loop().create_task(collect(call))
    await eventually(lambda: call.exchange.wire_bytes >= len(first))
    elapsed = time.time() - call.exchange.started_at
    server.go_on()
    assert text_of(await collecting) == "ends with sHello"
    assert call.exchange.reads[0].time <= elapsed < call.exchange.reads[-1].time
