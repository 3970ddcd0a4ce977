"""The dialog of tool servers: a list, a form, and the state of each server. Slow work runs in tasks.

An unsaved server has a draft, which outlives the dialog. Removing can be undone until the dialog closes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any, Final

import shiboken6
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QFrame, QListWidget, QListWidgetItem, QWidget

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
from playground.ui.widgets.form_parts import push_button, quiet_button, say, styled, text_label, thin_line, thin_upright
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.notice_bar import NoticeBar
from playground.ui.widgets.plain_text import short_name, short_title, show_hidden
from playground.ui.widgets.scroll_page import DownArea
from playground.ui.widgets.segments import Segments
from playground.ui.widgets.two_lines import LINE, STATE, TwoLines

Spawn = Callable[..., Any]
WIDE, TALL = 980, 720  # pixels
PAGES: Final = ("Settings", "Capabilities", "Log")
SETTINGS, OFFERS, LOG = range(3)
_ID: Final = Qt.ItemDataRole.UserRole + 2
_SHOWN_EVERY_MS: Final = 100


class ServerList(QListWidget):
    """The list of servers, unsaved ones at the end; the current one is in the form."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Tool servers")
        self.setItemDelegate(TwoLines(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setUniformItemSizes(True)

    def show_rows(self, rows: list[tuple[str, str, str, str]], current: str) -> None:
        """Show rows of id, name, line and state; select ``current`` without a signal."""
        self.blockSignals(True)
        while self.count() > len(rows):
            self.takeItem(self.count() - 1)
        while self.count() < len(rows):
            self.addItem(QListWidgetItem())
        for number, (server_id, name, line, state) in enumerate(rows):
            item = self.item(number)
            item.setText(show_hidden(short_name(name)))
            item.setData(LINE, line)
            item.setData(STATE, state)
            item.setData(_ID, server_id)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{item.text()}, {line}")
            if server_id == current:
                self.setCurrentRow(number)
        self.blockSignals(False)
        self.viewport().update()

    def current_id(self) -> str:
        """Return the id of the selected server, or ""."""
        item = self.currentItem()
        return str(item.data(_ID)) if self.count() else ""


class ServersDialog(QDialog):
    """The dialog. ``sign_ins`` are the addresses of sign-in pages by the ids of servers."""

    import_asked = Signal()
    sign_in_asked = Signal(str)

    def __init__(
        self, servers: Servers, drafts: Drafts, sign_ins: dict[str, str], spawn: Spawn, parent: QWidget, first: str = ""
    ) -> None:
        super().__init__(parent)
        self._servers, self._book, self._keys = servers, servers.book, servers.keys
        self._drafts, self._sign_ins, self._spawn = drafts, sign_ins, spawn
        self._current = ""
        self._busy = False  # something is being saved or removed
        self._removed: list[str] = []
        self._levels: dict[str, str] = {}
        self._build()
        self._shower = Throttle(self._show_live, self, _SHOWN_EVERY_MS)
        self._unsubscribe = (servers.subscribe(self._heard), self._book.subscribe(self._shower.poke))
        ids = self._ids()
        self._go_to(first if first in ids else ids[1] if len(ids) > 1 else ids[0])
        if self._book.messages:
            self._show_message(" ".join(self._book.messages), "warning")

    # ---- commands

    def select(self, server_id: str) -> None:
        """Show another server; unsaved changes of the one before stay as its draft."""
        if server_id in self._ids() and server_id != self._current:
            self._go_to(server_id)

    def begin_server(self) -> None:
        """Start a new server without a name."""
        self.add_server()

    def add_server(self, name: str = "") -> None:
        """Start a new server with a name, on the page of settings."""
        draft = Draft.new()
        draft = replace(draft, server=draft.server.model_copy(update={"name": name}))
        self._drafts.put(draft)
        self._go_to(draft.server.id)
        self._show_page(SETTINGS)
        self.form.focus("command")

    def duplicate(self) -> None:
        """Start a copy of the current server, without its secrets."""
        before = self._draft()
        draft = before.copy(self._book.free_name(f"{before.title} (copy)"))
        self._drafts.put(draft)
        self._go_to(draft.server.id)
        if any(row.locked for row in (*draft.environment, *draft.headers, *draft.places)):
            self._show_message("Secrets are not copied. Enter them, then save.", "small")

    def remove_current(self) -> None:
        """Remove the current server. Can be undone."""
        if self._busy or not self.remove_button.isEnabled():
            return
        draft, stored = self._draft(), self._book.get(self._current)
        if stored is None:
            place = self._drop(self._current)
            self.notice.offer(f"“{short_title(draft.title)}” was removed.", ("Undo", partial(self._bring_draft, draft)))
            self._go_to(place)
            return
        self._work(self._remove(stored, draft if self._drafts.get(stored.id) is not None else None))

    def save_current(self) -> None:
        """Save the current server."""
        self._work(self._save_current())

    def start_current(self) -> None:
        """Save and start the current server as it is shown."""
        self._work(self._start_current())

    def stop_current(self) -> None:
        """Stop the current server."""
        self._spawn(self._servers.stop(self._current), name="stop tool server")

    def restart_current(self) -> None:
        """Restart the current server."""
        self._spawn(self._run(self._servers.restart, self._current), name="restart tool server")

    def done(self, result: int) -> None:
        """Close the dialog; drafts are kept for the next time."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._drafts.write()
        for server_id in self._removed:
            try:
                self._book.forget(server_id)
            except ServerRegistryError:
                break  # nothing depends on it
        super().done(result)

    # ---- drafts

    def _ids(self) -> list[str]:
        stored = [server.id for server in self._book.servers]
        return stored + [draft_id for draft_id in self._drafts.ids if draft_id not in stored]

    def _draft_of(self, server_id: str) -> Draft:
        draft = self._drafts.get(server_id)
        if draft is not None:
            return draft
        stored = self._book.get(server_id)
        return Draft.of(stored) if stored is not None else Draft.new()

    def _draft(self) -> Draft:
        return self._draft_of(self._current)

    def _go_to(self, server_id: str) -> None:
        self._show_message("")
        if server_id != self._current:
            self.log.forget()
        self._current = server_id
        self.form.show_draft(self._draft())
        self.form_area.verticalScrollBar().setValue(0)
        self._show()

    def _edited(self) -> None:
        draft, stored = self.form.draft(), self._book.get(self._current)
        if stored is not None and draft == Draft.of(stored):
            self._drafts.drop(self._current)
        else:
            self._drafts.put(draft)
        self._show_message("")
        self._show()

    def _drop(self, server_id: str) -> str:
        """Delete a draft. Return the id of the server to show next."""
        order = self._ids()
        place = order.index(server_id) if server_id in order else 0
        self._drafts.drop(server_id)
        remaining = [other_id for other_id in self._ids() if other_id != server_id]
        return remaining[min(place, len(remaining) - 1)]

    def _bring_draft(self, draft: Draft) -> None:
        self._drafts.put(draft)
        self._go_to(draft.server.id)

    # ---- tasks

    def _work(self, work: Coroutine[Any, Any, None]) -> None:
        if self._busy:
            work.close()
            return
        self._busy = True
        self._show()
        self._spawn(self._guarded(work), name="tool servers")

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except ServerRegistryError as error:
            if shiboken6.isValid(self):
                self._show_message(str(error), "error")
        finally:
            self._busy = False
            if shiboken6.isValid(self):
                self._show()

    async def _save(self) -> ToolServer | None:
        """Save the current server. Return it, or None if it could not be saved."""
        server_id = self._current
        draft, stored = self._draft(), self._book.get(server_id)
        if stored is not None and self._drafts.get(server_id) is None:
            return stored
        if message := problem(draft):
            self._show_message(message, "error")
            return None
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
        self._drafts.drop(server_id)
        if shiboken6.isValid(self):
            if self._current == server_id:
                self.form.show_draft(Draft.of(saved))
            self._show_message(words or "Saved.", "warning" if words else "ok")
        return saved

    async def _save_current(self) -> None:
        await self._save()

    async def _start_current(self) -> None:
        saved = await self._save()
        if saved is None:
            return
        if missing := missing_setting(saved):
            self._show_message(missing, "error")
            return
        self._book.confirm(saved)
        self._show_message("")
        runs = self._live(saved.id)
        again = runs is not None and runs.state in ("ready", "starting")
        start = self._servers.restart if again else self._servers.start
        self._spawn(self._run(start, saved.id), name="start tool server")

    async def _run(self, start: Callable[[str], Awaitable[ServerSnapshot]], server_id: str) -> None:
        try:
            await start(server_id)
        except ServerError as error:
            live = self._live(server_id)
            if shiboken6.isValid(self) and self._current == server_id and (live is None or not live.problem):
                self._show_message(str(error), "error")

    async def _remove(self, stored: ToolServer, draft: Draft | None) -> None:
        place = [server.id for server in self._book.servers].index(stored.id) - 1
        names = (*keyring_names(stored), *((OAUTH,) if stored.oauth else ()))
        secrets: dict[str, Secret] = {}
        for name in names:
            if (secret := await self._keys.get(stored.id, ORIGIN, name)) is not None:
                secrets[name] = secret
        self._book.remove(stored.id)
        words = await forget(stored.id, self._keys, names)
        if not shiboken6.isValid(self):
            return
        self._removed.append(stored.id)
        self._go_to(self._drop(stored.id))
        self.notice.offer(
            f"“{short_title(stored.name)}” was removed. {words}".strip(),
            ("Undo", lambda: self._work(self._bring_back(stored, place, secrets, draft))),
        )

    async def _bring_back(
        self, stored: ToolServer, place: int, secrets: dict[str, Secret], draft: Draft | None
    ) -> None:
        words = await keep(stored, self._keys, secrets)
        self._book.add(stored, place)
        self._removed.remove(stored.id)
        if draft is not None:
            self._drafts.put(draft)
        if shiboken6.isValid(self):
            self._go_to(stored.id)
            self._show_message(words, "warning")

    # ---- what is shown

    def _live(self, server_id: str) -> ServerSnapshot | None:
        return self._servers.live(server_id) if self._book.get(server_id) is not None else None

    def _heard(self, event: Event) -> None:
        if isinstance(event, ServersChanged):
            self._shower.poke()

    def show_sign_ins(self) -> None:
        """There are others, or one less."""
        self.state.ask_to_sign_in(self._sign_ins.get(self._current, ""))

    def _show(self) -> None:
        """Bring everything up to what is typed and to what runs."""
        rows: list[tuple[str, str, str, str]] = []
        for server_id in self._ids():
            draft, live = self._draft_of(server_id), self._live(server_id)
            words = short_state(live) if live is not None else "not saved yet"
            unsaved = "unsaved · " if live is not None and self._drafts.get(server_id) is not None else ""
            rows.append((server_id, draft.title, unsaved + words, live.state.value if live is not None else ""))
        self.list.show_rows(rows, self._current)
        self._show_state()

    def _show_state(self) -> None:
        draft, stored = self._draft(), self._book.get(self._current)
        unsaved = self._drafts.get(self._current) is not None
        server = settle(draft, stored).server if unsaved or stored is None else stored
        confirmed = stored is not None and self._book.fingerprint(server) == self._book.fingerprint(stored)
        confirmed = confirmed and stored is not None and self._book.confirmed(stored)
        live = self._live(self._current)
        self.state.show_live(live, server, confirmed, missing_setting(server))
        self.state.ask_to_sign_in(self._sign_ins.get(self._current, ""))
        page = self.pages.currentIndex()  # only the visible page is drawn
        if page == OFFERS:
            self.offers.show_live(live)
        elif page == LOG:
            self.log.show_live(live, self._levels.get(self._current, ""))
        demo = stored is not None and stored.demo
        self.state.setEnabled(not self._busy)
        self.form.setEnabled(not self._busy)
        self.save_button.setEnabled(unsaved and not self._busy)
        self.remove_button.setEnabled(not demo and not self._busy)
        self.copy_button.setEnabled(not demo and not self._busy)

    def _show_live(self) -> None:
        if self._current not in self._ids():  # removed elsewhere
            self._go_to(self._ids()[0])
            return
        if self._drafts.get(self._current) is None and self.form.draft() != self._draft():  # changed elsewhere
            self.form.show_draft(self._draft())
        self._show()

    def _set_level(self, level: str) -> None:
        self._levels[self._current] = level
        self._servers.set_log_level(self._current, level)

    def _show_message(self, words: str, kind: str = "small") -> None:
        say(self.message, words, kind)
        self.message.setAccessibleName(self.message.text())

    def _show_page(self, page: int) -> None:
        self.which.set_index(page)
        self.pages.setCurrentIndex(page)
        self._show_state()

    def _picked(self) -> None:
        self.select(self.list.current_id())

    # ---- widgets

    def _build(self) -> None:
        self.setWindowTitle("Tool servers")
        self.setObjectName("toolServersDialog")
        self.setMinimumSize(640, 420)
        parent = self.parentWidget()
        room = parent.window().size() if parent is not None else QSize(WIDE, TALL)
        self.resize(min(WIDE, room.width() - 40), min(TALL, room.height() - 40))
        self.list = ServerList()
        self.add_button = quiet_button("New", "New server (Ctrl+N)", "plus")
        self.import_button = quiet_button("Import…", "Import servers that another application has")
        self.copy_button = quiet_button("", "Duplicate this server", "copy")
        self.remove_button = quiet_button("", "Remove this server", "delete")
        self.state = StateBar()
        self.which = Segments(PAGES, "Page of the server")
        # Widgets are made with their parents, in the order of the focus, so that Qt styles them once.
        side, right = self._make_side(), QWidget(self)
        pages = in_row(self.which, 1, margins=(24, 0, 24, 8))
        content = in_column(self.state, pages, thin_line(), spacing=0)
        column = in_column((content, 1), of=right, margins=(0, 0, 0, 12), spacing=10)
        self.pages = in_pages(of=right)
        self.form_area = DownArea(parent=self.pages)
        self.form = ServerForm()
        self.form_area.setWidget(self.form)
        self.offers, self.log = OffersPage(), LogPage()
        for page in (self.form_area, self.offers, self.log):
            self.pages.addWidget(page)
        self.notice = NoticeBar()
        self.message = text_label(kind="small", wrap=True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.message.hide()
        self.save_button = push_button("&Save")
        self.close_button = push_button("&Close")
        telling = in_column(self.notice, self.message, margins=(24, 0, 24, 0), spacing=6)
        buttons = in_row(1, self.close_button, self.save_button, margins=(24, 0, 24, 0), spacing=8)
        content.addWidget(self.pages, 1)
        content.addWidget(thin_line())
        column.addLayout(telling)
        column.addLayout(buttons)
        in_row(side, thin_upright(), (right, 1), of=self, margins=0, spacing=0)
        self.list.currentRowChanged.connect(self._picked)
        self.form.changed.connect(self._edited)
        self.which.chosen.connect(self._show_page)
        self.log.level_chosen.connect(self._set_level)
        for button, act in (
            (self.add_button, self.begin_server),
            (self.import_button, self.import_asked.emit),
            (self.copy_button, self.duplicate),
            (self.remove_button, self.remove_current),
            (self.save_button, self.save_current),
            (self.close_button, self.accept),
        ):
            button.clicked.connect(act)
        self.state.start_asked.connect(self.start_current)
        self.state.stop_asked.connect(self.stop_current)
        self.state.restart_asked.connect(self.restart_current)
        self.state.sign_in_asked.connect(lambda: self.sign_in_asked.emit(self._current))
        for keys, act in (
            (QKeySequence(QKeySequence.StandardKey.Save), self.save_button.click),
            (QKeySequence(QKeySequence.StandardKey.New), self.begin_server),
        ):
            QShortcut(keys, self).activated.connect(act)
        delete = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.list, context=Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self.remove_button.click)

    def _make_side(self) -> QFrame:
        side = styled(QFrame(self), "surface")
        side.setFixedWidth(248)
        heading = text_label("Tool servers", "group")
        heading.setContentsMargins(8, 0, 0, 0)
        buttons = in_row(self.add_button, self.import_button, 1, self.copy_button, self.remove_button, spacing=2)
        in_column(heading, (self.list, 1), buttons, of=side, margins=(8, 12, 8, 12), spacing=8)
        return side
