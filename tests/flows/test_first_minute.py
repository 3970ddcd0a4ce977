"""The first minute: the sample, its tool calls, and quitting, through the real window."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.transcript import Ending, Role
from playground.engine.gateways.offered import DEMO_ID
from playground.engine.gateways.profiles import Profile, ProfileStore
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.gateways import GatewayBar
from tests.support.open_streams import open_streams

SLOW = DemoConfig(tokens_per_second=60, time_to_first_token=0.05, rate_limit=1_000_000)


@flow()
async def test_first_sample_leads_through_two_calls_to_an_answer(person: Person) -> None:
    conversation = person.conversation
    await conversation.press("Try it now")
    await person.until(lambda: person.session.growing and conversation.has_button("Reasoning,"), "reasoning")
    growing = next(iter(person.session.growing.values()))
    await person.until(lambda: growing.parts and len(growing.parts[0].fragments) > 3, "a few fragments")
    await person.idle(turns=3)

    turn = person.path[-1]
    assert turn.reasoning
    assert [call.name for call in turn.calls] == ["get_weather", "get_weather"]
    first, second = await conversation.wait_for_calls()
    assert first.waiting
    assert second.waiting
    await first.send_result('{"temp": 21}')
    await person.until(lambda: not first.waiting, "a result of the first call")
    assert person.session.active_run is None, "the second call is still open"
    field = await second.wait_for_result_field()
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
    last = conversation.message(-1)
    await person.until(lambda: answer.text.split()[0] in last.text, "the text of the answer")
    assert last.has_button("Reasoning,"), "reasoning has a block of its own"


@flow(SLOW)
async def test_message_is_sent_by_keys_and_a_stopped_run_keeps_its_text(person: Person) -> None:
    # Written and sent without the mouse
    await person.until(lambda: person.message.hasFocus(), "the cursor in the composer")
    await person.keys("What is 6 * 7?")
    await person.key(Qt.Key.Key_Return)
    await person.keys("Please")
    await person.until(lambda: person.conversation.composer.text == "What is 6 * 7?\nPlease", "two lines")
    await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await person.idle(turns=2)
    assert person.path[0].role is Role.USER
    assert "42" in person.path[1].text
    assert person.conversation.composer.text == ""

    await person.use_model("demo-chat")
    await person.run("Tell me !long=2000")
    await person.until(lambda: any(choice.deltas > 5 for choice in person.session.growing.values()), "text to stream")
    await person.until(lambda: open_streams(person.server) == 1, "one stream")
    await person.conversation.composer.wait_for(QPushButton, "Stop")
    await person.key(Qt.Key.Key_Escape)
    await person.idle(turns=4)
    turn = person.path[-1]
    assert turn.outcome is not None
    assert turn.outcome.ending is Ending.STOPPED
    assert turn.text
    await person.until(lambda: open_streams(person.server) == 0, "the socket to close")
    card = person.conversation.message(-1)
    await person.until(lambda: " ".join(turn.text.split()) in " ".join(card.text.split()), "the text")
    await person.until(lambda: "stopped" in card.widget.accessibleName().lower(), "its state")

    await person.run("!fast And again")
    await person.idle(turns=6)
    assert person.path[-1].outcome is not None
    assert person.path[-1].outcome.ending is Ending.COMPLETE


def test_quitting_during_an_answer_leaves_nothing_behind(stage: Stage) -> None:
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


@flow(touched=False)
async def test_demo_gateway_starts_with_the_first_key(person: Person) -> None:
    app, bar = person.app, GatewayBar(person)
    await person.until(lambda: app.workspace.listed, "the store")
    assert not app.demo.server.running
    assert app.gateways.listed(DEMO_ID) is None
    assert not bar.lists("demo-chat")
    await person.key(Qt.Key.Key_Shift)
    await person.until(lambda: bar.lists("demo-chat"), "the demo gateway's models")
    assert app.demo.server.running


def test_own_gateway_is_asked_for_models_at_start(stage: Stage, demo: DemoServer) -> None:
    store = ProfileStore()
    profile = Profile(name="Mine", base_url=demo.base_url)
    store.add_profile(profile)
    store.select(profile.id)

    async def scene(person: Person) -> None:
        await person.until(lambda: demo.requests, "a request")
        assert demo.requests[0].path.endswith("/models")
        assert not person.app.demo.server.running

    stage.play(scene, touched=False)


def test_quitting_at_once_does_not_wait_for_the_demo_gateway(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        assert person.app.window.isVisible()

    app = stage.play(scene)
    assert stage.exit_code == 0
    with pytest.raises(OSError, match="ended"):
        app.demo.start()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="platform: needs Linux, to count a process's threads")
def test_application_leaves_no_threads(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.do(person.app.window.action("experiment.new").trigger)  # the second time the first one is there
        await person.until(lambda: not person.path, "an empty experiment")
        await person.run("Hello !fast")
        await person.idle(turns=2)

    stage.play(scene)
    before = len(list(Path("/proc/self/task").iterdir()))
    stage.play(scene)
    assert len(list(Path("/proc/self/task").iterdir())) <= before
