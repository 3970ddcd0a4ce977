"""Another gateway: its key, its models, and what it receives."""

from __future__ import annotations

import json
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.transcript import Ending
from playground.engine.gateways.credentials import store_secret
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.connect import ConnectWindow, ServicesWindow
from tests.flows.pages.experiments import answer
from tests.flows.pages.files import Palette
from tests.flows.pages.gateways import GatewayBar, GatewaysWindow
from tests.support.fault_server import FaultServer, keep, send, whole

CANARY = "sk-canary-1f5d77c3"
SECOND_DEMO = DemoConfig(key=CANARY, tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000)


def test_gateway_switched_receives_the_next_request_and_its_key(stage: Stage) -> None:
    with DemoServer(SECOND_DEMO) as demo_server:

        async def scene(person: Person) -> None:
            gateways = person.app.gateways
            profile = gateways.store.add_profile(Profile(name="Other & co", base_url=demo_server.base_url))
            saved, state = await store_secret(profile, gateways.keys, Secret(CANARY))
            assert not state.available, "the key is in memory only"
            gateways.store.update(saved)
            await person.do(person.app.window.action("experiment.new").trigger)
            bar = GatewayBar(person)

            await person.run("Hello")
            await person.idle(turns=2)
            question = len(person.server.requests)
            button = bar.gateway
            await person.do(person.app.workspace.new)
            await person.choose(button, "Other & co")
            await person.until(lambda: person.session.settings.profile_id == profile.id, "the gateway chosen")
            await person.until(lambda: bar.lists("demo-chat") and demo_server.requests, "its models")
            await person.use_model("demo-chat")
            await person.run("Hello there")
            await person.idle(turns=2)
            assert demo_server.requests[-1].header("authorization") == f"Bearer {CANARY}"
            assert demo_server.requests[-1].path.endswith("/chat/completions")
            assert len(person.server.requests) == question, "nothing more went to the first one"
            assert person.path[-1].text
            await person.choose(button, "Demo gateway")
            await person.until(lambda: person.session.settings.profile_id == "demo", "the demo again")
            await person.run("And back")
            await person.idle(turns=4)
            assert len(person.server.requests) > question
            seen = [request for request in person.server.requests if CANARY in str(request.headers)]
            assert not seen, "a key stays with its gateway"

        app = stage.play(scene)
        kept_files = [path for path in app.gateways.store.path.parent.rglob("*") if path.is_file()]
        assert kept_files
        assert not any(CANARY.encode() in path.read_bytes() for path in kept_files)


@flow()
async def test_gateway_that_did_not_answer_is_saved_and_not_called_connected(person: Person) -> None:
    await person.run("!fast Hello")
    await person.idle(turns=2)
    wizard = await ConnectWindow.opened(person, "gateway.connect")
    await wizard.type_into(wizard.address, "http://127.0.0.1:9/v1")
    await wizard.press_key(Qt.Key.Key_Return)
    await wizard.wait_for_text("Nothing answers at 127.0.0.1:9.")
    await wizard.press("Continue anyway")
    await wizard.wait_for_text("Name of this gateway")
    assert "key is needed" not in wizard.text
    await wizard.press("Save and start")
    await answer(person, "Use here", "127.0.0.1:9 is saved.", "uses Demo gateway")
    await person.conversation.notice.wait_for_text("127.0.0.1:9 is saved.")


@flow()
async def test_palette_switches_to_each_other_api(person: Person) -> None:
    await person.trigger("view.palette")
    palette = await Palette.wait(person)
    await palette.search("Responses API")
    await person.until(lambda: palette.matches[:1] == ["Switch to Responses API"], "the entry")
    await palette.choose_first()
    await person.until(lambda: person.session.settings.protocol == "responses", "the other API")


@flow()
async def test_model_follows_the_protocol_and_is_marked_when_it_is_not_listed(person: Person) -> None:
    bar, session = GatewayBar(person), person.session
    await person.until(lambda: bar.lists("demo-chat"), "the models")
    await person.use_model("demo-chat")
    await bar.choose_api("Messages API")
    await person.until(lambda: session.settings.model == "demo-messages", "a model that is served under Messages")
    message = "“demo-chat” is not available through the Messages API. Now using “demo-messages”."
    await person.conversation.notice.wait_for_text(message)
    await person.run("Hello")
    await person.idle(turns=2)
    assert [turn.outcome.ending for turn in person.path if turn.outcome] == [Ending.COMPLETE]
    await bar.choose_api("Chat Completions API")
    await person.until(lambda: session.settings.model == "demo-chat", "the model from before")
    await person.use_model("demo-messages")
    await bar.choose_api("Messages API")
    await bar.choose_api("Chat Completions API")
    await person.app.gateways.models(session.settings.profile_id, "chat")
    assert session.settings.model == "demo-messages", "what is served under both stays"

    await person.trigger("experiment.new")
    gateways = person.app.gateways
    button = bar.gateway
    await person.until(lambda: bar.lists("demo-chat"), "the models")
    assert not bar.unlisted
    await person.use_model("vendor/other")
    await person.until(lambda: bar.unlisted, "the mark")
    assert "is not in the list of Demo gateway" in bar.unlisted
    await person.run("Hello")
    await person.idle(turns=2)
    assert person.body()["model"] == "vendor/other"

    await person.do(partial(gateways.store.add_profile, Profile(name="Silent", base_url="http://127.0.0.1:9/v1")))
    await bar.choose_gateway("Silent")
    await person.until(lambda: gateways.listed(person.session.settings.profile_id) is not None, "the failure")
    assert person.session.settings.model == "vendor/other"
    await person.until(lambda: not bar.unlisted, "no mark without a list")
    assert not bar.lists("demo-chat"), "another gateway's models are not offered"
    await person.choose(button, "Demo gateway")
    await person.until(lambda: person.session.settings.model == "demo-reasoner", "its default model")
    await person.until(lambda: not bar.unlisted, "no mark on a model of the list")
    await person.do(partial(person.session.change, model="vendor/other"))
    await person.until(lambda: bar.unlisted, "the mark wherever the model was chosen")


