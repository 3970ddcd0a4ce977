"""Drafts: the content of the gateway form as a value, and functions that save it to the store and the keyring.
No widgets in here. A draft holds a typed key only until it is saved, and its repr never shows one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from playground.domain.adaptations import with_rule
from playground.domain.hints import problems_of
from playground.engine.gateways.credentials import (
    ConsentReason,
    Credentials,
    NeedsConsent,
    agree,
    consent_needed,
    credentials_for,
    missing_variable,
    store_secret,
    use_variable,
)
from playground.engine.gateways.profiles import (
    Connection,
    Profile,
    ProfileError,
    ProfileStore,
    connection,
    resolve_address,
)
from playground.engine.gateways.secrets import (
    KeyringState,
    Keys,
    Secret,
    clean_key,
    looks_secret,
    secret_in,
    variable_problem,
)
from playground.engine.gateways.services import KnownGateway, filled
from playground.jsonkit.reading import read_typed
from playground.jsonkit.values import JSONObject
from playground.ui.features.gateways.rule_row import RuleRow, rule_rows, rules_of
from playground.ui.widgets.json_text import pretty_value
from playground.ui.widgets.name_value import HeaderValue, row_problems

NEW_NAME = "New gateway"


@dataclass(frozen=True, slots=True)
class HeaderRow(HeaderValue):
    """An extra header as typed."""

    def looks_secret(self, name: str, value: str) -> bool:
        """Return whether the header must not be saved in a file."""
        return looks_secret(name, value)


@dataclass(frozen=True, slots=True)
class Draft:
    """A gateway as edited in the form. ``profile`` lacks the headers, which are in ``headers``.

    ``body`` is the typed extra body; ``rules`` are the rules, None for those of the profile. ``key`` is a newly typed
    key ("" leaves the stored key unchanged), ``variable`` names the environment variable that holds the key instead,
    ``forget_key`` deletes the stored key, ``move_key`` is the consent to send the stored secrets to the new origin.
    """

    profile: Profile
    headers: tuple[HeaderRow, ...] = ()
    body: str = ""
    key: str = field(default="", repr=False)
    variable: str = field(default="", repr=False)  # excluded from the repr: a key may be typed here by mistake
    forget_key: bool = False
    move_key: bool = False
    rules: tuple[RuleRow, ...] | None = None

    @property
    def rule_rows(self) -> tuple[RuleRow, ...]:
        """The rules in the form."""
        return rule_rows(self.profile.adaptations) if self.rules is None else self.rules

    @classmethod
    def from_profile(cls, profile: Profile) -> Draft:
        """Return the draft without changes to ``profile``."""
        rows = [HeaderRow(name, value) for name, value in profile.headers.items()]
        rows += [HeaderRow(name, stored=True) for name in profile.secret_headers]
        body = pretty_value(profile.extra_body) if profile.extra_body else ""
        return cls(
            profile.model_copy(update={"headers": {}, "extra_body": {}}),
            tuple(rows),
            body,
            variable=profile.key_variable,
        )

    @property
    def new_key(self) -> str:
        """The typed key, cleaned; empty without one, or if a variable is named."""
        return "" if self.variable else clean_key(self.key).key

    @property
    def variable_changed(self) -> bool:
        """True if the draft sets, changes or removes the environment variable of the key."""
        return self.variable != self.profile.key_variable

    @property
    def test_inputs(self) -> Draft:
        """The draft without name, limits and settings of runs, which a test does not depend on."""
        blank = Profile(id=self.profile.id)
        limits = ("retries", "max_event_mib", "max_body_mib")
        about_runs = ("name", "default_model", "reasoning_return", "prices", "adaptations", *limits)
        return replace(
            self,
            body="",
            rules=None,
            profile=self.profile.model_copy(update={name: getattr(blank, name) for name in about_runs}),
        )

    @property
    def title(self) -> str:
        """The name to show: the typed name, else the host, else ``NEW_NAME``."""
        return self.profile.name.strip() or self.host or NEW_NAME

    @property
    def host(self) -> str:
        """Host and port of the address; empty for an invalid address."""
        try:
            return resolve_address(self.profile.base_url).base.split("/")[2]
        except ValueError:
            return ""

    @property
    def consent(self) -> NeedsConsent | None:
        """The consent needed to send the stored secrets to the address in the form, or None."""
        stored = self.profile
        if self.forget_key or self.new_key or self.variable_changed:
            stored = stored.model_copy(update={"key_origin": ""})
        stored_names = {row.name for row in self.headers if row.stored}
        secret_headers = {name: where for name, where in stored.secret_headers.items() if name in stored_names}
        return consent_needed(stored.model_copy(update={"secret_headers": secret_headers}))


def with_service(draft: Draft, service: KnownGateway, values: Mapping[str, str]) -> Draft:
    """Return the draft with the service's id, headers, rules and way to send the key.

    ``values`` replace the names in braces. The caller sets address and name.
    """
    rules = draft.profile.adaptations
    for rule in service.adaptations:
        rules = with_rule(rules, rule)
    update = {"service": service.id, "auth": draft.profile.auth | service.protocols, "adaptations": rules}
    rows = tuple(HeaderRow(name, filled(value, values)) for name, value in service.headers.items())
    others = tuple(row for row in draft.headers if row.name.lower() not in {name.lower() for name in service.headers})
    typed_rules = None if draft.rules is None else (*draft.rules, *rule_rows(service.adaptations))
    return replace(draft, profile=draft.profile.model_copy(update=update), headers=(*rows, *others), rules=typed_rules)


def without_service(draft: Draft, service: KnownGateway) -> Draft:
    """Return the draft without the values that ``with_service`` added and that are unchanged since."""
    profile = draft.profile
    auth = {name: style for name, style in profile.auth.items() if service.protocols.get(name) is not style}
    rules = tuple(rule for rule in profile.adaptations if rule not in service.adaptations)
    rows = tuple(row for row in draft.headers if row.name not in service.headers)
    update = {"service": "", "auth": auth, "adaptations": rules}
    return replace(draft, profile=profile.model_copy(update=update), headers=rows)


def problem(draft: Draft) -> str:
    """Return why the draft cannot be saved; empty if it can."""
    try:
        resolve_address(draft.profile.base_url)
    except ValueError as error:
        return str(error)
    if reason := next(filter(None, row_problems(draft.headers)), ""):
        return reason
    if reason := next(iter(problems_of(draft.profile).values()), ""):
        return reason
    if draft.variable and (reason := variable_problem(draft.variable)):
        return reason
    if reason := next(filter(None, (row.problem for row in draft.rule_rows)), ""):
        return reason
    body = _body(draft)
    if body is None:
        return "The extra body is not a JSON object. Correct it, or empty it."
    if name := secret_in(body):
        return f"“{name}” in the extra body looks like a key, and the extra body is saved in a file. Remove it."
    return ""


def _body(draft: Draft) -> JSONObject | None:
    """Return the typed extra body; None if it is no JSON object."""
    try:
        value = read_typed(draft.body) if draft.body.strip() else {}
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


async def save(draft: Draft, store: ProfileStore, keys: Keys) -> tuple[Profile, KeyringState | None]:
    """Save the secrets in the keyring and the rest in the file.

    Return the stored profile and the state of the keyring (None if no secret changed). Raises ProfileError if the
    draft cannot be saved.
    """
    if problem(draft):
        raise ProfileError(problem(draft))
    state: KeyringState | None = None
    rows = [row for row in draft.headers if row.name.strip()]
    plain = {row.name.strip(): row.value.strip() for row in rows if not row.secret}
    update: dict[str, Any] = {
        "headers": plain,
        "extra_body": _body(draft) or {},
        "base_url": resolve_address(draft.profile.base_url).base,
        "name": draft.title.strip(),
        "ca_file": (draft.profile.ca_file or "").strip() or None,
        **{name: getattr(draft.profile, name).strip() for name in ("default_model", "proxy")},
    }
    if draft.rules is not None:
        update["adaptations"] = rules_of(draft.rules)
    profile = draft.profile.model_copy(update=update)
    stored_names = {row.name for row in rows if row.stored}
    for name in [name for name in profile.secret_headers if name not in stored_names]:
        profile, state = await store_secret(profile, keys, None, name)
    for row in rows:
        if row.secret and not row.stored:
            profile, state = await store_secret(profile, keys, Secret(row.value.strip()), row.name.strip())
    if draft.variable and draft.variable_changed:
        profile, state = await use_variable(profile, keys, draft.variable)
    elif draft.new_key or draft.forget_key or draft.variable_changed:
        profile, state = await store_secret(profile, keys, Secret(draft.new_key) if draft.new_key else None)
    while draft.move_key and (consent := consent_needed(profile)) and consent.reason is ConsentReason.MOVED:
        profile = await agree(profile, keys, consent)
        state = keys.state
    return await asyncio.to_thread(_write, profile, store), state


def _write(profile: Profile, store: ProfileStore) -> Profile:
    """Save the profile, with the models marked or used while it was edited."""
    if store.get(profile.id) is None:
        return store.add_profile(profile)
    marks = ("favourites", "recent")
    store.edit(profile.id, lambda it: profile.model_copy(update={name: getattr(it, name) for name in marks}))
    return store.get(profile.id) or profile


async def credentials_of(draft: Draft, keys: Keys) -> Credentials | NeedsConsent:
    """Return the secrets that a test of the unsaved draft may send, or the consent that it needs."""
    profile = draft.profile
    rows = [row for row in draft.headers if row.name.strip() and row.secret]
    typed = {row.name.strip(): Secret(row.value.strip()) for row in rows if not row.stored}
    key = Secret(draft.new_key) if draft.new_key else None
    if draft.variable and draft.variable_changed:
        key = keys.from_environment(draft.variable)
        if key is None:
            return Credentials(problem=missing_variable(draft.variable))
    consent = draft.consent
    if consent is not None and consent.reason is ConsentReason.MOVED and not draft.move_key:
        return consent
    if profile.sends_unencrypted and profile.plain_http_origin != profile.origin and (key or typed or consent):
        candidate = profile.model_copy(update={"key_origin": profile.origin, "secret_headers": {}})
        return consent_needed(candidate) or Credentials()
    stored = await _stored(draft, keys)
    if isinstance(stored, NeedsConsent):
        return stored
    return replace(stored, key=key or stored.key, headers=stored.headers | typed)


def connection_of(draft: Draft, credentials: Credentials) -> Connection:
    """Return the connection for a test of the draft, with the secrets that it may send."""
    rows = [row for row in draft.headers if row.name.strip() and not row.secret]
    plain = {row.name.strip(): row.value.strip() for row in rows}
    return connection(draft.profile.model_copy(update={"headers": plain}), credentials.key, credentials.headers)


async def _stored(draft: Draft, keys: Keys) -> Credentials | NeedsConsent:
    """Return the stored secrets that the draft keeps, without moving them to a new origin."""
    stored_names = {row.name for row in draft.headers if row.stored}
    secret_headers = {name: where for name, where in draft.profile.secret_headers.items() if name in stored_names}
    key_origin = "" if draft.new_key or draft.forget_key or draft.variable_changed else draft.profile.key_origin
    profile = draft.profile.model_copy(update={"secret_headers": secret_headers, "key_origin": key_origin})
    if not draft.move_key:
        return await credentials_for(profile, keys)
    headers = {name: await keys.get(profile.id, where, name) for name, where in secret_headers.items()}
    if draft.variable and key_origin:
        stored_key = keys.from_environment(draft.variable)
    else:
        stored_key = await keys.get(profile.id, key_origin) if key_origin else None
    problem = "" if keys.state.available else keys.state.words
    return Credentials(stored_key, {name: value for name, value in headers.items() if value is not None}, problem)
