"""Small reads: each is stamped and given by itself, and none is lost at Stop, at an end or at a limit."""

from __future__ import annotations

import asyncio

import pytest

from playground.domain.errors import FailureKind
from playground.domain.events import Event, StreamEnd
from tests.gateway.conftest import MakeClient, failure_of, open_call, run, text_of
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, chunk, head, hold, pause, send, sse, text_chunk

WORDS = ("one", " two", " three")
EVENTS = [sse(text_chunk(word)) for word in WORDS]
END = chunk(sse(text_chunk("", "stop"))) + chunk(sse("[DONE]")) + chunk(b"")


@pytest.fixture(params=[False, True], ids=["plain", "tls"])
def reached(
    secure: tuple[FaultServer, str], server: FaultServer, request: pytest.FixtureRequest
) -> tuple[FaultServer, dict[str, str]]:
    """A server, without TLS and with it, and the settings of a client for it."""
    tls_server, ca_file = secure
    return (tls_server, {"base_url": tls_server.url, "ca_file": ca_file}) if request.param else (server, {})


async def test_reads_are_stamped_and_given_one_by_one(
    reached: tuple[FaultServer, dict[str, str]], make_client: MakeClient
) -> None:
    server, settings = reached
    steps = [step for event in EVENTS for step in (send(chunk(event)), pause())]
    server.play(send(head(chunked=True)), steps, send(END))
    call = open_call(make_client(**settings))
    events: list[Event] = []
    texts = []
    async for new in call:
        events += new
        if text_of(new):
            texts.append(text_of(new))
            server.go_on()
    assert texts == list(WORDS)
    assert StreamEnd() in events
    assert [read.data for read in call.exchange.reads][:3] == EVENTS
    stamps = [read.at for read in call.exchange.reads]
    assert sorted(stamps) == stamps
    assert len(set(stamps)) >= len(EVENTS)


async def test_connection_that_closes_gives_all_that_arrived(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head(chunked=True)), *(send(chunk(event)) for event in EVENTS))
    _, events = await run(make_client())
    assert text_of(events) == "".join(WORDS)
    assert failure_of(events).kind is FailureKind.CONNECTION


async def test_stop_keeps_the_events_that_were_not_given_yet(
    reached: tuple[FaultServer, dict[str, str]], make_client: MakeClient
) -> None:
    server, settings = reached
    server.play(send(head(chunked=True), chunk(EVENTS[0])), pause(), send(*map(chunk, EVENTS[1:])), hold())
    call = open_call(make_client(**settings))
    events: list[Event] = []
    while not text_of(events):
        events += await anext(call)
    server.go_on()
    task = asyncio.get_running_loop().create_task(anext(call))
    await eventually(lambda: task.done() or call.exchange.wire_bytes == sum(map(len, EVENTS)))
    task.cancel()
    await asyncio.wait([task])
    await call.aclose()
    given = [] if task.cancelled() else task.result()
    assert b"".join(EVENTS).startswith(call.exchange.body)
    assert text_of([*events, *given, *call.left]) == "".join(WORDS[: call.exchange.body.count(b"data:")])
    assert not call.exchange.complete
