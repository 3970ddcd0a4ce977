"""Dialog with all known services and servers: choose one, and add, edit or remove the user's own. It holds no key."""

from __future__ import annotations

import asyncio
from uuid import uuid4

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from playground.domain.hints import hints_of, setting
from playground.engine.gateways.profiles import Auth
from playground.engine.gateways.services import KnownGateway, KnownGateways
from playground.engine.requests.protocol_info import TITLES
from playground.ui.features.gateways.form import AUTH_STYLES
from playground.ui.features.gateways.service_panel import service_entry, service_words
from playground.ui.widgets.drafts_dialog import DraftsDialog, Restore, Saved, Spawn
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.list_detail import ListDetail, ListEntry
from playground.ui.widgets.rows.form import form_for
from playground.ui.widgets.scroll_page import DownArea

NEW = "New service"
ABOUT_OWN = (
    "A service of your own is found by this name and address. You fill in names in braces, such as {resource}, when "
    "it is used. It is saved in a file, so no key belongs here."
)
SHIPPED = "This entry is part of the app. Duplicate it to change it."


class ServiceForm(QWidget):
    """The fields of a service; those of a shipped one are read-only."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.about = text_label(kind="muted", wrap=True)
        choices = (*AUTH_STYLES, (None, "Not supported"))
        auth = {
            f"protocols.{protocol}": setting(f"Key on {title}", editor="pick", choices=choices, after="base_url")
            for protocol, title in reversed(TITLES.items())
        }
        self.fields = form_for(KnownGateway, hints={**hints_of(KnownGateway), **auth})
        in_column(self.about, (self.fields, 1), parent=self, margins=(24, 16, 24, 16), spacing=12)
        self.fields.changed.connect(lambda *_: self.changed.emit())

    @property
    def value(self) -> KnownGateway:
        """The service as typed."""
        typed = self.fields.value
        texts = {name: getattr(typed, name).strip() for name in ("name", "base_url", "keys_url", "note")}
        return typed.model_copy(update={**texts, "name": texts["name"] or NEW})

    def set_value(self, value: KnownGateway) -> None:
        """Show a service."""
        source = f"Looked up {value.date} at {value.source}." if value.source else ""
        say(self.about, ABOUT_OWN if value.own else " ".join(filter(None, (service_words(value), source, SHIPPED))))
        styles = value.protocols or dict.fromkeys(TITLES, Auth.BEARER)
        self.fields.set_value(value.model_copy(update={"protocols": styles}))
        self.fields.setEnabled(value.own)


class ServicesDialog(DraftsDialog[KnownGateway]):
    """The known services; ``chosen`` carries the one to use, as saved."""

    chosen = Signal(object)

    def __init__(self, services: KnownGateways, spawn: Spawn, parent: QWidget, first: str = "") -> None:
        super().__init__({}, spawn, parent)
        self._services = services
        self.setWindowTitle("Services")
        self.setObjectName("servicesDialog")
        self.setMinimumSize(560, 380)
        self.resize(760, 520)
        self.form = self.editor = ServiceForm()
        self.use_button = push_button("Use", "primary")
        self.use_button.setDefault(True)
        self.use_button.clicked.connect(self.use_current)
        self.save_button.setProperty("kind", "")
        self.body = ListDetail(
            "Known services and servers",
            "service",
            {"Service": DownArea(self.form)},
            ("add", "duplicate", "remove"),
            parent=self,
            buttons=(1, self.close_button, self.save_button, self.use_button),
            empty="No service fits. Close this list and type the address, or add the service.",
        )
        in_row(self.body, parent=self, margins=0)
        ids = self.ids()
        self.start(first if first in ids else ids[0])
        self.body.show_message(" ".join(services.messages), "warning")
        self.body.search.setFocus()

    def saved_values(self) -> dict[str, KnownGateway]:
        return {service.id: service for service in self._services.all}

    def new_draft(self, item_id: str) -> KnownGateway:
        return KnownGateway(id=item_id, name=NEW, base_url="", protocols=dict.fromkeys(TITLES, Auth.BEARER), own=True)

    def copy_of(self, draft: KnownGateway) -> tuple[KnownGateway, str]:
        update = {"id": uuid4().hex, "name": f"{draft.name} (copy)", "own": True, "source": "", "date": ""}
        return draft.model_copy(update=update), ""

    def id_of(self, draft: KnownGateway) -> str:
        return draft.id

    def entry(self, draft: KnownGateway, unsaved: bool) -> ListEntry:
        entry = service_entry(draft)
        return entry._replace(line=f"unsaved · {entry.line}") if unsaved else entry

    async def store_draft(self, draft: KnownGateway) -> Saved:
        return Saved(await asyncio.to_thread(self._services.put, draft))

    async def delete_stored(self, item_id: str) -> tuple[str, Restore]:
        service = self._services.get(item_id)
        await asyncio.to_thread(self._services.remove, item_id)

        async def restore() -> str:
            if service is not None:
                await asyncio.to_thread(self._services.put, service)
            return ""

        return "", restore

    def focus_editor(self) -> None:
        self.form.fields.focus()

    def open_current(self) -> None:
        self.use_current()

    def add(self) -> None:
        super().add()
        self.form.fields.focus()
        self.form.fields.line("name").selectAll()

    def use_current(self) -> None:
        """Save the selected service if it has changes, and use it."""
        self.work(self._use(self.current))

    async def _use(self, item_id: str) -> None:
        if item_id in self.unsaved():
            await self.save([item_id])
        if (service := self._services.get(item_id)) is not None:
            self.close_dialog()
            self.chosen.emit(service)

    def show_current(self) -> None:
        is_own = bool(self.current) and self.draft().own
        self.body.buttons["remove"].setEnabled(is_own and not self.busy)
        self.form.setEnabled(not self.busy)
        self.use_button.setText("Save and &use" if self.current in self.unsaved() else "&Use")
        is_usable = self.current in self.saved_values() or self.current in self.unsaved()
        self.use_button.setEnabled(is_usable and not self.busy)
