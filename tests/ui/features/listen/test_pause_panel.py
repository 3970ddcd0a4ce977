"""The panel of a paused exchange: decisions, edits, problems, and what happens to an unfinished edit."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from playground.engine.listen.exchanges import Listened, Stage
from playground.engine.listen.pauses import Fail, GoOn, Pause, Reply, ReplyBody, SendRequest
from playground.gateway.tape import Exchange
from playground.ui.features.listen.pause_panel import Mode, PausePanel

REQUEST = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}).encode()
ANSWER = json.dumps(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "call_1", "name": "search", "input": {"q": "x"}},
            {"type": "tool_use", "id": "call_2", "name": "open", "input": {}},
        ],
        "stop_reason": "tool_use",
    }
).encode()
HEADERS = (("accept", "*/*"), ("authorization", "Bearer ****"))


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture
def panel(qtbot: QtBot) -> PausePanel:
    panel = PausePanel()
    qtbot.addWidget(panel)
    panel.show()
    return panel


def paused(loop: asyncio.AbstractEventLoop, body: bytes, *, answer: bool = False) -> Listened:
    exchange = Exchange("1", "POST", "http://gateway/v1/messages", HEADERS, body, time.time(), protocol="messages")
    pause = Pause(answer, body, HEADERS, time.time() + 100, loop.create_future())
    stage = Stage.ANSWER_PAUSED if answer else Stage.REQUEST_PAUSED
    return Listened(1, exchange, stage=stage, pause=pause)


def decision(panel: PausePanel, qtbot: QtBot) -> object:
    with qtbot.waitSignal(panel.decided) as signal:
        panel.decide()
    assert signal.args is not None
    return signal.args[0]


def choose(panel: PausePanel, mode: Mode) -> None:
    panel.switch.buttons[mode].click()


def test_unchanged_request_goes_on(panel: PausePanel, qtbot: QtBot, loop: asyncio.AbstractEventLoop) -> None:
    panel.show_pause(paused(loop, REQUEST))
    assert panel.main.text() == "Continue"
    assert decision(panel, qtbot) == GoOn()


def test_edited_body_is_sent_with_the_headers_of_the_program(
    panel: PausePanel, qtbot: QtBot, loop: asyncio.AbstractEventLoop
) -> None:
    panel.show_pause(paused(loop, REQUEST))
    panel.request.body.setPlainText('{"model": "other"}')
    qtbot.waitUntil(lambda: panel.main.text() == "Send edited request")
    assert decision(panel, qtbot) == SendRequest(b'{"model": "other"}', None)


def test_edited_header_is_sent_with_the_bytes_of_the_program(
    panel: PausePanel, qtbot: QtBot, loop: asyncio.AbstractEventLoop
) -> None:
    panel.show_pause(paused(loop, REQUEST))
    panel.request.headers.setPlainText("accept: text/plain\nx-new: 1")
    assert decision(panel, qtbot) == SendRequest(REQUEST, (("accept", "text/plain"), ("x-new", "1")))


def test_invalid_json_cannot_be_sent(panel: PausePanel, qtbot: QtBot, loop: asyncio.AbstractEventLoop) -> None:
    panel.show_pause(paused(loop, REQUEST))
    panel.request.body.setPlainText("{")
    qtbot.waitUntil(lambda: not panel.main.isEnabled())
    assert panel.problem.text() == "Not valid JSON."


def test_compressed_body_cannot_be_edited_and_goes_on(
    panel: PausePanel, qtbot: QtBot, loop: asyncio.AbstractEventLoop
) -> None:
    panel.show_pause(paused(loop, b"\x28\xb5\x2f\xfd\x00"))
    assert not panel.request.body.isVisible()
    assert decision(panel, qtbot) == GoOn()


def test_dropped_and_edited_call_are_in_the_answer(
    panel: PausePanel, qtbot: QtBot, loop: asyncio.AbstractEventLoop
) -> None:
    panel.show_pause(paused(loop, ANSWER, answer=True))
    fields = panel.answer.fields
    first, second = fields.calls
    first.arguments.editor.setPlainText('{"q": "y"}')
    second.drop.click()
    sent = decision(panel, qtbot)
    assert isinstance(sent, ReplyBody)
    text, call = sent.body["content"]
    assert text["text"] == "Looking."
    assert call == {"type": "tool_use", "id": "call_1", "name": "search", "input": {"q": "y"}}
    assert sent.body["stop_reason"] == "tool_use"


def test_added_call_needs_a_name(panel: PausePanel, qtbot: QtBot, loop: asyncio.AbstractEventLoop) -> None:
    panel.show_pause(paused(loop, ANSWER, answer=True))
    panel.answer.fields.add.click()
    qtbot.waitUntil(lambda: not panel.main.isEnabled())
    panel.answer.fields.calls[-1].name.setText("write")
    qtbot.waitUntil(panel.main.isEnabled)
    sent = decision(panel, qtbot)
    assert isinstance(sent, ReplyBody)
    assert sent.body["content"][-1]["name"] == "write"


def test_unchanged_answer_goes_on(panel: PausePanel, qtbot: QtBot, loop: asyncio.AbstractEventLoop) -> None:
    panel.show_pause(paused(loop, ANSWER, answer=True))
    assert decision(panel, qtbot) == GoOn()


def test_edited_raw_json_is_the_body_of_the_answer(
    panel: PausePanel, qtbot: QtBot, loop: asyncio.AbstractEventLoop
) -> None:
    panel.show_pause(paused(loop, ANSWER, answer=True))
    panel.answer.switch.buttons[1].click()
    panel.answer.body.setPlainText('{"id": "2"}')
    assert decision(panel, qtbot) == ReplyBody({"id": "2"})


def test_answer_by_hand_needs_a_text_or_a_call(
    panel: PausePanel, qtbot: QtBot, loop: asyncio.AbstractEventLoop
) -> None:
    panel.show_pause(paused(loop, REQUEST))
    choose(panel, Mode.BY_HAND)
    assert not panel.main.isEnabled()
    panel.by_hand.texts[0].setPlainText("42")
    qtbot.waitUntil(panel.main.isEnabled)
    assert decision(panel, qtbot) == Reply("42")


def test_failure_has_status_and_message(panel: PausePanel, qtbot: QtBot, loop: asyncio.AbstractEventLoop) -> None:
    panel.show_pause(paused(loop, REQUEST))
    choose(panel, Mode.FAIL)
    panel.fail.status.setValue(429)
    panel.fail.message.setText("Slow down")
    assert panel.main.text() == "Send error"
    assert decision(panel, qtbot) == Fail(429, "Slow down")


def test_pause_that_is_shown_again_keeps_an_unfinished_edit(panel: PausePanel, loop: asyncio.AbstractEventLoop) -> None:
    listened = paused(loop, REQUEST)
    panel.show_pause(listened)
    panel.request.body.setPlainText('{"model": "oth')
    panel.show_pause(listened)
    assert panel.request.body.text() == '{"model": "oth'


def test_time_left_is_shown(panel: PausePanel, loop: asyncio.AbstractEventLoop) -> None:
    panel.show_pause(paused(loop, REQUEST))
    assert panel.words.text.startswith("Request paused · continues by itself in 1 min")
