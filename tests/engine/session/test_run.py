"""Runs of a session against the demo gateway, over a real socket."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.errors import FailureKind, RunRefusedError
from playground.domain.prices import Asked, Price
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn, one_per_request
from playground.engine.gateways.offered import DEMO_ID, Gateways
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.engine.session.changes import Change, ExchangeChanged, RunState, RunStateChanged, TurnGrew
from playground.engine.session.session import Session
from playground.engine.session.snapshot import snapshot
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, head, hold, pause, send, sse, text_chunk
from tests.support.open_streams import open_streams

WEATHER = ToolDefinition(
    name="get_weather",
    description="The weather now",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)


@pytest.fixture
def slow() -> Any:
    """A demo gateway that takes its time."""
    with DemoServer(DemoConfig(tokens_per_second=60, time_to_first_token=0.05, rate_limit=1_000_000)) as server:
        yield server


@pytest.fixture
async def connect_to() -> AsyncIterator[Callable[..., Session]]:
    """Makes sessions on any address."""
    clients: list[GatewayClient] = []

    def make(base_url: str, model: str = "demo-chat", retries: int = 0) -> Session:
        client = GatewayClient(Connection(base_url=base_url, key=Secret("demo"), retries=retries))
        clients.append(client)

        async def connect(_profile_id: str) -> GatewayClient:
            return client

        return Session(connect, profile_id="p", model=model)

    yield make
    for client in clients:
        await client.aclose()


async def ask(session: Session, text: str) -> Turn:
    session.turns.add_turn(make_turn(Role.USER, text))
    await session.run()
    return session.transcript.path[-1]


def begin(session: Session) -> asyncio.Task[None]:
    return asyncio.get_running_loop().create_task(session.run())


def outcome_of(turn: Turn) -> Outcome:
    assert turn.outcome is not None
    return turn.outcome


def switch(session: Session, **values: Any) -> None:
    parameters = session.settings.current
    for name, value in values.items():
        parameters = parameters.with_value(name, value)
    session.set_parameters(parameters)


def body_of(gateway: DemoServer, at: int = -1) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gateway.requests[at].body)
    return found


async def test_a_turn_remembers_whom_it_was_asked_and_at_which_price(gateways: Gateways) -> None:
    session = Session(gateways.client, profile_of=gateways.get, profile_id=DEMO_ID, model="demo-chat")
    first = await ask(session, "Hello")
    gateways.set_price(DEMO_ID, "demo-chat", Price(output=2))
    second = await ask(session, "Hello again")
    gateways.set_price(DEMO_ID, "demo-chat", Price(output=5))
    session.change(model="demo-reasoner")
    third = await ask(session, "And again")
    found = [outcome_of(turn).asked for turn in (first, second, third)]
    assert found == [
        Asked(profile_id=DEMO_ID, model="demo-chat"),
        Asked(profile_id=DEMO_ID, model="demo-chat", price=Price(output=2)),
        Asked(profile_id=DEMO_ID, model="demo-reasoner"),
    ]
    assert session.turns.priced(DEMO_ID, "demo-chat") == 1
    session.turns.reprice(DEMO_ID, "demo-chat", Price(output=5))
    assert [outcome_of(turn).asked.price for turn in session.transcript.path if turn.outcome is not None] == [
        Price(output=5),
        Price(output=5),
        None,
    ]
    assert session.undo()
    assert outcome_of(session.transcript.turns[second.id]).asked.price == Price(output=2)


async def test_what_is_being_received_knows_whom_it_was_asked(session: Session, slow: DemoServer) -> None:
    async def connect(_profile_id: str) -> GatewayClient:
        return client

    client = GatewayClient(Connection(base_url=slow.base_url, key=Secret("demo")))
    session.experiment.connect = connect
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    run = begin(session)
    await eventually(lambda: any(choice.parts for choice in session.growing.values()))
    session.change(model="another")
    found = snapshot(session).turns[-1].outcome
    assert found is not None
    assert (found.ending, found.model, found.asked.model) == (Ending.INTERRUPTED, "demo-chat", "demo-chat")
    session.stop()
    await run
    await client.aclose()


# A whole answer


async def test_a_streamed_answer_has_reasoning_and_content_apart(session: Session) -> None:
    session.change(model="demo-reasoner")
    changes: list[Change] = []
    session.subscribe(changes.append)
    turn = await ask(session, "What is 12 * 12?")
    outcome = outcome_of(turn)
    assert "144" in turn.text
    assert turn.reasoning
    assert turn.reasoning not in turn.text
    assert outcome.ending is Ending.COMPLETE
    assert (outcome.model, outcome.finish_reason, outcome.failure) == ("demo-reasoner", "stop", None)
    states = [change.state for change in changes if isinstance(change, RunStateChanged)]
    assert states == [RunState.WAITING, RunState.STREAMING, RunState.IDLE]
    assert sum(isinstance(change, TurnGrew) for change in changes) >= 1
    assert session.growing == {}
    assert session.active_run is None


async def test_an_unstreamed_answer_is_the_same_answer(session: Session) -> None:
    session.change(model="demo-reasoner")
    switch(session, seed=7)
    streamed = await ask(session, "What is 3 + 4?")
    session.undo()
    switch(session, stream=None, include_usage=None)
    await session.run()
    whole = session.transcript.path[-1]
    assert whole.parts == streamed.parts
    assert outcome_of(whole).usage == outcome_of(streamed).usage


async def test_times_follow_one_another(connect_to: Callable[..., Session], slow: DemoServer) -> None:
    session = connect_to(slow.base_url, "demo-reasoner")
    switch(session, reasoning_effort="minimal")
    turn = await ask(session, "What is 1 + 1? !tps=200")
    timing = outcome_of(turn).timing
    assert timing is not None
    marks = [
        0.0,
        timing.headers,
        timing.first_byte,
        timing.first_reasoning,
        timing.first_content,
        timing.end,
    ]
    assert None not in marks
    assert marks == sorted(mark for mark in marks if mark is not None)
    assert timing.reasoning_end == timing.first_content
    assert timing.first_reasoning is not None
    assert timing.first_reasoning >= 0.03, "the gateway waits that long before the first token"
    assert timing.end is not None
    assert timing.end < 5


async def test_usage_and_the_exchange_are_kept(session: Session, gateway: DemoServer) -> None:
    outcome = outcome_of(await ask(session, "Hello"))
    usage = outcome.usage
    assert usage is not None
    assert usage.prompt
    assert usage.completion
    assert usage.total == usage.prompt + usage.completion
    assert outcome.exchange is not None
    exchange = session.exchanges[outcome.exchange]
    assert json.loads(exchange.request_body) == body_of(gateway)
    assert exchange.status == 200
    assert exchange.body.endswith(b"data: [DONE]\n\n")
    assert session.experiment.limits


async def test_the_native_protocol_runs_too(session: Session, gateway: DemoServer) -> None:
    session.change(protocol="messages")
    session.change(model="demo-messages")
    switch(session, max_tokens=400)
    turn = await ask(session, "What is 2 + 2?")
    assert "4" in turn.text
    assert outcome_of(turn).ending is Ending.COMPLETE
    assert gateway.requests[-1].path.endswith("/messages")


# Alternatives


async def test_three_completions_become_three_alternatives(session: Session) -> None:
    switch(session, n=3)
    turn = await ask(session, "Hello")
    siblings = session.transcript.siblings(turn.id)
    assert len(siblings) == 3
    assert siblings[0] == turn.id, "the first is the one shown"
    for turn_id in siblings:
        alternative = session.transcript.turns[turn_id]
        assert alternative.text
        assert outcome_of(alternative).finish_reason == "stop"
    session.turns.select_alternative(siblings[2])
    assert session.transcript.path[-1].id == siblings[2]


async def test_what_three_completions_used_is_the_requests_and_counted_once(session: Session) -> None:
    switch(session, n=3)
    turn = await ask(session, "Hello")
    alternatives = [outcome_of(session.transcript.turns[key]) for key in session.transcript.siblings(turn.id)]
    assert [(outcome.choice, outcome.choices) for outcome in alternatives] == [(0, 3), (1, 3), (2, 3)]
    assert alternatives[0].usage is not None
    assert all(outcome.usage == alternatives[0].usage for outcome in alternatives)
    assert len(list(one_per_request(session.transcript.turns.values()))) == 1
    await session.regenerate(turn.id)
    assert len(list(one_per_request(session.transcript.turns.values()))) == 2


async def test_interleaved_completions_do_not_mix(connect_to: Callable[..., Session]) -> None:
    def piece(index: int, content: str, finish: str | None = None) -> str:
        choice = {"index": index, "delta": {"content": content}, "finish_reason": finish}
        return json.dumps({"id": "x", "model": "m", "choices": [choice]})

    with FaultServer() as server:
        server.play(
            send(head(), sse(piece(1, "B"), piece(0, "A"))),
            send(sse(piece(2, "C"), piece(0, "a"), piece(1, "b"))),
            send(sse(piece(2, "", "stop"), piece(1, "", "length"), piece(0, "", "stop"), "[DONE]")),
        )
        session = connect_to(server.url)
        switch(session, n=3)
        first = await ask(session, "Hello")
    alternatives = [session.transcript.turns[key] for key in session.transcript.siblings(first.id)]
    assert {(turn.text, outcome_of(turn).finish_reason) for turn in alternatives} == {
        ("Aa", "stop"),
        ("Bb", "length"),
        ("C", "stop"),
    }
    assert first.text == "Aa"


async def test_a_completion_that_begins_late_follows_its_siblings_after_an_edit(
    connect_to: Callable[..., Session],
) -> None:
    with FaultServer() as server:
        late = json.dumps({"id": "x", "model": "m", "choices": [{"index": 1, "delta": {"content": "late"}}]})

        server.play(send(head(), sse(text_chunk("early"))), pause(), send(sse(late, "[DONE]")))
        session = connect_to(server.url)
        question = make_turn(Role.USER, "Hello")
        session.turns.add_turn(question)
        run = begin(session)
        await eventually(lambda: any(choice.parts for choice in session.growing.values()))
        session.delete_turn(question.id)
        server.go_on()
        await run
    turns = session.transcript.turns
    assert {turn.text for turn in turns.values()} == {"early", "late"}
    assert {turn.parent for turn in turns.values()} == {None}


async def test_regenerate_makes_a_alternative_and_one_undo_takes_it_back(session: Session) -> None:
    first = await ask(session, "Hello")
    before = session.transcript
    await session.regenerate(first.id)
    second = session.transcript.path[-1]
    assert second.id != first.id
    assert session.transcript.siblings(first.id) == (first.id, second.id)
    assert len(session.transcript.path) == 2
    assert session.undo()
    assert session.transcript == before
    assert session.redo()
    assert session.transcript.path[-1] == second


async def test_regenerating_a_turn_in_the_middle_keeps_the_branch_that_followed(session: Session) -> None:
    first = await ask(session, "One")
    last = await ask(session, "Two")
    await session.regenerate(first.id)
    assert len(session.transcript.path) == 2
    session.turns.select_alternative(first.id)
    assert session.transcript.path[-1].id == last.id


# Undo and runs


async def test_undo_and_redo_never_lose_a_finished_answer(session: Session) -> None:
    turn = await ask(session, "Hello")
    assert session.undo()
    assert [t.role for t in session.transcript.path] == [Role.USER]
    assert session.undo()
    assert session.transcript.head is None
    assert session.redo()
    assert session.redo()
    assert session.transcript.path[-1] == turn


async def test_undo_waits_for_the_run_and_edits_made_meanwhile_come_back_with_the_whole_answer(
    connect_to: Callable[..., Session], slow: DemoServer
) -> None:
    session = connect_to(slow.base_url)
    question = make_turn(Role.USER, "Hello !tps=400")
    session.turns.add_turn(question)
    run = begin(session)
    await eventually(lambda: any(choice.parts for choice in session.growing.values()))
    assert not session.undo()
    session.turns.edit_text(question.id, "Hello there", in_place=True)
    await run
    answer = session.transcript.path[-1]
    assert answer.outcome is not None
    assert session.undo(), "the edit made during the run is taken back"
    assert session.transcript.path[0].text == "Hello !tps=400"
    assert session.transcript.path[-1] == answer, "whole, although the state gone back to was made half-way"
    assert session.redo()
    assert session.transcript.path[-1] == answer


async def test_a_run_that_loses_its_turn_ends_all_the_same(
    connect_to: Callable[..., Session], slow: DemoServer
) -> None:
    session = connect_to(slow.base_url)
    session.turns.add_turn(make_turn(Role.USER, "Hello !tps=400"))
    run = begin(session)
    await eventually(lambda: bool(session.growing))
    session.load(session.next_request.build())
    await run
    assert session.growing == {}
    assert session.state is RunState.IDLE
    session.undo()
    assert all(turn.outcome for turn in session.transcript.path if turn.role is Role.ASSISTANT)


# Stop


async def test_stop_keeps_the_text_and_the_gateway_sees_the_end(
    connect_to: Callable[..., Session], slow: DemoServer
) -> None:
    session = connect_to(slow.base_url)
    session.turns.add_turn(make_turn(Role.USER, "!long=2000"))
    run = begin(session)
    await eventually(lambda: any(choice.deltas > 3 for choice in session.growing.values()))
    assert open_streams(slow) == 1
    grown = next(iter(session.growing.values()))
    session.stop()
    session.stop()
    await run
    turn = session.transcript.path[-1]
    assert turn.text == "".join(part.text for part in grown.parts)
    assert len(turn.text) > 5
    assert outcome_of(turn).ending is Ending.STOPPED
    assert outcome_of(turn).failure is None
    await eventually(lambda: open_streams(slow) == 0)
    assert session.state is RunState.IDLE
    session.turns.add_turn(make_turn(Role.USER, "!fast And again"))
    await session.run()
    assert outcome_of(session.transcript.path[-1]).ending is Ending.COMPLETE


async def test_stop_before_anything_came(connect_to: Callable[..., Session]) -> None:
    with FaultServer() as server:
        server.play(hold())
        session = connect_to(server.url)
        session.turns.add_turn(make_turn(Role.USER, "Hello"))
        run = begin(session)
        await eventually(lambda: bool(server.requests))
        session.stop()
        await run
        turn = session.transcript.path[-1]
        assert outcome_of(turn).ending is Ending.STOPPED
        assert turn.parts == ()
        assert server.wait_closed() is not None


async def test_stop_without_a_run_does_nothing(session: Session) -> None:
    session.stop()
    assert outcome_of(await ask(session, "Hello")).ending is Ending.COMPLETE


async def test_deleting_the_turn_being_received_stops_it(connect_to: Callable[..., Session], slow: DemoServer) -> None:
    session = connect_to(slow.base_url)
    session.turns.add_turn(make_turn(Role.USER, "!long=2000"))
    run = begin(session)
    await eventually(lambda: any(choice.deltas > 3 for choice in session.growing.values()))
    session.delete_turn(session.transcript.path[-1].id)
    await run
    assert outcome_of(session.transcript.path[-1]).ending is Ending.STOPPED


async def test_cancelling_from_outside_is_passed_on_and_keeps_the_text(
    connect_to: Callable[..., Session], slow: DemoServer
) -> None:
    session = connect_to(slow.base_url)
    session.turns.add_turn(make_turn(Role.USER, "!long=2000"))
    run = begin(session)
    await eventually(lambda: any(choice.deltas > 3 for choice in session.growing.values()))
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    turn = session.transcript.path[-1]
    assert turn.text
    assert outcome_of(turn).ending is Ending.STOPPED
    assert session.active_run is None
    await eventually(lambda: open_streams(slow) == 0)


async def test_one_run_at_a_time(connect_to: Callable[..., Session], slow: DemoServer) -> None:
    session = connect_to(slow.base_url)
    session.turns.add_turn(make_turn(Role.USER, "!long=2000"))
    run = begin(session)
    await eventually(lambda: session.state is RunState.STREAMING)
    with pytest.raises(RunRefusedError, match="under way"):
        await session.run()
    with pytest.raises(RunRefusedError, match="under way"):
        await session.regenerate(session.transcript.path[0].id)
    session.stop()
    await run


# Failures


@pytest.mark.parametrize(
    ("word", "kind", "ending", "status", "keeps_text"),
    [
        ("!503", FailureKind.HTTP, Ending.FAILED, 503, False),
        ("!401", FailureKind.HTTP, Ending.FAILED, 401, False),
        ("!html", FailureKind.HTTP, Ending.FAILED, 502, False),
        ("!redirect", FailureKind.REDIRECT, Ending.FAILED, 307, False),
        ("!cut", None, None, None, True),
        ("!error", FailureKind.STREAM, Ending.FAILED, None, True),
        ("!empty", FailureKind.EMPTY, Ending.FAILED, None, False),
    ],
)
async def test_failures_stand_on_the_turn_and_keep_what_came(
    session: Session, word: str, kind: FailureKind | None, ending: Ending | None, status: int | None, keeps_text: bool
) -> None:
    turn = await ask(session, f"{word} Tell me something")
    outcome = outcome_of(turn)
    assert outcome.failure is not None
    assert outcome.failure.message
    assert bool(turn.text) is keeps_text
    if kind is None:  # a dropped connection: how it shows depends on when the reset arrives
        assert outcome.failure.kind in (FailureKind.CUT_OFF, FailureKind.CONNECTION)
        assert outcome.ending in (Ending.CUT_OFF, Ending.FAILED)
    else:
        assert (outcome.failure.kind, outcome.ending) == (kind, ending)
        assert outcome.failure.status == status
    assert session.state is RunState.IDLE


async def test_a_port_where_nothing_listens(connect_to: Callable[..., Session]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        session = connect_to(f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        outcome = outcome_of(await ask(session, "Hello"))
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.REFUSED
    assert outcome.timing is not None
    assert outcome.timing.headers is None


async def test_a_stream_without_an_end_is_cut_off_and_keeps_its_text(connect_to: Callable[..., Session]) -> None:
    with FaultServer() as server:
        server.play(send(head(), sse(text_chunk("half"))))
        turn = await ask(connect_to(server.url), "Hello")
    assert turn.text == "half"
    assert outcome_of(turn).ending is Ending.CUT_OFF


async def test_a_failed_turn_is_not_sent_and_the_next_run_takes_its_place(
    session: Session, gateway: DemoServer
) -> None:
    failed = await ask(session, "!503x1 Hello")
    assert session.summary.endswith("503")
    await session.run()
    assert [t.role for t in session.transcript.path] == [Role.USER, Role.ASSISTANT]
    assert failed.id not in session.transcript.turns
    assert outcome_of(session.transcript.path[-1]).ending is Ending.COMPLETE
    assert [message["role"] for message in body_of(gateway)["messages"]] == ["user"]


async def test_retry_of_a_failed_turn_replaces_it_and_can_be_undone(session: Session) -> None:
    failed = await ask(session, "!503x1 Hello")
    await session.regenerate(failed.id)
    answer = session.transcript.path[-1]
    assert session.transcript.siblings(answer.id) == (answer.id,)
    session.undo()
    assert session.transcript.path[-1] == failed


async def test_retry_of_an_answer_that_broke_off_keeps_it_as_a_alternative(session: Session) -> None:
    broken = await ask(session, "!error Tell me something")
    await session.regenerate(broken.id)
    assert len(session.transcript.siblings(broken.id)) == 2


async def test_a_connection_that_may_not_be_made_is_told_on_the_turn() -> None:
    async def connect(_profile_id: str) -> GatewayClient:
        raise RunRefusedError("The key was given for another host.")

    failure = outcome_of(await ask(Session(connect, profile_id="p", model="m"), "Hello")).failure
    assert failure is not None
    assert (failure.kind, failure.message) == (FailureKind.INPUT, "The key was given for another host.")


async def test_a_demo_gateway_that_cannot_start_is_told_on_the_turn() -> None:
    async def connect(_profile_id: str) -> GatewayClient:
        raise OSError("The demo gateway cannot listen on 127.0.0.1.")

    outcome = outcome_of(await ask(Session(connect, profile_id="p", model="m"), "Hello"))
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.INPUT


async def test_our_own_fault_is_told_on_the_turn_and_raised() -> None:
    async def connect(_profile_id: str) -> GatewayClient:
        raise TypeError("a mistake of ours")

    session = Session(connect, profile_id="p", model="m")
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    with pytest.raises(TypeError, match="a mistake of ours"):
        await session.run()
    failure = outcome_of(session.transcript.path[-1]).failure
    assert failure is not None
    assert failure.kind is FailureKind.INTERNAL
    assert session.state is RunState.IDLE


# Trying again by itself


async def test_a_failure_that_passes_is_tried_again_on_the_same_turn(
    connect_to: Callable[..., Session], gateway: DemoServer
) -> None:
    session = connect_to(gateway.base_url, retries=2)
    states: list[RunState] = []
    session.subscribe(lambda change: states.append(change.state) if isinstance(change, RunStateChanged) else None)
    turn = await ask(session, "!503x1 Hello")
    assert turn.text
    assert outcome_of(turn).ending is Ending.COMPLETE
    assert len(gateway.requests) == 2
    assert states == [
        RunState.WAITING,
        RunState.RETRYING,
        RunState.WAITING,
        RunState.STREAMING,
        RunState.IDLE,
    ]
    assert len(session.transcript.turns) == 2


async def test_tries_are_counted_and_the_last_failure_stays(
    connect_to: Callable[..., Session], gateway: DemoServer
) -> None:
    session = connect_to(gateway.base_url, retries=1)
    failure = outcome_of(await ask(session, "!503 Hello")).failure
    assert failure is not None
    assert failure.status == 503
    assert len(gateway.requests) == 2


async def test_nothing_is_tried_again_once_something_came(
    connect_to: Callable[..., Session], gateway: DemoServer
) -> None:
    turn = await ask(connect_to(gateway.base_url, retries=3), "!cut Tell me something")
    assert turn.text
    assert len(gateway.requests) == 1


@pytest.mark.parametrize("how", ["now", "give up", "stop"])
async def test_a_wait_can_be_cut_short(connect_to: Callable[..., Session], gateway: DemoServer, how: str) -> None:
    session = connect_to(gateway.base_url, retries=1)
    session.turns.add_turn(make_turn(Role.USER, "!503x1=30 Hello"))
    task = begin(session)
    await eventually(lambda: session.active_run is not None and session.active_run.retry_wait is not None)
    assert session.active_run is not None
    pause = session.active_run.retry_wait
    assert pause is not None
    assert 25 < pause.remaining < 60
    assert pause.failure.status == 503
    {"now": pause.retry_now, "give up": pause.give_up, "stop": session.stop}[how]()
    await asyncio.wait_for(task, 5)
    ending = outcome_of(session.transcript.path[-1]).ending
    assert ending is {"now": Ending.COMPLETE, "give up": Ending.FAILED, "stop": Ending.STOPPED}[how]
    assert session.state is RunState.IDLE


# Tools


async def test_a_round_of_calls(session: Session, gateway: DemoServer) -> None:
    session.change(model="demo-tools")
    session.change(tools=(WEATHER,))
    turn = await ask(session, "Weather in Lisbon and Oslo? !calls=2")
    assert [call.name for call in turn.calls] == ["get_weather", "get_weather"]
    assert outcome_of(turn).finish_reason == "tool_calls"
    with pytest.raises(RunRefusedError, match="Still open"):
        await session.run()
    session.turns.answer(turn.calls[1].id, '{"temp": 9}')
    session.turns.answer(turn.calls[0].id, "no such city", is_error=True)
    await session.run()
    last = session.transcript.path[-1]
    assert last.text
    assert not last.calls
    sent = body_of(gateway)["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool"]
    assert {message["tool_call_id"]: message["content"] for message in sent[2:]} == {
        turn.calls[1].id: '{"temp": 9}',
        turn.calls[0].id: "no such city",
    }


async def test_arguments_cut_short_are_not_to_be_answered(session: Session) -> None:
    session.change(model="demo-tools")
    session.change(tools=(WEATHER,))
    turn = await ask(session, "Weather in Lisbon? !cutargs")
    assert turn.truncated
    with pytest.raises(RunRefusedError, match="broke off at a tool call"):
        await session.run()
    await session.regenerate(turn.id)
    assert len(session.transcript.siblings(turn.id)) == 2


# Exchanges and gateways


async def test_an_observer_is_told_of_the_exchange_at_its_end(session: Session) -> None:
    told: list[str] = []
    session.subscribe(lambda change: told.append(change.exchange_id) if isinstance(change, ExchangeChanged) else None)
    turn = await ask(session, "Hello")
    assert told[-1] == outcome_of(turn).exchange
    assert session.exchanges[told[-1]].ended is not None


async def test_the_next_run_goes_to_the_gateway_chosen(
    session: Session, gateways: Gateways, gateway: DemoServer
) -> None:
    await ask(session, "Hello")
    with DemoServer(DemoConfig(tokens_per_second=0, time_to_first_token=0)) as other:
        profile = gateways.store.add_profile(Profile(name="Other", base_url=other.base_url))
        session.change(profile_id=profile.id)
        await ask(session, "Hello again")
        assert len(other.requests) == 1
    assert len(gateway.requests) == 1
    session.change(profile_id=DEMO_ID)
    await ask(session, "And back")
    assert len(gateway.requests) == 2
