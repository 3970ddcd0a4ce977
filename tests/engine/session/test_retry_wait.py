"""Trying again by itself: when, how often, how it is cut short, and never after content. Over a real socket."""

from __future__ import annotations

import asyncio

import pytest

from playground.demo.server import DemoServer
from playground.domain.errors import FailureKind
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.gateways.offered import DEMO_ID, Gateways
from playground.engine.session.changes import Change, RunState, RunStateChanged
from playground.engine.session.retry_wait import RetryWait
from playground.engine.session.session import Session
from tests.engine.debugging import begin
from tests.support.eventually import eventually


@pytest.fixture
def patient(gateways: Gateways, session: Session) -> Session:
    """A session whose gateway is tried again up to three times."""
    gateways.update(gateways.get(DEMO_ID).model_copy(update={"retries": 3}))
    return session


def pause_of(session: Session) -> RetryWait:
    run = session.active_run
    assert run is not None
    assert run.retry_wait is not None
    return run.retry_wait


def waits(session: Session) -> bool:
    return session.active_run is not None and session.active_run.retry_wait is not None


async def test_a_run_is_tried_again_until_the_gateway_answers(patient: Session, gateway: DemoServer) -> None:
    states: list[RunState] = []

    def note(change: Change) -> None:
        if isinstance(change, RunStateChanged):
            states.append(change.state)

    patient.subscribe(note)
    patient.turns.add_turn(make_turn(Role.USER, "Hello !503x1"))
    await patient.run()
    turn = patient.transcript.path[-1]
    assert turn.outcome is not None
    assert turn.outcome.ending is Ending.COMPLETE
    assert turn.text
    posted = [request for request in gateway.requests if request.path.endswith("/chat/completions")]
    assert len(posted) == 2
    assert posted[0].body == posted[1].body
    assert len(patient.exchanges) == 2
    assert states == [RunState.WAITING, RunState.RETRYING, RunState.WAITING, RunState.STREAMING, RunState.IDLE]


async def test_the_wait_is_what_the_gateway_names_and_can_be_cut_short(patient: Session, gateway: DemoServer) -> None:
    patient.turns.add_turn(make_turn(Role.USER, "Hello !503x1=30"))
    task = asyncio.ensure_future(patient.run())  # noqa: TID251 - no window here
    await eventually(lambda: waits(patient))
    pause = pause_of(patient)
    assert 25 < pause.remaining <= 31
    assert pause.failure.status == 503
    assert (pause.attempt, pause.most) == (1, 4)
    pause.retry_now()
    await task
    outcome = patient.transcript.path[-1].outcome
    assert outcome is not None
    assert outcome.ending is Ending.COMPLETE


async def test_giving_up_ends_with_the_failure(patient: Session) -> None:
    patient.turns.add_turn(make_turn(Role.USER, "Hello !503=30"))
    task = asyncio.ensure_future(patient.run())  # noqa: TID251 - no window here
    await eventually(lambda: waits(patient))
    pause_of(patient).give_up()
    await task
    outcome = patient.transcript.path[-1].outcome
    assert outcome is not None
    assert outcome.ending is Ending.FAILED
    assert outcome.failure is not None
    assert outcome.failure.status == 503
    assert patient.state is RunState.IDLE


async def test_stop_while_waiting_ends_the_run(patient: Session) -> None:
    patient.turns.add_turn(make_turn(Role.USER, "Hello !503=30"))
    task = asyncio.ensure_future(patient.run())  # noqa: TID251 - no window here
    await eventually(lambda: waits(patient))
    patient.stop()
    await task
    outcome = patient.transcript.path[-1].outcome
    assert outcome is not None
    assert outcome.ending is Ending.STOPPED
    assert patient.active_run is None


async def test_the_number_of_tries_is_the_one_set(gateways: Gateways, session: Session, gateway: DemoServer) -> None:
    gateways.update(gateways.get(DEMO_ID).model_copy(update={"retries": 1}))
    session.turns.add_turn(make_turn(Role.USER, "Hello !503"))
    await session.run()
    posted = [request for request in gateway.requests if request.path.endswith("/chat/completions")]
    assert len(posted) == 2
    outcome = session.transcript.path[-1].outcome
    assert outcome is not None
    assert outcome.failure is not None


@pytest.mark.parametrize("prompt", ["!cut", "!error", "!400", "!401", "!402", "!403", "!404"])
async def test_nothing_is_tried_again_after_content_or_for_good_reasons(
    patient: Session, gateway: DemoServer, prompt: str
) -> None:
    patient.turns.add_turn(make_turn(Role.USER, f"Hello {prompt}"))
    await patient.run()
    posted = [request for request in gateway.requests if request.path.endswith("/chat/completions")]
    assert len(posted) == 1
    outcome = patient.transcript.path[-1].outcome
    assert outcome is not None
    assert outcome.failure is not None
    assert outcome.failure.kind is not FailureKind.INTERNAL


async def test_what_one_run_was_asked_to_wait_another_waits_too(patient: Session, gateways: Gateways) -> None:
    """The limit is the gateway's: whoever asks it next is told so at once, and may be sent on all the same."""
    patient.turns.add_turn(make_turn(Role.USER, "Hello !429x1=60"))
    first = begin(patient.run())
    await eventually(lambda: waits(patient))
    other = Session(gateways.client, profile_id=DEMO_ID, model="demo-chat")
    other.turns.add_turn(make_turn(Role.USER, "Hello"))
    second = begin(other.run())
    await eventually(lambda: waits(other))
    assert "takes no more requests" in pause_of(other).failure.message
    assert 50 < pause_of(other).remaining <= 60
    assert other.exchanges.get("") is None
    assert not len(other.exchanges)
    pause_of(other).retry_now()
    await second
    assert other.transcript.path[-1].text
    pause_of(patient).give_up()
    await first


async def test_whoever_gives_up_waiting_has_an_answer_that_says_so(patient: Session, gateways: Gateways) -> None:
    client = await gateways.client(DEMO_ID)
    client.limiter.hold(60)
    patient.turns.add_turn(make_turn(Role.USER, "Hello"))
    task = begin(patient.run())
    await eventually(lambda: waits(patient))
    pause_of(patient).give_up()
    await task
    outcome = patient.transcript.path[-1].outcome
    assert outcome is not None
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.status) == (FailureKind.HTTP, 429)
    assert outcome.exchange is None
