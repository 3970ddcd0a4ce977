"""The first start of somebody who writes no code: the guide, connecting a gateway, samples and help."""

from __future__ import annotations

import json
from functools import partial
from typing import TypeVar

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QDialog, QLineEdit, QPlainTextEdit, QPushButton

from playground.demo.server import DemoConfig, DemoServer
from playground.ui.features.conversation.samples import SAMPLES
from playground.ui.features.evaluate.page import EvaluatePage
from playground.ui.features.first_start import guide as guide_module
from playground.ui.features.first_start.guide import DONE, HINTS
from playground.ui.features.gateways.connect_dialog import ConnectDialog
from playground.ui.features.gateways.dialog import ProfileDialog
from playground.ui.features.help.about_dialog import AboutDialog
from playground.ui.features.help.control import ADDRESS, DAILY
from playground.ui.features.help.help_window import HelpWindow
from playground.ui.features.help.update_dialog import UpdateDialog
from playground.ui.features.inspector.wire_views import TimelineView
from playground.ui.shell.features import EVALUATE, FIRST_START
from tests.flows.conftest import Person, Stage
from tests.support.fault_server import FaultServer, keep, send, whole

D = TypeVar("D", bound=QDialog)
FRAMES = len(HINTS) - 2  # the hint whose button shows the frames
KEY = "sk-canary-first-start-77aa01"
SECURED = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000, key=KEY)


@pytest.fixture(autouse=True)
def no_pause_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guide_module, "READ_S", 0.0)


async def dialog(person: Person, kind: type[D]) -> D:
    await person.until(lambda: [w for w in person.find(kind) if w.isActiveWindow()], f"{kind.__name__} to open")
    return person.one(kind)


async def type_into(person: Person, field: QLineEdit, text: str) -> None:
    """A dialog is a window of its own."""
    await person.do(partial(field.setFocus))
    await person.do(partial(field.setText, text))


