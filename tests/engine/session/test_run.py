"""Runs of a session against the demo gateway, over a real socket."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.errors import FailureKind, RunRefusedError
from playground.domain.prices import Asked, Price
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn, one_per_request
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.session.changes import Change, RunState, RunStateChanged, TurnGrew
from playground.engine.session.session import Experiment, Session
from playground.engine.session.snapshot import snapshot
from playground.gateway.client import GatewayClient
from tests.engine.session.conftest import Connect
from tests.protocols.streams import DONE, chunk
from tests.support.editors import edit_in_place
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, head, hold, pause, send, sse, text_chunk
from tests.support.open_streams import open_streams

#: An answer whose second part comes when a test lets it.
IN_TWO_PARTS = (send(head(), chunk({"content": "Hel"})), pause(), send(chunk({"content": "lo"}, "stop"), DONE))


@pytest.fixture
def slow() -> Iterator[DemoServer]:
    """A slow demo gateway."""
    with DemoServer(DemoConfig(tokens_per_second=60, time_to_first_token=0.05, rate_limit=1_000_000)) as server:
        yield server


async def ask(session: Session, text: str) -> Turn:
    session.turns.add_turn(make_turn(Role.USER, text))
    await session.run()
    return session.transcript.path[-1]


def begin(session: Session) -> asyncio.Task[None]:
    return asyncio.get_running_loop().create_task(session.run())


async def begin_answer(session: Session, text: str = "!long=2000", deltas: int = 4) -> asyncio.Task[None]:
    """Ask, and wait until that much of the answer was received."""
    session.turns.add_turn(make_turn(Role.USER, text))
    run = begin(session)
    await eventually(lambda: any(choice.deltas >= deltas for choice in session.growing.values()))
    return run


def outcome_of(turn: Turn) -> Outcome:
    assert turn.outcome is not None
    return turn.outcome


def switch(session: Session, **values: Any) -> None:
    parameters = session.settings.current
    for name, value in values.items():
        parameters = parameters.with_value(name, value)
    session.set_parameters(parameters)


async def test_turns_remember_gateway_model_and_price_of_their_request(gateways: Gateways) -> None:
    session = Experiment(gateways.client, profile_of=gateways.get, profile_id=DEMO_ID, model="demo-chat").main
    first = await ask(session, "Hello")
    gateways.set_price(DEMO_ID, "demo-chat", Price(output=2))
    second = await ask(session, "Hello again")
    gateways.set_price(DEMO_ID, "demo-chat", Price(output=5))
    session.change(model="demo-reasoner")
    third = await ask(session, "And again")
    assert [outcome_of(turn).asked for turn in (first, second, third)] == [
        Asked(profile_id=DEMO_ID, model="demo-chat"),
        Asked(profile_id=DEMO_ID, model="demo-chat", price=Price(output=2)),
        Asked(profile_id=DEMO_ID, model="demo-reasoner"),
    ]
    assert session.turns.priced(DEMO_ID, "demo-chat") == 1
    session.turns.reprice(DEMO_ID, "demo-chat", Price(output=5))
    prices = [turn.outcome.asked.price for turn in session.transcript.path if turn.outcome is not None]
    assert prices == [Price(output=5), Price(output=5), None]
    assert session.undo()
    assert outcome_of(session.transcript.turns[second.id]).asked.price == Price(output=2)


async def test_streamed_answer_has_usage_and_exchange(session: Session, gateway: DemoServer) -> None:
    session.change(model="demo-reasoner")
    switch(session, seed=7)
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
    assert any(isinstance(change, TurnGrew) for change in changes)
    assert (session.growing, session.active_run) == ({}, None)
    usage, timing = outcome.usage, outcome.timing
    assert usage is not None
    assert usage.total == (usage.prompt or 0) + (usage.completion or 0) > 0
    assert timing is not None
    marks = [timing.headers, timing.first_byte, timing.first_reasoning, timing.first_content, timing.end]
    assert marks == sorted(mark for mark in marks if mark is not None)
    exchange = session.exchanges[outcome.exchange or ""]
    assert exchange.request_body == gateway.requests[-1].body
    assert exchange.status == 200
    assert exchange.body.endswith(b"data: [DONE]\n\n")
    assert exchange.ended is not None
    assert session.limits
    session.undo()
    switch(session, stream=None, include_usage=None)
    await session.run()
    answer = session.transcript.path[-1]
    assert (answer.parts, outcome_of(answer).usage) == (turn.parts, usage), "not streamed, it is the same answer"


async def test_three_completions_become_alternatives_of_one_request(session: Session) -> None:
    switch(session, n=3)
    turn = await ask(session, "Hello")
    siblings = session.transcript.siblings(turn.id)
    assert siblings[0] == turn.id, "the first is the one shown"
    alternatives = [session.transcript.turns[key] for key in siblings]
    outcomes = [outcome_of(alternative) for alternative in alternatives]
    assert all(alternative.text for alternative in alternatives)
    assert [(outcome.choice, outcome.choices, outcome.finish_reason) for outcome in outcomes] == [
        (0, 3, "stop"),
        (1, 3, "stop"),
        (2, 3, "stop"),
    ]
    assert outcomes[0].usage is not None
    assert all(outcome.usage == outcomes[0].usage for outcome in outcomes)
    session.turns.select_alternative(siblings[2])
    assert session.transcript.path[-1].id == siblings[2]
    assert len(list(one_per_request(session.transcript.turns.values()))) == 1
    await session.regenerate(turn.id)
    assert len(list(one_per_request(session.transcript.turns.values()))) == 2


async def test_late_completion_follows_its_siblings(connect_to: Connect, server: FaultServer) -> None:
    late = json.dumps({"id": "x", "model": "m", "choices": [{"index": 1, "delta": {"content": "late"}}]})
    server.play(send(head(), sse(text_chunk("early"))), pause(), send(sse(late, "[DONE]")))
    session = connect_to(server.url)
    run = await begin_answer(session, "Hello", 1)
    session.delete_turn(session.transcript.path[0].id)
    server.go_on()
    await run
    turns = session.transcript.turns
    assert {turn.text for turn in turns.values()} == {"early", "late"}
    assert {turn.parent for turn in turns.values()} == {None}


async def test_regenerated_answer_is_an_alternative_that_undo_takes_back(session: Session) -> None:
    first = await ask(session, "One")
    last = await ask(session, "Two")
    before = session.transcript
    await session.regenerate(first.id)
    second = session.transcript.path[-1]
    assert session.transcript.siblings(first.id) == (first.id, second.id)
    assert len(session.transcript.path) == 2
    assert session.undo()
    assert session.transcript == before
    assert session.redo()
    assert session.transcript.path[-1] == second
    session.turns.select_alternative(first.id)
    assert session.transcript.path[-1].id == last.id, "what followed stays on its branch"


async def test_undo_waits_for_the_run_and_keeps_its_whole_answer(connect_to: Connect, server: FaultServer) -> None:
    server.play(*IN_TWO_PARTS)
    session = connect_to(server.url)
    run = await begin_answer(session, "Hello", 1)
    assert not session.undo()
    edit_in_place(session, session.transcript.path[0].id, "Hello there")
    server.go_on()
    await run
    answer = session.transcript.path[-1]
    assert answer.outcome is not None
    assert session.undo(), "the edit made during the run is taken back"
    assert session.transcript.path[0].text == "Hello"
    assert session.transcript.path[-1] == answer, "whole, although the state gone back to was made half-way"
    assert session.redo()
    assert session.transcript.path[-1] == answer


async def test_run_whose_turns_are_replaced_ends(connect_to: Connect, server: FaultServer) -> None:
    server.play(*IN_TWO_PARTS)
    session = connect_to(server.url)
    run = await begin_answer(session, "Hello", 1)
    session.load(session.next_request.build())
    server.go_on()
    await run
    assert (session.growing, session.state) == ({}, RunState.IDLE)
    session.undo()
    assert all(turn.outcome for turn in session.transcript.path if turn.role is Role.ASSISTANT)


async def test_stop_keeps_the_text_and_closes_the_connection(connect_to: Connect, slow: DemoServer) -> None:
    session = connect_to(slow.base_url)
    run = await begin_answer(session)
    assert open_streams(slow) == 1
    with pytest.raises(RunRefusedError, match="under way"):
        await session.run()
    with pytest.raises(RunRefusedError, match="under way"):
        await session.regenerate(session.transcript.path[0].id)
    session.change(model="another")
    saved = outcome_of(snapshot(session).turns[-1])
    assert (saved.ending, saved.model, saved.asked.model) == (Ending.INTERRUPTED, "demo-chat", "demo-chat")
    grown = next(iter(session.growing.values()))
    session.stop()
    session.stop()
    await run
    turn = session.transcript.path[-1]
    assert turn.text == "".join(part.text for part in grown.parts)
    assert len(turn.text) > 5
    assert (outcome_of(turn).ending, outcome_of(turn).failure) == (Ending.STOPPED, None)
    await eventually(lambda: open_streams(slow) == 0)
    assert session.state is RunState.IDLE
    session.stop()
    session.change(model="demo-chat")
    assert outcome_of(await ask(session, "!fast And again")).ending is Ending.COMPLETE


async def test_stop_before_the_first_byte_leaves_an_empty_turn(connect_to: Connect, server: FaultServer) -> None:
    server.play(hold())
    session = connect_to(server.url)
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    run = begin(session)
    await eventually(lambda: bool(server.requests))
    session.stop()
    await run
    turn = session.transcript.path[-1]
    assert (outcome_of(turn).ending, turn.parts) == (Ending.STOPPED, ())
    assert server.wait_closed() is not None


async def test_deleting_the_growing_turn_stops_its_run(connect_to: Connect, slow: DemoServer) -> None:
    session = connect_to(slow.base_url)
    run = await begin_answer(session)
    session.delete_turn(session.transcript.path[-1].id)
    await run
    assert outcome_of(session.transcript.path[-1]).ending is Ending.STOPPED


async def test_cancelling_the_task_is_passed_on_and_keeps_the_text(connect_to: Connect, slow: DemoServer) -> None:
    session = connect_to(slow.base_url)
    run = await begin_answer(session)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    turn = session.transcript.path[-1]
    assert turn.text
    assert outcome_of(turn).ending is Ending.STOPPED
    assert session.active_run is None
    await eventually(lambda: open_streams(slow) == 0)


async def test_failures_stand_on_the_turn_with_what_was_received(session: Session) -> None:
    for word, kind, ending, status, keeps_text in (
        ("!503", FailureKind.HTTP, Ending.FAILED, 503, False),
        ("!html", FailureKind.HTTP, Ending.FAILED, 502, False),
        ("!redirect", FailureKind.REDIRECT, Ending.FAILED, 307, False),
        ("!error", FailureKind.STREAM, Ending.FAILED, None, True),
        ("!empty", FailureKind.EMPTY, Ending.FAILED, None, False),
    ):
        turn = await ask(session, f"{word} Tell me something")
        failure = outcome_of(turn).failure
        assert failure is not None, word
        assert failure.message
        assert (failure.kind, outcome_of(turn).ending, failure.status) == (kind, ending, status), word
        assert bool(turn.text) is keeps_text, word
        assert session.state is RunState.IDLE
    turn = await ask(session, "!cut Tell me something")
    failure = outcome_of(turn).failure
    assert failure is not None
    assert turn.text
    # a dropped connection: how it shows depends on when the reset arrives
    assert failure.kind in (FailureKind.CUT_OFF, FailureKind.CONNECTION)


async def test_broken_connections_are_failures(connect_to: Connect, server: FaultServer) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        outcome = outcome_of(await ask(connect_to(f"http://127.0.0.1:{listener.getsockname()[1]}/v1"), "Hello"))
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.REFUSED
    assert outcome.timing is not None
    assert outcome.timing.headers is None
    server.play(send(head(), sse(text_chunk("half"))))
    turn = await ask(connect_to(server.url), "Hello")
    assert (turn.text, outcome_of(turn).ending) == ("half", Ending.CUT_OFF)


async def test_failed_turn_is_replaced_by_the_next_run(session: Session, gateway: DemoServer) -> None:
    failed = await ask(session, "!503x2 Hello")
    assert session.summary.endswith(" · failed (503)")
    await session.run()
    again = session.transcript.path[-1]
    assert len(session.transcript.path) == 2
    assert failed.id not in session.transcript.turns
    await session.regenerate(again.id)
    answer = session.transcript.path[-1]
    assert outcome_of(answer).ending is Ending.COMPLETE
    assert session.transcript.siblings(answer.id) == (answer.id,)
    assert [message["role"] for message in json.loads(gateway.requests[-1].body)["messages"]] == ["user"]
    session.undo()
    assert session.transcript.path[-1] == again
    session.redo()
    broken = await ask(session, "!error Tell me something")
    await session.regenerate(broken.id)
    assert len(session.transcript.siblings(broken.id)) == 2


@pytest.mark.parametrize("error", [RunRefusedError("The key was given for another host."), OSError("no port")])
async def test_gateway_that_cannot_be_connected_to_is_a_failure_of_the_turn(error: Exception) -> None:
    async def connect(_profile_id: str) -> GatewayClient:
        raise error

    failure = outcome_of(await ask(Experiment(connect, profile_id="p", model="m").main, "Hello")).failure
    assert failure is not None
    assert failure.kind is FailureKind.INPUT
    assert str(error) in failure.message


async def test_fault_of_the_program_stands_on_the_turn_and_is_raised() -> None:
    async def connect(_profile_id: str) -> GatewayClient:
        raise TypeError("a mistake of ours")

    session = Experiment(connect, profile_id="p", model="m").main
    with pytest.raises(TypeError, match="a mistake of ours"):
        await ask(session, "Hello")
    failure = outcome_of(session.transcript.path[-1]).failure
    assert failure is not None
    assert failure.kind is FailureKind.INTERNAL
    assert session.state is RunState.IDLE
