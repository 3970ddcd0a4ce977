"""What an error card says and where its buttons lead, in the real window, over real sockets."""

from __future__ import annotations

import json
from functools import partial
from itertools import accumulate
from typing import Any

from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.transcript import Role
from playground.engine.gateways.profiles import Profile
from playground.gateway.address import origin
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.turn_end import SHOW_BODY, ErrorCard
from playground.ui.features.gateways.dialog import ProfileDialog
from playground.ui.shell.features import GATEWAYS, PARAMETER_PANEL, RAW_PANEL, TOOLS_PANEL
from tests.flows.conftest import Person, Stage
from tests.support.fault_server import FaultServer, Step, head, hold, keep, reset, send, sse, text_chunk, whole

CANARY = "sk-canary-9a1e44d0"
ANSWER = whole(200, "application/json", b'{"choices": [{"message": {"content": "Well"}}]}')
MODELS = whole(200, "application/json", b'{"data": [{"id": "small"}, {"id": "large"}]}')


def refusal(status: int, body: Any) -> list[Step]:
    return [send(whole(status, "application/json", json.dumps(body).encode())), keep()]


def words(card: ErrorCard) -> str:
    return "\n".join(label.text() for label in card.findChildren(QLabel) if label.text())


def buttons(card: ErrorCard) -> list[str]:
    return [button.text() for button in card.findChildren(QPushButton) if button.text() != SHOW_BODY]


def dialog() -> ProfileDialog:
    (found,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, ProfileDialog) and w.isVisible()]
    return found


async def at(person: Person, server: FaultServer, **settings: Any) -> Profile:
    """Go on at that server, without a second try."""
    server.play(send(MODELS), keep())
    gateways = person.app.gateways
    profile = gateways.store.add_profile(Profile(name="Scripted", base_url=server.url, retries=0, **settings))
    await person.do(lambda: person.app.actions.of(GATEWAYS).choose(profile.id))
    await person.until(lambda: "small" in person.app.window.bar.model.ids, "its models")
    await person.use_model("small")
    return profile


async def told(person: Person, message: str = "Hello") -> ErrorCard:
    """Ask, and give the card that comes of it."""
    turns = len(person.path)
    await person.run(message)
    await person.until(lambda: len(person.path) > turns and person.path[-1].outcome is not None, "an end")
    await person.idle()
    return await person.seen(ErrorCard, "Error:", person.card(-1))


