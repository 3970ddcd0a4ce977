"""Faults over real sockets, one at a time: received data is kept, and the failure says what happened."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from playground.domain.errors import Failure, FailureKind, Sent
from playground.domain.events import Deviation, Event, Failed, ToolCallDelta
from playground.gateway.connection import Timeouts
from playground.protocols.protocol import get_protocol
from tests.gateway.conftest import CANARY, MakeClient, ask, failure_of, open_call, run, text_of
from tests.support.fault_server import (
    FaultServer,
    Step,
    chunk,
    drip,
    head,
    hold,
    keep,
    pause,
    reset,
    send,
    sleep,
    sse,
    text_chunk,
    whole,
)

HELLO = sse(text_chunk("Hel"), text_chunk("lo"), text_chunk("", "stop"))
DONE = sse("[DONE]")
#: What has no bearing on a test is off: however slow the machine, it is not what ends the call.
OFF = Timeouts(connect=None, first=None, idle=None, settle=None)
ALIVE = b": keep-alive\n\n"


async def test_body_cut_anywhere_keeps_the_text_and_is_cut_off(server: FaultServer, make_client: MakeClient) -> None:
    client = make_client()
    for size in range(0, len(HELLO), 61):
        server.play(send(head()), send(HELLO[:size]))
        call, events = await run(client)
        assert "Hello".startswith(text_of(events))
        assert failure_of(events).kind is (FailureKind.CUT_OFF if size else FailureKind.NO_BODY)
        assert call.exchange.body == HELLO[:size]


async def test_wrong_length_after_a_whole_answer_is_noted(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head(200, "text/event-stream", "Content-Length: 99999")), send(HELLO))
    call, events = await run(make_client())
    assert text_of(events) == "Hello"
    assert not any(isinstance(event, Failed) for event in events)
    assert any(isinstance(event, Deviation) and event.code == "broken_after_end" for event in events)
    assert call.exchange.failure is None


NOT_HTTP = [
    (b"SSH-2.0-OpenSSH_9.2\r\n", "does not speak HTTP: it says “SSH-2.0-OpenSSH_9.2”."),
    (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "does not speak HTTP: it says “SSH-2.0-OpenSSH_9.2”."),
    (b"-ERR unknown command\r\n", "it says “-ERR unknown command”."),
    (b"<html>no headers</html>", "it says “<html>no headers</html>”."),
    (b"\x15\x03\x01\x00\x02\x02\x46", "it speaks TLS. Begin the address with https://."),
    (b"\x00\x00\x12\x04\x00\x00\x00\x00\x00", "it speaks HTTP/2 alone"),
    (b"J\x00\x00\x00\n8.0.36\x00", "it begins with the bytes 4a 00 00 00 0a 38 2e 30."),
    (b"\xe2\x80\xae\r\n", "it begins with the bytes e2 80 ae"),
    (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "violates HTTP (illegal header line: “no colon”)"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "violates HTTP (bad Content-Length)"),
    (f"500 unknown: Bearer {CANARY}\r\n".encode(), "it says “500 unknown: Bearer ••••”"),
]


@pytest.mark.parametrize("ends", [[], [hold()]], ids=["closed", "left open"])
async def test_answer_that_is_not_http_is_quoted(
    server: FaultServer, make_client: MakeClient, ends: list[Step]
) -> None:
    client = make_client(timeouts=Timeouts(connect=5, first=1 if ends else 30))
    for sent, words in NOT_HTTP if not ends else NOT_HTTP[:1]:
        server.play(send(sent), ends)
        _, events = await run(client)
        failure = failure_of(events)
        assert failure.kind is FailureKind.NOT_HTTP
        assert words in failure.message
        assert "bytearray" not in failure.message


@pytest.mark.parametrize("key", [CANARY, None])
async def test_failure_says_what_was_requested(server: FaultServer, make_client: MakeClient, key: str | None) -> None:
    client = make_client(key=key)
    sent = Sent(endpoint="chat", keyed=key is not None, streamed=True)
    scripts: tuple[list[Step], ...] = (
        [send(whole(400, "application/json", b"{}")), keep()],  # refused
        [send(head()), send(sse('{"error": {"message": "no"}}'))],  # told in the stream
        [send(head())],  # a verdict of the decoder
        [send(head()), send(sse(text_chunk("Hel"))), reset()],  # a way that broke
        [reset()],
    )
    for script in scripts:
        server.play(script)
        call, events = await run(client)
        assert failure_of(events).sent == sent
        assert call.exchange.failure == failure_of(events)
    listed = (await client.list_models()).failure
    assert listed is not None
    assert listed.sent == Sent(endpoint="models", keyed=key is not None, streamed=False)


HEL = send(sse(text_chunk("Hel")))
LOST = FailureKind.CONNECTION


@pytest.mark.parametrize(
    ("steps", "settings", "text", "kind", "words"),
    [
        ([], {}, "", LOST, "before an answer"),
        ([reset()], {}, "", LOST, "before an answer"),
        ([send(b"HTTP/1.1 200 OK\r\nConte")], {}, "", LOST, "before an answer"),
        ([send(head(chunked=True), chunk(HEL.data), b"400\r\ndata: {")], {}, "Hel", LOST, "middle of the answer"),
        ([send(head(200, None, "X-Long: " + "a" * 200_000))], {}, "", FailureKind.TOO_LARGE, "larger than 100 KiB"),
        ([send(whole(200, "text/event-stream", b""))], {}, "", FailureKind.NO_BODY, ""),
        (
            [send(head()), drip(b"data: " + b"a" * 300_000, 30_000), hold()],
            {"max_event_bytes": 100_000}, "", FailureKind.TOO_LARGE, "",
        ),
        (
            [send(head(503, "text/plain", "Content-Length: 5000")), send(b"overloaded"), hold()],
            {"settle": 0.2}, "", FailureKind.HTTP, "overloaded",
        ),
        ([hold()], {"first": 0.2}, "", FailureKind.TIMEOUT_FIRST, ""),
        ([send(head()), hold()], {"first": 0.2}, "", FailureKind.TIMEOUT_FIRST, ""),
        ([send(head()), HEL, hold()], {"idle": 0.2}, "Hel", FailureKind.TIMEOUT_IDLE, ""),
    ],
    ids=[
        "closed", "reset", "half a status line", "half a chunk", "headers", "empty", "large event", "endless error",
        "no headers", "no body", "no more content",
    ],
)  # fmt: skip
async def test_broken_answer_is_a_failure_and_keeps_the_text(
    server: FaultServer,
    make_client: MakeClient,
    steps: list[Step | list[Step]],
    settings: dict[str, Any],
    text: str,
    kind: FailureKind,
    words: str,
) -> None:
    server.play(*steps)
    clocks = {name: settings.pop(name) for name in [*settings] if name in Timeouts.model_fields}
    call, events = await run(make_client(timeouts=OFF.model_copy(update=clocks), **settings))
    failure = failure_of(events)
    assert (text_of(events), failure.kind) == (text, kind)
    assert words in failure.message
    assert call.exchange.failure == failure
    assert call.exchange.size < 250_000
    if hold() in steps:
        await asyncio.to_thread(server.wait_closed)


async def test_content_that_keeps_coming_outlives_every_clock(server: FaultServer, make_client: MakeClient) -> None:
    steps = [step for number in range(8) for step in (send(sse(text_chunk(str(number)))), sleep(0.3))]
    server.play(send(head()), steps, send(HELLO, DONE))
    clocks = Timeouts(connect=5, first=2, idle=2, settle=2)  # longer than a pause by what a busy machine may add
    _, events = await run(make_client(timeouts=clocks))
    assert text_of(events) == "01234567Hello"


@pytest.mark.parametrize("first", [b"", sse(text_chunk("Hel"))], ids=["before content", "after content"])
async def test_keep_alives_do_not_re_arm(server: FaultServer, make_client: MakeClient, first: bytes) -> None:
    server.play(send(head()), send(first), drip(ALIVE * 400, len(ALIVE), 0.05), hold())
    call, events = await run(make_client(timeouts=OFF.model_copy(update={"idle" if first else "first": 1})))
    failure = failure_of(events)
    assert failure.kind is (FailureKind.TIMEOUT_IDLE if first else FailureKind.TIMEOUT_FIRST)
    assert first or "Keep-alives were received" in failure.message
    assert call.exchange.body.count(ALIVE) < 400, "they went on, and it was over"


async def test_total_timeout_ends_the_call(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head()), drip(sse(*[text_chunk("x")] * 40), len(sse(text_chunk("x"))), 0.3), hold())
    _, events = await run(make_client(timeouts=Timeouts(total=1.8)))
    assert failure_of(events).kind is FailureKind.TIMEOUT_TOTAL
    assert text_of(events).startswith("x")


async def test_slow_reader_causes_no_timeout(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head()), send(HELLO[:-20]), send(HELLO[-20:]), send(DONE), hold())
    got: list[Event] = []
    clocks = Timeouts(connect=5, first=5, idle=0.2, settle=0.2)  # shorter than the reader takes for each piece
    async with aclosing(open_call(make_client(timeouts=clocks))) as call:
        async for events in call:
            got += events
            await asyncio.sleep(0.3)
    assert text_of(got) == "Hello"
    assert not any(isinstance(event, Failed) for event in got)


async def test_end_marker_ends_the_call_though_the_socket_stays_open(
    server: FaultServer, make_client: MakeClient
) -> None:
    server.play(send(head()), send(HELLO, DONE), hold())
    call, events = await run(make_client(timeouts=OFF))
    assert text_of(events) == "Hello"
    assert call.exchange.complete
    await asyncio.to_thread(server.wait_closed)


async def test_finish_reason_without_an_end_marker_settles(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head()), send(HELLO), hold())
    _, events = await run(make_client(timeouts=OFF.model_copy(update={"settle": 0.2})))
    assert not any(isinstance(event, Failed) for event in events)
    assert any(isinstance(event, Deviation) and event.code == "broken_after_end" for event in events)


def _delta(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return sse(json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))


EMPTY = {"role": "assistant", "content": ""}
CALL = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]}


@pytest.mark.parametrize(
    ("first", "reason", "later"),
    [
        (EMPTY, "stop", {"content": "Hello"}),
        (EMPTY, "null", CALL),
        ({"reasoning_content": "hm"}, "tool_calls", CALL),
        ({"reasoning_content": "hm"}, "eos", {"content": "Hello"}),
    ],
)
async def test_early_finish_reason_does_not_end_the_call(
    server: FaultServer, make_client: MakeClient, first: dict[str, Any], reason: str, later: dict[str, Any]
) -> None:
    server.play(send(head()), send(_delta(first, reason)), sleep(0.3), send(_delta(later), _delta({}, "stop"), DONE))
    clocks = Timeouts(connect=5, first=5, idle=5, settle=0.1)
    _, events = await run(make_client(timeouts=clocks))
    assert not any(isinstance(event, Failed) for event in events)
    assert text_of(events) == later.get("content", "")
    assert any(isinstance(event, ToolCallDelta) for event in events) is ("tool_calls" in later)


async def test_content_within_the_wait_after_a_finish_reason_is_added(
    server: FaultServer, make_client: MakeClient
) -> None:
    late = [[sleep(0.4), send(_delta({"content": piece}))] for piece in ("l", "l", "o")]
    server.play(send(head()), send(_delta({"content": "He"}, "stop")), *late, hold())
    _, events = await run(make_client(timeouts=OFF.model_copy(update={"settle": 1})))
    assert text_of(events) == "Hello"
    assert not any(isinstance(event, Failed) for event in events)


@pytest.mark.parametrize(
    ("first", "kind"), [(EMPTY, FailureKind.TIMEOUT_FIRST), ({"reasoning": "hm"}, FailureKind.TIMEOUT_IDLE)]
)
async def test_silence_after_an_early_finish_reason_is_a_time_out(
    server: FaultServer, make_client: MakeClient, first: dict[str, Any], kind: FailureKind
) -> None:
    server.play(send(head()), send(_delta(first, "stop")), hold())
    clock = "first" if kind is FailureKind.TIMEOUT_FIRST else "idle"
    _, events = await run(make_client(timeouts=OFF.model_copy(update={clock: 0.5})))
    failure = failure_of(events)
    assert failure.kind is kind
    assert failure.message.endswith("A finish reason precedes any text or call.")


NATIVE_ERROR = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"upstream died"}}\n\n'
CHAT_ERROR = 'data: {"error":{"message":"upstream died","type":"server_error","code":"x"}}\n\n'


@pytest.mark.parametrize(("protocol", "error"), [("chat", CHAT_ERROR), ("messages", NATIVE_ERROR)])
async def test_error_on_a_connection_that_stays_open_is_given_at_once_and_ends_the_call(
    server: FaultServer, make_client: MakeClient, protocol: str, error: str
) -> None:
    server.play(send(head()), send(error.encode()), pause(), drip(ALIVE * 600, len(ALIVE), 0.1), hold())
    client = make_client(timeouts=Timeouts(connect=5, first=60, idle=60, settle=0.4))
    call = client.open(get_protocol(protocol), ask())
    failures: list[Failure] = []
    async with aclosing(call):
        async for events in call:
            failures += [event.failure for event in events if isinstance(event, Failed)]
            if failures:  # nothing else comes before
                server.go_on()
    assert call.exchange.body.count(ALIVE) < 600, "signs of life went on, and it was over"
    assert [failure.message for failure in failures] == ["upstream died"]
    assert call.exchange.failure == failures[0]
    await asyncio.to_thread(server.wait_closed)


async def test_content_after_an_error_is_read_to_the_end_marker(server: FaultServer, make_client: MakeClient) -> None:
    pieces = [[send(sse(text_chunk(piece))), sleep(0.6)] for piece in ("lo", " ", "world")]
    server.play(send(head()), send(sse(text_chunk("Hel"))), send(CHAT_ERROR.encode()), *pieces, send(DONE), hold())
    timeouts = Timeouts(connect=5, first=5, idle=5, settle=1.5)  # shorter than all that comes after the error
    call, events = await run(make_client(timeouts=timeouts))
    assert text_of(events) == "Hello world"
    assert call.exchange.complete, "it ends with the end marker"
    assert call.exchange.failure is not None


async def test_refused(make_client: MakeClient) -> None:
    with FaultServer() as fault_server:
        url = fault_server.url
    _, events = await run(make_client(base_url=url))
    failure = failure_of(events)
    assert failure.kind is FailureKind.REFUSED
    assert "127.0.0.1" in failure.message


async def test_unknown_name(make_client: MakeClient) -> None:
    _, events = await run(make_client(base_url="http://no-such-gateway.invalid/v1", timeouts=Timeouts(connect=8)))
    failure = failure_of(events)
    assert failure.kind is FailureKind.NAME
    assert "no-such-gateway.invalid" in failure.message


async def test_redirect_is_not_followed(server: FaultServer, make_client: MakeClient) -> None:
    server.play(
        send(whole(308, "text/html", b"moved", "Location: https://elsewhere.example/v1/chat/completions")), hold()
    )
    call, events = await run(make_client())
    failure = failure_of(events)
    assert (failure.kind, failure.status) == (FailureKind.REDIRECT, 308)
    assert "https://elsewhere.example" in failure.message
    assert len(server.requests) == 1
    assert call.exchange.status == 308
    await asyncio.to_thread(server.wait_closed)  # a body that was not read leaves no connection behind


async def test_redirect_to_an_invalid_address_is_a_redirect(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(whole(302, "text/html", b"moved", "Location: http://[::1:80/v1")))
    _, events = await run(make_client())
    failure = failure_of(events)
    assert failure.kind is FailureKind.REDIRECT
    assert "points to an address that is not valid" in failure.message


async def test_damaged_and_unasked_compression(server: FaultServer, make_client: MakeClient) -> None:
    server.play_next(send(whole(200, "application/json", b"{plain}", "Content-Encoding: gzip")), keep())
    server.play_next(send(whole(200, "application/json", b"\x1b\x00", "Content-Encoding: br")))
    client = make_client()
    _, events = await run(client)
    assert failure_of(events).kind is FailureKind.DECODE
    _, events = await run(client)
    failure = failure_of(events)
    assert failure.kind is FailureKind.DECODE
    assert "br" in failure.message


async def test_html_502(server: FaultServer, make_client: MakeClient) -> None:
    page = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1>nginx</body></html>"
    server.play(send(whole(502, "text/html", page, "X-Request-Id: r-1", "Retry-After: 1.5", "x-should-retry: true")))
    call, events = await run(make_client())
    failure = failure_of(events)
    assert (failure.kind, failure.status, failure.request_id, failure.retry_after) == (
        FailureKind.HTTP,
        502,
        "r-1",
        1.5,
    )
    assert "Bad Gateway" in failure.message
    assert failure.body == page.decode()
    assert call.should_retry is True
    assert call.exchange.body == page
