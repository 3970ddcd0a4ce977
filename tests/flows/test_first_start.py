"""The first start of a person who writes no code: the guide, connecting a gateway, samples and help."""

from __future__ import annotations

import json
from functools import partial

from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLineEdit, QListView, QPushButton, QTableWidget

from playground.demo.server import DemoConfig, DemoServer
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.connect import ConnectWindow
from tests.flows.pages.dialogs import find_windows
from tests.flows.pages.evaluate import EvaluatePage
from tests.flows.pages.gateways import GatewaysWindow
from tests.flows.pages.guide import AboutWindow, Guide, HelpWindow
from tests.flows.pages.inspector import Timeline
from tests.flows.pages.preferences import PreferencesWindow
from tests.flows.pages.steps import column_texts, replace_text
from tests.support.fault_server import FaultServer, keep, send, whole

KEY = "sk-canary-first-start-77aa01"
SECURED = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000, key=KEY)


def test_guide_follows_the_first_experiment_and_ends_for_good(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        guide, conversation = Guide(person), person.conversation
        await conversation.press("Try it now")
        await guide.wait_for_hint()
        first = person.session
        await person.trigger("experiment.new")
        assert not guide.hint, "the guide belongs to its experiment"
        await person.do(partial(person.app.workspace.open, first.id))
        await guide.go_on_to("calls tools")
        calls = await conversation.wait_for_calls()
        assert not guide.can_go_on, "there are no results yet"
        await calls[0].send_result('{"temp": 21}')
        assert not guide.can_go_on
        await calls[1].send_result('{"temp": 9}')
        await person.idle(turns=6)
        await guide.go_on_to("used the results")
        await guide.press("Show the events")
        await person.until(lambda: Timeline(person).visible, "the timeline")
        await guide.press("Done")
        assert not guide.hint

        await person.trigger("experiment.new")
        await conversation.press("Try it now")
        await person.idle(turns=3)
        assert not guide.hint
        await person.trigger("help.guide")
        await guide.wait_for_hint()
        await person.idle(turns=3)
        await guide.press("Skip all")
        assert not guide.hint

    app = stage.play(scene)
    assert QSettings(app.settings.fileName(), QSettings.Format.IniFormat).value("guide/done", type=bool)


@flow()
async def test_gateway_is_connected_step_by_step(person: Person) -> None:
    with DemoServer(SECURED) as gateway:
        wizard = await ConnectWindow.open(person)
        await wizard.press("Test")
        assert "Enter an address" in wizard.text
        await wizard.type_into(wizard.address, gateway.base_url.removesuffix("/v1"))
        await wizard.type_into(wizard.key, KEY)
        await wizard.press("Test")
        await wizard.wait_for_text("Could not connect")
        await wizard.press(f"Use {gateway.base_url}")
        await wizard.wait_for_text("Connected")
        await wizard.press("Back")
        assert wizard.address.text() == gateway.base_url

        await wizard.type_into(wizard.key, "sk-wrong-key-000000")
        await wizard.press("Test")
        await wizard.wait_for_text("Could not connect")
        assert "401" in wizard.text
        assert not wizard.get(QPushButton, "Next").isEnabled()
        await wizard.press("Change the key")
        await person.until(wizard.key.hasFocus, "the cursor in the key")
        await wizard.type_into(wizard.key, f"Bearer {KEY} ")
        await wizard.press("Test")
        await wizard.wait_for_text("Connected")
        await wizard.press("Next")
        assert "demo-chat" in column_texts(wizard.get(QListView))
        await wizard.type_into(wizard.get(QLineEdit, "Model"), "demo-chat")
        await wizard.type_into(wizard.get(QLineEdit, "Name"), "Work")
        await wizard.press("Save and start")
        await person.until(lambda: person.session.settings.model == "demo-chat", "the gateway and the model in use")
        profile = person.app.gateways.get(person.session.settings.profile_id)
        assert (profile.name, profile.default_model, profile.base_url) == ("Work", "demo-chat", gateway.base_url)
        assert "Work is saved." in person.conversation.notice.text
        assert "memory" in person.conversation.notice.text, "there is no keyring"
        assert KEY not in person.app.gateways.store.path.read_text(encoding="utf-8")
        await person.until(lambda: not ConnectWindow.is_open(), "the dialog to close")
        await person.do(person.app.window.activateWindow)  # as a desktop does when a dialog closes
        await person.until(person.message.hasFocus, "the cursor in the message")
        await person.run("!fast Hello")
        await person.idle(turns=2)
        assert [request for request in gateway.requests if request.method == "POST"]


@flow()
async def test_typed_gateway_is_restored_and_completed_in_all_settings(person: Person) -> None:
    wizard = await ConnectWindow.opened(person, "gateway.connect")
    await wizard.type_into(wizard.address, "http://gateway.example/v1")
    await wizard.type_into(wizard.key, KEY)
    await wizard.press("Test")
    await wizard.wait_for_text("Nothing was sent")
    await wizard.cancel()
    wizard = await ConnectWindow.opened(person, "gateway.connect")
    assert (wizard.address.text(), wizard.key.text()) == ("http://gateway.example/v1", KEY)
    await wizard.press("All settings…")
    settings = await GatewaysWindow.opened(person)
    assert (settings.value("Base URL"), settings.value("Key")) == ("http://gateway.example/v1", KEY)
    await settings.discard()
    assert not person.app.gateways.store.profiles

    with FaultServer() as server:
        missing = b'{"message": "Either x-portkey-config or x-portkey-provider header is required"}'
        server.play(send(whole(400, "application/json", missing)), keep())
        wizard = await ConnectWindow.opened(person, "gateway.connect")
        await wizard.type_into(wizard.address, server.url)
        await wizard.press("Test")
        await wizard.press("Add the header x-portkey-provider")
        settings = await GatewaysWindow.opened(person)
        assert settings.value("Base URL") == server.url
        value = settings.field("Header value")
        await person.until(value.hasFocus, "the cursor in the value of the header")
        assert settings.value("Header name") == "x-portkey-provider"
        await settings.enter("Header value", "openai")
        await settings.save()
        await settings.leave()


@flow()
async def test_each_sample_opens_from_the_welcome_page_and_runs(person: Person) -> None:
    conversation = person.conversation
    names = [button.accessibleName() for button in conversation.find(QPushButton, "Open the sample")]
    assert len(names) == 9
    for name in names:
        button = await conversation.wait_for(QPushButton, name)
        description = button.accessibleDescription()
        await person.click(button)
        await person.until(lambda: len(person.path) > 0, "the sample")
        assert conversation.notice.text == description
        assert bool(EvaluatePage.count(person)) is (name == "Open the sample Evaluation")
        assert person.session.active_run is None
        await person.trigger("experiment.new")
        assert not person.path
    await person.trigger("sample.schema")
    await person.press("Run", conversation.notice.widget)
    await person.idle(turns=3)
    assert "languages" in json.loads(person.path[-1].text)
    await person.trigger("sample.evaluation")
    await person.press("Run", conversation.notice.widget)
    page = await EvaluatePage.wait(person)
    await person.until(lambda: page.answers > 3, "answers")


@flow()
async def test_help_about_and_updates_open_from_the_menu(person: Person) -> None:
    await person.key(Qt.Key.Key_F1)
    window = await HelpWindow.opened(person)
    await person.trigger("help.open")
    assert find_windows(HelpWindow.title) == [window.widget]
    await window.close()
    about = await AboutWindow.opened(person, "help.about")
    assert about.get(QTableWidget, "Libraries and their licences").rowCount() > 10
    await about.press("Close")

    settings = person.app.settings
    updates = await PreferencesWindow.opened(person, "help.updates")
    assert updates.page == "Updates"
    daily = updates.get(QCheckBox)
    check = updates.get(QPushButton, "Check now")
    assert not daily.isChecked()
    assert not check.isEnabled()
    assert not daily.isEnabled()
    assert "Enter the address" in updates.text
    field = updates.get(QLineEdit)
    await replace_text(person, field, "http://127.0.0.1:9/latest.json")
    await person.do(partial(QTest.keyClick, field, Qt.Key.Key_Return))
    await updates.wait_until(lambda: "https://" in updates.text, "the refusal")
    assert check.isEnabled()
    await person.click(daily)
    assert settings.value("updates/daily", False, type=bool)
    assert settings.value("updates/address") == "http://127.0.0.1:9/latest.json"


@flow()
async def test_preferences_change_the_window_and_list_shortcuts(person: Person) -> None:
    preferences = await PreferencesWindow.open_page(person, "General")
    await preferences.press("Dark")
    assert person.app.settings.value("theme") == "dark"
    await preferences.press("Match system")
    await preferences.press("Larger text")
    assert float(str(person.app.settings.value("zoom"))) > 1
    await preferences.press("Press Enter to run")
    assert person.app.window.action("settings.enter").isChecked()
    assert (await PreferencesWindow.opened(person, "help.keys")).widget is preferences.widget
    assert preferences.page == "Keyboard shortcuts"
    assert len(preferences.shortcuts) > 30
    field = await preferences.search_shortcuts("new experiment")
    assert preferences.shortcuts == {"New experiment": "Ctrl+N"}
    await person.do(partial(QTest.keyClick, field, Qt.Key.Key_Return))
    assert len(person.app.workspace.experiments) <= 1, "Enter runs no command"
    await preferences.search_shortcuts("no such words")
    assert preferences.shortcuts == {}
    await person.do(partial(QTest.keyClick, field, Qt.Key.Key_Escape))
    assert len(preferences.shortcuts) > 30, "Escape empties the search first"
    await person.do(partial(QTest.keyClick, field, Qt.Key.Key_Escape))
    await preferences.wait_until(lambda: not preferences.visible, "the window to close")
