"""Another gateway: its key, its models, and what it receives."""

from __future__ import annotations

import json
from functools import partial

from PySide6.QtWidgets import QLabel, QPushButton

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.transcript import Ending
from playground.engine.gateways.credentials import store_secret
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.ui.features.gateways.dialog import ProfileDialog
from playground.ui.shell.features import GATEWAYS
from tests.flows.conftest import Person, Stage
from tests.support.fault_server import FaultServer, keep, send, whole

CANARY = "sk-canary-1f5d77c3"


def notices(person: Person) -> list[str]:
    """What the notice above the composer says, if it is there."""
    return [label.text() for label in person.app.window.pane.notice.findChildren(QLabel) if label.isVisible()]


def test_switching_gateways_sends_the_next_request_and_the_key_there(stage: Stage) -> None:
    config = DemoConfig(key=CANARY, tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000)

    with DemoServer(config) as other:

        async def scene(person: Person) -> None:
            gateways = person.app.gateways
            profile = gateways.store.add_profile(Profile(name="Other & co", base_url=other.base_url))
            kept, state = await store_secret(profile, gateways.keys, Secret(CANARY))
            assert not state.available, "the key is in memory only"
            gateways.store.update(kept)
            await person.do(person.app.window.action("experiment.new").trigger)
            bar = person.app.window.bar

            await person.run("Hello")
            await person.idle(turns=2)
            asked = len(person.server.requests)
            button = await person.seen(QPushButton, "Gateway", bar)
            await person.do(person.app.workspace.new)
            await person.choose(button, "Other & co")
            await person.until(lambda: person.session.settings.profile_id == profile.id, "the gateway chosen")
            await person.until(lambda: "demo-chat" in bar.model.ids and other.requests, "its models")
            await person.use_model("demo-chat")
            await person.run("Hello there")
            await person.idle(turns=2)
            assert other.requests[-1].header("authorization") == f"Bearer {CANARY}"
            assert other.requests[-1].path.endswith("/chat/completions")
            assert len(person.server.requests) == asked, "nothing more went to the first one"
            assert person.path[-1].text
            await person.choose(button, "Demo gateway")
            await person.until(lambda: person.session.settings.profile_id == "demo", "the demo again")
            await person.run("And back")
            await person.idle(turns=4)
            assert len(person.server.requests) > asked
            seen = [request for request in person.server.requests if CANARY in str(request.headers)]
            assert not seen, "a key stays with its gateway"

        app = stage.play(scene)
        kept_files = [path for path in app.gateways.store.path.parent.rglob("*") if path.is_file()]
        assert kept_files
        assert not any(CANARY.encode() in path.read_bytes() for path in kept_files)


