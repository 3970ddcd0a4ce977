"""Tool servers in the window: their dialog, the question before one is started, and signing in.

Nothing of tool servers is loaded before it is needed.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from playground.ui.features.host import Control, Host
from playground.ui.widgets.list_detail import remember_size
from playground.ui.widgets.loop import ask, spawn
from playground.ui.widgets.plain_text import short_title

if TYPE_CHECKING:
    from playground.domain.tool_servers import ToolServer
    from playground.engine.tool_servers.events import Event
    from playground.engine.tool_servers.servers import Servers
    from playground.ui.features.tool_servers.dialog import ServersDialog
    from playground.ui.features.tool_servers.draft_file import Drafts
    from playground.ui.features.tool_servers.import_dialog import ImportServersDialog

WHENCE = "A tool server asks you to sign in there."


class ToolServersControl(Control):
    """Opens the dialogs of tool servers, and starts servers for other features."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._drafts: Drafts | None = None
        self._dialog: ServersDialog | None = None
        self._questions: dict[str, asyncio.Task[bool]] = {}  # open questions by the ids of servers
        self._sign_ins: dict[str, str] = {}  # addresses of sign-in pages by the ids of servers
        host.workspace.when_tool_servers(self._follow)

    @property
    def servers(self) -> Servers:
        """The servers; they are loaded at the first use."""
        return self._workspace.tool_servers

    def keep_drafts(self) -> None:
        """Save the drafts when the window closes."""
        if self._drafts is not None:
            self._drafts.write()

    # ---- the dialogs

    def show_servers(self) -> None:
        """Open the dialog."""
        self.open_servers()

    def open_servers(self, server_id: str = "") -> ServersDialog:
        """Open the dialog with a server selected."""
        from playground.ui.features.tool_servers.dialog import ServersDialog
        from playground.ui.features.tool_servers.draft_file import Drafts

        if self._dialog is not None:
            self._dialog.select(server_id)
            return self._dialog
        servers = self.servers
        if self._drafts is None:
            self._drafts = Drafts(servers.book.path, self)
        dialog = ServersDialog(servers, self._drafts, self._sign_ins, spawn, self._host.window, server_id)
        self._dialog = dialog
        dialog.import_asked.connect(self.import_servers)
        dialog.sign_in_asked.connect(self.sign_in)
        dialog.finished.connect(self._closed)
        remember_size(dialog, self._settings)
        dialog.open()
        return dialog

    def _show(self, server_id: str) -> None:
        self.open_servers(server_id)

    def open_server(self, name: str) -> None:
        """Open the dialog with the server of a name, or with a new server of that name."""
        server = self.servers.book.by_name(name)
        dialog = self.open_servers(server.id if server is not None else "")
        if server is None:
            dialog.add_server(name)

    def import_servers(self) -> ImportServersDialog:
        """Open the import dialog."""
        from playground.ui.features.tool_servers.import_dialog import ImportServersDialog

        dialog = ImportServersDialog(self.servers.book, self.servers.keys, self._dialog or self._host.window)
        dialog.imported.connect(self._imported)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    def _imported(self, server_ids: list[str]) -> None:
        if server_ids:
            self.open_servers(server_ids[0])

    def _closed(self) -> None:
        dialog, self._dialog = self._dialog, None
        if dialog is not None:
            dialog.deleteLater()

    # ---- starting

    async def confirm_command(self, server_id: str) -> bool:
        """Return whether the server may be started: it was confirmed before, or is now in a dialog."""
        book = self.servers.book
        server = book.get(server_id)
        if server is None or book.confirmed(server):
            return server is not None
        question = self._questions.get(server_id)
        if question is None:  # requests meanwhile share the question
            question = self._questions[server_id] = spawn(self._ask_to_confirm(server), name="confirm a tool server")
            question.add_done_callback(lambda _: self._questions.pop(server_id, None))
        return await asyncio.shield(question)

    async def _ask_to_confirm(self, server: ToolServer) -> bool:
        from playground.engine.tool_servers.registry import ServerRegistryError
        from playground.ui.features.tool_servers.confirm_dialog import ConfirmDialog

        book = self.servers.book
        dialog = ConfirmDialog(server, self._dialog or self._host.window, again=book.once_confirmed(server.id))
        try:
            if not await ask(dialog):
                return False
        finally:
            dialog.deleteLater()
        try:
            book.confirm(server)
        except ServerRegistryError as error:
            self._say(str(error))
            return False
        return book.confirmed(book.get(server.id) or server)

    async def start(self, server_id: str) -> bool:
        """Start a server after it was confirmed, and report a failure. Return whether it is ready."""
        from playground.engine.tool_servers.servers import ServerError

        if not await self.confirm_command(server_id):
            return False
        try:
            await self.servers.start(server_id)
        except ServerError as error:
            self._say(str(error), "Tool servers…", partial(self._show, server_id))
            return False
        return True

    # ---- signing in

    def _follow(self, servers: Servers) -> None:
        servers.subscribe(self._heard)
        self._workspace.serving.confirm = self.confirm_command  # for calls by hand

    def _heard(self, event: Event) -> None:
        from playground.engine.tool_servers.events import ServersChanged, SignInWanted, State

        if isinstance(event, SignInWanted):
            server = self.servers.book.get(event.server_id)
            self._sign_ins[event.server_id] = event.url
            name = short_title(server.name) if server is not None else "A tool server"
            self._say(f"“{name}” asks you to sign in.", "Sign in…", lambda: self.sign_in(event.server_id))
        elif isinstance(event, ServersChanged) and event.server_id in self._sign_ins:
            server = self.servers.book.get(event.server_id)
            if server is not None and self.servers.live(server.id).state is State.STARTING:
                return
            del self._sign_ins[event.server_id]
        else:
            return
        if self._dialog is not None:
            self._dialog.show_sign_ins()

    def sign_in(self, server_id: str) -> None:
        """Show the address of the sign-in page of a server, and open it if the user agrees."""
        from playground.ui.widgets.dialogs import open_link

        address = self._sign_ins.get(server_id, "")
        if address:
            spawn(open_link(self._dialog or self._host.window, address, WHENCE), name="sign in")