def test_the_guide_follows_the_first_experiment_and_does_not_come_again(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        guide = person.app.actions.of(FIRST_START).guide
        await person.press("Try it now", person.pane.welcome)
        await person.until(lambda: guide.at == 2, "the hint on the calls")
        assert "asks for tools" in guide._bar.words
        for result in ('{"temp": 21}', '{"temp": 9}'):
            await person.until(lambda: any(c.waiting for c in person.card(2).calls), "a call that waits")
            card = next(call for call in person.card(2).calls if call.waiting)
            await person.type_into(await person.seen(QPlainTextEdit, "Result of the call", card), result)
            await person.press("Send result", card)
        await person.until(lambda: guide.at == FRAMES, "the hint on the frames")
        await person.idle(turns=6)
        await person.press("Show the frames", guide._bar)
        await person.until(lambda: person.app.window.inspector.view(TimelineView).page.isVisible(), "the timeline")
        assert guide.at == len(HINTS) - 1
        await person.press("Done", guide._bar)
        assert not guide._bar.isVisible()
        assert guide.done

        await person.do(person.app.window.action("experiment.new").trigger)
        await person.press("Try it now", person.pane.welcome)
        await person.idle(turns=3)
        assert not guide._bar.isVisible()
        await person.do(person.app.window.action("help.guide").trigger)
        await person.until(guide._bar.isVisible, "the guide, asked for again")
        await person.idle(turns=3)

    app = stage.play(scene)
    assert QSettings(app.settings.fileName(), QSettings.Format.IniFormat).value(DONE, type=bool)


def test_the_guide_goes_on_when_the_calls_are_answered_another_way(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        guide = person.app.actions.of(FIRST_START).guide
        await person.press("Try it now", person.pane.welcome)
        await person.until(lambda: guide.at == 2, "the hint on the calls")
        await person.press("Fill with errors", person.pane.calls.bar)
        await person.until(lambda: guide.at == 3, "the hint on what comes next")
        assert "Run does" in guide._bar.words
        await person.press("Run", person.pane.composer)
        await person.until(lambda: guide.at == FRAMES, "the hint on the frames")

    stage.play(scene)


def test_the_guide_can_be_skipped_and_belongs_to_its_experiment(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        guide = person.app.actions.of(FIRST_START).guide
        await person.press("Try it now", person.pane.welcome)
        await person.until(guide._bar.isVisible, "a hint")
        await person.idle(turns=3)
        first = person.session
        await person.do(person.app.window.action("experiment.new").trigger)
        assert not guide._bar.isVisible()
        await person.do(partial(person.app.workspace.open, first.id))
        await person.until(guide._bar.isVisible, "the hint again")
        await person.press("Skip all", guide._bar)
        assert not guide._bar.isVisible()
        assert guide.done

    stage.play(scene)


def test_an_address_without_its_version_is_mended_with_one_click(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with DemoServer(SECURED) as gateway:
            await person.press("Connect a gateway", person.pane.welcome)
            wizard = await dialog(person, ConnectDialog)
            await type_into(person, wizard.first.address.edit, gateway.base_url.removesuffix("/v1"))
            await type_into(person, wizard.first.key.edit, KEY)
            await person.do(wizard.next_button.click)
            await person.until(lambda: wizard.second.headline.text() == "It does not work yet", "nothing there")
            (offer,) = wizard.second.found.offers
            assert offer.text() == f"Use {gateway.base_url}"
            await person.do(offer.click)
            await person.until(lambda: wizard.second.headline.text() == "It works", "the test")
            assert len(wizard.second.found.lines) == 3
            assert wizard.first.address.text() == gateway.base_url
            await person.do(wizard.back_button.click)
            await type_into(person, wizard.first.key.edit, "sk-another-key-00000")
            assert wizard._verdict is None, "a verdict goes with what it judged"
            await person.do(wizard.reject)

    stage.play(scene)


def test_a_header_that_is_wanted_is_typed_among_all_settings(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with FaultServer() as server:
            missing = b'{"message": "Either x-portkey-config or x-portkey-provider header is required"}'
            server.play(send(whole(400, "application/json", missing)), keep())
            await person.press("Connect a gateway", person.pane.welcome)
            wizard = await dialog(person, ConnectDialog)
            await type_into(person, wizard.first.address.edit, server.url)
            await person.do(wizard.next_button.click)
            await person.until(lambda: len(wizard.second.found.offers) == 2, "the offers")
            await person.do(wizard.second.found.offers[0].click)
            settings = await dialog(person, ProfileDialog)
            assert settings.form.address.text() == server.url
            (edit,) = settings.form.headers.edits
            await person.until(edit.value.hasFocus, "the cursor in its value")
            assert edit.name.text() == "x-portkey-provider"
            await person.do(lambda: edit.value.setText("openai"))
            await person.do(settings.save_button.click)
            await person.until(lambda: settings.message.text().startswith("Saved."), "it to be saved")
            await person.do(settings.reject)

    stage.play(scene)


def test_a_gateway_is_connected_step_by_step(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with DemoServer(SECURED) as gateway:
            await person.press("Connect a gateway", person.pane.welcome)
            wizard = await dialog(person, ConnectDialog)
            await person.do(wizard.next_button.click)
            assert "Enter an address" in wizard.first.message.text()
            await type_into(person, wizard.first.address.edit, gateway.base_url)
            await type_into(person, wizard.first.key.edit, "sk-wrong-key-000000")
            await person.do(wizard.next_button.click)
            await person.until(lambda: wizard.second.headline.text() == "It does not work yet", "the refusal")
            assert "401" in wizard.second.words.text()
            assert wizard.back_button.text() == "&Change the key"
            assert not wizard.next_button.isEnabled()
            await person.do(wizard.back_button.click)
            await person.until(wizard.first.key.edit.hasFocus, "the cursor in the key")

            await type_into(person, wizard.first.key.edit, f"Bearer {KEY} ")
            await person.do(wizard.next_button.click)
            await person.until(lambda: wizard.second.headline.text() == "It works", "the test")
            await person.do(wizard.next_button.click)
            rows = wizard.third.models.rows
            names = [rows.model_id(rows.index(row)) for row in range(rows.rowCount())]
            assert "demo-chat" in names
            at = rows.index(names.index("demo-chat"))
            await person.do(partial(wizard.third.models.list.setCurrentIndex, at))
            await type_into(person, wizard.third.name, "Work")
            await person.do(wizard.next_button.click)
            await person.until(lambda: person.session.settings.profile_id != "demo", "the gateway in use")
            profile = person.app.gateways.get(person.session.settings.profile_id)
            assert (profile.name, profile.default_model, profile.base_url) == ("Work", "demo-chat", gateway.base_url)
            assert "Connected to Work." in person.pane.notice.words
            assert "memory" in person.pane.notice.words, "there is no keyring here, and it is said"
            assert KEY not in person.app.gateways.store.path.read_text(encoding="utf-8")
            await person.until(lambda: not person.find(ConnectDialog), "the dialog to go")
            await person.until(lambda: person.session.settings.model == "demo-chat", "the model")
            await person.do(person.app.window.activateWindow)  # as a desktop does when a dialog closes
            await person.until(person.app.window.isActiveWindow, "the window, in front again")
            assert person.pane.composer.focusProxy() is person.app.window.focusWidget()
            await person.run("!fast Hello")
            await person.idle(turns=2)
            assert [request for request in gateway.requests if request.method == "POST"]

    stage.play(scene)


def test_what_was_typed_is_still_there_and_goes_to_all_settings(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        connect = person.app.window.action("gateway.connect")
        await person.do(connect.trigger)
        wizard = await dialog(person, ConnectDialog)
        await type_into(person, wizard.first.address.edit, "http://gateway.example/v1")
        await type_into(person, wizard.first.key.edit, KEY)
        await person.do(wizard.next_button.click)
        await person.until(lambda: "Nothing was sent" in wizard.first.message.text(), "the question")
        await person.do(wizard.cancel_button.click)
        await person.until(lambda: not person.find(ConnectDialog), "the dialog to go")
        await person.do(connect.trigger)
        wizard = await dialog(person, ConnectDialog)
        assert wizard.first.address.text() == "http://gateway.example/v1"
        assert wizard.first.key.key() == KEY
        await person.do(wizard.settings_button.click)
        settings = await dialog(person, ProfileDialog)
        assert settings.form.address.text() == "http://gateway.example/v1"
        assert settings.form.key.key() == KEY
        await person.do(settings._close)
        assert not person.app.gateways.store.profiles

    stage.play(scene)


def test_every_sample_opens_from_the_welcome_page_the_menu_and_the_palette(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        for sample in SAMPLES:
            pill = await person.seen(QPushButton, f"Open the sample {sample.title}", person.pane.welcome)
            assert pill.accessibleDescription() == sample.shows
            await person.click(pill)
            await person.until(lambda: len(person.path) > 0, "the sample")
            assert person.pane.notice.words == sample.shows
            assert bool(person.find(EvaluatePage)) is (sample.action == "sample.evaluation")
            assert person.session.active_run is None
            await person.do(person.app.window.action("experiment.new").trigger)
            assert not person.path
            await person.do(person.app.window.action(sample.action).trigger)
            assert person.path
            await person.do(person.app.window.action("experiment.new").trigger)
        await person.do(person.app.window.action("sample.schema").trigger)
        await person.press("Run", person.pane.notice)
        await person.idle(turns=3)
        assert "languages" in json.loads(person.path[-1].text)
        await person.do(person.app.window.action("sample.evaluation").trigger)
        await person.press("Run", person.pane.notice)
        look = person.app.actions.of(EVALUATE).look
        assert look is not None
        await person.until(lambda: len(look.results.answers) > 3, "answers")

    stage.play(scene)


def test_help_about_and_updates(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.key(Qt.Key.Key_F1)
        window = await dialog(person, HelpWindow)
        await person.do(person.app.window.action("help.open").trigger)
        assert person.one(HelpWindow) is window
        await person.do(window.close)
        await person.do(person.app.window.action("help.about").trigger)
        about = await dialog(person, AboutDialog)
        assert about.table.rowCount() > 10
        await person.do(about.accept)

        settings = person.app.settings
        assert not settings.value(DAILY, False, type=bool), "off by default"
        await person.do(person.app.window.action("help.updates").trigger)
        updates = await dialog(person, UpdateDialog)
        assert not updates.daily.isChecked()
        await type_into(person, updates.address, "http://127.0.0.1:9/latest.json")
        await person.do(updates.now.click)
        await person.until(lambda: "https://" in updates.message.text(), "the refusal")
        await person.do(updates.daily.click)
        await person.do(updates.accept)
        assert settings.value(DAILY, False, type=bool)
        assert settings.value(ADDRESS) == "http://127.0.0.1:9/latest.json"

    stage.play(scene)
