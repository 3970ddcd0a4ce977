"""A field is refused, left out once or always, and the answer comes: in the real window, over real sockets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from playground.domain.adaptations import today
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.offered import DEMO_ID
from playground.engine.gateways.secrets import Secret
from playground.engine.session.session import Session
from playground.ui.features.conversation.turn_end import ErrorCard
from playground.ui.features.gateways.dialog import ProfileDialog
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.mark_label import Chip
from tests.flows.conftest import Person, Stage
from tests.flows.test_compare import answered as answered_in
from tests.flows.test_compare import columns, open_lanes
from tests.flows.test_error_cards import told, words
from tests.flows.test_first_start import dialog
from tests.flows.test_secrets import KEY, chat_answer, cut, events, leaks, search, search_files, use_gateway
from tests.flows.test_store import opened
from tests.support.fault_server import FaultServer, keep, send, whole

REFUSED = "Hello !refuse=stream_options"


async def answered(person: Person) -> None:
    await person.until(lambda: person.path[-1].text, "an answer")
    await person.idle()


def test_a_field_is_left_out_once(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        card = await told(person, REFUSED)
        assert "The gateway does not take “stream_options” · 400" in words(card)
        assert "stream_options" in person.body()
        await person.press("Leave out “stream_options” and retry", card)
        await answered(person)
        assert "stream_options" not in person.body()
        assert person.session.settings.current.include_usage is True  # type: ignore[attr-defined]
        outcome = person.path[-1].outcome
        assert outcome is not None
        assert [rule.words for rule in outcome.tried] == ["stream_options left out"]
        assert not outcome.adapted
        (chip,) = [one for one in person.find(Chip, inside=person.card(-1)) if one.text() == "changed once"]
        assert "This time alone: stream_options left out" in chip.toolTip()
        assert not person.app.gateways.get(DEMO_ID).adaptations
        await told(person, REFUSED)  # once was once
        assert "stream_options" in person.body()

    stage.play(scene)


def test_a_second_refusal_goes_on_with_what_was_left_out_for_the_first(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        card = await told(person, "Hello !refuse=stream_options !refuse=stream")
        await person.press("Leave out “stream_options” and retry", card)
        card = await person.seen(ErrorCard, "Error: The gateway does not take “stream”")
        await person.press("Leave out “stream” and retry", card)
        await answered(person)
        assert not {"stream", "stream_options"} & set(person.body())

    stage.play(scene)


def test_a_field_is_always_left_out(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        card = await told(person, REFUSED)
        await person.press("Always leave it out here", card)
        await answered(person)
        (rule,) = person.app.gateways.get(DEMO_ID).adaptations
        assert (rule.words, rule.model, rule.learnt) == ("stream_options left out", "", today())
        assert rule.why.startswith("Unsupported parameter: 'stream_options'")
        assert any("Kept for Demo gateway" in label.text() for label in person.pane.notice.findChildren(QLabel))
        outcome = person.path[-1].outcome
        assert outcome is not None
        assert [one.words for one in outcome.adapted] == ["stream_options left out"]
        assert not outcome.tried
        await person.run(REFUSED)
        await answered(person)
        assert "stream_options" not in person.body()

    stage.play(scene)


def test_lanes_that_were_refused_alike_are_asked_together(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        lanes = await open_lanes(person)
        await person.run(REFUSED)
        await person.until(lambda: all(_failed(lane) for lane in lanes.all), "a refusal in each lane")
        card = await person.seen(ErrorCard, "Error:", columns(person)[1])
        await person.press("Always leave it out here", card)
        await answered_in(person, lanes, 2)
        assert all(lane.transcript.path[-1].text for lane in lanes.all)
        assert all("stream_options" not in person.body(at) for at in (-1, -2))

    stage.play(scene)


@pytest.mark.parametrize("before", [0, 190])
def test_a_key_that_a_refusal_says_back_is_in_no_file_and_no_rule(stage: Stage, tmp_path: Path, before: int) -> None:
    filling = ("so it is " * before)[:before]  # the key stands where the words of a rule are cut
    said = f"Unsupported parameter: 'stream_options' {filling} for the key {KEY}"
    with FaultServer() as server:
        server.play_at("/v1/models", send(whole(200, "application/json", b'{"data": [{"id": "m-1"}]}')), keep())

        async def scene(person: Person) -> None:
            await opened(person)
            profile = await use_gateway(person, server, "chat", Secret(KEY))
            server.play_at("/v1/chat/completions", cut(400, json.dumps({"error": {"message": said}})), keep())
            card = await told(person, "Hello")
            server.play_at("/v1/chat/completions", events(chat_answer(9)))
            await person.press("Always leave it out here", card)
            await person.until(lambda: "It is" in person.path[-1].text, "an answer")
            await person.idle(2)
            (rule,) = person.app.gateways.get(profile.id).adaptations
            assert rule.why.startswith("Unsupported parameter: 'stream_options'")
            assert not leaks(rule.why)
            search("the window", QApplication.allWidgets())
            await person.press("Show the rules", person.pane.notice)
            settings = await dialog(person, ProfileDialog)
            search("the settings", [settings, *settings.findChildren(QWidget)])
            await person.do(settings.reject)

        stage.play(scene)
    (kept,) = tmp_path.rglob("gateways.json")
    assert "Unsupported parameter: 'stream_options'" in kept.read_text()
    search_files(tmp_path)


def _failed(lane: Session) -> bool:
    path = lane.transcript.path
    return bool(path) and path[-1].outcome is not None and path[-1].outcome.failure is not None


def test_a_role_is_kept_for_the_model_or_from_the_menu_for_all(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        session = person.session
        session.turns.add_turn(make_turn(Role.DEVELOPER, "Be short."))
        card = await told(person, "Hello !refuse=developer")
        assert "The gateway does not take the role “developer” · 400" in words(card)
        assert [b.text() for b in card.findChildren(QPushButton)][:2] == [
            "Send developer messages as “system” and retry",
            "Always do so for this model",
        ]
        await person.choose(person.one(IconButton, "Other ways to keep it: Send developer", card), "Always do so here")
        await answered(person)
        (rule,) = person.app.gateways.get(DEMO_ID).adaptations
        assert (rule.field, rule.to, rule.model) == ("developer", "system", "")
        assert person.body()["messages"][0]["role"] == "system"
        assert person.path[0].role is Role.DEVELOPER

    stage.play(scene)
