"""Replay of a cassette over real sockets, at the recorded times, into the same transcript."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest
from pydantic import SecretStr

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.accumulator import Accumulator
from playground.domain.errors import FailureKind
from playground.domain.events import TextDelta
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Transcript, make_turn
from playground.engine.cassettes.cassette import Cassette, read, write
from playground.engine.cassettes.replay import CassettePlayer
from playground.engine.cassettes.server import PlaybackClock, ReplayServer, merge_stream, split_at_frames
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.library.workspace import Workspace
from playground.engine.session.session import Session
from playground.gateway.call import EventStream
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from playground.gateway.tape import Exchange
from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.protocol import get_protocol
from tests.engine.exchanges import exchange
from tests.protocols.streams import DONE, chunk
from tests.support.eventually import eventually

HELLO = [(0.01, chunk({"content": "Hel"})), (0.05, chunk({"content": "lo"}, "stop")), (0.05, DONE)]


def comparable(transcript: Transcript) -> list[Any]:
    """Return the content of the turns that is equal in each run."""
    contents = []
    for turn in transcript.path:
        outcome = turn.outcome
        ended = outcome and (outcome.ending, outcome.finish_reason, outcome.model, outcome.response_id, outcome.usage)
        contents.append((turn.role, turn.parts, ended, outcome and outcome.deviations))
    return contents


Serve = Callable[..., Awaitable[tuple[ReplayServer, GatewayClient]]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a server of exchanges and a client of it, and close both."""
    async with AsyncExitStack() as opened:

        async def start(*exchanges: Exchange, clock: PlaybackClock | None = None) -> tuple[ReplayServer, GatewayClient]:
            server = ReplayServer(Cassette(exchanges), clock)
            client = GatewayClient(Connection(base_url=await server.start()))
            opened.push_async_callback(server.aclose)
            opened.push_async_callback(client.aclose)
            return server, client

        yield start


async def finish(call: EventStream) -> str:
    text = ""
    async with aclosing(call) as batches:
        async for events in batches:
            text += "".join(event.text for event in events if isinstance(event, TextDelta))
    return text


def hello(text: str = "Hello") -> Request:
    turns = (make_turn(Role.USER, text),)
    return Request(protocol="chat", model="m-1", turns=turns, parameters=ChatParameters(stream=True))


@pytest.fixture
async def player(session: Session) -> AsyncIterator[CassettePlayer]:
    """Replay a run on the demo gateway with a tool call, its result and the final answer."""
    session.turns.add_turn(make_turn(Role.USER, "What is the weather in Paris? !calls=1"))
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    session.change(tools=(ToolDefinition(name="get_weather", parameters=schema),))
    await session.run()
    for call in session.transcript.unanswered():
        session.turns.answer(call.id, "12 degrees, rain")
    await session.run()
    player = CassettePlayer(read(write(session.exchanges.values(), "Weather")))
    yield player
    await player.aclose()


async def test_cassette_opened_has_the_whole_experiment(session: Session, player: CassettePlayer) -> None:
    opened = player.session()
    assert len(session.exchanges) == 2
    assert len(session.transcript.path[1].calls) == 1
    assert [turn.role for turn in opened.transcript.path] == [turn.role for turn in session.transcript.path]
    assert comparable(opened.transcript)[-1] == comparable(session.transcript)[-1]
    assert opened.transcript.path[1].calls == session.transcript.path[1].calls
    assert opened.title == "Weather"
    assert opened.settings.model == session.settings.model
    assert [tool.offer for tool in opened.settings.tools] == [tool.offer for tool in session.settings.tools]
    assert opened.next_request.body() == session.next_request.body()
    assert list(opened.exchanges) == list(session.exchanges)
    for turn in opened.transcript.path:
        assert turn.outcome is None or turn.outcome.exchange in opened.exchanges


async def test_answer_is_replayed_to_its_own_request(session: Session, player: CassettePlayer) -> None:
    player.clock.speed = math.inf
    opened = player.session()
    opened.delete_turn(opened.transcript.path[-1].id)
    await opened.run()
    assert comparable(opened.transcript)[-1] == comparable(session.transcript)[-1]
    first = opened.transcript.path[1]
    await opened.regenerate(first.id)
    assert opened.transcript.path[1].parts == first.parts
    assert opened.transcript.path[1].id != first.id


