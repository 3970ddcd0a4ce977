"""Form with all settings of a gateway. It shows and returns a draft, and saves nothing."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QSizePolicy,
    QWidget,
)

from playground.domain.adaptations import Adaptation
from playground.domain.request import ReasoningReturn, SendReasoning
from playground.engine.gateways.credentials import ConsentReason, plain_origin
from playground.engine.gateways.profiles import Auth, Profile
from playground.engine.gateways.secrets import KeyringState, Keys
from playground.engine.gateways.services import KnownGateways, recognise
from playground.engine.requests.protocol_info import TITLES
from playground.ui.features.gateways.address_field import AddressField
from playground.ui.features.gateways.draft import Draft, HeaderRow
from playground.ui.features.gateways.key_field import KeyField
from playground.ui.features.gateways.rule_row import rule_rows
from playground.ui.features.gateways.rules_edit import RulesEdit
from playground.ui.features.gateways.service_panel import KeysPlace, service_words
from playground.ui.widgets.dialogs import file_dialog
from playground.ui.widgets.form_parts import (
    FIELD_HEIGHT,
    SecondsEdit,
    WholeEdit,
    keep_from_wheel,
    paragraph,
    push_button,
    say,
    text_label,
)
from playground.ui.widgets.json_field import JsonField
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.reasoning_words import REASONING_FIELDS, SEND_REASONING
from playground.ui.widgets.value_table import ValueTable

LABEL_WIDTH = 104  # pixels, minimum; longer labels may wrap to two lines
CERTIFICATES = "Certificates (*.pem *.crt *.cer);;All (*)"
AUTH_STYLES = (
    (Auth.BEARER, "Authorization: Bearer"),
    (Auth.X_API_KEY, "x-api-key"),
    (Auth.BOTH, "both headers"),
)
CLOCKS = (
    ("connect", "Connect", "Seconds for name, connection and TLS."),
    ("first", "First content", "Seconds from the request to the first content; keep-alives do not count."),
    ("idle", "Between content", "Seconds between two pieces of content; keep-alives do not count."),
    ("total", "Whole answer", "Seconds for the whole exchange."),
)

LIMITS = (
    ("retries", "Tries after a failure", "How often a run is tried again by itself before any content came.", 0, 20),
    ("max_event_mib", "Largest event, MiB", "One event of a stream may not be larger.", 1, 4096),
    ("max_body_mib", "Largest answer, MiB", "A whole answer may not be larger.", 1, 16384),
)


class ProfileForm(QWidget):
    """Form for a draft. ``changed`` is emitted for each edit by the user, not by ``show_draft``."""

    changed = Signal()

    def __init__(self, keys: Keys, services: KnownGateways) -> None:
        super().__init__()
        self._keys = keys
        self._services = services
        self._base = Draft.from_profile(Profile(name=""))
        self._showing = False
        self.setProperty("kind", "form")
        self.name = QLineEdit()
        self.name.setAccessibleName("Name")
        self.address = AddressField()
        self.service = text_label(kind="small", wrap=True)
        self.key = KeyField()
        self.keys_place = KeysPlace()
        self.model = QLineEdit(placeholderText="none")
        self.model.setAccessibleName("Default model")
        self.auth = {protocol: _combo(f"Key on {title}", AUTH_STYLES) for protocol, title in TITLES.items()}
        self.reasoning = _combo("Send reasoning back", SEND_REASONING)
        self.reasoning_field = QComboBox(editable=True)
        self.reasoning_field.addItems(REASONING_FIELDS)
        self.reasoning_field.setAccessibleName("Field for the reasoning")
        line = self.reasoning_field.lineEdit()
        if line is not None:
            line.setPlaceholderText("as it came")
        self.headers = ValueTable(
            HeaderRow,
            hint="Sent with every request; one of ours with the same name is replaced.",
            secret_hint="Values with a key icon are kept in the keyring, never in a file.",
        )
        self.rules = RulesEdit()
        self.body = JsonField("Extra body", root="body", placeholder='{"top_k": 40}', least=3)
        self.body.editor.setTabChangesFocus(True)  # Tab moves to the next field of the form
        self.body.editor.setAccessibleDescription("")
        self.clocks = {clock: SecondsEdit(f"{title}, time-out", what) for clock, title, what in CLOCKS}
        blank = Profile(name="")
        self.limits = {
            name: WholeEdit(title, what, low, high, getattr(blank, name)) for name, title, what, low, high in LIMITS
        }
        keep_from_wheel(self.reasoning_field)
        self.ca_file = QLineEdit(placeholderText="the system's certificates only")
        self.ca_file.setAccessibleName("Certificate file")
        self.browse = push_button("Browse…")
        self.browse.setAccessibleName("Choose a certificate file")
        self.proxy = QLineEdit(placeholderText="the one that the system or the environment names, if any")
        self.proxy.setAccessibleName("Proxy")
        self.proxy.setToolTip(
            "http://host:port, https://host:port or socks5://host:port. A SOCKS proxy looks up the gateway's name "
            "itself. No user name and no password: those stand in the environment (HTTPS_PROXY, ALL_PROXY)"
        )
        self._lay_out()
        self._connect()

    # ---- draft

    def show_draft(self, draft: Draft) -> None:
        """Put a draft into the fields."""
        self._showing = True
        try:
            self._base = draft
            profile = draft.profile
            self.name.setText(profile.name)
            consent = bool(profile.origin) and profile.plain_http_origin == profile.origin
            self.address.set_text(profile.base_url, consent=consent)
            self.key.set_key(draft.key, forget=draft.forget_key, move=draft.move_key, variable=draft.variable)
            self.model.setText(profile.default_model)
            for protocol, combo in self.auth.items():
                combo.setCurrentIndex(combo.findData(profile.auth.get(protocol, Auth.BEARER)))
            self.reasoning.setCurrentIndex(self.reasoning.findData(profile.reasoning_return.when))
            self.reasoning_field.setEditText(profile.reasoning_return.field)
            self.headers.set_rows(draft.headers)
            self.rules.show_rules(draft.rule_rows, rule_rows(self._service_rules(profile.service)))
            self.body.set_text(draft.body)
            self.body.show_problems([])
            for clock, box in self.clocks.items():
                box.set_seconds(getattr(profile.timeouts, clock))
            for name, field in self.limits.items():
                field.set_number(getattr(profile, name))
            self.ca_file.setText(profile.ca_file or "")
            self.proxy.setText(profile.proxy)
        finally:
            self._showing = False
        self.describe()

    def draft(self) -> Draft:
        """Return the draft in the fields."""
        base = self._base.profile
        styles = {protocol: Auth(combo.currentData()) for protocol, combo in self.auth.items()}
        changed_styles = {p: style for p, style in styles.items() if style is not base.auth.get(p, Auth.BEARER)}
        times = {clock: box.seconds() for clock, box in self.clocks.items()}
        update = {
            "name": self.name.text(),
            "base_url": self.address.text(),
            "default_model": self.model.text().strip(),
            "auth": base.auth | changed_styles,
            "reasoning_return": ReasoningReturn(
                when=SendReasoning(self.reasoning.currentData()), field=self.reasoning_field.currentText().strip()
            ),
            "timeouts": base.timeouts.model_copy(update=times),
            "ca_file": self.ca_file.text().strip() or None,
            "proxy": self.proxy.text().strip(),
            **{name: field.number() for name, field in self.limits.items()},
        }
        service = self._services.get(base.service) if base.service else None
        if service is not None and recognise(self.address.text(), (service,)) is None:
            update["service"] = ""  # the address is no longer one of that service
        profile = base.model_copy(update=update)
        consent_origin = profile.origin if self.address.consented() else ""
        if consent_origin or profile.plain_http_origin == profile.origin:
            profile = profile.model_copy(update={"plain_http_origin": consent_origin})
        return replace(
            self._base,
            profile=profile,
            headers=self.headers.rows(),
            rules=typed if (typed := self.rules.rows()) != rule_rows(profile.adaptations) else None,
            body=self.body.text,
            key=self.key.key(),
            variable=self.key.variable(),
            forget_key=self.key.forget.isChecked(),
            move_key=self.key.move_key.isChecked() and self.key.move_key.isVisibleTo(self.key),
        )

    def set_key_style(self, style: Auth) -> None:
        """Use that way to send the key for all protocols."""
        for combo in self.auth.values():
            combo.setCurrentIndex(combo.findData(style))

    def describe(self) -> None:
        """Update the texts next to the fields from the input and the keyring."""
        draft = self.draft()
        profile = draft.profile
        self.name.setPlaceholderText(replace(draft, profile=profile.model_copy(update={"name": ""})).title)
        service = self._services.get(profile.service) if profile.service else None
        say(self.service, f"{service.name}. {service_words(service)}".strip() if service is not None else "")
        self.keys_place.show_service(service)
        self.address.set_protocols(service.protocols if service is not None else ())
        self.key.offer_variables(service.key_variables if service is not None else ())
        consent = draft.consent
        is_moved = consent is not None and consent.reason is ConsentReason.MOVED
        self.key.describe(
            stored=bool(profile.key_origin),
            place=_place(draft, self._keys),
            question=consent.words if is_moved and consent is not None else "",
        )
        self.reasoning_field.setEnabled(self.reasoning.currentData() is not SendReasoning.NEVER)

    def _edited(self, *_: object) -> None:
        if not self._showing:
            self.describe()
            self.changed.emit()

    def _body_edited(self) -> None:
        self.body.show_problems([])
        self._edited()

    # ---- widgets

    def _connect(self) -> None:
        for line in (self.name, self.model, self.ca_file, self.proxy):
            line.textChanged.connect(self._edited)
        for part in (self.address, self.key, self.rules, self.headers):
            part.changed.connect(self._edited)
        for combo in (*self.auth.values(), self.reasoning):
            combo.currentIndexChanged.connect(self._edited)
        self.reasoning_field.editTextChanged.connect(self._edited)
        for box in self.clocks.values():
            box.textChanged.connect(self._edited)
        for field in self.limits.values():
            field.textChanged.connect(self._edited)
        self.body.edited.connect(self._body_edited)
        self.browse.clicked.connect(self._choose_file)

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(24, 20, 24, 20)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(8)
        grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        grid.setColumnStretch(1, 1)
        self._grid = grid
        self._row("&Name", self.name, self.name)
        self._row("Base &URL", self.address, self.address.edit)
        self._add_note(self.service)
        self._row("&Key", self.key, self.key)
        self._add_note(self.keys_place)
        self._row("Default &model", self.model, self.model)
        self._section("How the key is sent")
        for protocol, title in TITLES.items():
            self._row(title, _left_aligned(self.auth[protocol]), self.auth[protocol])
        self._section("Reasoning of earlier turns")
        self._row("Send it &back", _left_aligned(self.reasoning), self.reasoning)
        self._row("Under the name", _left_aligned(self.reasoning_field), self.reasoning_field)
        self._section("Time-outs, in seconds")
        for clock, title, _what in CLOCKS:
            self._row(title, _left_aligned(self.clocks[clock]), self.clocks[clock])
        self._section("Limits")
        for name, title, _what, _low, _high in LIMITS:
            self._row(title, _left_aligned(self.limits[name]), self.limits[name])
        self._section("What this gateway does not take")
        self._row("&Rules", self.rules, self.rules.add)
        self._section("Extra headers")
        self._row("&Headers", self.headers, self.headers.add)
        self._section("Extra body: merged into every request's body")
        self.body.caption.hide()
        self._row("&Body", self.body, self.body.editor)
        self._section("Certificates")
        files = in_row((self.ca_file, 1), self.browse, spacing=8)
        self._row("&PEM file", files, self.ca_file)
        self._section("Proxy")
        self._row("Pro&xy", self.proxy, self.proxy)
        grid.setRowStretch(grid.rowCount(), 1)

    def _add_note(self, words: QWidget) -> None:
        """Add a widget below the field of the last row."""
        self._grid.addWidget(words, self._grid.rowCount(), 1)

    def _section(self, title: str) -> None:
        label = paragraph(title, "group")
        label.setContentsMargins(0, 16, 0, 0)
        self._grid.addWidget(label, self._grid.rowCount(), 0, 1, 2)

    def _row(self, title: str, field: QWidget | QHBoxLayout, buddy: QWidget) -> None:
        label = paragraph(title)  # wraps to two lines with a wide font in a narrow dialog
        label.setBuddy(buddy)
        label.setMinimumHeight(FIELD_HEIGHT)
        row = self._grid.rowCount()
        self._grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
        if isinstance(field, QWidget):
            self._grid.addWidget(field, row, 1)
        else:
            self._grid.addLayout(field, row, 1)

    def _choose_file(self) -> None:
        dialog = file_dialog(self, "Certificate file", self.ca_file.text(), CERTIFICATES)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.ca_file.setText)
        dialog.open()

    def _service_rules(self, service: str) -> tuple[Adaptation, ...]:
        """Return the rules of a known service."""
        match = self._services.get(service) if service else None
        return match.adaptations if match is not None else ()


def _place(draft: Draft, keys: Keys) -> str:
    """Describe where the key is or will be stored."""
    profile = draft.profile
    state: KeyringState = keys.state
    if draft.key and not profile.origin:
        return "Enter the base URL as well: a key belongs to the host it is sent to."
    if draft.key:
        return "On saving it goes to the system keyring, never to a file." if state.available else state.words
    if not profile.key_origin:
        return "No key is stored." if state.available else state.words
    host = plain_origin(profile.key_origin)
    if keys.only_in_memory(profile.id, profile.key_origin):
        return f"Kept in memory for {host}; it is gone when the app closes, because no system keyring took it."
    return f"Stored in the system keyring for {host}." if state.available else state.words


def _combo(name: str, choices: tuple[tuple[object, str], ...]) -> QComboBox:
    combo = QComboBox()
    combo.setAccessibleName(name)
    keep_from_wheel(combo)
    for value, title in choices:
        combo.addItem(title, value)
    return combo


def _left_aligned(field: QWidget) -> QHBoxLayout:
    """Return a layout with a short field at the left of its cell."""
    field.setMinimumWidth(120)
    field.setMaximumWidth(208)
    field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    return in_row((field, 1000), 1)
