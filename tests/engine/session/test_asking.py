"""One request asked by itself, without a session: what a run, a sample and a tape take in alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from playground.demo.server import DemoServer
from playground.domain.events import Event, ReasoningDelta, TextDelta, ToolCallDelta
from playground.domain.prices import Asked
from playground.domain.request import Request
from playground.domain.transcript import Ending, Role, Turn, make_turn
from playground.engine.cassettes.transcript import answers_of
from playground.engine.gateways.secrets import Secret
from playground.engine.session.asking import Asking, TimingMarks
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from playground.jsonkit.values import JSONObject
from playground.protocols.protocol import get_protocol
from tests.engine.debugging import MODELS, WEATHER, begin
from tests.support.eventually import eventually
from tests.support.open_streams import open_streams


@pytest.fixture
async def client(gateway: DemoServer) -> AsyncIterator[GatewayClient]:
    async with GatewayClient(Connection(base_url=gateway.base_url, key=Secret("demo"), retries=1)) as made:
        yield made


def asking(text: str, protocol: str = "chat", model: str = "", settings: JSONObject | None = None) -> Asking:
    request = Request(
        protocol=protocol,
        model=model or MODELS[protocol],
        turns=(make_turn(Role.USER, text),),
        tools=(WEATHER,),
        parameters=get_protocol(protocol).parameters_type.begin(settings or {}),
    )
    return Asking(request, Asked(model=request.model))


def turns_of(made: Asking) -> list[Turn]:
    outcome = made.received.outcome(Ending.COMPLETE, None, made.exchange)
    return [made.received.turn(f"t{index}", index, outcome) for index in sorted(made.received.answer.choices)]


@pytest.mark.parametrize(
    ("protocol", "text", "settings"),
    [
        ("chat", "Weather in Lisbon and Oslo !broken=2", {}),
        ("messages", "Weather in Lisbon and Oslo", {}),
        ("chat", "Hello !fast", {"n": 3}),
        ("chat", "Hello", {"stream": False}),
    ],
)
async def test_what_came_is_what_its_tape_tells(
    client: GatewayClient, protocol: str, text: str, settings: JSONObject
) -> None:
    made = asking(text, protocol, settings=settings)
    await made.ask(client)
    assert made.exchange is not None
    taped = answers_of(made.exchange)
    found = turns_of(made)
    assert len(found) == settings.get("n", 1)
    for turn, replayed in zip(found, taped, strict=True):
        assert turn.parts == replayed.parts
        assert turn.outcome == replayed.outcome
        assert turn.outcome is not None
        assert len(turn.outcome.call_times) == len(turn.calls)


async def test_a_refusal_is_tried_again_and_the_last_try_is_what_came(client: GatewayClient) -> None:
    waited: list[tuple[int, int] | None] = []

    def waits() -> None:
        wait = made.retry_wait
        waited.append((wait.attempt, wait.most) if wait is not None else None)
        if wait is not None:
            wait.retry_now()

    request = Request(protocol="chat", model=MODELS["chat"], turns=(make_turn(Role.USER, "!500"),))
    made = Asking(request, Asked(model=request.model), waits=waits)
    await made.ask(client)
    assert waited == [(1, 2), None]
    assert made.retry_wait is None
    assert made.received.answer.failure is not None
    assert made.received.answer.failure.status == 500


async def test_cancelled_it_keeps_what_came_and_leaves_no_way_open(gateway: DemoServer, client: GatewayClient) -> None:
    made = asking("!slow !long tell me", model="demo-chat")
    work = begin(made.ask(client))
    await eventually(lambda: made.received.marks.first_content is not None)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert made.exchange is not None
    assert made.exchange.ended is not None
    assert turns_of(made)[0].text
    await eventually(lambda: open_streams(gateway) == 0)


def marks_of(lots: Sequence[tuple[float, Sequence[Event]]]) -> TimingMarks:
    marks = TimingMarks()
    for at, events in lots:
        marks.note_events(events, at)
    return marks


def test_marks_are_of_the_first_of_each_kind_and_of_both_ends_of_a_call() -> None:
    marks = marks_of(
        [
            (0.5, [ReasoningDelta(0, "Let", "reasoning")]),
            (1.0, [ReasoningDelta(0, "me", "reasoning")]),
            (2.0, [ToolCallDelta(0, 7, name="a"), ToolCallDelta(0, 3, name="b")]),
            (3.0, [TextDelta(1, "x"), ToolCallDelta(1, 0, name="c")]),
            (4.0, [ToolCallDelta(0, 7, arguments="{}")]),
        ]
    )
    assert (marks.first_reasoning, marks.first_content, marks.reasoning_end) == (0.5, 2.0, 2.0)
    assert marks.call_times(0) == ((2.0, 4.0), (2.0, 2.0))
    assert marks.call_times(1) == ((3.0, 3.0),)
    assert marks.call_times(2) == ()
    assert marks_of([(1.0, [TextDelta(0, "x")])]).reasoning_end is None