async def test_replayed_experiment_changes_its_gateway(gateways: Gateways, player: CassettePlayer) -> None:
    workspace = Workspace(gateways)
    opened = player.session(gateways)
    workspace.add_experiment(opened)
    assert workspace.current is opened
    assert opened.profile is not None
    assert opened.profile.name == "Cassette: Weather"
    opened.change(profile_id=DEMO_ID)
    assert opened.profile == gateways.get(DEMO_ID)
    opened.turns.add_turn(make_turn(Role.USER, "And now?"))
    await opened.run()
    assert list(opened.exchanges.values())[-1].url.startswith(gateways.get(DEMO_ID).base_url)


async def test_answer_arrives_at_recorded_times_divided_by_the_speed(serve: Serve) -> None:
    _, client = await serve(exchange([(4, chunk({"content": "a"}, "stop")), (8, DONE)]), clock=PlaybackClock(20))
    call = client.open(get_protocol("chat"), hello())
    assert await finish(call) == "a"
    times = [read.time - (call.exchange.sent or 0.0) for read in call.exchange.reads]
    assert times[0] > 0.19
    assert 0.39 < times[-1] < 8


async def test_stepping_releases_one_frame(serve: Serve) -> None:
    clock = PlaybackClock()
    clock.stepping = True
    _, client = await serve(
        exchange([(0.01, HELLO[0][1] + HELLO[1][1][:20]), (0.02, HELLO[1][1][20:] + DONE)]), clock=clock
    )
    call = client.open(get_protocol("chat"), hello())
    got: list[str] = []

    async def receive() -> None:
        async with aclosing(call) as batches:
            async for events in batches:
                got.extend(event.text for event in events if isinstance(event, TextDelta))

    async with asyncio.TaskGroup() as group:
        group.create_task(receive())
        await eventually(lambda: call.exchange.status == 200)
        assert got == []
        clock.step()
        await eventually(lambda: got == ["Hel"], "the first frame alone")
        clock.step()
        await eventually(lambda: got == ["Hel", "lo"])
        clock.stepping = False
    assert call.exchange.failure is None


async def test_speed_changed_during_an_answer_applies_at_once(serve: Serve) -> None:
    server, client = await serve(exchange([(0.01, HELLO[0][1]), (60.0, HELLO[1][1]), (60.0, DONE)]))
    call = client.open(get_protocol("chat"), hello())
    async with asyncio.TaskGroup() as group:
        ended = group.create_task(finish(call))
        await eventually(lambda: len(call.exchange.reads) == 1)
        server.clock.speed = math.inf
        async with asyncio.timeout(5):
            assert await ended == "Hello"


async def test_status_headers_and_bytes_are_as_recorded(serve: Serve) -> None:
    body = b'{"code": 7, "message": "Too many", "data": null}'
    headers = (
        ("Content-Type", "application/json"),
        ("Retry-After", "3"),
        ("X-Odd", "caf\xe9"),
        ("Content-Length", "3"),
    )
    _, client = await serve(
        exchange([(0.01, body)], status=429, reason="Too Many", response_headers=headers), clock=PlaybackClock(math.inf)
    )
    call = client.open(get_protocol("chat"), hello())
    await finish(call)
    got = call.exchange
    assert (got.status, got.reason, got.body) == (429, "Too Many Requests", body)
    assert got.response_header("retry-after") == "3"
    assert got.response_header("x-odd") == "caf\xe9"
    assert got.response_header("content-length") is None
    assert got.failure is not None
    assert (got.failure.message, got.failure.retry_after) == ("Too many", 3.0)


async def test_incomplete_answer_breaks_off(serve: Serve) -> None:
    _, client = await serve(exchange(HELLO[:1], complete=False), clock=PlaybackClock(math.inf))
    call = client.open(get_protocol("chat"), hello())
    assert await finish(call) == "Hel"
    assert call.exchange.failure is not None
    assert call.exchange.failure.kind is FailureKind.CONNECTION


async def test_exchange_without_an_answer_closes_the_connection(serve: Serve) -> None:
    unanswered = exchange(status=None, complete=False, response_headers=())
    _, client = await serve(unanswered, clock=PlaybackClock(math.inf))
    call = client.open(get_protocol("chat"), hello())
    assert await finish(call) == ""
    assert call.exchange.status is None
    assert call.exchange.failure is not None
    assert call.exchange.failure.kind is FailureKind.CONNECTION


