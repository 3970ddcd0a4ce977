"""Known services in the real window: found, filled in, kept as one's own; and keys that stay in the environment."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from playground.demo.server import DemoConfig, DemoServer
from playground.engine.gateways.known import KnownGateway
from playground.engine.gateways.profiles import Auth
from playground.ui.features.conversation.turn_end import ErrorCard
from playground.ui.features.gateways.connect_dialog import ConnectDialog
from playground.ui.features.gateways.dialog import ProfileDialog
from playground.ui.features.gateways.own_service_dialog import OwnServiceDialog
from tests.flows.conftest import Person, Stage
from tests.flows.test_first_start import dialog, type_into
from tests.flows.test_secrets import KEY, leaks, search_files

NAME = "TEAM_GATEWAY_KEY"
SECURED = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000, key=KEY)


async def keys(person: Person, field: QLineEdit, text: str) -> None:
    """Typed, one character after the other."""
    await person.do(partial(field.setFocus))
    await person.do(partial(QTest.keyClicks, field, text))


async def press_key(person: Person, key: Qt.Key) -> None:
    focused = QGuiApplication.focusObject()
    assert focused is not None
    await person.do(partial(QTest.keyClick, focused, key))


async def paste(person: Person, field: QLineEdit, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    await person.do(field.setFocus)
    await person.do(field.selectAll)
    await person.do(field.paste)


async def connecting(person: Person, *own: KnownGateway) -> ConnectDialog:
    for known in own:
        person.app.gateways.services.keep(known)
    await person.press("Connect a gateway", person.pane.welcome)
    return await dialog(person, ConnectDialog)


def team(gateway: DemoServer) -> KnownGateway:
    return KnownGateway(
        id="team",
        name="Zebra",
        base_url=gateway.base_url,
        protocols={"chat": Auth.BEARER, "messages": Auth.X_API_KEY},
        headers={"X-Team": "stripes"},
        key_variables=(NAME,),
    )


def test_a_name_and_a_key_are_all_that_is_typed(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with DemoServer(SECURED) as gateway:
            wizard = await connecting(person, team(gateway))
            await keys(person, wizard.first.address.edit, "zeb")
            assert wizard.first.services.matches.isVisible()
            await press_key(person, Qt.Key.Key_Return)
            assert wizard.first.address.text() == gateway.base_url
            assert wizard.first.key.edit.hasFocus()
            await keys(person, wizard.first.key.edit, KEY)
            await press_key(person, Qt.Key.Key_Return)
            await person.until(lambda: wizard.second.headline.text() == "It works", "the test")
            await press_key(person, Qt.Key.Key_Return)
            await person.do(wizard.next_button.click)
            await person.until(lambda: person.app.gateways.store.profiles, "the gateway")
            (profile,) = person.app.gateways.store.profiles
            assert (profile.name, profile.service, profile.headers) == ("Zebra", "team", {"X-Team": "stripes"})
            assert profile.auth == {"chat": Auth.BEARER, "messages": Auth.X_API_KEY}
            await person.idle()
            await person.do(person.app.window.action("gateway.settings").trigger)
            settings = await dialog(person, ProfileDialog)
            assert "Zebra" in settings.form.service.text()
            assert not settings.save_button.isEnabled(), "nothing is unsaved"
            await type_into(person, settings.form.address.edit, "https://elsewhere.example/v1")
            assert settings.form.service.text() == ""
            await type_into(person, settings.form.address.edit, gateway.base_url)
            await person.do(settings.reject)

    stage.play(scene)


def test_a_pasted_page_of_a_service_tells_which_it_is_and_can_be_taken_back(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        wizard = await connecting(person)
        first = wizard.first
        await paste(person, first.address.edit, "https://console.groq.com/docs/openai?x=1")
        assert first.address.text() == "https://api.groq.com/openai/v1"
        assert "Recognised as Groq" in first.services.told.text()
        profile = wizard.draft().profile
        assert profile.service == "groq"
        assert [rule.field for rule in profile.adaptations] == ["logprobs", "logit_bias", "top_logprobs"]
        assert first.keys_place.open.isVisible()
        await person.do(first.keys_place.copy.click)
        assert QGuiApplication.clipboard().text() == "https://console.groq.com/keys"
        await person.do(first.services.undo.click)
        assert first.address.text() == "https://console.groq.com/docs/openai?x=1"
        assert (wizard.draft().profile.service, wizard.draft().profile.adaptations) == ("", ())
        await paste(person, first.address.edit, "https://api.groq.com/openai/v1/models")
        await type_into(person, first.address.edit, "https://gateway.example/v1")  # another host: another gateway
        assert (wizard.draft().profile.service, wizard.draft().profile.adaptations) == ("", ())
        await person.do(wizard.reject)

    stage.play(scene)


def test_an_address_typed_by_hand_is_said_to_be_a_service_and_taken_only_when_asked(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        wizard = await connecting(person)
        first = wizard.first
        assert not first.services.keep.isVisible(), "there is nothing to keep"
        await keys(person, first.address.edit, "gro")
        assert not first.services.keep.isVisible(), "a part of a name is no address"
        await person.do(first.address.edit.clear)
        await keys(person, first.address.edit, "https://console.groq.com/docs")
        assert first.services.keep.isVisible()
        assert first.services.matches.isVisible()
        assert first.services.matches.current is None, "what was typed stays what Enter tests"
        await press_key(person, Qt.Key.Key_Down)
        await press_key(person, Qt.Key.Key_Return)
        assert first.address.text() == "https://api.groq.com/openai/v1"
        assert not first.address.url_labels["messages"].isVisible(), "it does not speak that"
        assert first.address.url_labels["chat"].isVisible()
        assert "usually wants a key" in first.key.place.text()
        await person.do(first.services.undo.click)
        assert first.address.text() == "https://console.groq.com/docs"
        assert first.address.url_labels["messages"].isVisible()
        await person.do(wizard.reject)

    stage.play(scene)


def test_a_key_in_the_field_for_the_address_is_asked_of_nobody(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        wizard = await connecting(person)
        for expected in ("It is under Key now", "looks like a key"):
            await person.do(wizard.first.address.edit.clear)
            await keys(person, wizard.first.address.edit, KEY)
            await press_key(person, Qt.Key.Key_Return)
            assert wizard.pages.currentWidget() is wizard.first, "nothing is asked"
            assert expected in wizard.first.message.text()
            assert wizard.first.key.key() == KEY
        await person.do(wizard.reject)

    stage.play(scene)


def test_the_variable_of_one_service_is_not_used_for_another(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)

    async def scene(person: Person) -> None:
        wizard = await connecting(person)
        first = wizard.first
        await keys(person, first.address.edit, "groq")
        await press_key(person, Qt.Key.Key_Return)
        await person.do(first.key.offers[0].click)
        assert wizard.draft().variable == "GROQ_API_KEY"
        await person.do(first.address.edit.setFocus)
        await person.do(partial(QTest.keyClick, wizard, Qt.Key.Key_K, Qt.KeyboardModifier.AltModifier))
        assert first.key.variable_edit.hasFocus()
        await person.do(first.address.edit.clear)
        await keys(person, first.address.edit, "mistral")
        await press_key(person, Qt.Key.Key_Return)
        assert (wizard.draft().profile.service, wizard.draft().variable) == ("mistral", "")
        assert first.key.edit.isVisible()
        await person.do(wizard.reject)

    stage.play(scene)


def test_what_was_filled_in_is_still_there_when_the_dialog_opens_again(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        wizard = await connecting(person)
        await keys(person, wizard.first.address.edit, "azure")
        await press_key(person, Qt.Key.Key_Return)
        await person.do(wizard.next)
        assert wizard.first.message.text() == "Fill in Resource first."
        field = wizard.first.services.fields["resource"]
        assert field.hasFocus()
        await keys(person, field, "my-team")
        assert wizard.first.address.text() == "https://my-team.openai.azure.com/openai/v1"
        await keys(person, field, "/../x")
        await person.do(wizard.next)
        assert "may hold letters" in wizard.first.message.text()
        await type_into(person, field, "my-team")
        before = wizard.draft()
        await person.do(wizard.reject)
        await person.do(person.app.window.action("gateway.connect").trigger)
        again = await dialog(person, ConnectDialog)
        assert again.draft() == before
        assert again.first.services.fields["resource"].text() == "my-team"
        await person.do(again.first.services.undo.click)
        assert again.draft().profile.service == ""
        await person.do(again.reject)

    stage.play(scene)


def test_people_keep_edit_and_delete_services_of_their_own(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        wizard = await connecting(person)
        await type_into(person, wizard.first.address.edit, "https://ai.team.example/v1")
        await person.do(wizard.first.services.keep.click)
        own = await dialog(person, OwnServiceDialog)
        await type_into(person, own.variables, KEY)
        await person.do(own.keep_button.click)
        assert "does not look like the name of a variable" in own.message.text()
        await type_into(person, own.variables, NAME)
        await type_into(person, own.name, "The team")
        await person.do(own.keep_button.click)
        await person.until(lambda: wizard.first.services.service is not None, "the service")
        path = person.app.gateways.store.path.with_name("known-gateways.json")
        (entry,) = json.loads(path.read_text())["services"]
        assert (entry["name"], entry["base_url"]) == ("The team", "https://ai.team.example/v1")
        await person.do(wizard.first.services.all.click)
        page = wizard.fourth
        await keys(person, page.search, "the team")
        assert page.current is not None
        assert page.edit.isVisible()
        await person.do(page.edit.click)
        own = await dialog(person, OwnServiceDialog)
        await type_into(person, own.name, "Our team")
        await person.do(own.keep_button.click)
        await type_into(person, page.search, "our team")
        await person.until(lambda: page.current is not None and page.current.name == "Our team", "the new name")
        assert "Our team" in path.read_text()
        await person.do(page.delete.click)
        await person.until(lambda: page.list.count() == 0, "it to go")
        await person.do(page.restore.click)
        await person.until(lambda: page.list.count() == 1, "it to come back")
        await person.do(partial(QTest.keyClick, page.search, Qt.Key.Key_Down))
        await person.do(wizard.next)
        assert wizard.first.address.text() == "https://ai.team.example/v1"
        await person.do(wizard.reject)

    stage.play(scene)


def test_a_key_in_a_variable_is_used_and_is_nowhere(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(NAME, KEY)

    async def scene(person: Person) -> None:
        with DemoServer(SECURED) as gateway:
            wizard = await connecting(person, team(gateway))
            await keys(person, wizard.first.address.edit, "zebra")
            await press_key(person, Qt.Key.Key_Return)
            offer = wizard.first.key.offers[0]
            assert offer.accessibleName() == f"Use {NAME} from the environment"
            await person.do(offer.click)
            assert f"{NAME} (set)" in wizard.first.key.place.text()
            await person.do(wizard.next)
            await person.until(lambda: wizard.second.headline.text() == "It works", "the test")
            await person.do(wizard.next)
            await person.do(wizard.next)
            await person.until(lambda: person.app.gateways.store.profiles, "the gateway")
            await person.idle()
            await person.do(partial(person.pane.composer.set_text, "Hello"))
            await person.do(person.pane.run)
            await person.until(lambda: len(person.path) == 2, "an answer")
            await person.idle(2)
            (profile,) = person.app.gateways.store.profiles
            assert (profile.key_variable, profile.key_origin) == (NAME, profile.origin)
            assert not leaks(person.app.without_secrets(f"it is {KEY}"))
            monkeypatch.delenv(NAME)
            await person.do(partial(person.pane.composer.set_text, "Again"))
            await person.do(person.pane.run)
            await person.press("Enter the key", await person.seen(ErrorCard))
            settings = await dialog(person, ProfileDialog)
            assert settings.form.key.variable_edit.hasFocus()
            assert f"{NAME} (not set)" in settings.form.key.place.text()
            await person.do(settings.form.key.type_instead.click)
            await type_into(person, settings.form.key.edit, "typed-key-0123456789")
            await person.do(settings.save_button.click)
            await person.until(lambda: not person.app.gateways.store.profiles[0].key_variable, "the typed key")
            await person.do(settings.reject)

    stage.play(scene)
    search_files(tmp_path)
