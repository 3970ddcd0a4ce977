"""A field is refused, left out once or always, and the answer comes: in the real window, over real sockets."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtWidgets import QApplication, QLabel, QToolButton, QWidget

from playground.domain.adaptations import today
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.gateways import DEMO_ID
from playground.engine.gateways.secrets import Secret
from playground.engine.session.session import Session
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.compare import ComparePage
from tests.flows.pages.conversation import ErrorCard, wait_for_dialog
from tests.flows.test_error_cards import fail
from tests.flows.test_secrets import KEY, chat_answer, cut, events, leaks, search, search_files, use_gateway
from tests.flows.test_store import opened
from tests.support.fault_server import FaultServer, keep, send, whole

REFUSED = "Hello !refuse=stream_options"


async def ask(person: Person, message: str = REFUSED) -> ErrorCard:
    """Send a message and return the error card of its answer."""
    return await fail(person, message)


async def wait_for_answer(person: Person) -> None:
    """Wait until the last message has text and no run is active."""
    await person.until(lambda: person.path[-1].text, "an answer")
    await person.idle()


@flow()
async def test_refused_fields_are_left_out_once_or_always(person: Person) -> None:
    def rules() -> tuple[list[str], list[str]]:
        """The rules that were applied to the last request, and those tried once."""
        outcome = person.path[-1].outcome
        assert outcome is not None
        return [rule.words for rule in outcome.adapted], [rule.words for rule in outcome.tried]

    card = await ask(person)
    assert "The gateway does not take “stream_options” · 400" in card.text
    assert "stream_options" in person.body()
    await card.press("Leave out “stream_options” and retry")
    await wait_for_answer(person)
    assert "stream_options" not in person.body()
    assert person.session.settings.current.include_usage is True  # type: ignore[attr-defined]
    assert rules() == ([], ["stream_options left out"])
    (chip,) = [label for label in person.conversation.message(-1).find(QLabel) if label.text() == "adapted once"]
    assert "For this request only: stream_options left out" in chip.toolTip()
    assert not person.app.gateways.get(DEMO_ID).adaptations

    # Two fields, one after the other
    card = await ask(person, "Hello !refuse=stream_options !refuse=stream")
    assert "stream_options" in person.body(), "it was left out once"
    await card.press("Leave out “stream_options” and retry")
    second = await person.seen(QWidget, "Error: The gateway does not take “stream”")
    await person.press("Leave out “stream” and retry", second)
    await wait_for_answer(person)
    assert not {"stream", "stream_options"} & set(person.body())

    # Always
    card = await ask(person)
    await card.press("Always leave it out here")
    await wait_for_answer(person)
    (rule,) = person.app.gateways.get(DEMO_ID).adaptations
    assert (rule.words, rule.model, rule.learnt) == ("stream_options left out", "", today())
    assert rule.why.startswith("Unsupported parameter: 'stream_options'")
    await person.conversation.notice.wait_for_text("Saved for Demo gateway")
    # The retry may begin before the rule is saved: then it leaves the field out for this request alone.
    adapted, tried = rules()
    assert [*adapted, *tried] == ["stream_options left out"]
    await person.run(REFUSED)
    await wait_for_answer(person)
    assert "stream_options" not in person.body()
    assert rules() == (["stream_options left out"], [])


@flow()
async def test_lanes_with_the_same_refusal_are_retried_together(person: Person) -> None:
    page = ComparePage(person)
    lanes = await page.open()
    await person.run(REFUSED)
    await person.until(lambda: all(_failed(lane) for lane in lanes.all), "a refusal in each lane")
    await page.lanes[1].press("Always leave it out here")
    await page.wait_for_answers(2)
    assert all(lane.transcript.path[-1].text for lane in lanes.all)
    assert all("stream_options" not in person.body(position) for position in (-1, -2))


def _failed(lane: Session) -> bool:
    path = lane.transcript.path
    return bool(path) and path[-1].outcome is not None and path[-1].outcome.failure is not None


@flow()
async def test_refused_role_is_always_replaced(person: Person) -> None:
    session = person.session
    session.turns.add_turn(make_turn(Role.DEVELOPER, "Be short."))
    card = await ask(person, "Hello !refuse=developer")
    assert "The gateway does not take the role “developer” · 400" in card.text
    assert card.buttons[:2] == [
        "Send developer messages as “system” and retry",
        "Always do so for this model",
    ]
    more = await card.wait_for(QToolButton, "Other ways to keep it: Send developer")
    await person.choose(more, "Always do so here")
    await wait_for_answer(person)
    (rule,) = person.app.gateways.get(DEMO_ID).adaptations
    assert (rule.field, rule.to, rule.model) == ("developer", "system", "")
    assert person.body()["messages"][0]["role"] == "system"
    assert person.path[0].role is Role.DEVELOPER


def test_key_in_a_refusal_is_in_no_file_and_no_rule(stage: Stage, tmp_path: Path) -> None:
    filling = ("so it is " * 190)[:190]  # the key is where the words of a rule are cut
    message = f"Unsupported parameter: 'stream_options' {filling} for the key {KEY}"
    with FaultServer() as server:
        server.play_at("/v1/models", send(whole(200, "application/json", b'{"data": [{"id": "m-1"}]}')), keep())

        async def scene(person: Person) -> None:
            await opened(person)
            profile = await use_gateway(person, server, "chat", Secret(KEY))
            server.play_at("/v1/chat/completions", cut(400, json.dumps({"error": {"message": message}})), keep())
            card = await ask(person, "Hello")
            server.play_at("/v1/chat/completions", events(chat_answer(9)))
            await card.press("Always leave it out here")
            await person.until(lambda: "It is" in person.path[-1].text, "an answer")
            await person.idle(2)
            (rule,) = person.app.gateways.get(profile.id).adaptations
            assert rule.why.startswith("Unsupported parameter: 'stream_options'")
            assert not leaks(rule.why)
            search("the window", QApplication.allWidgets())
            await person.conversation.notice.press("Show the rules")
            settings = await wait_for_dialog(person, "Gateways")
            search("the settings", [settings.widget, *settings.widget.findChildren(QWidget)])
            await settings.press("Close")

        stage.play(scene)
    (saved,) = tmp_path.rglob("gateways.json")
    assert "Unsupported parameter: 'stream_options'" in saved.read_text()
    search_files(tmp_path)
