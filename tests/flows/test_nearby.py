"""Gateways on this computer, searched for and connected with a click, in the real window."""

from __future__ import annotations

import json

from PySide6.QtWidgets import QAbstractButton, QLineEdit

from playground.engine.gateways.services import KnownGateway
from tests.flows.conftest import Person, flow
from tests.flows.pages.connect import ConnectWindow
from tests.support.fault_server import FaultServer, drip, head, hold, send, whole

KEY = "sk-canary-nearby-3301"
SEARCH = "Look for gateways on this computer"
LIST = json.dumps({"data": [{"id": "first", "owned_by": "acme"}, {"id": "second"}]}).encode()
FINE = send(whole(200, "application/json", LIST))


def add_service(person: Person, *servers: FaultServer, **more: object) -> None:
    """Add a service of the person's own that usually listens where those servers do."""
    ports = tuple(server.port for server in servers)
    content = {"id": "Acme", "name": "Acme", "base_url": servers[0].url, "ports": ports, **more}
    person.app.workspace.gateways.services.put(KnownGateway.model_validate(content))


@flow()
async def test_local_gateway_is_connected_with_a_click_and_without_a_key(person: Person) -> None:
    with FaultServer() as server:
        server.play(send(whole(400, "application/json", b'{"error": {"message": "model is required"}}')))
        server.play_at("/v1/models", FINE)
        add_service(person, server, signatures=[{"owner": "acme"}], keyless=True)
        wizard = await ConnectWindow.search_nearby(person)
        row = wizard.nearby(server.port)
        assert row.texts[0] == "Acme"
        assert "2 models" in row.text
        focus = wizard.widget.focusWidget()
        assert isinstance(focus, QAbstractButton)
        assert focus.text() in ("Connect", "Enter its key", "Use this address")
        await person.until(lambda: not row.widget.visibleRegion().isEmpty(), "the row to be in view")
        await row.press("Connect")
        await person.until(lambda: "Step 3" in wizard.step, "the models")
        assert wizard.get(QLineEdit, "Model").text() == "first"
        await wizard.press("Save and start")
        store = person.app.workspace.gateways.store
        await person.until(lambda: len(store.profiles) == 1, "the gateway")
        profile = store.profiles[0]
        assert (profile.base_url, profile.name, profile.service) == (server.url, "Acme", "Acme")
        assert (profile.default_model, profile.key_origin) == ("first", "")
        assert not any(request.header("Authorization") for request in server.requests)

        again = await ConnectWindow.search_nearby(person)
        row = again.nearby(server.port)
        assert "set up already as “Acme”" in row.text
        assert not row.find(QAbstractButton)
        await again.cancel()


@flow()
async def test_local_gateway_that_wants_a_key_is_not_sent_one_by_a_click(person: Person) -> None:
    with FaultServer() as server:
        server.play(send(whole(401, "application/json", b'{"error": {"message": "No key."}}')))
        add_service(person, server)
        wizard = await ConnectWindow.search_nearby(person)
        row = wizard.nearby(server.port)
        assert row.texts[0] == "Probably Acme"
        sent = len(server.requests)
        await row.press("Enter its key")
        assert wizard.address.text() == server.url
        assert "Enter it above, then test" in wizard.text
        assert wizard.key.hasFocus()
        await wizard.type_into(wizard.key, KEY)
        await row.press("Enter its key")
        assert "goes to" in wizard.text
        assert len(server.requests) == sent
        await wizard.cancel()


@flow()
async def test_search_names_other_servers_and_ends_with_its_dialog(person: Person) -> None:
    with FaultServer() as page, FaultServer() as silent, FaultServer() as endless:
        page.play(send(whole(200, "text/html", b"<html>")))
        silent.play(hold())
        endless.play(
            send(head(200, "application/json"), b'{"data": [['), *drip(b'"a",' * 5_000_000, 500_000, 0.01), hold()
        )
        add_service(person, page, silent, endless)
        wizard = await ConnectWindow.opened(person, "gateway.connect")
        assert not silent.requests, "nothing is searched for before the button is pressed"
        await wizard.press(SEARCH)
        await wizard.press(SEARCH)
        await person.until(lambda: not wizard.searching, "the end of the search")
        assert len(silent.requests) == 1
        assert f"127.0.0.1:{page.port} (A web page answers)" in wizard.text
        row = wizard.nearby(silent.port)
        assert "did not answer in time" in row.text
        await row.press("Use this address")
        assert wizard.address.text() == silent.url

        silent.wait_closed()
        await wizard.press(SEARCH)
        await person.until(lambda: len(silent.requests) == 2, "another search")
        await wizard.cancel()
        silent.wait_closed(2)
