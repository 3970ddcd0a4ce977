"""Known services in the real window: suggested, filled in and saved; and keys that stay in the environment."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton

from playground.demo.server import DemoConfig, DemoServer
from playground.engine.gateways.profiles import Auth
from playground.engine.gateways.services import KnownGateway
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.connect import ConnectWindow, ServicesWindow
from tests.flows.pages.gateways import GatewaysWindow
from tests.flows.pages.steps import replace_text
from tests.flows.test_secrets import KEY, leaks, search_files

NAME = "TEAM_GATEWAY_KEY"
SECURED = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000, key=KEY)
DOCS, GROQ = "https://console.groq.com/docs/openai?x=1", "https://api.groq.com/openai/v1"
KEEP = "Save this address as a service of your own"
UNDO = "Take back what was filled in"


async def choose_service(wizard: ConnectWindow, name: str) -> None:
    """Type a name in place of the address, and take the first service that fits."""
    await wizard.type_into(wizard.address, name)
    await wizard.press_key(Qt.Key.Key_Return)


async def connect_team(person: Person, gateway: DemoServer) -> ConnectWindow:
    """Begin to connect a service that is in the person's own list."""
    service = KnownGateway(
        id="team",
        name="Zebra",
        base_url=gateway.base_url,
        protocols={"chat": Auth.BEARER, "messages": Auth.X_API_KEY},
        headers={"X-Team": "stripes"},
        key_variables=(NAME,),
    )
    person.app.gateways.services.put(service)
    wizard = await ConnectWindow.open(person)
    await wizard.type_into(wizard.address, "zeb")
    assert wizard.matches is not None
    await wizard.press_key(Qt.Key.Key_Return)
    assert wizard.address.text() == gateway.base_url
    assert wizard.key.hasFocus()
    return wizard


async def ask(person: Person, text: str) -> None:
    """Run with a message, once the window is in front again."""
    await person.do(person.app.window.activateWindow)  # as a desktop does when a dialog closes
    await person.run(text)


@flow()
async def test_service_is_connected_by_its_name_and_a_key(person: Person) -> None:
    with DemoServer(SECURED) as gateway:
        wizard = await connect_team(person, gateway)
        await wizard.type_into(wizard.key, KEY)
        await wizard.press_key(Qt.Key.Key_Return)
        await wizard.wait_for_text("Connected")
        await wizard.press_key(Qt.Key.Key_Return)
        await wizard.press("Save and start")
        await person.until(lambda: person.app.gateways.store.profiles, "the gateway")
        (profile,) = person.app.gateways.store.profiles
        assert (profile.name, profile.service, profile.headers) == ("Zebra", "team", {"X-Team": "stripes"})
        assert profile.auth == {"chat": Auth.BEARER, "messages": Auth.X_API_KEY}
        await person.idle()
        settings = await GatewaysWindow.opened(person, "gateway.settings")
        assert "Zebra" in settings.text
        assert not settings.get(QPushButton, "Save").isEnabled(), "nothing is unsaved"
        await settings.type_into("Base URL", "https://elsewhere.example/v1")
        assert "Zebra" not in settings.text
        await settings.discard()


@flow()
async def test_address_of_a_service_is_recognised_and_can_be_undone(person: Person) -> None:
    wizard = await ConnectWindow.open(person)
    await wizard.paste_address(DOCS)
    assert wizard.address.text() == GROQ
    assert "Recognised as Groq" in wizard.text
    assert "It refuses logprobs, logit_bias and top_logprobs, so they are left out." in wizard.text
    await wizard.press("Copy the address of the page where keys are made")
    assert QGuiApplication.clipboard().text() == "https://console.groq.com/keys"
    await wizard.press(UNDO)
    assert wizard.address.text() == DOCS
    assert "Groq" not in wizard.text
    await wizard.paste_address(f"{GROQ}/models")
    assert "Recognised as Groq" in wizard.text
    await wizard.type_into(wizard.address, "https://gateway.example/v1")  # another host: another gateway
    assert "Groq" not in wizard.text

    # an address that is typed is only suggested, in a list above the page
    await wizard.type_into(wizard.address, "")
    before = wizard.key.mapTo(wizard.widget, QPoint()).y()
    for text in ("gro", "https://gateway.example/v1", "http://gateway.example/chat/completions"):
        await wizard.type_into(wizard.address, text)
        assert wizard.key.mapTo(wizard.widget, QPoint()).y() == before, "the key does not move"
    await wizard.type_into(wizard.address, "gro")
    assert wizard.matches is not None
    assert not wizard.has_button(KEEP), "a part of a name is no address"
    await wizard.type_into(wizard.address, "https://console.groq.com/docs")
    assert wizard.has_button(KEEP)
    assert wizard.matches is not None
    assert wizard.matches.currentRow() == -1, "Enter tests the typed address"
    assert any("Messages" in endpoint for endpoint in wizard.endpoints)
    await wizard.press_key(Qt.Key.Key_Down)
    await wizard.press_key(Qt.Key.Key_Return)
    assert wizard.address.text() == GROQ
    assert [endpoint.split()[0] for endpoint in wizard.endpoints] == ["Chat", "Models"]
    assert "usually needs a key" in wizard.text

    # a key in place of the address is not sent
    await wizard.press(UNDO)
    for expected in ("It is under Key now", "looks like a key"):
        await wizard.type_into(wizard.address, KEY)
        await wizard.press_key(Qt.Key.Key_Return)
        assert "Step 1" in wizard.step, "nothing is sent"
        assert expected in wizard.text
        assert wizard.key.text() == KEY
    await wizard.cancel()