async def test_server_closes_in_the_middle_of_an_answer(serve: Serve) -> None:
    server, client = await serve(exchange([(0.01, HELLO[0][1]), (60.0, DONE)]))
    call = client.open(get_protocol("chat"), hello())
    async with asyncio.TaskGroup() as group:
        text = group.create_task(finish(call))
        await eventually(lambda: len(call.exchange.reads) == 1)
        async with asyncio.timeout(5):
            await server.aclose()
            assert await text == "Hel"


async def test_unrecorded_requests_are_answered_in_order(serve: Serve) -> None:
    first, second = (
        exchange(HELLO),
        exchange([(0.01, chunk({"content": "Two"}, "stop") + DONE)], asked={"model": "m-2"}),
    )
    _, client = await serve(first, second, clock=PlaybackClock(math.inf))
    protocol = get_protocol("chat")
    assert [await finish(client.open(protocol, hello("other"))) for _ in range(3)] == ["Hello", "Two", "Hello"]
    listed = await client.list_models("chat")
    assert [model.id for model in listed.models] == ["m-1", "m-2"]
    call = client.open(get_protocol("messages"), Request(protocol="messages", model="x", turns=hello().turns))
    await finish(call)
    assert call.exchange.status == 404


async def recorded_on_the_demo(protocol: str, model: str, prompt: str, *, stream: bool, url: str) -> Exchange:
    """Return an exchange with a gateway over a real socket."""
    definition = get_protocol(protocol)
    tools = (ToolDefinition(name="get_weather", parameters={"type": "object", "properties": {"city": {}}}),)
    members: dict[str, Any] = {"stream": stream} | ({"include_usage": True} if stream and protocol == "chat" else {})
    members |= (
        {"max_tokens": 4000, "thinking": {"type": "enabled", "budget_tokens": 1024}} if protocol != "chat" else {}
    )
    turns, parameters = (make_turn(Role.USER, prompt),), definition.parameters_type.from_wire(members)
    request = Request(protocol=protocol, model=model, turns=turns, tools=tools, parameters=parameters)
    async with GatewayClient(Connection(base_url=url, key=SecretStr("demo"))) as client:
        call = client.open(definition, request)
        await finish(call)
    assert call.exchange.failure is None
    return call.exchange


@pytest.mark.parametrize(("protocol", "model"), [("chat", "demo-reasoner"), ("messages", "demo-messages")])
async def test_request_without_streaming_gets_a_stream_as_one_body(protocol: str, model: str, serve: Serve) -> None:
    demo = DemoServer(DemoConfig(tokens_per_second=0, time_to_first_token=0))
    url = await asyncio.to_thread(demo.start)
    prompt = "What is the weather in Paris? !calls=2"
    streamed = await recorded_on_the_demo(protocol, model, prompt, stream=True, url=url)
    await asyncio.to_thread(demo.stop)
    server, _client = await serve(streamed, clock=PlaybackClock(math.inf))
    merged = await recorded_on_the_demo(protocol, model, prompt, stream=False, url=server.base_url)
    assert merged.content_type == "application/json"
    contents = []
    for tape in (streamed, merged):
        answer = Accumulator()
        for _, events in tape.replay(get_protocol(protocol).decoder(tape.content_type)):
            answer.add_events(events)
        assert answer.complete
        contents.append(
            (answer.id, answer.model, answer.usage, answer.choice(0).freeze(), answer.choice(0).finish_reason)
        )
        assert len(answer.choice(0).calls) == 2
        assert not answer.deviations
    assert contents[0] == contents[1]


async def test_merge_stream_without_a_complete_stream_is_none() -> None:
    assert merge_stream(exchange(HELLO[:1], complete=False)) is None
    assert merge_stream(exchange(HELLO[:1])) is None
    assert merge_stream(exchange([(0.1, b"{}")], content_type="application/json")) is None
    assert merge_stream(exchange([(0.1, b'data: {"error": {"message": "x"}}\n\n' + DONE)])) is None


def test_pieces_end_with_reads_and_frames() -> None:
    a, b = chunk({"content": "a"}), chunk({"content": "b"})
    cut = list(split_at_frames(exchange([(0.1, a + b[:9]), (0.2, b[9:20]), (0.3, b[20:] + DONE)])))
    assert [(piece.due, piece.data, piece.first) for piece in cut] == [
        (0.1, a, True),
        (0.1, b[:9], True),
        (0.2, b[9:20], False),
        (0.3, b[20:], False),
        (0.3, DONE, True),
    ]