def test_a_model_that_the_gateway_does_not_list_is_marked_and_asked_for_all_the_same(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        bar, gateways = person.app.window.bar, person.app.gateways
        button = await person.seen(QPushButton, "Gateway", bar)
        await person.until(lambda: "demo-chat" in bar.model.ids, "the models")
        assert not bar.model.unlisted.isVisible()
        await person.use_model("vendor/other")
        await person.until(bar.model.unlisted.isVisible, "the mark")
        assert "is not in the list of Demo gateway" in bar.model.unlisted.toolTip()
        await person.run("Hello")
        await person.idle(turns=2)
        assert person.body()["model"] == "vendor/other"

        await person.do(partial(gateways.store.add_profile, Profile(name="Silent", base_url="http://127.0.0.1:9/v1")))
        await person.do(person.app.actions._settings_changed)
        await person.choose(button, "Silent")
        await person.until(lambda: gateways.listed(person.session.settings.profile_id) is not None, "the failure")
        assert person.session.settings.model == "vendor/other"
        assert not bar.model.unlisted.isVisible(), "without a list nothing is said"
        assert bar.model.ids == [], "another gateway's models are not offered"
        await person.choose(button, "Demo gateway")
        await person.until(lambda: person.session.settings.model == "demo-reasoner", "its default model")
        assert not bar.model.unlisted.isVisible(), "no mark on a model of the list"
        await person.do(partial(person.session.change, model="vendor/other"))
        assert bar.model.unlisted.isVisible(), "marked wherever the model was chosen"

    stage.play(scene)


def test_a_switch_of_the_protocol_chooses_a_model_that_is_served_under_it(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        window, session = person.app.window, person.session
        await person.until(lambda: "demo-chat" in window.bar.model.ids, "the models")
        await person.use_model("demo-chat")
        await person.click(await person.seen(QPushButton, "Messages", window.bar))
        await person.until(lambda: session.settings.model == "demo-messages", "a model that is served under Messages")
        said = "“demo-chat” is not served under Messages here, so “demo-messages” is asked instead."
        await person.until(lambda: said in notices(person), said)
        await person.run("Hello")
        await person.idle(turns=2)
        assert [turn.outcome.ending for turn in person.path if turn.outcome] == [Ending.COMPLETE]
        await person.click(await person.seen(QPushButton, "Chat completions", window.bar))
        await person.until(lambda: session.settings.model == "demo-chat", "the model from before")
        await person.use_model("demo-messages")
        await person.click(await person.seen(QPushButton, "Messages", window.bar))
        await person.click(await person.seen(QPushButton, "Chat completions", window.bar))
        await person.app.actions.of(GATEWAYS).listed()
        assert session.settings.model == "demo-messages", "what is served under both stays"

    stage.play(scene)


def test_where_no_model_is_served_under_the_protocol_it_is_said(stage: Stage) -> None:
    models = [{"id": "small", "supported_endpoint_types": ["openai"]}, {"id": "large", "supported_endpoints": []}]
    with FaultServer() as server:
        server.play(send(whole(200, "application/json", json.dumps(models).encode())), keep())

        async def scene(person: Person) -> None:
            window, gateways = person.app.window, person.app.gateways
            profile = gateways.store.add_profile(Profile(name="Chat only", base_url=server.url))
            await person.do(partial(person.app.actions.of(GATEWAYS).choose, profile.id))
            await person.until(lambda: "small" in window.bar.model.ids, "its models")
            await person.use_model("large")
            await person.click(await person.seen(QPushButton, "Messages", window.bar))
            await person.app.actions.of(GATEWAYS).listed()
            assert person.session.settings.model == "large", "what the gateway does not tell changes nothing"
            assert not window.pane.notice.isVisible()
            await person.use_model("small")
            await person.click(await person.seen(QPushButton, "Chat completions", window.bar))
            await person.click(await person.seen(QPushButton, "Messages", window.bar))
            said = "The gateway lists no model that is served under Messages; “small” is asked all the same."
            await person.until(lambda: said in notices(person), said)
            assert person.session.settings.model == "small"

        stage.play(scene)


async def settings(person: Person) -> ProfileDialog:
    await person.do(person.app.window.action("gateway.settings").trigger)
    await person.until(lambda: person.find(ProfileDialog), "the dialog")
    return person.one(ProfileDialog)


def test_saving_a_gateway_moves_the_open_experiment_only_when_asked(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.until(lambda: person.session.settings.model == "demo-reasoner", "a model")
        dialog = await settings(person)
        base = person.server.base_url
        await person.do(partial(dialog.form.address.edit.setText, base))
        await person.do(partial(dialog.form.model.setText, "demo-chat"))
        await person.do(dialog.save_button.click)
        await person.until(lambda: "Saved." in dialog.message.text(), "a saved gateway")
        assert (person.session.settings.profile_id, person.session.settings.model) == ("demo", "demo-reasoner")
        assert dialog.use_button.text().replace("&", "") == "Use"
        await person.do(dialog.use_button.click)
        (profile,) = person.app.gateways.store.profiles
        await person.until(lambda: person.session.settings.profile_id == profile.id, "the gateway in use")
        await person.until(lambda: "asks it now" in dialog.message.text(), "a word on it")
        assert person.session.settings.model == "demo-chat"
        assert not dialog.use_button.isVisible(), "it is in use"

        await person.do(partial(dialog.form.model.setText, "demo-reasoner"))
        await person.do(dialog.save_button.click)
        await person.until(
            lambda: person.app.gateways.get(profile.id).default_model == "demo-reasoner", "another model"
        )
        await person.until(lambda: "Saved." in dialog.message.text(), "the word")
        assert person.session.settings.model == "demo-chat", "the model of the experiment stays"
        await person.do(dialog.reject)

    stage.play(scene)