@flow()
async def test_variable_and_blanks_belong_to_one_service(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    wizard = await ConnectWindow.open(person)
    await choose_service(wizard, "groq")
    await wizard.press("Use GROQ_API_KEY")
    assert wizard.variable.text() == "GROQ_API_KEY"
    await person.do(wizard.address.setFocus)
    await person.do(partial(QTest.keyClick, wizard.widget, Qt.Key.Key_K, Qt.KeyboardModifier.AltModifier))
    assert wizard.variable.hasFocus()
    await choose_service(wizard, "mistral")
    assert "Mistral" in wizard.text
    assert not wizard.names_variable
    assert wizard.key.isVisible()

    await choose_service(wizard, "azure")
    await wizard.press("Test")
    assert "Fill in Resource first." in wizard.text
    field = wizard.get(QLineEdit, "Resource")
    assert field.hasFocus()
    await wizard.type_into(field, "my-team/../x")
    await wizard.press("Test")
    assert "may hold letters" in wizard.text
    await wizard.type_into(field, "my-team")
    address = wizard.address.text()
    assert address == "https://my-team.openai.azure.com/openai/v1"
    await wizard.cancel()
    wizard = await ConnectWindow.opened(person, "gateway.connect")
    assert (wizard.address.text(), wizard.get(QLineEdit, "Resource").text()) == (address, "my-team")
    await wizard.press(UNDO)
    assert not wizard.find(QLineEdit, "Resource")
    await wizard.cancel()


@flow()
async def test_own_service_is_saved_edited_and_deleted(person: Person) -> None:
    wizard = await ConnectWindow.open(person)
    await wizard.type_into(wizard.address, "https://ai.team.example/v1")
    await wizard.press(KEEP)
    services = await ServicesWindow.opened(person)
    await services.enter("Variables", KEY)
    await services.press("Save and use")
    await services.wait_until(lambda: "does not look like the name of a variable" in services.text, "the reason")
    await services.enter("Variables", NAME)
    await services.enter("Name", "The team")
    await services.press("Save and use")
    await wizard.wait_for_text("The team is filled in")
    path = person.app.gateways.store.path.with_name("known-gateways.json")
    (entry,) = json.loads(path.read_text())["services"]
    assert (entry["name"], entry["base_url"]) == ("The team", "https://ai.team.example/v1")

    await wizard.press("Show all known services and servers")
    services = await ServicesWindow.opened(person)
    await services.enter("Name", "Our team")
    await services.save()
    await services.wait_until(lambda: "Our team" in path.read_text(), "the new name in the file")
    await replace_text(person, services.search, "our team")
    assert services.names == ["Our team"]
    await services.press("Delete this service")
    await services.wait_until(lambda: not services.names, "an empty list")
    await services.press("Undo")
    await services.wait_until(lambda: services.names == ["Our team"], "the service")
    await person.do(services.search.setFocus)
    await person.do(partial(QTest.keyClick, services.search, Qt.Key.Key_Escape))
    assert services.visible, "Escape leaves the search first"
    assert len(services.names) > 1
    await services.press("Use")
    assert wizard.address.text() == "https://ai.team.example/v1"
    await wizard.cancel()


def test_key_in_a_variable_is_used_and_never_written(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(NAME, KEY)

    async def scene(person: Person) -> None:
        with DemoServer(SECURED) as gateway:
            wizard = await connect_team(person, gateway)
            await wizard.press(f"Use {NAME} from the environment")
            assert f"{NAME} (set)" in wizard.text
            await wizard.press("Test")
            await wizard.wait_for_text("Connected")
            await wizard.press("Next")
            await wizard.press("Save and start")
            await person.until(lambda: person.app.gateways.store.profiles, "the gateway")
            await person.idle()
            await ask(person, "Hello")
            await person.idle(2)
            (profile,) = person.app.gateways.store.profiles
            assert (profile.key_variable, profile.key_origin) == (NAME, profile.origin)
            assert not leaks(person.app.without_secrets(f"it is {KEY}"))
            monkeypatch.delenv(NAME)
            await ask(person, "Again")
            await (await person.conversation.wait_for_error()).press("Enter the key")
            settings = await GatewaysWindow.opened(person)
            assert settings.field("Variable of the environment that holds the key").hasFocus()
            assert f"{NAME} (not set)" in settings.text
            await settings.press("Type a key instead of naming a variable")
            await settings.type_into("Key", "typed-key-0123456789")
            await settings.save()
            assert not person.app.gateways.store.profiles[0].key_variable
            await settings.leave()

    stage.play(scene)
    search_files(tmp_path)
