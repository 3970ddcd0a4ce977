"""The form of a gateway: shows a draft and returns the edited draft, and saves nothing."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from playground.domain.hints import hints_of, setting
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
from playground.ui.widgets.form_parts import say, text_label
from playground.ui.widgets.json_field import JsonField
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.rows.form import form_for
from playground.ui.widgets.value_table import ValueTable

AUTH_STYLES = (
    (Auth.BEARER, "Authorization: Bearer"),
    (Auth.X_API_KEY, "x-api-key"),
    (Auth.BOTH, "both headers"),
)
_AUTH = {
    f"auth.{protocol}": setting(
        title, group="How the key is sent", editor="pick", choices=AUTH_STYLES, start=Auth.BEARER.value
    )
    for protocol, title in TITLES.items()
}


class ProfileForm(QWidget):
    """The fields of ``Profile``; key, headers, rules and extra body are as typed in the draft."""

    changed = Signal()

    def __init__(self, keys: Keys, services: KnownGateways) -> None:
        super().__init__()
        self._keys = keys
        self._services = services
        self._base = Draft.from_profile(Profile(name=""))
        self._showing = False
        self.address = AddressField()
        self.service = text_label(kind="small", wrap=True)
        self.key = KeyField()
        self.keys_place = KeysPlace()
        self.headers = ValueTable(
            HeaderRow,
            hint="Sent with every request. Overrides default headers.",
            secret_hint="Values with a key icon are stored in the keyring, never in a file.",
        )
        self.rules = RulesEdit()
        self.body = JsonField("Extra body", root="body", placeholder='{"top_k": 40}', least=3)
        self.body.editor.setTabChangesFocus(True)  # Tab moves to the next field of the form
        self.body.editor.setAccessibleDescription("")
        self.body.caption.hide()
        controls: dict[str, QWidget] = {
            "base_url": self.address,
            "key": self.key,
            "headers": self.headers,
            "adaptations": self.rules,
            "extra_body": self.body,
        }
        hints = {"key": setting("&Key", after="base_url"), **_AUTH, **hints_of(Profile)}
        self.fields = form_for(Profile, controls, hints)
        self.line, self.focus = self.fields.line, self.fields.focus
        self.fields.rows["base_url"].body.addWidget(self.service)
        self.fields.rows["key"].body.addWidget(self.keys_place)
        in_column(self.fields, parent=self, margins=(24, 20, 24, 20))
        self.body.edited.connect(self._body_edited)
        self.fields.changed.connect(self._edited)

    @property
    def value(self) -> Draft:
        """The draft in the fields."""
        base, typed = self._base.profile, self.fields.value
        styles = {name: style for name, style in typed.auth.items() if style != Auth.BEARER or name in base.auth}
        service = self._services.get(base.service) if base.service else None
        is_other = service is not None and recognise(self.address.text(), (service,)) is None
        update = {
            "base_url": self.address.text(),
            "auth": styles,
            "service": "" if is_other else base.service,
        }
        profile = typed.model_copy(update=update)
        consent_origin = profile.origin if self.address.consented() else ""
        if consent_origin or profile.plain_http_origin == profile.origin:
            profile = profile.model_copy(update={"plain_http_origin": consent_origin})
        return replace(
            self._base,
            profile=profile,
            headers=self.headers.rows(),
            rules=rules if (rules := self.rules.rows()) != rule_rows(profile.adaptations) else None,
            body=self.body.text,
            key=self.key.key(),
            variable=self.key.variable(),
            forget_key=self.key.forget.isChecked(),
            move_key=self.key.move_key.isChecked() and self.key.move_key.isVisibleTo(self.key),
        )

    def set_value(self, draft: Draft) -> None:
        """Put a draft into the fields."""
        self._base, self._showing = draft, True
        try:
            profile = draft.profile
            self.fields.set_value(profile)
            consent = bool(profile.origin) and profile.plain_http_origin == profile.origin
            self.address.set_text(profile.base_url, consent=consent)
            self.key.set_key(draft.key, forget=draft.forget_key, move=draft.move_key, variable=draft.variable)
            self.headers.set_rows(draft.headers)
            service = self._services.get(profile.service) if profile.service else None
            self.rules.show_rules(draft.rule_rows, rule_rows(service.adaptations if service is not None else ()))
            self.body.set_text(draft.body)
            self.body.show_problems([])
        finally:
            self._showing = False
        self.describe()

    def set_key_style(self, style: Auth) -> None:
        """Use that way to send the key for all protocols."""
        self.fields.set_value(self.fields.value.model_copy(update={"auth": dict.fromkeys(TITLES, style)}))
        self._edited()

    def describe(self) -> None:
        """Update the texts next to the fields from the input and the keyring."""
        draft = self.value
        profile = draft.profile
        self.line("name").setPlaceholderText(replace(draft, profile=profile.model_copy(update={"name": ""})).title)
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

    def _edited(self, *_: object) -> None:
        if not self._showing:
            self.describe()
            self.changed.emit()

    def _body_edited(self) -> None:
        self.body.show_problems([])
        self._edited()


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
        return f"Stored in memory for {host} until the app closes: no system keyring is available."
    return f"Stored in the system keyring for {host}." if state.available else state.words