def test_protocol_without_a_served_model_is_reported(stage: Stage) -> None:
    models = [{"id": "small", "supported_endpoint_types": ["openai"]}, {"id": "large", "supported_endpoints": []}]
    with FaultServer() as server:
        server.play(send(whole(200, "application/json", json.dumps(models).encode())), keep())

        async def scene(person: Person) -> None:
            bar, gateways = GatewayBar(person), person.app.gateways
            profile = gateways.store.add_profile(Profile(name="Chat only", base_url=server.url))
            await bar.choose_gateway(profile.name)
            await person.until(lambda: bar.lists("small"), "its models")
            await person.use_model("large")
            await bar.choose_api("Messages API")
            await gateways.models(profile.id, "messages")
            assert person.session.settings.model == "large", "what the gateway does not tell changes nothing"
            assert not person.conversation.notice.text
            await person.use_model("small")
            await bar.choose_api("Chat Completions API")
            await bar.choose_api("Messages API")
            message = "The gateway lists no model for the Messages API. “small” stays selected."
            await person.conversation.notice.wait_for_text(message)
            assert person.session.settings.model == "small"

        stage.play(scene)


@flow()
async def test_connected_gateway_is_used_in_an_experiment_with_messages_only_on_request(person: Person) -> None:
    async def connect(name: str, address: str) -> None:
        wizard = await ConnectWindow.opened(person, "gateway.connect")
        await wizard.press("All services…")
        services = await ServicesWindow.opened(person)
        await person.do(partial(QTest.keyClick, services.search, Qt.Key.Key_Escape))
        await person.until(lambda: not ServicesWindow.is_open(), "Escape closes the list of services")
        assert wizard.visible
        assert wizard.step.startswith("Step 1"), "Escape closes the list of services only"
        await wizard.type_into(wizard.address, address)
        await wizard.type_into(wizard.key, CANARY)
        await wizard.press("Test")
        await person.until(lambda: any(b.isEnabled() for b in wizard.find(QPushButton, "Next")), "the end of the test")
        await wizard.press("Next")
        await wizard.type_into(wizard.get(QLineEdit, "Model"), "demo-chat")
        await wizard.type_into(wizard.get(QLineEdit, "Name"), name)
        await wizard.press_main_button()

    with DemoServer(SECOND_DEMO) as demo_server:
        await person.run("Hello")
        await person.idle(turns=2)
        first = person.session
        await connect("Work", demo_server.base_url)
        await answer(person, "Not now", "Work is saved.", "uses Demo gateway")
        await person.conversation.notice.wait_for_text("Work is saved.")
        assert first.settings.profile_id == "demo"

        dialog = await GatewaysWindow.opened(person, "gateway.settings")
        assert "The gateway in use has no settings." in dialog.text
        assert not dialog.has_button("Save and use")
        await dialog.press("Close")

        await connect("Lab", demo_server.base_url)
        await answer(person, "New experiment")
        profiles = {profile.name: profile.id for profile in person.app.gateways.store.profiles}
        await person.until(lambda: person.session.settings.profile_id == profiles["Lab"], "the gateway")
        assert (person.session is first, first.settings.profile_id) == (False, "demo")
        assert not person.path

        dialog = await GatewaysWindow.opened(person, "gateway.settings")
        assert dialog.value("Name") == "Lab"
        await dialog.press("Close")
        await person.do(partial(person.app.workspace.open, first.id))
        await connect("Home", demo_server.base_url)
        await answer(person, "Use here")
        profiles = {profile.name: profile.id for profile in person.app.gateways.store.profiles}
        await person.until(lambda: first.settings.profile_id == profiles["Home"], "the gateway")
        assert person.session is first


@flow()
async def test_gateway_saved_is_used_only_on_request(person: Person) -> None:
    await person.until(lambda: person.session.settings.model == "demo-reasoner", "a model")
    dialog = await GatewaysWindow.opened(person, "gateway.settings")
    base = person.server.base_url
    await dialog.enter("Base URL", base)
    await dialog.enter("Default model", "demo-chat")
    await dialog.save()
    assert (person.session.settings.profile_id, person.session.settings.model) == ("demo", "demo-reasoner")
    await dialog.use()
    (profile,) = person.app.gateways.store.profiles
    await person.until(lambda: person.session.settings.profile_id == profile.id, "the gateway in use")
    await person.until(lambda: "uses it now" in dialog.message, "a word on it")
    assert person.session.settings.model == "demo-chat"
    await person.until(lambda: not dialog.use_buttons, "no button, because it is in use")

    await dialog.enter("Default model", "demo-reasoner")
    await dialog.save()
    assert person.app.gateways.get(profile.id).default_model == "demo-reasoner"
    assert person.session.settings.model == "demo-chat", "the model of the experiment stays"
    await dialog.leave()
