"""Check this gateway: begun, followed, stopped, closed in the middle, kept, compared, and learnt from."""

from __future__ import annotations

import asyncio
import json
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from playground.demo.server import DemoConfig, DemoServer
from playground.engine.gateway_check.kept import KeptReports, default_folder
from playground.engine.gateway_check.report import Verdict
from playground.engine.gateways.credentials import store_secret
from playground.engine.gateways.offered import DEMO_ID
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.ui.features.gateway_check.window import KEPT, CheckWindow
from playground.ui.features.gateways.dialog import ProfileDialog
from tests.flows.conftest import Person, Stage
from tests.support.fault_server import FaultServer, Step, hold, send, whole
from tests.support.twisted_gateway import TwistedGateway

FLAT_OUT = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000)
CANARY = "sk-canary-check-90e1c4"
FEW = {("models", ""), ("whole", "chat"), ("stream", "chat"), ("schema", "chat")}


async def opened(person: Person) -> CheckWindow:
    await person.do(person.app.window.action("gateway.check").trigger)
    await person.until(lambda: person.find(CheckWindow), "the window of checks")
    window = person.one(CheckWindow)
    await person.until(lambda: window.lines.wanted, "the checks")
    return window


async def begin(person: Person, window: CheckWindow, few: set[tuple[str, str]] = FEW) -> None:
    for key in set(window.lines.wanted) - few:
        window.lines.tick(key, False)
    await person.press("Begin", window)


async def done(person: Person, window: CheckWindow) -> None:
    await person.until(lambda: not window.running and window.report is not None, "the report")


