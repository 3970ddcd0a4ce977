"""A server is needed before its command line was confirmed: the question comes where it is needed, and once."""

from __future__ import annotations

import json
import threading
import urllib.request
from typing import Any

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices

from playground.domain.tool_servers import ToolServer
from playground.engine.tool_servers.events import State
from playground.engine.tool_servers.secret_values import OAUTH, ORIGIN
from playground.engine.tool_servers.tools import new_tools
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.conversation import CallCard
from tests.flows.pages.tool_servers import ConfirmServerDialog, ImportServersDialog, ToolServersDialog
from tests.flows.pages.tools import ToolsPage
from tests.support import tool_servers
from tests.support.remote_tool_server import RemoteToolServer
from tests.support.required_tools import NODE_PACKAGES, requires


def add_server(person: Person) -> ToolServer:
    """A server whose command line was not confirmed."""
    return person.app.workspace.tool_servers.book.add(tool_servers.everything())


@requires(NODE_PACKAGES)
@flow()
async def test_command_line_is_confirmed_once_and_again_when_it_changed(person: Person) -> None:
    servers, server = person.app.workspace.tool_servers, add_server(person)
    tools = await ToolsPage.open(person)
    for _ in range(3):
        await tools.choose_for_server(server.name, "Start")
    dialog = await ConfirmServerDialog.wait(person)
    await dialog.close("Confirm and start")
    await person.until(lambda: servers.live(server.id).state is State.READY, "the server")
    assert not ConfirmServerDialog.count(person)

    # Another command line is confirmed again before the server is asked
    live = servers.live(server.id)
    definitions = new_tools((), live.server, live.tools, {})
    servers.book.accept(server.id, live.tools)
    server = servers.book.update(server.model_copy(update={"arguments": (*server.arguments, "--again")}))
    await person.until(lambda: servers.live(server.id).state is State.UNCONFIRMED, "consent is gone")
    person.session.change(tools=tuple(tool for tool in definitions if tool.name_there == "echo"))
    await person.use_model("demo-chat")
    await person.run("Please use echo with message hello")
    await person.until(lambda: bool(person.session.debugger.waiting), "a call that waits")
    (turn_id, call), *_ = person.session.debugger.waiting
    card = await CallCard.wait(person)
    await card.press("Call server")
    dialog = await ConfirmServerDialog.wait(person)
    assert "--again" in dialog.command_line
    assert "has changed" in dialog.question
    await dialog.close("Cancel")
    await person.conversation.notice.wait_for_text("confirmed first")
    assert servers.live(server.id).state is State.UNCONFIRMED
    await card.press("Call server")
    dialog = await ConfirmServerDialog.wait(person)
    await dialog.close("Confirm and start")
    await person.until(lambda: person.session.debugger.notes.draft(turn_id, call.id) is not None, "the answer")
    assert servers.book.confirmed(server)


def test_servers_are_imported_and_an_unsaved_one_is_restored(stage: Stage) -> None:
    async def first(person: Person) -> None:
        dialog = await ToolServersDialog.open(person)
        await dialog.press("Import servers that another application has")
        importing = await ImportServersDialog.wait(person)
        await importing.paste(json.dumps({"mcpServers": {"one": {"command": "uvx", "args": ["one"]}}}))
        await importing.close("Add")
        await person.until(lambda: len(dialog.servers) == 2, "the server in the list")
        assert dialog.name == "one"
        assert dialog.has_button("Confirm and start")
        await dialog.press("New server (Ctrl+N)")
        await dialog.type_into_field("Command", "a-command-that-is-not-saved")

    async def second(person: Person) -> None:
        dialog = await ToolServersDialog.open(person)
        await dialog.select(dialog.servers[-1])
        await person.until(lambda: dialog.field("Command") == "a-command-that-is-not-saved", "the draft")
        await dialog.close("Close")

    stage.play(first)
    stage.play(second)


class Browser(QObject):
    """Opens links in the place of a browser: it follows them, as a person would who agrees to everything."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self._threads: list[threading.Thread] = []
        method: Any = "open"  # bytes, the stubs say, and PySide takes none
        QDesktopServices.setUrlHandler("http", self, method)

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        """Open an address in a thread."""
        address = url.toString(QUrl.ComponentFormattingOption.FullyEncoded)
        self.opened.append(address)
        self._threads.append(threading.Thread(target=lambda: urllib.request.urlopen(address).read()))
        self._threads[-1].start()

    def close(self) -> None:
        """Stop opening links."""
        QDesktopServices.unsetUrlHandler("http")
        for thread in self._threads:
            thread.join()


def test_server_is_signed_in_to_with_the_browser(stage: Stage) -> None:
    with RemoteToolServer(oauth=True) as remote:

        async def scene(person: Person) -> None:
            browser = Browser()
            try:
                await sign_in(person, browser)
            finally:
                browser.close()

        async def sign_in(person: Person, browser: Browser) -> None:
            servers = person.app.workspace.tool_servers
            dialog = await ToolServersDialog.open(person)
            await dialog.press("New server (Ctrl+N)")
            await dialog.press("URL")
            await dialog.type_into_field("Address", remote.url)
            await dialog.toggle("Sign in with the browser")
            await dialog.press("Confirm and connect")
            await person.until(lambda: dialog.has_button("Sign in…"), "the question to sign in")
            assert not browser.opened
            assert (await dialog.open_sign_in()).startswith(f"{remote.base}/authorize")
            server = servers.book.servers[-1]
            await person.until(lambda: servers.live(server.id).state is State.READY, "the server")
            await person.until(lambda: not dialog.has_button("Sign in…"), "no question any more")
            assert len(browser.opened) == 1
            keys = person.app.gateways.keys
            assert await keys.get(server.id, ORIGIN, OAUTH) is not None
            await dialog.toggle("Sign in with the browser")
            await dialog.press("Save")
            await person.until(lambda: not servers.book.servers[-1].oauth, "the change is saved")
            assert await keys.get(server.id, ORIGIN, OAUTH) is None
            await dialog.close("Close")

        app = stage.play(scene)
        folder = app.gateways.store.path.parent
        tokens = [*remote.tokens, *remote.refresh_tokens]
        assert tokens
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert not [path for path in files for token in tokens if token.encode() in path.read_bytes()]
