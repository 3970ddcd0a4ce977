"""Dialog for a service of the user's own: name, address, way to send the key, page for keys. It holds no key."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QDialog, QFormLayout, QLineEdit, QWidget

from playground.engine.gateways.profiles import Auth
from playground.engine.gateways.services import KnownGateway, own_problem
from playground.engine.requests.protocol_info import TITLES
from playground.ui.features.gateways.form import AUTH_STYLES
from playground.ui.widgets.dialogs import dress
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.layouts import in_column, in_row

WORDS = (
    "It is found by this name and address from now on. Names in braces, such as {resource}, are asked for when it is "
    "used. It is kept in a file, so no key belongs here."
)
NOT_SPOKEN = "is not spoken there"


class OwnServiceDialog(QDialog):
    """Dialog for a service. ``saved`` carries the typed ``KnownGateway``; ``refuse`` shows why saving failed."""

    saved = Signal(object)

    def __init__(self, service: KnownGateway, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("A service of your own")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._service = service
        self.name = QLineEdit(service.name)
        self.address = QLineEdit(service.base_url, placeholderText="https://gateway.example/v1")
        self.keys_url = QLineEdit(service.keys_url, placeholderText="https://gateway.example/keys")
        self.variables = QLineEdit(", ".join(service.key_variables), placeholderText="GATEWAY_API_KEY")
        self.note = QLineEdit(service.note)
        self.auth = {protocol: self._choice(protocol) for protocol in TITLES}
        form = QFormLayout()
        form.setSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        rows: list[tuple[str, QWidget]] = [("&Name", self.name), ("Base &URL", self.address)]
        rows += [(f"Key on {title}", self.auth[protocol]) for protocol, title in TITLES.items()]
        rows += [("&Keys are made at", self.keys_url), ("&Variables", self.variables), ("N&ote", self.note)]
        for title, field in rows:
            field.setAccessibleName(title.replace("&", ""))
            form.addRow(title, field)
        self.message = text_label(kind="error", wrap=True)
        say(self.message, "")
        self.cancel_button = push_button("Cancel")
        self.keep_button = push_button("&Keep", "primary")
        self.keep_button.setDefault(True)
        buttons = in_row(1, self.cancel_button, self.keep_button, spacing=8)
        words = text_label(WORDS, "muted", wrap=True)
        in_column(words, form, self.message, 1, buttons, of=self, margins=(20, 16, 20, 16), spacing=12)
        self.setMinimumWidth(460)
        self.cancel_button.clicked.connect(self.reject)
        self.keep_button.clicked.connect(self._save)
        dress(self)

    def service(self) -> KnownGateway:
        """Return the service as typed."""
        styles = {name: combo.currentData() for name, combo in self.auth.items()}
        update = {
            "name": self.name.text().strip(),
            "base_url": self.address.text().strip(),
            "protocols": {name: Auth(style) for name, style in styles.items() if style is not None},
            "keys_url": self.keys_url.text().strip(),
            "key_variables": tuple(filter(None, re.split(r"[\s,;]+", self.variables.text()))),
            "note": self.note.text().strip(),
        }
        return self._service.model_copy(update=update)

    def refuse(self, words: str) -> None:
        """Show why saving failed; the input stays."""
        say(self.message, words)

    def _save(self) -> None:
        service = self.service()
        if problem := own_problem(service):
            self.refuse(problem)
            return
        self.saved.emit(service)

    def _choice(self, protocol: str) -> QComboBox:
        combo = QComboBox()
        for style, title in (*AUTH_STYLES, (None, NOT_SPOKEN)):
            combo.addItem(title, style)
        chosen = self._service.protocols.get(protocol) if self._service.protocols else Auth.BEARER
        combo.setCurrentIndex(combo.findData(chosen) if chosen is not None else combo.count() - 1)
        return combo
