"""The texts of error cards and where their buttons lead, in the real window, over real sockets."""

from __future__ import annotations

import json
from functools import partial
from itertools import accumulate
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPlainTextEdit, QPushButton, QStatusBar, QTabBar, QWidget

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.transcript import Role
from playground.engine.gateways.profiles import Profile
from playground.gateway.address import origin
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.connect import ConnectWindow
from tests.flows.pages.conversation import ErrorCard
from tests.flows.pages.gateways import GatewayBar, GatewaysWindow
from tests.flows.pages.steps import open_tab
from tests.support.fault_server import FaultServer, Step, head, hold, keep, reset, send, sse, text_chunk, whole

CANARY = "sk-canary-9a1e44d0"
ANSWER = send(whole(200, "application/json", b'{"choices": [{"message": {"content": "Well"}}]}'))
MODELS = whole(200, "application/json", b'{"data": [{"id": "small"}, {"id": "large"}]}')


def refusal(status: int, body: Any) -> list[Step]:
    return [send(whole(status, "application/json", json.dumps(body).encode())), keep()]


def has_focus(widget: QWidget) -> bool:
    """True if the keyboard is in the widget or in a part of it."""
    focus = QApplication.focusWidget()
    return focus is not None and (focus is widget or widget.isAncestorOf(focus))


async def use_server(person: Person, server: FaultServer, **settings: Any) -> Profile:
    """Go on at that server, without a second try."""
    server.play(send(MODELS), keep())
    gateways = person.app.gateways
    profile = gateways.store.add_profile(Profile(name="Scripted", base_url=server.url, retries=0, **settings))
    await GatewayBar(person).choose_gateway(profile.name)
    await person.until(lambda: GatewayBar(person).lists("small"), "its models")
    await person.use_model("small")
    return profile


async def fail(person: Person, message: str = "Hello") -> ErrorCard:
    """Send a message and return the error card of its answer."""
    turns = len(person.path)
    await person.run(message)
    await person.until(lambda: len(person.path) > turns and person.path[-1].outcome is not None, "an end")
    await person.idle()
    return await (await person.conversation.wait_for_message(-1)).wait_for_error()


@flow()
async def test_error_card_leads_to_the_remedy(person: Person) -> None:
    bar, side = GatewayBar(person), person.get(QTabBar, "Side panel")
    with FaultServer() as server:
        await use_server(person, server)
        server.play(*refusal(400, {"error": {"message": "There are no healthy deployments for this model."}}))
        card = await fail(person)
        assert "The gateway does not offer this model · 400" in card.text
        await card.press("Choose a model")
        await person.until(lambda: has_focus(bar.model), "the focus in the model field")
        await person.key(Qt.Key.Key_Escape)
        server.play(*refusal(400, {"error": {"message": "no", "param": "temperature"}}))
        card = await fail(person)
        assert "The gateway does not accept “temperature” · 400" in card.text
        await open_tab(person, "Output")
        await card.press("Show parameters")
        await person.until(lambda: any(map(has_focus, person.find(QLineEdit, "Temperature"))), "its row")
        server.play(*refusal(400, {"error": {"message": "This model's maximum context length is 4097 tokens."}}))
        card = await fail(person)
        await card.press("Go to the earliest message")
        first = person.path[0].id
        await person.until(lambda: person.pane.view.focused_turn() == first, "the focus on the first turn")
        server.play(*refusal(422, {"detail": [{"loc": ["body", "foo"], "msg": "Extra inputs are not permitted"}]}))
        card = await fail(person)
        await card.press("Open extra fields")
        await person.until(lambda: any(map(has_focus, person.find(QPlainTextEdit, "Extra body fields"))), "the body")
        server.play(*refusal(400, {"error": {"message": "this model does not support tools"}}))
        card = await fail(person)
        assert card.buttons == ["Choose a model", "Show tools", "Retry"]
        await card.press("Show tools")
        await person.until(lambda: side.tabText(side.currentIndex()).startswith("Tools"), "the tools")
        server.play(*refusal(400, {"message": "Either x-portkey-config or x-portkey-provider header is required"}))
        card = await fail(person)
        await card.press("Add the header x-portkey-provider")
        settings = await GatewaysWindow.opened(person)
        assert settings.value("Header name") == "x-portkey-provider"
        await person.until(lambda: has_focus(settings.field("Header value")), "the cursor in its value")
        await settings.enter("Header value", "openai")
        await settings.save()
        await settings.leave()
        await person.conversation.notice.wait_for_text("Scripted is saved.")
        server.play(ANSWER, keep())
        await person.conversation.notice.press("Retry")
        await person.until(lambda: person.path[-1].text == "Well", "the answer")
        assert server.requests[-1].header("x-portkey-provider") == "openai"


def test_error_card_of_a_missing_key_leads_to_its_field(stage: Stage) -> None:
    with DemoServer(DemoConfig(key=CANARY, tokens_per_second=0, time_to_first_token=0)) as locked:

        async def scene(person: Person) -> None:
            gateways = person.app.gateways
            url = locked.base_url
            profile = gateways.store.add_profile(Profile(name="Locked", base_url=url, key_origin=origin(url)))
            bar = GatewayBar(person)
            await bar.choose_gateway(profile.name)
            await person.until(lambda: bar.state == "not tested, the key is missing", "the state of the gateway")
            await person.use_model("demo-chat")
            card = await fail(person)
            assert "Key missing; nothing sent" in card.text
            assert "kept" not in card.text
            assert locked.requests == []
            assert card.buttons == ["Enter the key", "Retry"]
            await card.press("Enter the key")
            settings = await GatewaysWindow.opened(person)
            await person.until(lambda: has_focus(settings.field("Key")), "the key's field")
            await settings.enter("Key", CANARY)
            await settings.save()
            await person.conversation.notice.wait_for_text("Locked is saved.")
            await settings.leave()
            await person.conversation.notice.press("Retry")
            await person.until(lambda: person.path[-1].text, "an answer")
            assert locked.requests[-1].header("authorization") == f"Bearer {CANARY}"

        stage.play(scene)


