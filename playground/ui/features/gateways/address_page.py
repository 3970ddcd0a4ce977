"""The first page of the connect wizard: address, key, and gateways found on this computer."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from playground.ui.features.gateways.address_field import AddressField
from playground.ui.features.gateways.key_field import KeyField
from playground.ui.features.gateways.nearby_list import NearbyList
from playground.ui.features.gateways.service_panel import KeysPlace, ServicePanel
from playground.ui.widgets.form_parts import say, text_label
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.scroll_page import DownArea

GAP = 6  # pixels between a field and its text
EXAMPLE = "A name, or https://gateway.example/v1"
WHERE = (
    "Type the name of a service, or paste the address that your provider gives for its interface (API), and the key "
    "that belongs to it."
)


class AddressPage(DownArea):
    """Page for address and key, with the fields of the gateway settings."""

    changed = Signal()

    def __init__(self, nearby: NearbyList, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.address = AddressField()
        self.address.edit.setPlaceholderText(EXAMPLE)
        self.services = ServicePanel(self.address)
        self.key = KeyField()
        self.keys_place = KeysPlace()
        self.message = text_label(kind="warning", wrap=True)
        say(self.message, "")
        inner = QWidget(self.viewport())
        column = in_column(text_label(WHERE, "muted", wrap=True), parent=inner, margins=(24, 4, 24, 8), spacing=GAP)
        for title, field in (("&Address", self.address.edit), ("&Key", self.key)):
            label = text_label(title, "heading")
            label.setBuddy(field)
            label.setContentsMargins(0, 10, 0, 0)
            column.addWidget(label)
            column.addWidget(field)
        # Texts about the address are below both fields, so that the key field does not move during typing.
        for widget in (self.keys_place, self.address, self.services, self.message):
            column.addWidget(widget)
        label = text_label("On this computer", "heading")
        label.setContentsMargins(0, 10, 0, 0)
        column.addWidget(label)
        column.addWidget(nearby)
        column.addStretch(1)
        self._inner = inner
        self.setWidget(inner)
        self.address.changed.connect(self._edited)
        self.services.changed.connect(self._edited)
        self.key.changed.connect(self._edited)
        nearby.grew.connect(partial(self.ensureWidgetVisible, nearby))

    def say(self, words: str) -> None:
        """Show why the next step is not possible, and scroll to the message."""
        say(self.message, words)
        if words:
            self._inner.adjustSize()  # resize before scrolling, so that the whole message is visible
            self.ensureWidgetVisible(self.message)

    def _edited(self) -> None:
        say(self.message, "")
        self.changed.emit()
