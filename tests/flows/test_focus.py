"""The keyboard's focus: Enter presses the button that has it, and it stays near what went away."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QPushButton

from playground.ui.features.conversation import card_parts
from playground.ui.features.gateways.connect_dialog import ConnectDialog
from playground.ui.features.gateways.dialog import ProfileDialog
from tests.flows.conftest import Person, Stage
from tests.flows.test_debugger import THREE, calls_of, ready
from tests.support.fault_server import FaultServer, hold, keep, send, whole

REFUSED = send(whole(401, "application/json", b'{"error": {"message": "Who are you?"}}'))


async def wizard_at(person: Person, url: str) -> ConnectDialog:
    await person.do(person.app.window.action("gateway.connect").trigger)
    await person.until(lambda: [w for w in person.find(ConnectDialog) if w.isActiveWindow()], "the dialog")
    wizard = person.one(ConnectDialog)
    await person.do(wizard.first.address.edit.setFocus)
    await person.do(partial(wizard.first.address.edit.setText, url))
    return wizard


async def enter(person: Person, wizard: ConnectDialog) -> None:
    await person.do(partial(QTest.keyClick, wizard.windowHandle(), Qt.Key.Key_Return))


def test_enter_presses_the_button_that_has_the_focus(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with FaultServer() as server:
            server.play(REFUSED, keep())
            wizard = await wizard_at(person, server.url)
            await enter(person, wizard)
            await person.until(wizard.back_button.hasFocus, "the way back to the key")
            assert wizard.back_button.text() == "&Change the key"
            await enter(person, wizard)
            await person.until(wizard.first.key.edit.hasFocus, "the cursor in the key")
            await person.do(wizard.cancel_button.setFocus)
            await enter(person, wizard)
            await person.until(lambda: not person.find(ConnectDialog), "the dialog to go")

    stage.play(scene)


def test_a_test_that_runs_is_ended_by_its_button_and_by_going_on_elsewhere(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with FaultServer() as server:
            server.play(hold())
            wizard = await wizard_at(person, server.url)
            await enter(person, wizard)
            await person.until(lambda: wizard.next_button.text() == "Stop", "the test")
            await person.until(wizard.next_button.hasFocus, "the focus on what ends it")
            await enter(person, wizard)
            await person.until(lambda: wizard.next_button.text() != "Stop", "its end")

            await person.do(wizard.test)
            await person.until(lambda: wizard.next_button.text() == "Stop", "another")
            await person.do(wizard.settings_button.click)
            await person.until(lambda: person.find(ProfileDialog), "all settings")
            settings = person.one(ProfileDialog)
            assert settings.form.address.text() == server.url
            await person.do(settings.reject)

    stage.play(scene)


def test_enter_presses_a_button_where_enter_also_runs(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        window = person.app.window
        await person.do(window.action("settings.enter").trigger)
        await person.type_into(person.message, "Not yet")
        await person.do(person.one(QPushButton, "Add", person.pane.composer).setFocus)
        await person.key(Qt.Key.Key_Return)
        await person.idle(turns=1)
        assert not [one for one in person.server.requests if one.method == "POST"], "it was added, and nothing was run"

    stage.play(scene)


def test_the_focus_goes_to_the_message_when_the_button_that_had_it_goes(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.press("Tool calls", person.pane.welcome)
        run = await person.seen(QPushButton, "Run", person.pane.notice)
        await person.do(run.setFocus)
        await person.key(Qt.Key.Key_Return)
        await person.until(lambda: not person.pane.notice.isVisible(), "the notice to go")
        await person.until(person.message.hasFocus, "the focus in the message")
        await person.idle(turns=3)

        outside = person.app.window.bar.model
        await person.do(outside.setFocus)
        await person.do(person.pane.calls.bar.hide)
        assert QApplication.focusWidget() is outside, "what had the focus did not go"

    stage.play(scene)


def test_a_call_keeps_the_focus_while_its_turn_is_drawn_anew_however_slowly(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(person: Person) -> None:
        await ready(person, "chat", "demo-tools")
        await person.run(THREE)
        first, _, last = await calls_of(person)
        field = await person.seen(QPlainTextEdit, "Result of the call", last)
        await person.type_into(field, "half")
        monkeypatch.setattr(card_parts, "STEP_S", -1.0)  # as on a machine that makes one view a frame
        turn = person.path[-1]
        await person.do(
            partial(person.session.turns.edit_call, turn.id, first.call.id, '{"city": "Faro"}', in_place=True)
        )
        await person.until(lambda: "Faro" in person.card(-1).calls[0].call.arguments, "the edit, drawn")
        await person.until(lambda: person.card(-1).whole, "all of it drawn")
        assert person.card(-1).calls[2] is last
        assert QApplication.focusWidget() is field, "it was not hidden in between"
        await person.keys(" typed")
        assert field.toPlainText() == "half typed"

    stage.play(scene)


def test_the_focus_stays_with_the_turns_when_a_button_of_theirs_goes(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.run("!fast Hello")
        await person.idle(turns=2)
        await person.do(person.card(1).setFocus)
        await person.key(Qt.Key.Key_R)
        await person.idle(turns=2)
        await person.press("Earlier alternative", person.card(1))
        await person.until(lambda: person.pane.view.focused_turn() is not None, "the focus at a turn")
        assert not person.message.hasFocus()

    stage.play(scene)
