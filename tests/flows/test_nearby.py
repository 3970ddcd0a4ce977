"""Gateways on this computer, looked for and taken with a click, in the real window."""

from __future__ import annotations

import json
import time
from functools import partial

from PySide6.QtWidgets import QPushButton

from playground.engine.gateways.known import KnownGateway
from playground.engine.gateways.nearby import Found, Kind
from playground.engine.gateways.profiles import Profile
from playground.ui.features.gateways.connect_dialog import MODEL, ConnectDialog
from playground.ui.features.gateways.nearby_list import NearbyRow, details_of, title_of
from tests.flows.conftest import Person, Stage
from tests.support.fault_server import FaultServer, drip, head, hold, send, whole

KEY = "sk-canary-nearby-3301"
LIST = json.dumps({"data": [{"id": "first", "owned_by": "acme"}, {"id": "second"}]}).encode()
FINE = send(whole(200, "application/json", LIST))


def known(person: Person, name: str, *servers: FaultServer, **more: object) -> KnownGateway:
    """A service of the person's own that usually listens where those servers do."""
    ports = tuple(server.port for server in servers)
    content = {"id": name, "name": name, "base_url": servers[0].url, "ports": ports, **more}
    return person.app.workspace.gateways.services.keep(KnownGateway.model_validate(content))


async def look(person: Person) -> ConnectDialog:
    await person.do(person.app.window.action("gateway.nearby").trigger)
    await person.until(lambda: person.find(ConnectDialog), "the dialog")
    dialog = person.one(ConnectDialog)
    await person.until(lambda: not dialog.nearby.looking, "the end of the look")
    return dialog


def row_of(dialog: ConnectDialog, server: FaultServer) -> NearbyRow:
    place = f"127.0.0.1:{server.port}"
    return next(row for row in dialog.nearby.rows if place in row.title.text() + row.details.text())


async def press(person: Person, row: NearbyRow) -> None:
    assert row.button is not None
    await person.do(row.button.click)


def test_one_is_added_with_a_click_and_without_a_key(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with FaultServer() as server:
            server.play(send(whole(400, "application/json", b'{"error": {"message": "model is required"}}')))
            server.play_at("/v1/models", FINE)
            known(person, "Acme", server, signatures=[{"owner": "acme"}], keyless=True)
            dialog = await look(person)
            row = row_of(dialog, server)
            assert row.title.text() == "Acme"
            assert "2 models" in row.details.text()
            assert dialog.focusWidget() in [one.button for one in dialog.nearby.rows]
            await person.until(lambda: not row.visibleRegion().isEmpty(), "the row to be in view")
            await press(person, row)
            await person.until(lambda: dialog._step == MODEL, "the models")
            assert dialog.third.model.text() == "first"
            await person.press("Save and begin", dialog)
            await person.until(lambda: len(person.app.workspace.gateways.store.profiles) == 1, "the gateway")
            profile = person.app.workspace.gateways.store.profiles[0]
            assert (profile.base_url, profile.name, profile.service) == (server.url, "Acme", "Acme")
            assert (profile.default_model, profile.key_origin) == ("first", "")
            assert not any(request.header("Authorization") for request in server.requests)

            again = await look(person)
            assert "set up already as “Acme”" in row_of(again, server).details.text()
            assert row_of(again, server).button is None
            await person.press("Cancel", again)

    stage.play(scene)


def test_one_that_wants_a_key_gets_the_focus_there_and_nothing_is_sent_before(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with FaultServer() as server:
            server.play(send(whole(401, "application/json", b'{"error": {"message": "No key."}}')))
            known(person, "Acme", server)
            dialog = await look(person)
            row = row_of(dialog, server)
            assert row.title.text() == "Probably Acme"
            asked = len(server.requests)
            await press(person, row)
            assert dialog.first.address.text() == server.url
            assert "wants a key" in dialog.first.message.text()
            assert dialog.first.key.edit.hasFocus()
            assert len(server.requests) == asked
            # a key that is there already is not sent by a click
            await person.do(partial(dialog.first.key.edit.setText, KEY))
            await press(person, row)
            assert "goes to" in dialog.first.message.text()
            assert len(server.requests) == asked
            await person.press("Cancel", dialog)

    stage.play(scene)


def test_what_is_no_gateway_is_said_and_the_window_goes_on(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with FaultServer() as page, FaultServer() as silent, FaultServer() as endless:
            page.play(send(whole(200, "text/html", b"<html>")))
            silent.play(hold())
            endless.play(
                send(head(200, "application/json"), b'{"data": [['), *drip(b'"a",' * 5_000_000, 500_000, 0.01), hold()
            )
            known(person, "Acme", page, silent, endless)
            await person.do(person.app.window.action("gateway.connect").trigger)
            await person.until(lambda: person.find(ConnectDialog), "the dialog")
            dialog = person.one(ConnectDialog)
            before = len(silent.requests)
            assert before == 0, "nothing is looked for by itself"
            await person.press("Look for gateways on this computer", dialog)
            await person.do(dialog.nearby.look)  # pressed twice
            begun = time.monotonic()
            await person.until(lambda: not dialog.nearby.looking, "the end of the look")
            assert time.monotonic() - begun < 15
            assert len(silent.requests) == 1
            assert f"127.0.0.1:{page.port} (A web page answers)" in dialog.nearby.others.text()
            row = row_of(dialog, silent)
            assert "said nothing" in row.details.text()
            await press(person, row)
            assert dialog.first.address.text() == silent.url
            await person.press("Cancel", dialog)

    stage.play(scene)


def test_closing_ends_it(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with FaultServer() as silent:
            silent.play(hold())
            known(person, "Acme", silent)
            await person.do(person.app.window.action("gateway.nearby").trigger)
            await person.until(lambda: person.find(ConnectDialog), "the dialog")
            dialog = person.one(ConnectDialog)
            await person.until(lambda: silent.requests, "the request")
            await person.do(dialog.reject)
            silent.wait_closed()
            await person.until(lambda: not person.find(ConnectDialog), "the dialog to be gone")

    stage.play(scene)


def test_titles_and_details() -> None:
    names = [KnownGateway(id=name, name=name, base_url="http://127.0.0.1:1/v1") for name in ("A", "B", "C", "D")]
    found = Found("http://127.0.0.1:8080/v1", Kind.GATEWAY, models=1)
    assert (title_of(found), details_of(found)) == ("127.0.0.1:8080", "1 model")
    two = Found(found.base_url, Kind.GATEWAY, tuple(names[:2]), models=1234, cut=True)
    assert (title_of(two), details_of(two)) == ("Perhaps A or B", "127.0.0.1:8080 · 1,234 models and more")
    assert title_of(Found(found.base_url, Kind.KEY, tuple(names))) == "Perhaps A, B, C or another"
    saved = Found(found.base_url, Kind.GATEWAY, names[:1], sure=True, saved=Profile(name="Mine"))  # type: ignore[arg-type]
    assert details_of(saved) == "127.0.0.1:8080 · no models · set up already as “Mine”"


def test_a_row_shows_foreign_text_as_it_is(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        words = "<b>bold</b> \u202e hidden " + "w" * 500
        row = NearbyRow(Found("http://127.0.0.1:8080/v1", Kind.ERROR, words=words))
        assert "<b>bold</b>" in row.details.text()
        assert "\u202e" not in row.details.text()
        assert [button.text() for button in row.findChildren(QPushButton)] == ["Use this address"]
        row.deleteLater()

    stage.play(scene)
