"""The check of a gateway: begun, stopped, closed while it runs, saved, compared, its rules saved."""

from __future__ import annotations

import json
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QPushButton, QTreeWidget

from playground.demo.server import DemoConfig, DemoServer
from playground.engine.gateway_check.report import ReportStore, default_folder
from playground.engine.gateways.credentials import store_secret
from playground.engine.gateways.gateways import DEMO_ID
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.gateways import CheckWindow, GatewayBar, GatewaysWindow
from tests.support.fault_server import FaultServer, Step, hold, send, whole
from tests.support.twisted_gateway import TwistedGateway

FLAT_OUT = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000)
CANARY = "sk-canary-check-90e1c4"
CHAT, ANY = "Chat Completions API", "In any protocol"
LIST, WHOLE, STREAM = ("Model list", ANY), ("Short answer", CHAT), ("Stream", CHAT)
SCHEMA, COUNTS = ("JSON schema", CHAT), ("Token counts in the stream", CHAT)
KEEP = "Save to gateway"
FEW = {LIST, WHOLE, STREAM, SCHEMA}
MESSAGES = {("Short answer", "Messages API"), ("Stream", "Messages API")}  # the demo's reasoner has no Messages API


async def open_check(person: Person) -> CheckWindow:
    window = await CheckWindow.opened(person, "gateway.check")
    await person.until(lambda: window.ticked, "the checks")
    return window


@flow(FLAT_OUT)
async def test_gateway_check_shows_the_exchange_of_each_line_and_runs_once(person: Person) -> None:
    await person.use_model("demo-reasoner")
    window = await open_check(person)
    await person.until(lambda: "54 requests" in window.text, "the number of requests")
    assert {first.method for first in person.server.requests} <= {"GET"}, "nothing is asked before it is begun"
    planned = window.checks
    await window.begin(FEW | MESSAGES)
    await window.wait_for_report()
    assert {window.verdict(check) for check in FEW} == {"works"}
    assert sorted(window.checks) == sorted(planned), "every check that was offered is listed"
    assert {window.verdict(check) for check in set(planned) - FEW} == {"skipped"}
    assert all("other endpoints" in window.result(check) for check in MESSAGES)
    assert window.result(("JSON mode", CHAT)) == "Not selected."
    await window.select_check(STREAM)
    await person.until(lambda: '"stream": true' in window.evidence, "its exchange")
    (report,) = ReportStore().load()
    assert {first.id for first in ReportStore().exchanges(report)} >= {
        line.exchanges[0] for line in report.lines if line.exchanges
    }
    await window.press("Check again")
    await person.until(lambda: window.has_button("Start") and window.ticked, "the plan")
    await person.until(lambda: window.ticked == FEW | MESSAGES, "what was unticked to stay so")
    await window.select("Reports", 1)
    await window.wait_for_report()
    await window.select_check(WHOLE)
    await person.until(lambda: window.evidence, "what was kept of the wire")
    await window.press("Close")

    # Begun twice, it runs once
    await person.use_model("demo-chat")
    window = await open_check(person)
    await window.begin({WHOLE})
    stop = await window.wait_for(QAbstractButton, "Stop")
    await person.do(lambda: stop.click())
    await person.until(lambda: window.has_button("Start") or window.has_button("Check again"), "the button again")
    assert window.get(QComboBox, "Gateway").isEnabled()
    assert not window.running
    if window.has_button("Check again"):
        await window.press("Check again")
    begin = await window.wait_for(QAbstractButton, "Start")

    def begin_twice() -> None:
        begin.click()
        begin.click()

    posts, reports = len(person.posts), len(ReportStore().load())
    await person.do(begin_twice)
    await window.wait_for_report()
    assert len(ReportStore().load()) == reports + 1
    assert len(person.posts) == posts + 1
    await window.press("Close")

    # It opens from the settings and from the tool bar
    with DemoServer(FLAT_OUT) as demo_server:
        store = person.app.gateways.store
        profile = store.add_profile(Profile(name="Other", base_url=demo_server.base_url, default_model="demo-tools"))
        person.session.change(profile_id=profile.id)
        settings = await GatewaysWindow.opened(person, "gateway.settings")
        await settings.press("Check…")
        window = await CheckWindow.opened(person)
        await person.until(lambda: window.ticked, "the checks")
        assert not GatewaysWindow.is_open()
        assert window.get(QComboBox, "Gateway").currentText() == "Other"
        assert window.get(QComboBox, "Model").currentText() == "demo-tools"
        await window.press("Close")
        await person.choose(GatewayBar(person).gateway, "Check gateway…")
        await person.until(lambda: window.visible, "the window again")
        export = await window.wait_for(QPushButton, "Export")
        menu = export.menu()
        assert menu is not None
        assert [action.text() for action in menu.findChildren(QAction) if action.text()] == [
            "Markdown…",
            "HTML page…",
            "JSON…",
        ]
        assert not export.isEnabled(), "there is no report yet"
        await window.press("Close")


