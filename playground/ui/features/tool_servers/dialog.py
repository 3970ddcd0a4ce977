"""The dialog of tool servers: a list, a form, and the state of each server. Slow work runs in tasks.

An unsaved server has a draft, which outlives the dialog. Removing can be undone until the dialog closes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

import shiboken6
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from playground.domain.tool_servers import ToolServer
from playground.engine.gateways.secrets import Secret
from playground.engine.tool_servers.events import Event, ServersChanged, ServerSnapshot
from playground.engine.tool_servers.registry import ServerRegistryError, missing_setting
from playground.engine.tool_servers.secret_values import OAUTH, ORIGIN, forget, keep, keyring_names
from playground.engine.tool_servers.servers import ServerError, Servers
from playground.ui.features.tool_servers.draft import Draft, problem, settle
from playground.ui.features.tool_servers.draft_file import Drafts
from playground.ui.features.tool_servers.form import ServerForm
from playground.ui.features.tool_servers.live_view import LogPage, OffersPage, StateBar, short_state
from playground.ui.widgets.drafts_dialog import DraftsDialog, Restore, Saved, Spawn
from playground.ui.widgets.form_parts import quiet_button
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.list_detail import ListDetail, ListEntry
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.plain_text import short_name
from playground.ui.widgets.scroll_page import DownArea

PAGES: Final = ("Settings", "Capabilities", "Log")
SETTINGS, OFFERS, LOG = range(3)
_SHOWN_EVERY_MS: Final = 100


class ServersDialog(DraftsDialog[Draft]):
    """The dialog. ``sign_ins`` are the addresses of sign-in pages by the ids of servers."""

    import_asked = Signal()
    sign_in_asked = Signal(str)
    asks_on_close = False

    def __init__(
        self, servers: Servers, drafts: Drafts, sign_ins: dict[str, str], spawn: Spawn, parent: QWidget, first: str = ""
    ) -> None:
        super().__init__(drafts.by_id, spawn, parent)
        self._servers, self._book, self._keys = servers, servers.book, servers.keys
        self._draft_file, self._sign_ins = drafts, sign_ins
        self._removed: list[str] = []
        self._levels: dict[str, str] = {}
        self._build()
        self._shower = Throttle(self._show_live, self, _SHOWN_EVERY_MS)
        self._unsubscribe = (servers.subscribe(self._heard), self._book.subscribe(self._shower.poke))
        ids = self.ids()
        self.start(first if first in ids else ids[1] if len(ids) > 1 else ids[0])
        if self._book.messages:
            self.body.show_message(" ".join(self._book.messages), "warning")

    # ---- values

    def saved_values(self) -> dict[str, Draft]:
        return {server.id: Draft.from_server(server) for server in self._book.servers}

    def new_draft(self, item_id: str) -> Draft:
        return Draft(ToolServer(id=item_id, name=""))

    def copy_of(self, draft: Draft) -> tuple[Draft, str]:
        copy = draft.copy(self._book.free_name(f"{draft.title} (copy)"))
        has_secrets = any(row.locked for row in (*copy.environment, *copy.headers, *copy.places))
        return copy, "Secrets are not copied. Enter them, then save." if has_secrets else ""

    def id_of(self, draft: Draft) -> str:
        return draft.server.id

    def entry(self, draft: Draft, unsaved: bool) -> ListEntry:
        live = self._live(draft.server.id)
        if live is None:
            return ListEntry(draft.server.id, short_name(draft.title), "not saved yet", "")
        line = f"{'unsaved · ' if unsaved else ''}{short_state(live)}"
        return ListEntry(draft.server.id, short_name(draft.title), line, live.state.value)

    async def store_draft(self, draft: Draft) -> Saved:
        stored = self._book.get(draft.server.id)
        if message := problem(draft):
            raise ServerRegistryError(message)
        settled = settle(draft, stored)
        server = settled.server
        if stored is None and not draft.server.name.strip():
            server = server.model_copy(update={"name": self._book.free_name(server.name)})
        words = await keep(server, self._keys, settled.secrets)
        try:
            saved = self._book.update(server) if stored is not None else self._book.add(server)
        except ServerRegistryError:
            if stored is None:
                await forget(server.id, self._keys, settled.secrets)
            raise
        words = await forget(server.id, self._keys, settled.obsolete) or words
        return Saved(Draft.from_server(saved), words or "Saved.", "warning" if words else "ok")

    async def delete_stored(self, item_id: str) -> tuple[str, Restore]:
        server = self._book.get(item_id)
        if server is None:
            raise ServerRegistryError("This server was removed in the meantime.")
        place = list(self.saved_values()).index(item_id) - 1  # the demo server is not in the file
        names = (*keyring_names(server), *((OAUTH,) if server.oauth else ()))
        secrets: dict[str, Secret] = {}
        for name in names:
            if (secret := await self._keys.get(item_id, ORIGIN, name)) is not None:
                secrets[name] = secret
        self._book.remove(item_id)
        words = await forget(item_id, self._keys, names)
        self._removed.append(item_id)

        async def restore() -> str:
            words = await keep(server, self._keys, secrets)
            self._book.add(server, place)
            self._removed.remove(item_id)
            return words

        return words, restore

    def put_draft(self, draft: Draft) -> None:
        super().put_draft(draft)
        self._draft_file.save_soon()

    def drop_draft(self, item_id: str) -> None:
        super().drop_draft(item_id)
        self._draft_file.save_soon()

    # ---- commands

    def add_server(self, name: str = "") -> None:
        """Begin a new server with a name, on the page of settings."""
        draft = Draft.new()
        self.begin(replace(draft, server=draft.server.model_copy(update={"name": name})))
        self.body.show_page(SETTINGS)
        self.form.focus("command")

    def add(self) -> None:
        self.add_server()

    def focus_editor(self) -> None:
        self.body.show_page(SETTINGS)
        self.form.focus("timeout" if self._is_demo else "name")

    def go_to(self, item_id: str) -> None:
        if item_id != self.current:
            self.log.forget()
        super().go_to(item_id)

    def start_current(self) -> None:
        """Save and start the current server as it is shown."""
        self.work(self._start_current())

    def stop_current(self) -> None:
        """Stop the current server."""
        self._spawn(self._servers.stop(self.current), name="stop tool server")

    def restart_current(self) -> None:
        """Restart the current server."""
        self._spawn(self._run(self._servers.restart, self.current), name="restart tool server")

    def done(self, result: int) -> None:
        """Close the dialog; drafts are kept for the next time."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._draft_file.write()
        for server_id in self._removed:
            try:
                self._book.forget(server_id)
            except ServerRegistryError:
                break  # nothing depends on it
        super().done(result)

    async def _start_current(self) -> None:
        if self._book.get(self.current) is None or self.drafts.get(self.current) is not None:
            await self.save([self.current])
        server = self._book.get(self.current)
        if server is None:
            return
        if missing := missing_setting(server):
            self.body.show_message(missing, "error")
            return
        self._book.confirm(server)
        self.body.show_message("")
        live = self._live(server.id)
        again = live is not None and live.state in ("ready", "starting")
        start = self._servers.restart if again else self._servers.start
        self._spawn(self._run(start, server.id), name="start tool server")

    async def _run(self, start: Callable[[str], Awaitable[ServerSnapshot]], server_id: str) -> None:
        try:
            await start(server_id)
        except ServerError as error:
            live = self._live(server_id)
            if shiboken6.isValid(self) and self.current == server_id and (live is None or not live.problem):
                self.body.show_message(str(error), "error")

    # ---- display

    @property
    def _is_demo(self) -> bool:
        server = self._book.get(self.current)
        return server is not None and server.demo

    def _live(self, server_id: str) -> ServerSnapshot | None:
        return self._servers.live(server_id) if self._book.get(server_id) is not None else None

    def _heard(self, event: Event) -> None:
        if isinstance(event, ServersChanged):
            self._shower.poke()

    def show_sign_ins(self) -> None:
        """Show or hide the request to sign in to the selected server."""
        self.state.ask_to_sign_in(self._sign_ins.get(self.current, ""))

    def show_current(self) -> None:
        draft, stored = self.draft(), self._book.get(self.current)
        unsaved = self.drafts.get(self.current) is not None
        server = settle(draft, stored).server if unsaved or stored is None else stored
        confirmed = stored is not None and self._book.fingerprint(server) == self._book.fingerprint(stored)
        confirmed = confirmed and stored is not None and self._book.confirmed(stored)
        live = self._live(self.current)
        self.state.show_live(live, server, confirmed, missing_setting(server))
        self.show_sign_ins()
        page = self.body.pages.currentIndex()  # only the visible page is drawn
        if page == OFFERS:
            self.offers.show_live(live)
        elif page == LOG:
            self.log.show_live(live, self._levels.get(self.current, ""))
        self.state.setEnabled(not self.busy)
        self.form.setEnabled(not self.busy)
        self.body.set_enabled(selected=not self.busy, changeable=not self._is_demo)

    def _show_live(self) -> None:
        if self.current not in self.ids():  # removed elsewhere
            self.go_to(self.ids()[0])
            return
        if self.drafts.get(self.current) is None and self.form.value != self.draft():  # changed elsewhere
            self.form.set_value(self.draft())
        self.refresh()

    def _set_level(self, level: str) -> None:
        self._levels[self.current] = level
        self._servers.set_log_level(self.current, level)

    def _build(self) -> None:
        self.setWindowTitle("Tool servers")
        self.setObjectName("toolServersDialog")
        self.setMinimumSize(640, 420)
        self.resize(980, 720)
        self.import_button = quiet_button("Import…", "Import servers that another application has")
        self.state, self.offers, self.log = StateBar(), OffersPage(), LogPage()
        self.form = self.editor = ServerForm()
        self.body = ListDetail(
            "Tool servers",
            "server",
            dict(zip(PAGES, (DownArea(self.form), self.offers, self.log), strict=True)),
            ("add", "duplicate", "remove"),
            parent=self,
            extra=(self.import_button,),
            head=self.state,
            buttons=(1, self.close_button, self.save_button),
        )
        in_row(self.body, parent=self, margins=0)
        self.body.page_shown.connect(self.show_current)
        self.log.level_chosen.connect(self._set_level)
        self.import_button.clicked.connect(self.import_asked)
        self.state.start_asked.connect(self.start_current)
        self.state.stop_asked.connect(self.stop_current)
        self.state.restart_asked.connect(self.restart_current)
        self.state.sign_in_asked.connect(lambda: self.sign_in_asked.emit(self.current))
