"""The keyboard's focus: Enter presses the button that has it, and it stays near what went away."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QTabBar, QWidget

from tests.flows.conftest import Person, flow
from tests.flows.pages.connect import ConnectWindow
from tests.flows.pages.conversation import focus_in
from tests.flows.pages.gateways import GatewayBar, GatewaysWindow
from tests.support.fault_server import FaultServer, hold, keep, send, whole

REFUSED = send(whole(401, "application/json", b'{"error": {"message": "Who are you?"}}'))


async def enter_address(person: Person, url: str) -> ConnectWindow:
    """Type an address and press Enter."""
    wizard = await ConnectWindow.opened(person, "gateway.connect")
    await wizard.type_into(wizard.address, url)
    await wizard.press_key(Qt.Key.Key_Return)
    return wizard


@flow()
async def test_enter_presses_the_button_that_has_the_focus(person: Person) -> None:
    with FaultServer() as server:
        server.play(REFUSED, keep())
        wizard = await enter_address(person, server.url)
        back = await wizard.wait_for(QPushButton, "Change the key")
        await person.until(back.hasFocus, "the way back to the key")
        await wizard.press_key(Qt.Key.Key_Return)
        await person.until(lambda: wizard.key.hasFocus(), "the cursor in the key")
        await person.do(wizard.get(QPushButton, "Cancel").setFocus)
        await wizard.press_key(Qt.Key.Key_Return)
        await person.until(lambda: not ConnectWindow.is_open(), "the dialog to close")

    await person.trigger("settings.enter")
    await person.do(person.app.window.activateWindow)  # as a desktop does when a dialog closes
    await person.type_into(person.message, "Not yet")
    await person.do(person.conversation.composer.get(QPushButton, "Add").setFocus)
    await person.key(Qt.Key.Key_Return)
    await person.idle(turns=1)
    assert not [request for request in person.server.requests if request.method == "POST"], "Enter only adds it"


@flow()
async def test_gateway_test_is_stopped_by_its_button_and_by_all_settings(person: Person) -> None:
    with FaultServer() as server:
        server.play(hold())
        wizard = await enter_address(person, server.url)
        stop = await wizard.wait_for(QPushButton, "Stop")
        await person.until(stop.hasFocus, "the focus on the button that stops it")
        await wizard.press_key(Qt.Key.Key_Return)
        await wizard.wait_for_text("The test was stopped")

        await wizard.press("Test again")
        await wizard.wait_for(QPushButton, "Stop")
        await wizard.press("All settings…")
        settings = await GatewaysWindow.opened(person)
        assert settings.value("Base URL") == server.url
        await settings.discard()


@flow()
async def test_focus_stays_near_a_button_that_goes(person: Person) -> None:
    conversation = person.conversation
    await conversation.press("Open the sample Tool calls")
    run = await person.seen(QPushButton, "Run", conversation.notice.widget)
    await person.do(run.setFocus)
    await person.key(Qt.Key.Key_Return)
    await conversation.notice.wait_until_hidden()
    await person.until(person.message.hasFocus, "the focus in the message")
    await person.idle(turns=3)

    outside = GatewayBar(person).model
    await person.do(outside.setFocus)
    await person.do(conversation.call_bar.widget.hide)
    assert focus_in(outside)(), "the focus was not in what went"

    await person.trigger("experiment.new")
    await person.run("!fast Hello")
    await person.idle(turns=2)
    await person.do((await conversation.wait_for_message(1)).widget.setFocus)
    for letter in (Qt.Key.Key_E, Qt.Key.Key_R):
        await person.key(letter)
    assert not (await conversation.wait_for_message(1)).has_button("Cancel"), "a letter edits nothing"
    assert len(person.session.exchanges) == 1, "a letter sends nothing"
    await person.key(Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    await person.idle(turns=2)
    await (await conversation.wait_for_message(1)).press("Earlier alternative")
    await person.until(focus_in(conversation.messages.widget), "the focus in the messages")


@flow()
async def test_focus_stays_in_the_evaluation_when_its_notice_closes(person: Person) -> None:
    await person.trigger("sample.evaluation")
    notice = person.conversation.notice
    await person.until(lambda: notice.visible, "the notice of the sample")
    await person.do(notice.get(QPushButton, "Run").setFocus)
    await person.key(Qt.Key.Key_Return)
    await person.until(lambda: not notice.visible, "the notice to close")
    focus = QApplication.focusWidget()
    assert focus is not None
    assert focus.window() is person.app.window
    assert not person.app.window.bar.isAncestorOf(focus)


async def focus_order(person: Person, first: QWidget, count: int) -> list[str]:
    """Return the names of a control and of those that the Tab key reaches after it."""
    await person.do(first.setFocus)
    names = []
    for _ in range(count):
        widget = QApplication.focusWidget()
        assert widget is not None
        names.append(widget.accessibleName() or (widget.text() if isinstance(widget, QPushButton) else ""))
        await person.key(Qt.Key.Key_Tab)
    return names


@flow()
async def test_tab_key_follows_the_screen_in_the_side_panel_and_the_inspector(person: Person) -> None:
    side, inspector = person.get(QTabBar, "Side panel"), person.get(QTabBar, "Inspector")
    for protocol in ("chat", "messages"):  # the form of the other API is made when it is first shown
        person.session.change(protocol=protocol)
        await person.idle()
        await person.until(lambda: bool(person.find(QLineEdit, "Seed")) == (protocol == "chat"), "its form")  # noqa: B023
        names = await focus_order(person, side, 4)
        assert names == ["Side panel", "Presets", "Save as preset…", "Temperature"]
    names = await focus_order(person, inspector, 4)
    assert names == ["Inspector", "Maximise the inspector", "Next", "Get the code of this request"]