def test_a_gateway_is_checked_and_each_line_shows_what_went_over_the_wire(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.use_model("demo-reasoner")
        window = await opened(person)
        assert "37 requests" in window.summary.text()
        await asyncio.sleep(0.1)
        assert {one.method for one in person.server.requests} <= {"GET"}, "nothing is asked before it is begun"
        await begin(person, window)
        await done(person, window)
        report = window.report
        assert report is not None
        assert [line.verdict for line in report.lines] == [Verdict.WORKS] * 4
        assert window.lines.words(("schema", "chat"))[0] == "works"
        window.lines.choose(("stream", "chat"))
        await person.until(lambda: window.evidence.shown, "its exchange")
        assert b'"stream":true' in window.evidence.shown[0].request_body.replace(b" ", b"")
        kept = KeptReports()
        assert [one.id for one in kept.load()] == [report.id]
        assert {one.id for one in kept.exchanges(report)} >= {line.exchanges[0] for line in report.lines}
        await person.press("Check again", window)
        await person.until(lambda: window.report is None and window.begin_button.text() == "Begin", "the plan")
        assert set(window.lines.wanted) == FEW, "what was unticked stays so"
        window.earlier.setCurrentIndex(1)
        await person.do(partial(window.earlier.activated.emit, 1))
        await person.until(lambda: window.report is not None, "the report that is kept")
        window.lines.choose(("whole", "chat"))
        await person.until(lambda: window.evidence.shown, "what was kept of the wire")
        await person.press("Close", window)

    stage.play(scene, FLAT_OUT)


def test_what_is_learnt_is_kept_and_what_changed_is_said(stage: Stage) -> None:
    def refuse(_path: str, body: dict[str, object]) -> tuple[int, dict[str, object]] | None:
        if strict and "stream_options" in body:
            return 400, {"error": {"message": "Unrecognized request argument supplied: stream_options"}}
        return None

    strict = False

    async def scene(person: Person) -> None:
        nonlocal strict
        with DemoServer(FLAT_OUT) as behind, TwistedGateway(behind.base_url, refuse=refuse) as gateway:
            profiles = person.app.gateways
            profile = profiles.store.add_profile(Profile(name="Team", base_url=gateway.url))
            profile, _ = await store_secret(profile, profiles.keys, Secret(CANARY))
            profiles.store.update(profile)
            person.session.change(profile_id=profile.id)
            person.session.change(model="demo-chat")
            few = {("stream", "chat"), ("stream_usage", "chat")}
            window = await opened(person)
            await begin(person, window, few)
            await done(person, window)
            assert not window.keep_button.isVisible()
            strict = True
            await person.press("Check again", window)
            await person.until(lambda: window.report is None, "the plan")
            await person.press("Begin", window)
            await done(person, window)
            assert "Token counts in the stream (Chat completions): works on" in window.changes.text()
            assert "refused now" in window.changes.text()
            await person.press("Keep what was learnt", window)
            await person.until(lambda: profiles.get(profile.id).adaptations, "the rule in the settings")
            (rule,) = profiles.get(profile.id).adaptations
            assert rule.field == "stream_options"
            await person.until(lambda: window.state.text() == KEPT, "that it is kept")
            assert not window.keep_button.isVisible()
            profiles.store.remove(profile.id)
            window.learnt_wanted.emit(window.report)
            await person.until(lambda: "removed" in window.state.text(), "why it cannot be kept")
            assert window.keep_button.isVisible()
            assert not profiles.get(DEMO_ID).adaptations, "nor is it kept for the demo gateway in its place"
            await person.press("Close", window)
            files = list(default_folder().iterdir())
            assert len(files) == 4
            assert not any(CANARY.encode() in file.read_bytes() for file in files)

    stage.play(scene, FLAT_OUT)


def test_closed_in_the_middle_it_ends_and_what_came_is_kept(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with FaultServer() as silent:
            silent.play(hold())
            profile = person.app.gateways.store.add_profile(Profile(name="Silent", base_url=silent.url))
            person.session.change(profile_id=profile.id)
            person.session.change(model="m")
            window = await opened(person)
            await begin(person, window, {("whole", "chat")})
            await person.until(lambda: window.running, "the first request")
            await person.until(lambda: len(silent.requests) >= 2, "the request over the wire")
            await person.press("Close", window)
            await person.until(lambda: not window.running, "the end")
            assert not window.isVisible()
            await person.until(lambda: silent.closings, "the connection to be closed")
        assert KeptReports().load() == (), "nothing came, so nothing is kept"
        window = await opened(person)
        assert window.begin_button.isVisible()
        await person.press("Close", window)

    stage.play(scene)


def test_what_is_told_besides_the_list_is_in_the_price_and_the_keys_stay_with_the_lines(stage: Stage) -> None:
    def page(value: object) -> Step:
        return send(whole(200, "application/json", json.dumps(value).encode()))

    async def scene(person: Person) -> None:
        info = {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}
        with FaultServer() as server:
            server.play(hold())
            server.play_at("/v1/models", page({"data": [{"id": "gpt"}]}))
            server.play_at("/v1/model/info", page({"data": [{"model_name": "gpt", "model_info": info}]}))
            profile = Profile(name="Told", base_url=f"{server.url}/v1", service="litellm", default_model="gpt")
            profile = person.app.gateways.store.add_profile(profile)
            window = await opened(person)
            index = window.gateway.findData(profile.id)
            await person.do(partial(window.gateway.setCurrentIndex, index))
            await person.do(partial(window.gateway.activated.emit, index))
            await person.until(lambda: "at most $0.03" in window.summary.text(), "the price")
            for key in set(window.lines.wanted) - {("whole", "chat")}:
                window.lines.tick(key, False)
            await person.do(window.begin_button.setFocus)
            await person.press("Begin", window)
            await person.until(lambda: window.running, "the series")
            assert window.lines.hasFocus(), "Enter once more does not close what has just begun"
            await person.press("Stop", window)
            await person.until(lambda: not window.running, "the end")
            await person.do(partial(QTest.keyClick, window, Qt.Key.Key_Escape))
            assert not window.isVisible()
            window = await opened(person)
            await person.do(window.close)
            assert not window.isVisible()

    stage.play(scene)


def test_begun_twice_it_runs_once_and_stopped_at_once_it_can_be_begun_again(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.use_model("demo-chat")
        window = await opened(person)
        for key in set(window.lines.wanted) - {("whole", "chat")}:
            window.lines.tick(key, False)
        window.begin()
        window.stop()  # before its task had its first turn
        await person.until(lambda: window.begin_button.isVisible() and not window.running, "the button again")
        assert window.gateway.isEnabled()
        assert not window.stop_button.isVisible()
        window.begin()
        window.begin()
        await done(person, window)
        assert len(KeptReports().load()) == 1
        asked = [one for one in person.server.requests if one.method == "POST"]
        assert len(asked) == 1
        await person.press("Close", window)

    stage.play(scene, FLAT_OUT)


def test_of_a_check_under_way_when_the_application_is_closed_what_came_is_kept(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        profile = person.app.gateways.store.add_profile(Profile(name="Slow", base_url=silent.url))
        person.session.change(profile_id=profile.id)
        person.session.change(model="m")
        window = await opened(person)
        await begin(person, window, {("models", ""), ("whole", "chat")})
        await person.until(lambda: any(one.method == "POST" for one in silent.requests), "a request that hangs")
        await person.until(lambda: window.lines.line(("models", "")) is not None, "the line of the models")

    with FaultServer() as silent:
        silent.play(hold())
        silent.play_at("/v1/models", send(whole(200, "application/json", b'{"object":"list","data":[{"id":"m"}]}')))
        stage.play(scene)
    (report,) = KeptReports().load()
    assert report.stopped
    assert [line.check for line in report.lines] == ["models"]


def test_it_is_found_where_gateways_are_set_up_and_in_the_tool_bar(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with DemoServer(FLAT_OUT) as other:
            store = person.app.gateways.store
            profile = store.add_profile(Profile(name="Other", base_url=other.base_url, default_model="demo-tools"))
            person.session.change(profile_id=profile.id)
            await person.do(person.app.window.action("gateway.settings").trigger)
            await person.until(lambda: person.find(ProfileDialog), "the dialog")
            dialog = person.one(ProfileDialog)
            await person.press("Check…", dialog)
            await person.until(lambda: person.find(CheckWindow), "the window of checks")
            window = person.one(CheckWindow)
            await person.until(lambda: window.lines.wanted, "the checks")
            assert not person.find(ProfileDialog)
            assert window.gateway.currentText() == "Other"
            assert window.model.shown == "demo-tools"
            await person.press("Close", window)
            button = await person.seen(QPushButton, "Gateway", person.app.window.bar)
            await person.choose(button, "Check this gateway…")
            await person.until(window.isVisible, "the window again")
            menu = window.export_button.menu()
            assert menu is not None
            assert [action.text() for action in menu.findChildren(QAction) if action.text()] == [
                "Markdown…",
                "HTML page…",
                "JSON…",
            ]
            assert not window.export_button.isEnabled(), "there is no report yet"
            await person.press("Close", window)

    stage.play(scene, FLAT_OUT)
