"""Another gateway: its key, its models, and what it receives."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton

from playground.demo.server import DemoConfig, DemoServer
from playground.engine.credentials import store_secret
from playground.engine.profiles import Profile
from playground.engine.secrets import Secret
from tests.flows.conftest import Person, Stage

CANARY = "sk-canary-1f5d77c3"


def test_switching_gateways_sends_the_next_request_and_the_key_there(stage: Stage) -> None:
    config = DemoConfig(key=CANARY, tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000)

    with DemoServer(config) as other:

        async def scene(person: Person) -> None:
            gateways = person.app.gateways
            profile = gateways.store.add(Profile(name="Other & co", base_url=other.base_url))
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
            await person.until(lambda: person.session.profile_id == profile.id, "the gateway chosen")
            await person.until(lambda: "demo-chat" in bar.model.ids and other.requests, "its models")
            await person.use_model("demo-chat")
            await person.run("Hello there")
            await person.idle(turns=2)
            assert other.requests[-1].header("authorization") == f"Bearer {CANARY}"
            assert other.requests[-1].path.endswith("/chat/completions")
            assert len(person.server.requests) == asked, "nothing more went to the first one"
            assert person.path[-1].text
            await person.choose(button, "Demo gateway")
            await person.until(lambda: person.session.profile_id == "demo", "the demo again")
            await person.run("And back")
            await person.idle(turns=4)
            assert len(person.server.requests) > asked
            seen = [request for request in person.server.requests if CANARY in str(request.headers)]
            assert not seen, "a key stays with its gateway"

        app = stage.play(scene)
        kept_files = [path for path in app.gateways.store.path.parent.rglob("*") if path.is_file()]
        assert kept_files
        assert not any(CANARY.encode() in path.read_bytes() for path in kept_files)