def test_gateway_check_saves_rules_and_reports_changes(stage: Stage) -> None:
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
            window = await open_check(person)
            await window.begin({STREAM, COUNTS})
            await window.wait_for_report()
            assert not window.has_button(KEEP)
            strict = True
            await window.press("Check again")
            await person.until(lambda: window.has_button("Start") and window.ticked, "the plan")
            await window.press("Start")
            await window.wait_for_report()
            for words in ("Token counts in the stream (Chat completions): works on", "refused now"):
                await person.until(partial(lambda words: words in window.text, words), words)
            await window.press(KEEP)
            await person.until(lambda: profiles.get(profile.id).adaptations, "the rule in the settings")
            (rule,) = profiles.get(profile.id).adaptations
            assert rule.field == "stream_options"
            await person.until(lambda: "Saved to gateway settings" in window.text, "that it is kept")
            assert not window.has_button(KEEP)
            await window.select("Reports", 1)
            await person.until(lambda: window.has_button(KEEP), "the report again")
            profiles.store.remove(profile.id)
            await window.press(KEEP)
            await person.until(lambda: "removed" in window.text, "why it cannot be kept")
            assert window.has_button(KEEP)
            assert not profiles.get(DEMO_ID).adaptations, "nor is it kept for the demo gateway in its place"
            await window.press("Close")
            files = list(default_folder().iterdir())
            assert len(files) == 4
            assert not any(CANARY.encode() in file.read_bytes() for file in files)

    stage.play(scene, FLAT_OUT)


@flow()
async def test_gateway_check_is_priced_stopped_and_closed_while_running(person: Person) -> None:
    def page(value: object) -> Step:
        return send(whole(200, "application/json", json.dumps(value).encode()))

    with FaultServer() as silent:
        silent.play(hold())
        profile = person.app.gateways.store.add_profile(Profile(name="Silent", base_url=silent.url))
        person.session.change(profile_id=profile.id)
        person.session.change(model="m")
        window = await open_check(person)
        await window.begin({WHOLE})
        await person.until(lambda: window.running, "the first request")
        await person.until(lambda: len(silent.requests) >= 2, "the request over the wire")
        await window.press("Close")
        await person.until(lambda: not window.visible, "the window to close")
        await person.until(lambda: silent.closings, "the connection to be closed")
    assert ReportStore().load() == (), "nothing came, so nothing is kept"
    window = await open_check(person)
    assert window.has_button("Start")
    await window.press("Close")

    # Prices that the gateway tells
    info = {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}
    with FaultServer() as server:
        server.play(hold())
        server.play_at("/v1/models", page({"data": [{"id": "gpt"}]}))
        server.play_at("/v1/model/info", page({"data": [{"model_name": "gpt", "model_info": info}]}))
        profile = Profile(name="Told", base_url=f"{server.url}/v1", service="litellm", default_model="gpt")
        profile = person.app.gateways.store.add_profile(profile)
        window = await open_check(person)
        await window.select("Gateway", profile.name)
        await person.until(lambda: "at most $0.04" in window.text, "the price")
        await window.begin({LIST, WHOLE})
        await person.until(lambda: window.verdict(LIST) == "works", "the line of the models")
        checks = await window.wait_for(QTreeWidget, "Checks")
        await person.until(checks.hasFocus, "the focus in the list: another Enter does not close the window")
        await window.press("Stop")
        await person.until(lambda: not window.running, "the end")
        assert "stopped before" in window.result(WHOLE)
        assert window.result(SCHEMA) == "Not selected."
        await person.do(partial(QTest.keyClick, window.widget, Qt.Key.Key_Escape))
        await person.until(lambda: not window.visible, "the window to close")


def test_gateway_check_running_at_quit_saves_its_report(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        profile = person.app.gateways.store.add_profile(Profile(name="Slow", base_url=silent.url))
        person.session.change(profile_id=profile.id)
        person.session.change(model="m")
        window = await open_check(person)
        await window.begin({LIST, WHOLE})
        await person.until(lambda: any(request.method == "POST" for request in silent.requests), "a request that hangs")
        await person.until(lambda: window.verdict(LIST) == "works", "the line of the models")

    with FaultServer() as silent:
        silent.play(hold())
        silent.play_at("/v1/models", send(whole(200, "application/json", b'{"object":"list","data":[{"id":"m"}]}')))
        stage.play(scene)
    (report,) = ReportStore().load()
    assert report.stopped
    assert [line.check for line in report.lines] == ["models"]
