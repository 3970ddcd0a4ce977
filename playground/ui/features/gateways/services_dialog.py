"""Dialog with all known services and servers: choose one, and add, edit or remove the user's own. It holds no key."""

from __future__ import annotations

import asyncio
import re
from uuid import uuid4

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QLineEdit, QWidget

from playground.engine.gateways.profiles import Auth
from playground.engine.gateways.services import KnownGateway, KnownGateways
from playground.engine.requests.protocol_info import TITLES
from playground.ui.features.gateways.form import AUTH_STYLES
from playground.ui.features.gateways.service_panel import service_entry, service_words
from playground.ui.widgets.drafts_dialog import DraftsDialog, Restore, Saved, Spawn
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.list_detail import ListDetail, ListEntry
from playground.ui.widgets.scroll_page import DownArea

NEW = "New service"
ABOUT_OWN = (
    "A service of your own is found by this name and address. Names in braces, such as {resource}, are asked for when "
    "it is used. It is saved in a file, so no key belongs here."
)
SHIPPED = "This entry is part of the app. Duplicate it to change it."


class ServiceForm(QWidget):
    """The fields of a service; those of a shipped one are read-only."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._service = KnownGateway(id="-", name=NEW, base_url="")
        self.setProperty("kind", "form")
        self.about = text_label(kind="muted", wrap=True)
        self.name, self.note = QLineEdit(), QLineEdit()
        self.address = QLineEdit(placeholderText="https://gateway.example/v1")
        self.keys_url = QLineEdit(placeholderText="https://gateway.example/keys")
        self.variables = QLineEdit(placeholderText="GATEWAY_API_KEY")
        self.auth = {protocol: QComboBox() for protocol in TITLES}
        form = QFormLayout()
        form.setSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        rows: list[tuple[str, QLineEdit | QComboBox]] = [("&Name", self.name), ("Base &URL", self.address)]
        rows += [(f"Key on {title}", self.auth[protocol]) for protocol, title in TITLES.items()]
        rows += [("&Keys are made at", self.keys_url), ("&Variables", self.variables), ("N&ote", self.note)]
        for title, field in rows:
            field.setAccessibleName(title.replace("&", ""))
            form.addRow(title, field)
            if isinstance(field, QLineEdit):
                field.textEdited.connect(self._edited)
                continue
            for style, words in (*AUTH_STYLES, (None, "Not supported")):
                field.addItem(words, style)
            field.activated.connect(self._edited)
        self._fields = [field for _title, field in rows]
        in_column(self.about, form, 1, of=self, margins=(24, 16, 24, 16), spacing=12)

    @property
    def value(self) -> KnownGateway:
        """The service as typed."""
        styles = {name: combo.currentData() for name, combo in self.auth.items()}
        update = {
            "name": self.name.text().strip() or NEW,
            "base_url": self.address.text().strip(),
            "protocols": {name: Auth(style) for name, style in styles.items() if style is not None},
            "keys_url": self.keys_url.text().strip(),
            "key_variables": tuple(filter(None, re.split(r"[\s,;]+", self.variables.text()))),
            "note": self.note.text().strip(),
        }
        return self._service.model_copy(update=update)

    def set_value(self, value: KnownGateway) -> None:
        """Show a service."""
        self._service = value
        source = f"Looked up {value.date} at {value.source}." if value.source else ""
        say(self.about, ABOUT_OWN if value.own else " ".join(filter(None, (service_words(value), source, SHIPPED))))
        self.name.setText(value.name)
        self.address.setText(value.base_url)
        self.keys_url.setText(value.keys_url)
        self.variables.setText(", ".join(value.key_variables))
        self.note.setText(value.note)
        for protocol, combo in self.auth.items():
            style = value.protocols.get(protocol) if value.protocols else Auth.BEARER
            combo.setCurrentIndex(combo.findData(style) if style is not None else combo.count() - 1)
        for field in self._fields:
            field.setEnabled(value.own)

    def _edited(self, _value: object = None) -> None:
        self.changed.emit()


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
        in_row(self.body, of=self, margins=0)
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
        self.form.name.setFocus()

    def open_current(self) -> None:
        self.use_current()

    def add(self) -> None:
        super().add()
        self.form.name.setFocus()
        self.form.name.selectAll()

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