def test_each_refusal_leads_to_where_it_is_mended(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        window = person.app.window
        with FaultServer() as server:
            await at(person, server)
            server.play(*refusal(400, {"error": {"message": "There are no healthy deployments for this model."}}))
            card = await told(person)
            assert "The gateway does not offer this model · 400" in words(card)
            await person.press("Choose a model", card)
            await person.until(lambda: window.bar.model.hasFocus(), "the focus in the model field")
            server.play(*refusal(400, {"error": {"message": "no", "param": "temperature"}}))
            card = await told(person)
            assert "The gateway does not accept “temperature” · 400" in words(card)
            window.side.show_page("Raw")
            await person.press("Show parameters", card)
            row = window.panels.of(PARAMETER_PANEL).rows["temperature"]
            await person.until(lambda: row.isVisible() and row.isAncestorOf(focus()), "the parameter's row")
            server.play(*refusal(400, {"error": {"message": "This model's maximum context length is 4097 tokens."}}))
            card = await told(person)
            await person.press("Go to the earliest turn", card)
            first = person.path[0].id
            await person.until(lambda: person.pane.view.focused_turn() == first, "the focus on the first turn")
            server.play(*refusal(422, {"detail": [{"loc": ["body", "foo"], "msg": "Extra inputs are not permitted"}]}))
            card = await told(person)
            await person.press("Open Raw", card)
            await person.until(lambda: window.panels.of(RAW_PANEL).body.editor.hasFocus(), "the extra body")
            server.play(*refusal(400, {"error": {"message": "this model does not support tools"}}))
            card = await told(person)
            assert buttons(card) == ["Choose a model", "Show tools", "Retry"]
            await person.press("Show tools", card)
            await person.until(window.panels.of(TOOLS_PANEL).isVisible, "the tools")
            server.play(*refusal(400, {"message": "Either x-portkey-config or x-portkey-provider header is required"}))
            card = await told(person)
            await person.press("Add the header x-portkey-provider", card)
            await person.until(lambda: isinstance(QApplication.activeModalWidget(), ProfileDialog), "the settings")
            (edit,) = dialog().form.headers.edits
            assert edit.name.text() == "x-portkey-provider"
            await person.until(edit.value.hasFocus, "the cursor in its value")
            await person.do(lambda: edit.value.setText("openai"))
            await person.do(dialog().save_button.click)
            await person.until(lambda: dialog().message.text().startswith("Saved."), "it to be saved")
            await person.do(dialog().close_button.click)
            await person.until(lambda: QApplication.activeModalWidget() is None, "the dialog closed")
            await person.until(lambda: "Scripted is saved." in person.pane.notice.words, "the way on")
            server.play(
                send(whole(200, "application/json", b'{"choices": [{"message": {"content": "Well"}}]}')), keep()
            )
            await person.press("Retry", person.pane.notice)
            await person.until(lambda: person.path[-1].text == "Well", "the answer")
            assert server.requests[-1].header("x-portkey-provider") == "openai"

    def focus() -> Any:
        return QApplication.focusWidget()

    stage.play(scene)


def test_a_key_that_did_not_survive_the_restart_is_entered_from_the_card(stage: Stage) -> None:
    with DemoServer(DemoConfig(key=CANARY, tokens_per_second=0, time_to_first_token=0)) as locked:

        async def scene(person: Person) -> None:
            gateways = person.app.gateways
            url = locked.base_url
            profile = gateways.store.add_profile(Profile(name="Locked", base_url=url, key_origin=origin(url)))
            await person.do(lambda: person.app.actions.of(GATEWAYS).choose(profile.id))
            await person.use_model("demo-chat")
            card = await told(person)
            assert "The key is not here, so nothing was sent" in words(card)
            assert "kept" not in words(card)
            assert locked.requests == []
            assert buttons(card) == ["Enter the key", "Retry"]
            await person.press("Enter the key", card)
            await person.until(lambda: dialog().form.key.edit.hasFocus(), "the key's field")
            await person.do(lambda: dialog().form.key.edit.setText(CANARY))
            await person.do(dialog().save_button.click)
            await person.until(lambda: dialog().message.text().startswith("Saved."), "it to be saved")
            assert "Locked is saved." in person.pane.notice.words
            await person.do(dialog().close_button.click)
            await person.until(lambda: QApplication.activeModalWidget() is None, "the dialog closed")
            await person.press("Retry", person.pane.notice)
            await person.until(lambda: person.path[-1].text, "an answer")
            assert locked.requests[-1].header("authorization") == f"Bearer {CANARY}"

        stage.play(scene)


def test_what_is_said_is_true_of_what_arrived_and_what_was_asked_for(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with FaultServer() as server:
            await at(person, server)
            server.play(reset())
            nothing = words(await told(person))
            assert "The connection failed" in nothing
            assert "kept" not in nothing
            server.play(send(head(), sse(text_chunk("Well, "))), reset())
            await person.run("And now?")
            await person.until(lambda: person.path[-1].role is Role.ASSISTANT and person.path[-1].text, "some text")
            await person.idle()
            assert "What arrived is kept. Retry to ask again." in words(
                person.one(ErrorCard, "Error:", person.card(-1))
            )
            for streamed in (True, False):
                server.play(*refusal(503, {"message": "busy"}))
                parameters = person.session.settings.current.with_value("stream", streamed)
                await person.do(partial(person.session.set_parameters, parameters))
                card = await told(person)
                assert ("Streaming makes this less likely" in words(card)) is not streamed
                assert ("Turn streaming on and retry" in buttons(card)) is not streamed
            server.play(send(whole(418, None, b"", "Connection: close")))
            said = words(await told(person))
            assert said.count("418") == 1
            server.play(send(b"SSH-2.0-OpenSSH_9.2\r\n"))
            card = await told(person)
            assert "The answer is not proper HTTP" in words(card)
            assert "it says “SSH-2.0-OpenSSH_9.2”" in card.findChildren(TextView)[0].toPlainText()

    stage.play(scene)


def test_the_dot_says_what_is_known_of_the_gateway(stage: Stage) -> None:
    def says(person: Person) -> str:
        (label,) = [label for label in person.app.window.status.findChildren(QLabel) if "Scripted" in label.text()]
        button = person.one(QPushButton, "Gateway", person.app.window.bar)
        assert label.toolTip() == button.toolTip(), "the same above and below"
        return button.toolTip().removeprefix("Gateway: ")

    async def scene(person: Person) -> None:
        with FaultServer() as server:
            profile = await at(person, server)
            await person.until(lambda: says(person) == "reached", "reached")
            for script, words in (
                (refusal(401, {"message": "bad key"}), "reached, the key is refused"),
                (refusal(400, {"message": "odd value"}), "reached"),
                (refusal(500, {"message": "trouble"}), "reached, it answered with an error of its own"),
                ([send(head()), send(sse(text_chunk("Well"))), reset()], "reached"),
                ([reset()], "not reached"),
            ):
                server.play(script)
                await person.run("Hello")
                await person.until(partial(lambda words: says(person) == words, words), words)
                await person.idle()
            failed = person.session
            server.play(hold())
            await person.do(person.app.window.action("experiment.new").trigger)
            await person.until(lambda: person.session is not failed, "another experiment")
            server.play(send(MODELS), keep())
            await person.do(lambda: person.app.actions.of(GATEWAYS).choose(profile.id))
            await person.do(lambda: person.app.actions.of(GATEWAYS).load_models(refresh=True))
            await person.until(lambda: says(person) == "reached", "reached again")
            await person.do(partial(person.app.workspace.open, failed.id))
            await person.until(lambda: person.session is failed, "the one that failed")
            assert says(person) == "reached", "an old failure tells nothing of now"
            await person.use_model("small")
            server.play(hold())
            await person.run("Wait")
            await person.until(lambda: person.session.active_run is not None, "a run")
            await person.do(person.pane.stop)
            await person.idle()
            assert says(person) == "reached", "nothing was learnt from what was stopped"

    stage.play(scene)


def test_the_dot_of_a_gateway_whose_key_is_missing(stage: Stage) -> None:
    with DemoServer(DemoConfig(key=CANARY)) as locked:

        async def scene(person: Person) -> None:
            url = locked.base_url
            profile = person.app.gateways.store.add_profile(
                Profile(name="Locked", base_url=url, key_origin=origin(url))
            )
            await person.do(lambda: person.app.actions.of(GATEWAYS).choose(profile.id))
            button = person.one(QPushButton, "Gateway", person.app.window.bar)
            await person.until(lambda: button.toolTip() == "Gateway: not asked, the key is missing", "the dot's words")
            assert locked.requests == []

        stage.play(scene)


def test_a_turn_of_cumulative_deltas_offers_to_be_read_as_cumulative_text(stage: Stage) -> None:
    words = ["The ", "cat ", "sat ", "on ", "the ", "mat."]

    async def scene(person: Person) -> None:
        with FaultServer() as server:
            await at(person, server)
            server.play(send(head(), sse(*map(text_chunk, accumulate(words)), text_chunk("", "stop"), "[DONE]")))
            await person.run("Hello")
            await person.idle()
        repeated = "".join(accumulate(words))
        assert person.path[-1].text == repeated, "nothing is altered by itself"
        await person.press("Read as cumulative text", person.card(-1))
        await person.until(lambda: person.path[-1].text == "".join(words), "the text without the repeats")
        await person.until(lambda: not offers(person), "the offer to go")
        await person.do(person.pane.undo)
        assert person.path[-1].text == repeated
        await person.until(lambda: offers(person), "the offer to come back")

    def offers(person: Person) -> bool:
        found = person.card(-1).findChildren(QPushButton)
        return any(button.text() == "Read as cumulative text" and button.isVisible() for button in found)

    stage.play(scene)
