"""A server is needed before anybody agreed to what it runs: the question comes where it is needed, and once."""

from __future__ import annotations

import json
import threading
import urllib.request
from typing import Any

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPushButton

from playground.domain.tool_servers import ToolServer
from playground.engine.tool_servers.acceptance import arriving
from playground.engine.tool_servers.live import State
from playground.engine.tool_servers.secret_values import OAUTH, ORIGIN
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.tool_servers.confirm_dialog import ConfirmDialog
from playground.ui.features.tool_servers.dialog import ServersDialog
from playground.ui.features.tool_servers.draft_file import NAME
from playground.ui.features.tool_servers.import_dialog import ImportServersDialog
from playground.ui.shell.features import TOOL_SERVERS
from playground.ui.widgets.loop import spawn
from tests.flows.conftest import Person, Stage
from tests.support import tool_servers
from tests.support.remote_tool_server import RemoteToolServer
from tests.support.required_tools import NODE_PACKAGES, requires


def a_real_server(person: Person) -> ToolServer:
    """One in the book that nobody agreed to."""
    return person.app.workspace.tool_servers.book.add(tool_servers.everything())


@requires(NODE_PACKAGES)
def test_asking_a_server_by_hand_asks_for_consent_first(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        servers, server = person.app.workspace.tool_servers, a_real_server(person)
        servers.book.confirm(server)
        live = await servers.start(server.id)
        tools = arriving((), live.server, live.tools, {})
        servers.book.accept(server.id, live.tools)
        server = servers.book.update(server.model_copy(update={"arguments": (*server.arguments, "--again")}))
        await person.until(lambda: servers.live(server.id).state is State.UNCONFIRMED, "consent is gone")
        person.session.change(tools=tuple(tool for tool in tools if tool.name_there == "echo"))
        await person.use_model("demo-chat")
        await person.run("Please use echo with message hello")
        await person.until(lambda: bool(person.session.debugger.waiting), "a call that waits")
        (turn_id, call), *_ = person.session.debugger.waiting
        ask = person.find(QPushButton, "Ask the server", person.find(CallCard)[0])[0]
        await person.click(ask)
        await person.until(lambda: len(person.find(ConfirmDialog)) == 1, "the question")
        dialog = person.find(ConfirmDialog)[0]
        assert "--again" in dialog.command.line.toPlainText()
        assert "has changed" in dialog.words.text()
        await person.click(dialog.cancel_button)
        await person.until(lambda: "confirmed first" in person.pane.notice.words, "why it was not asked")
        assert servers.live(server.id).state is State.UNCONFIRMED
        await person.click(ask)
        await person.until(lambda: len(person.find(ConfirmDialog)) == 1, "the question")
        await person.click(person.find(ConfirmDialog)[0].confirm_button)
        await person.until(lambda: person.session.debugger.notes.draft(turn_id, call.id) is not None, "the answer")
        assert servers.book.confirmed(server)

    stage.play(scene)


@requires(NODE_PACKAGES)
def test_several_who_need_a_server_ask_once(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        server, control = a_real_server(person), person.app.actions.of(TOOL_SERVERS)
        asked = [spawn(control.start(server.id), name="start") for _ in range(3)]
        await person.until(lambda: len(person.find(ConfirmDialog)) == 1, "the question")
        await person.click(person.find(ConfirmDialog)[0].confirm_button)
        assert [await task for task in asked] == [True, True, True]
        assert person.app.workspace.tool_servers.live(server.id).state is State.READY

    stage.play(scene)


def test_servers_are_imported_and_stand_in_the_dialog(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.do(person.app.window.action("tools.servers").trigger)
        await person.until(lambda: bool(person.find(ServersDialog)), "the dialog")
        dialog = person.find(ServersDialog)[0]
        await person.click(dialog.import_button)
        await person.until(lambda: bool(person.find(ImportServersDialog)), "the dialog that imports")
        importing = person.find(ImportServersDialog)[0]
        importing.set_text(json.dumps({"mcpServers": {"one": {"command": "uvx", "args": ["one"]}}}))
        await person.until(importing.add_button.isEnabled, "the preview")
        await person.click(importing.add_button)
        await person.until(lambda: dialog.list.count() == 2, "the server in the list")
        assert dialog.form.name.text() == "one"
        assert dialog.state.box.isVisibleTo(dialog)
        await person.click(dialog.close_button)

    stage.play(scene)


class Browser(QObject):
    """What opens links here: it goes where they lead, as a browser in which somebody agrees to everything would."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self._threads: list[threading.Thread] = []
        method: Any = "open"  # bytes, the stubs say, and PySide takes none
        QDesktopServices.setUrlHandler("http", self, method)

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        """Go there."""
        address = url.toString(QUrl.ComponentFormattingOption.FullyEncoded)
        self.opened.append(address)
        self._threads.append(threading.Thread(target=lambda: urllib.request.urlopen(address).read()))
        self._threads[-1].start()

    def close(self) -> None:
        """No longer."""
        QDesktopServices.unsetUrlHandler("http")
        for thread in self._threads:
            thread.join()


def test_a_server_is_signed_in_to_with_the_browser(stage: Stage) -> None:
    with RemoteToolServer(oauth=True) as remote:

        async def scene(person: Person) -> None:
            browser = Browser()
            try:
                await signed_in(person, browser)
            finally:
                browser.close()

        async def signed_in(person: Person, browser: Browser) -> None:
            servers = person.app.workspace.tool_servers
            dialog = person.app.actions.of(TOOL_SERVERS).open_servers()
            await person.click(dialog.add_button)
            await person.click(dialog.form.via.buttons[1])
            QTest.keyClicks(dialog.form.url, remote.url)
            await person.click(dialog.form.oauth)
            await person.click(dialog.state.confirm_button)
            await person.until(lambda: dialog.state.sign_in.isVisibleTo(dialog), "the question to sign in")
            assert not browser.opened
            await person.click(dialog.state.sign_in_button)
            await person.until(lambda: bool(person.find(QMessageBox)), "the address, to be agreed to")
            box = person.find(QMessageBox)[0]
            assert box.text().startswith(f"{remote.base}/authorize")
            await person.press("Open", box)
            server = servers.book.servers[-1]
            await person.until(lambda: servers.live(server.id).state is State.READY, "the server")
            await person.until(lambda: not dialog.state.sign_in.isVisibleTo(dialog), "nobody is asked any more")
            assert len(browser.opened) == 1
            keys = person.app.gateways.keys
            assert await keys.get(server.id, ORIGIN, OAUTH) is not None
            await person.reveal(dialog.form.oauth)
            await person.click(dialog.form.oauth)
            await person.click(dialog.save_button)
            await person.until(lambda: not servers.book.servers[-1].oauth, "the change is kept")
            assert await keys.get(server.id, ORIGIN, OAUTH) is None
            await person.click(dialog.close_button)

        app = stage.play(scene)
        folder = app.gateways.store.path.parent
        tokens = [*remote.tokens, *remote.refresh_tokens]
        assert tokens
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert not [path for path in files for token in tokens if token.encode() in path.read_bytes()]


def test_what_is_typed_is_there_after_the_end_of_the_window(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        dialog = person.app.actions.of(TOOL_SERVERS).open_servers()
        await person.click(dialog.add_button)
        QTest.keyClicks(dialog.form.command, "a-command-that-is-not-saved")

    app = stage.play(scene)
    folder = app.gateways.store.path.parent
    assert "a-command-that-is-not-saved" in (folder / NAME).read_text(encoding="utf-8")
