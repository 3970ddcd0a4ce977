"""The first minute: the sample, its tool calls, and quitting, through the real window."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.gateways.offered import DEMO_ID
from playground.engine.gateways.profiles import Profile, ProfileStore
from playground.ui.features.conversation.reasoning_view import ReasoningView
from playground.ui.features.conversation.text_view import TextView
from tests.flows.conftest import Person, Stage
from tests.support.open_streams import open_streams

SLOW = DemoConfig(tokens_per_second=60, time_to_first_token=0.05, rate_limit=1_000_000)


def test_try_it_now_leads_through_two_calls_to_an_answer(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.press("Try it now", person.pane.welcome)
        await person.until(lambda: person.session.growing and person.find(ReasoningView), "reasoning to stream")
        growing = next(iter(person.session.growing.values()))
        await person.until(lambda: growing.parts and len(growing.parts[0].fragments) > 3, "a few fragments")
        await person.idle(turns=3)

        turn = person.path[-1]
        assert turn.reasoning
        assert [call.name for call in turn.calls] == ["get_weather", "get_weather"]
        card = person.card(-1)
        await person.until(lambda: len(card.calls) == 2 and all(call.waiting for call in card.calls), "two open calls")
        first, second = card.calls
        field = await person.seen(QPlainTextEdit, "Result of the call", first)
        await person.type_into(field, '{"temp": 21}')
        await person.press("Send result", first)
        await person.until(lambda: not first.waiting, "the first to be answered")
        assert person.session.active_run is None, "the second call is still open"
        field = await person.seen(QPlainTextEdit, "Result of the call", second)
        await person.until(field.hasFocus, "the cursor in the next open call")
        await person.keys('{"temp": 9}')
        await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await person.until(lambda: len(person.path) == 6, "the next request to go out by itself")
        await person.idle()

        answer = person.path[-1]
        assert answer.outcome is not None
        assert answer.outcome.ending is Ending.COMPLETE
        assert answer.text
        assert answer.reasoning
        sent = person.body()["messages"]
        assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool", "tool"]
        assert [message["content"] for message in sent[3:]] == ['{"temp": 21}', '{"temp": 9}']
        last = person.card(-1)
        shown = [view.source for view in last.findChildren(TextView) if view.isVisible()]
        assert any(answer.text.split()[0] in text for text in shown)
        assert last.findChildren(ReasoningView), "reasoning has a block of its own"

    stage.play(scene)


def test_stop_keeps_the_text_closes_the_socket_and_another_run_follows(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.use_model("demo-chat")
        await person.run("Tell me !long=2000")
        await person.until(
            lambda: any(choice.deltas > 5 for choice in person.session.growing.values()), "text to stream"
        )
        assert open_streams(person.server) == 1
        await person.seen(QPushButton, "Stop", person.pane.composer)
        await person.key(Qt.Key.Key_Escape)
        await person.idle(turns=2)
        turn = person.path[-1]
        assert turn.outcome is not None
        assert turn.outcome.ending is Ending.STOPPED
        assert turn.text
        await person.until(lambda: open_streams(person.server) == 0, "the socket to close")
        card = person.card(-1)
        await person.until(lambda: [v.source for v in person.find(TextView, inside=card)] == [turn.text], "the text")
        assert "stopped" in card.accessibleName().lower()

        await person.run("!fast And again")
        await person.idle(turns=4)
        assert person.path[-1].outcome is not None
        assert person.path[-1].outcome.ending is Ending.COMPLETE

    stage.play(scene, SLOW)


def test_quitting_while_an_answer_streams_leaves_nothing_behind(stage: Stage) -> None:
    streamed: list[str] = []

    async def scene(person: Person) -> None:
        await person.run("Tell me !long=2000")
        await person.until(
            lambda: any(choice.deltas > 5 for choice in person.session.growing.values()), "text to stream"
        )
        streamed.append(person.path[-1].id)
        await person.do(person.app.window.close)
        await person.do(person.app.window.close)
        await asyncio.sleep(60)  # the application ends this scene, as it ends every task

    try:
        stage.play(scene, SLOW)
    except asyncio.CancelledError:
        pass
    else:
        raise AssertionError("the scene was not cancelled")
    assert stage.exit_code == 0
    assert streamed


def test_the_demo_gateway_runs_from_the_first_key_on(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        app, bar = person.app, person.app.window.bar
        await asyncio.sleep(0.5)
        assert not app.demo.server.running
        assert (app.gateways.listed(DEMO_ID), bar.model.ids) == (None, [])
        await person.key(Qt.Key.Key_Shift)
        await person.until(lambda: "demo-chat" in bar.model.ids, "the demo gateway's models")
        assert app.demo.server.running

    stage.play(scene, touched=False)


def test_a_run_that_no_key_began_lists_the_demo_gateways_models(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        session = person.app.workspace.current
        session.turns.add_turn(make_turn(Role.USER, "Hello !fast"))
        assert not person.app.demo.server.running
        await session.run()
        await person.until(lambda: "demo-chat" in person.app.window.bar.model.ids, "the demo gateway's models")

    stage.play(scene, touched=False)


def test_a_gateway_of_ones_own_is_asked_for_its_models_from_the_start(stage: Stage, demo: DemoServer) -> None:
    store = ProfileStore()
    profile = Profile(name="Mine", base_url=demo.base_url)
    store.add_profile(profile)
    store.select(profile.id)

    async def scene(person: Person) -> None:
        await person.until(lambda: demo.requests, "a request")
        assert demo.requests[0].path.endswith("/models")
        assert not person.app.demo.server.running

    stage.play(scene, touched=False)


def test_quitting_at_once_does_not_wait_for_what_is_just_starting(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        assert person.app.window.isVisible()

    app = stage.play(scene)
    assert stage.exit_code == 0
    with pytest.raises(OSError, match="ended"):
        app.demo.start()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="platform: needs Linux, to count a process's threads")
def test_the_process_has_no_more_threads_after_than_before(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.do(person.app.window.action("experiment.new").trigger)  # the second time the first one is there
        await person.until(lambda: not person.path, "an empty experiment")
        await person.run("Hello !fast")
        await person.idle(turns=2)

    stage.play(scene)
    before = len(list(Path("/proc/self/task").iterdir()))
    stage.play(scene)
    assert len(list(Path("/proc/self/task").iterdir())) <= before


def test_a_person_who_writes_does_not_need_the_mouse(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.until(lambda: person.message.hasFocus(), "the cursor in the composer")
        await person.keys("What is 6 * 7?")
        await person.key(Qt.Key.Key_Return)
        await person.keys("Please")
        assert person.pane.composer.text == "What is 6 * 7?\nPlease"
        await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await person.idle(turns=2)
        assert person.path[0].role is Role.USER
        assert "42" in person.path[1].text
        assert person.pane.composer.text == ""

    stage.play(scene)
