"""What trickles in is stamped as it comes and taken together; nothing waits that is whole, large, or all there is."""

from __future__ import annotations

import asyncio
import time
import zlib

import pytest

from playground.domain.errors import FailureKind
from playground.domain.events import Event, Finish, StreamEnd
from playground.gateway import network, transfer
from playground.gateway.call import EventStream
from playground.gateway.stream import SMALL
from tests.gateway.conftest import MakeClient, collect, failure_of, open_call, run, text_of
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, chunk, head, hold, pause, reset, send, sleep, sse, text_chunk

WORDS = ("one", " two", " three")
EVENTS = [sse(text_chunk(word)) for word in WORDS]
END = chunk(sse(text_chunk("", "stop"))) + chunk(sse("[DONE]")) + chunk(b"")
TRICKLE = (
    send(head(chunked=True)),
    sleep(0.03),
    *(step for event in EVENTS for step in (send(chunk(event)), sleep(0.03))),
)


@pytest.fixture
def long_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever waits to be taken together waits for longer than any test does."""
    monkeypatch.setattr(network, "TOGETHER_S", 60.0)


@pytest.fixture
def secured(
    secure: tuple[FaultServer, str], server: FaultServer, request: pytest.FixtureRequest
) -> tuple[FaultServer, str]:
    """A server with TLS and the file of who vouches for it, or one without either."""
    return secure if request.param else (server, "")


async def _stopped(call: EventStream, count: int) -> list[Event]:
    """What was given by the time so many reads' bytes had come, stopped then."""
    given: list[Event] = []

    async def read() -> None:
        async for events in call:
            given.extend(events)

    task = asyncio.get_running_loop().create_task(read())
    await eventually(lambda: given and len(_waiting(call)) >= count)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return given


def _waiting(call: EventStream) -> list[tuple[float, bytes]]:
    """What came over the call's socket and waits."""
    assert call._transfer is not None
    stream = call._transfer._stream
    came: list[tuple[float, bytes]] = getattr(getattr(stream, "_below", stream), "_came", [])
    return came


@pytest.mark.usefixtures("long_apart")
@pytest.mark.parametrize("secured", [False, True], ids=["plain", "tls"], indirect=True)
async def test_the_first_comes_at_once_and_stop_takes_what_waits(
    secured: tuple[FaultServer, str], make_client: MakeClient
) -> None:
    server, ca_file = secured
    server.play(*TRICKLE, hold())
    call = open_call(make_client(base_url=server.url, ca_file=ca_file))
    given = await _stopped(call, 2)
    assert text_of(given) == WORDS[0]
    assert text_of(call.left) == "".join(WORDS[1:])
    reads = call.exchange.reads
    assert [read.data for read in reads] == EVENTS
    assert reads[2].at - reads[1].at > 0.02
    assert call.exchange.wire_bytes == sum(map(len, EVENTS))


@pytest.mark.usefixtures("long_apart")
async def test_the_end_is_not_waited_for(server: FaultServer, make_client: MakeClient) -> None:
    server.play(*TRICKLE, send(END), hold())
    call, events = await run(make_client())
    assert text_of(events) == "".join(WORDS)
    assert StreamEnd() in events
    at = [read.at for read in call.exchange.reads]
    assert len(at) == len(WORDS) + 1
    assert min(later - at[number] for number, later in enumerate(at[1:])) > 0.02


@pytest.mark.usefixtures("long_apart")
@pytest.mark.parametrize("end", [[], [reset()]], ids=["closed", "reset"])
async def test_a_connection_that_ends_gives_what_waits(
    server: FaultServer, make_client: MakeClient, end: list[object]
) -> None:
    server.play(*TRICKLE, *end)  # type: ignore[arg-type]
    _, events = await run(make_client())
    assert text_of(events) == "".join(WORDS)
    assert failure_of(events).kind is FailureKind.CONNECTION


@pytest.mark.usefixtures("long_apart")
async def test_what_is_large_does_not_wait(server: FaultServer, make_client: MakeClient) -> None:
    long = "x" * SMALL
    server.play(
        send(head(chunked=True), chunk(EVENTS[0])), sleep(0.03), send(chunk(sse(text_chunk(long)))), pause(), send(END)
    )
    events: list[Event] = []
    async for some in open_call(make_client()):
        events += some
        if text_of(events) == WORDS[0] + long:
            server.go_on()
    assert StreamEnd() in events


@pytest.mark.usefixtures("long_apart")
async def test_what_is_no_stream_does_not_wait(server: FaultServer, make_client: MakeClient) -> None:
    server.play(
        send(head(content_type="application/json", chunked=True), chunk(b"{")),
        sleep(0.03),
        send(chunk(b" ")),
        pause(),
        send(chunk(b"}"), chunk(b"")),
    )
    call = open_call(make_client())

    async def go_on() -> None:
        await eventually(lambda: call.exchange.wire_bytes >= 2)
        server.go_on()

    going_on = asyncio.get_running_loop().create_task(go_on())
    await collect(call)
    await going_on
    assert call.exchange.body == b"{ }"


