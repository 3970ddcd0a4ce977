"""Retries of a run: when, how often, how a wait is cut short, and never after content. Over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from playground.demo.server import DemoServer
from playground.domain.errors import FailureKind
from playground.domain.transcript import Ending, Outcome, Role, make_turn
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.session.changes import RunState, RunStateChanged
from playground.engine.session.request_executor import RetryWait
from playground.engine.session.session import Experiment, Session
from tests.engine.debugging import begin
from tests.support.eventually import eventually


@pytest.fixture
def patient(gateways: Gateways, session: Session) -> Session:
    """A session whose gateway is tried again up to three times."""
    gateways.update(gateways.get(DEMO_ID).model_copy(update={"retries": 3}))
    return session


def wait_of(session: Session) -> RetryWait:
    run = session.active_run
    assert run is not None
    assert run.retry_wait is not None
    return run.retry_wait


async def begin_wait(session: Session, text: str) -> asyncio.Task[None]:
    """Ask, and wait until the run waits for its next try."""
    session.turns.add_turn(make_turn(Role.USER, text))
    run = begin(session.run())
    await eventually(lambda: session.active_run is not None and session.active_run.retry_wait is not None)
    return run


def last_outcome(session: Session) -> Outcome:
    outcome = session.transcript.path[-1].outcome
    assert outcome is not None
    return outcome


def posts(gateway: DemoServer) -> list[bytes]:
    return [request.body for request in gateway.requests if request.path.endswith("/chat/completions")]


async def test_run_is_retried_on_the_same_turn_until_the_gateway_answers(patient: Session, gateway: DemoServer) -> None:
    states: list[RunState] = []
    patient.subscribe(lambda change: states.append(change.state) if isinstance(change, RunStateChanged) else None)
    patient.turns.add_turn(make_turn(Role.USER, "Hello !503x1"))
    await patient.run()
    assert last_outcome(patient).ending is Ending.COMPLETE
    assert patient.transcript.path[-1].text
    assert len(patient.transcript.turns) == 2
    first, second = posts(gateway)
    assert first == second
    assert len(patient.exchanges) == 2
    assert states == [RunState.WAITING, RunState.RETRYING, RunState.WAITING, RunState.STREAMING, RunState.IDLE]


@pytest.mark.parametrize(
    ("end", "ending"),
    [
        (lambda session: wait_of(session).retry_now(), Ending.COMPLETE),
        (lambda session: wait_of(session).give_up(), Ending.FAILED),
        (lambda session: session.stop(), Ending.STOPPED),
    ],
    ids=["now", "give up", "stop"],
)
async def test_wait_that_the_gateway_names_can_be_cut_short(
    patient: Session, end: Callable[[Session], None], ending: Ending
) -> None:
    run = await begin_wait(patient, "Hello !503x1=60")
    wait = wait_of(patient)
    assert 0 < wait.remaining <= 61
    assert (wait.failure.status, wait.attempt, wait.most) == (503, 1, 4)
    end(patient)
    await run
    assert last_outcome(patient).ending is ending
    assert (patient.state, patient.active_run) == (RunState.IDLE, None)


async def test_number_of_tries_is_the_one_set(gateways: Gateways, session: Session, gateway: DemoServer) -> None:
    gateways.update(gateways.get(DEMO_ID).model_copy(update={"retries": 1}))
    session.turns.add_turn(make_turn(Role.USER, "Hello !503"))
    await session.run()
    assert len(posts(gateway)) == 2
    failure = last_outcome(session).failure
    assert failure is not None
    assert failure.status == 503


async def test_nothing_is_retried_after_content_or_a_refusal(patient: Session, gateway: DemoServer) -> None:
    words = ["!cut", "!error", "!400", "!401", "!402", "!403", "!404"]
    for number, word in enumerate(words, 1):
        patient.turns.add_turn(make_turn(Role.USER, f"Hello {word}"))
        await patient.run()
        assert len(posts(gateway)) == number, word
        failure = last_outcome(patient).failure
        assert failure is not None
        assert failure.kind is not FailureKind.INTERNAL


async def test_wait_of_a_gateway_holds_for_every_session(patient: Session, gateways: Gateways) -> None:
    first = await begin_wait(patient, "Hello !429x1=60")
    second_session = Experiment(gateways.client, profile_id=DEMO_ID, model="demo-chat").main
    second = await begin_wait(second_session, "Hello")
    assert "reported a rate limit" in wait_of(second_session).failure.message
    assert 0 < wait_of(second_session).remaining <= 60
    assert not len(second_session.exchanges)
    wait_of(second_session).retry_now()
    await second
    assert second_session.transcript.path[-1].text
    wait_of(patient).give_up()
    await first


async def test_request_given_up_before_it_was_sent_fails_with_the_limit(patient: Session, gateways: Gateways) -> None:
    client = await gateways.client(DEMO_ID)
    client.limiter.hold(600)
    run = await begin_wait(patient, "Hello")
    wait_of(patient).give_up()
    await run
    outcome = last_outcome(patient)
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.status) == (FailureKind.HTTP, 429)
    assert outcome.exchange is None