@flow()
async def test_key_button_at_the_demo_gateway_explains_that_it_needs_no_key(person: Person) -> None:
    card = await fail(person, "Hello !401")
    await card.press("Enter the key")
    notice = person.conversation.notice
    await notice.wait_for_text("need no key")
    assert not GatewaysWindow.is_open()
    await notice.press("Connect a gateway")
    await (await ConnectWindow.opened(person)).close()


@flow()
async def test_retry_by_keyboard_keeps_the_focus_at_the_answer(person: Person) -> None:
    card = await fail(person, "Hello !401")
    before = person.path[-1].id
    await person.do(card.get(QPushButton, "Retry").setFocus)
    await person.key(Qt.Key.Key_Return)
    await person.until(lambda: person.path[-1].id != before and person.path[-1].outcome is not None, "another answer")
    await person.idle()
    await person.until(lambda: person.pane.view.focused_turn() == person.path[-1].id, "the focus at it")


@flow()
async def test_error_card_describes_what_arrived(person: Person) -> None:
    with FaultServer() as server:
        await use_server(person, server)
        server.play(reset())
        nothing = (await fail(person)).text
        assert "The connection failed" in nothing
        assert "The received part is saved" not in nothing
        server.play(send(head(), sse(text_chunk("Well, "))), reset())
        await person.run("And now?")
        await person.until(lambda: person.path[-1].role is Role.ASSISTANT and person.path[-1].text, "some text")
        await person.idle()
        card = await person.conversation.message(-1).wait_for_error()
        assert "The received part is saved. Retry to send it again." in card.text
        for streamed in (True, False):
            server.play(*refusal(503, {"message": "busy"}))
            parameters = person.session.settings.current.with_value("stream", streamed)
            await person.do(partial(person.session.set_parameters, parameters))
            card = await fail(person)
            assert ("Streaming makes this less likely" in card.text) is not streamed
            assert ("Turn streaming on and retry" in card.buttons) is not streamed
        server.play(send(whole(418, None, b"", "Connection: close")))
        assert (await fail(person)).text.count("418") == 1
        server.play(send(b"SSH-2.0-OpenSSH_9.2\r\n"))
        card = await fail(person)
        assert "The answer is not proper HTTP" in card.text
        assert "it says “SSH-2.0-OpenSSH_9.2”" in card.text

        # Cumulative deltas offer another reading
        words = ["The ", "cat ", "sat ", "on ", "the ", "mat."]
        repeated = "".join(accumulate(words))
        server.play(send(head(), sse(*map(text_chunk, accumulate(words)), text_chunk("", "stop"), "[DONE]")))
        turns = len(person.path)
        await person.run("Hello")
        await person.idle(turns + 2)
    assert person.path[-1].text == repeated, "nothing is altered by itself"
    message = person.conversation.message(-1)
    await message.press("Read as cumulative text")
    await person.until(lambda: person.path[-1].text == "".join(words), "the text without the repeats")
    await person.until(lambda: not message.has_button("Read as cumulative text"), "the offer to go")
    await person.do(person.pane.undo)
    await person.until(lambda: person.path[-1].text == repeated, "the text as received")
    await person.until(lambda: message.has_button("Read as cumulative text"), "the offer to come back")


@flow()
async def test_gateway_state_follows_each_answer(person: Person) -> None:
    def says(person: Person) -> str:
        """The state in the tool bar, once the status bar has the same."""
        labels = [label for bar in person.find(QStatusBar) for label in person.find(QLabel, "", bar)]
        tooltips = [label.toolTip() for label in labels if "Scripted" in label.text()]
        bar = GatewayBar(person)
        last_lines = [text.removesuffix("</p>").split("\n")[-1] for text in tooltips]
        return bar.state if last_lines == [f"Gateway: {bar.state}"] else ""

    with FaultServer() as server:
        await use_server(person, server)
        await person.until(lambda: says(person) == "reached", "reached")
        for script, words in (
            (refusal(401, {"message": "bad key"}), "reached, the key is refused"),
            (refusal(400, {"message": "odd value"}), "reached"),
            (refusal(500, {"message": "trouble"}), "reached, internal error"),
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
        await GatewayBar(person).choose_gateway("Scripted")
        await person.do(person.app.window.action("run.models").trigger)
        await person.until(lambda: says(person) == "reached", "reached again")
        await person.do(partial(person.app.workspace.open, failed.id))
        await person.until(lambda: person.session is failed, "the one that failed")
        await person.until(lambda: says(person) == "reached", "the state without the old failure")
        await person.use_model("small")
        server.play(hold())
        await person.run("Wait")
        await person.until(lambda: person.session.active_run is not None, "a run")
        await person.do(person.pane.stop)
        await person.idle()
        await person.until(lambda: says(person) == "reached", "the state as before the stop")