@pytest.mark.parametrize("secured", [False, True], ids=["plain", "tls"], indirect=True)
async def test_what_trickles_is_taken_in_a_moment(
    secured: tuple[FaultServer, str], make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but the moment ends this wait: the server holds."""
    server, ca_file = secured
    monkeypatch.setattr(network, "TOGETHER_S", 0.2)
    server.play(*TRICKLE, hold())
    events: list[Event] = []
    begun = taken = 0.0
    async for some in open_call(make_client(base_url=server.url, ca_file=ca_file)):
        events += some
        begun = begun or (time.monotonic() if text_of(events) else 0.0)
        if text_of(events) == "".join(WORDS):
            taken = time.monotonic()
            break
    assert taken - begun > 0.15


async def _stopped_in_a_read(server: FaultServer, make_client: MakeClient, *bodies: bytes) -> EventStream:
    """A stopped call. A piece of what the first of these inflates to was taken; the others had come behind it."""
    pack = zlib.compressobj(wbits=31)
    first, *others = [chunk(pack.compress(body) + pack.flush(zlib.Z_SYNC_FLUSH)) for body in bodies]
    begun = head(200, "text/event-stream", "Content-Encoding: gzip", chunked=True)
    server.play(send(begun, first), pause(), send(*others), hold())
    call = open_call(make_client())
    async with asyncio.timeout(10):
        while not call.exchange.reads:
            await anext(call)
        server.go_on()
        await eventually(lambda: _waiting(call))
    await call.aclose()
    return call


async def test_stop_takes_what_is_left_of_a_read_before_what_came_behind_it(
    server: FaultServer, make_client: MakeClient
) -> None:
    texts = [" ".join(str(number // 20) for number in range(start, start + 40_000)) for start in (0, 40_000)]
    bodies = [sse(text_chunk(text)) for text in texts]
    call = await _stopped_in_a_read(server, make_client, *bodies)
    assert call.exchange.body == b"".join(bodies)
    assert text_of(call.left) == "".join(texts)


async def test_stop_takes_no_more_than_a_little_of_very_much(server: FaultServer, make_client: MakeClient) -> None:
    body = sse(text_chunk("x" * 8 * transfer.LATE))
    call = await _stopped_in_a_read(server, make_client, body, body)
    assert transfer.LATE < len(call.exchange.body) < 2 * transfer.LATE
    assert (body + body).startswith(call.exchange.body)


async def _taken(call: EventStream) -> list[tuple[list[Event], int]]:
    """All that is given, and how many reads were on the tape by then: awaited, and what came together with it."""
    given = []
    async for events in call:
        given.append((events, len(call.exchange.reads)))
        while (more := call.at_once()) is not None:
            given.append((more, len(call.exchange.reads)))
    return given


@pytest.mark.parametrize("secured", [False, True], ids=["plain", "tls"], indirect=True)
async def test_what_came_together_is_given_without_a_wait_and_read_by_read(
    secured: tuple[FaultServer, str], make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "TOGETHER_S", 0.5)  # with TLS the end is not seen from outside, and waits for it
    server, ca_file = secured
    server.play(*TRICKLE, send(END), hold())
    call = open_call(make_client(base_url=server.url, ca_file=ca_file))
    given = await _taken(call)
    assert [text_of(events) for events, _ in given if text_of(events)] == list(WORDS)
    assert [reads for events, reads in given if text_of(events)] == [1, 2, 3]
    assert StreamEnd() in given[-1][0]
    at = [read.at for read in call.exchange.reads]
    assert min(later - at[number] for number, later in enumerate(at[1:])) > 0.01  # those taken together had none
    assert call.at_once() is None


@pytest.mark.usefixtures("long_apart")
async def test_what_goes_wrong_in_a_read_that_came_together_is_told_once(
    server: FaultServer, make_client: MakeClient
) -> None:
    server.play(*TRICKLE, send(END), hold())
    most = len(EVENTS[0]) + len(EVENTS[1])
    given = await _taken(open_call(make_client(max_body_bytes=most)))
    assert [text_of(events) for events, _ in given if text_of(events)] == list(WORDS[:2])
    assert failure_of([event for events, _ in given for event in events]).kind is FailureKind.TOO_LARGE


@pytest.mark.usefixtures("long_apart")
async def test_an_end_that_came_together_is_kept_when_it_is_stopped_there(
    server: FaultServer, make_client: MakeClient
) -> None:
    server.play(*TRICKLE, send(END), hold())
    call = open_call(make_client())
    async for _ in call:
        while call.at_once() is not None:
            pass
        if len(call.exchange.reads) > len(WORDS):
            break
    await call.aclose()
    assert any(isinstance(event, Finish) for event in call.left)
    assert call.at_once() is None
