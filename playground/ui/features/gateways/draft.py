"""What stands in the form, saved or not, as a value; and the way from there to the store and the keyring.

No widgets in here. A draft holds a typed key only until it is saved, and its repr never shows one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from playground.domain.adaptations import with_rule
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
    check_proxy,
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

NEW_NAME = "New gateway"


@dataclass(frozen=True, slots=True)
class HeaderRow:
    """One extra header as typed. ``kept`` says that its value is in the keyring and was not retyped."""

    name: str = ""
    value: str = field(default="", repr=False)
    kept: bool = False

    @property
    def secret(self) -> bool:
        """Whether the value may not stand in a file."""
        return self.kept or looks_secret(self.name, self.value)


@dataclass(frozen=True, slots=True)
class Draft:
    """One gateway in the form. ``profile`` lacks the headers, which are in ``headers``; the rest is as typed.

    ``body`` is the extra body as typed, ``rules`` are the rules, None while they are the profile's. ``key`` is a newly
    typed key ("" leaves the stored one alone), ``variable`` names the variable of the environment that holds it
    instead, ``forget_key`` deletes the stored one, ``move_key`` is the person's yes to sending the stored secrets to
    the new origin.
    """

    profile: Profile
    headers: tuple[HeaderRow, ...] = ()
    body: str = ""
    key: str = field(default="", repr=False)
    variable: str = field(default="", repr=False)  # as typed: it may be a key in the wrong place
    forget_key: bool = False
    move_key: bool = False
    rules: tuple[RuleRow, ...] | None = None

    @property
    def rule_rows(self) -> tuple[RuleRow, ...]:
        """The rules as they stand in the form."""
        return rule_rows(self.profile.adaptations) if self.rules is None else self.rules

    @classmethod
    def of(cls, profile: Profile) -> Draft:
        """The draft that changes nothing about ``profile``."""
        rows = [HeaderRow(name, value) for name, value in profile.headers.items()]
        rows += [HeaderRow(name, kept=True) for name in profile.secret_headers]
        body = pretty_value(profile.extra_body) if profile.extra_body else ""
        return cls(
            profile.model_copy(update={"headers": {}, "extra_body": {}}),
            tuple(rows),
            body,
            variable=profile.key_variable,
        )

    @property
    def new_key(self) -> str:
        """The key that is typed and counts, cleaned; empty where there is none, or a variable is named."""
        return "" if self.variable else clean_key(self.key).key

    @property
    def renamed(self) -> bool:
        """Whether the key comes from a variable from now on, from another one, or no longer."""
        return self.variable != self.profile.key_variable

    @property
    def judged(self) -> Draft:
        """The draft as far as a test of its gateway depends on it: what is about runs, or just a name, is left out."""
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
        """The name to show: as typed, else the host, else that it is new."""
        return self.profile.name.strip() or self.host or NEW_NAME

    @property
    def host(self) -> str:
        """Host and port of the address, as far as it can be read."""
        try:
            return resolve_address(self.profile.base_url).base.split("/")[2]
        except ValueError:
            return ""

    @property
    def consent(self) -> NeedsConsent | None:
        """What has to be agreed to before the stored secrets go to the address in the form."""
        stored = self.profile
        if self.forget_key or self.new_key or self.renamed:
            stored = stored.model_copy(update={"key_origin": ""})
        kept = {row.name for row in self.headers if row.kept}
        secret_headers = {name: where for name, where in stored.secret_headers.items() if name in kept}
        return consent_needed(stored.model_copy(update={"secret_headers": secret_headers}))


def with_service(draft: Draft, known: KnownGateway, values: Mapping[str, str]) -> Draft:
    """The draft with what is known of that service: how the key is sent, its headers, what it refuses, its id.

    ``values`` stand for the names in braces. The address and the name are the caller's business.
    """
    rules = draft.profile.adaptations
    for rule in known.adaptations:
        rules = with_rule(rules, rule)
    update = {"service": known.id, "auth": draft.profile.auth | known.protocols, "adaptations": rules}
    rows = tuple(HeaderRow(name, filled(value, values)) for name, value in known.headers.items())
    own = tuple(row for row in draft.headers if row.name.lower() not in {name.lower() for name in known.headers})
    typed = None if draft.rules is None else (*draft.rules, *rule_rows(known.adaptations))
    return replace(draft, profile=draft.profile.model_copy(update=update), headers=(*rows, *own), rules=typed)


def without_service(draft: Draft, known: KnownGateway) -> Draft:
    """The draft without what ``with_service`` put there, so far as it was left as it was."""
    profile = draft.profile
    auth = {name: style for name, style in profile.auth.items() if known.protocols.get(name) is not style}
    rules = tuple(rule for rule in profile.adaptations if rule not in known.adaptations)
    rows = tuple(row for row in draft.headers if row.name not in known.headers)
    update = {"service": "", "auth": auth, "adaptations": rules}
    return replace(draft, profile=profile.model_copy(update=update), headers=rows)


def problem(draft: Draft) -> str:
    """Why the draft cannot be saved, in words; empty when it can."""
    try:
        resolve_address(draft.profile.base_url)
    except ValueError as error:
        return str(error)
    names = [row.name.strip().lower() for row in draft.headers if row.name.strip()]
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        return f"The header “{twice}” stands there twice. Remove one."
    if any(row.value.strip() and not row.name.strip() for row in draft.headers):
        return "An extra header has a value but no name."
    if any(not (c.isascii() and (c.isalnum() or c in "!#$%&'*+-.^_`|~")) for name in names for c in name):
        return "A header's name holds a character that is not allowed there."
    try:
        check_proxy(draft.profile.proxy)
    except ValueError as error:
        return str(error)
    if draft.variable and (wrong := variable_problem(draft.variable)):
        return wrong
    if wrong := next(filter(None, (row.problem for row in draft.rule_rows)), ""):
        return wrong
    body = _body(draft)
    if body is None:
        return "The extra body is not a JSON object. Correct it, or empty it."
    if name := secret_in(body):
        return f"“{name}” in the extra body looks like a key, and the extra body is kept in a file. Take it out."
    return ""


def _body(draft: Draft) -> JSONObject | None:
    """The extra body that is typed; None when it is no JSON object."""
    try:
        value = read_typed(draft.body) if draft.body.strip() else {}
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


async def save(draft: Draft, store: ProfileStore, keys: Keys) -> tuple[Profile, KeyringState | None]:
    """Put the secrets into the keyring and the rest into the file.

    Gives the stored profile and where the key is now (None when no secret was touched). Raises ProfileError when
    something stands in the way; the draft is still whole then.
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
    }
    if draft.rules is not None:
        update["adaptations"] = rules_of(draft.rules)
    profile = draft.profile.model_copy(update=update)
    kept = {row.name for row in rows if row.kept}
    for name in [name for name in profile.secret_headers if name not in kept]:
        profile, state = await store_secret(profile, keys, None, name)
    for row in rows:
        if row.secret and not row.kept:
            profile, state = await store_secret(profile, keys, Secret(row.value.strip()), row.name.strip())
    if draft.variable and draft.renamed:
        profile, state = await use_variable(profile, keys, draft.variable)
    elif draft.new_key or draft.forget_key or draft.renamed:
        profile, state = await store_secret(profile, keys, Secret(draft.new_key) if draft.new_key else None)
    while draft.move_key and (consent := consent_needed(profile)) and consent.reason is ConsentReason.MOVED:
        profile = await agree(profile, keys, consent)
        state = keys.state
    return await asyncio.to_thread(_write, profile, store), state


def _write(profile: Profile, store: ProfileStore) -> Profile:
    """Put it into the file, with the models that were marked and used while it was edited."""
    if store.get(profile.id) is None:
        return store.add_profile(profile)
    marks = ("favourites", "recent")
    store.edit(profile.id, lambda it: profile.model_copy(update={name: getattr(it, name) for name in marks}))
    return store.get(profile.id) or profile


async def credentials_of(draft: Draft, keys: Keys) -> Credentials | NeedsConsent:
    """What a test of the unsaved draft may send: what was typed, and what is stored as far as it was agreed to."""
    profile = draft.profile
    rows = [row for row in draft.headers if row.name.strip() and row.secret]
    typed = {row.name.strip(): Secret(row.value.strip()) for row in rows if not row.kept}
    key = Secret(draft.new_key) if draft.new_key else None
    if draft.variable and draft.renamed:
        key = keys.from_environment(draft.variable)
        if key is None:
            return Credentials(problem=missing_variable(draft.variable))
    consent = draft.consent
    if consent is not None and consent.reason is ConsentReason.MOVED and not draft.move_key:
        return consent
    if profile.sends_unencrypted and profile.plain_http_origin != profile.origin and (key or typed or consent):
        stand_in = profile.model_copy(update={"key_origin": profile.origin, "secret_headers": {}})
        return consent_needed(stand_in) or Credentials()
    stored = await _stored(draft, keys)
    if isinstance(stored, NeedsConsent):
        return stored
    return replace(stored, key=key or stored.key, headers=stored.headers | typed)


def connection_of(draft: Draft, given: Credentials) -> Connection:
    """The draft as a test reaches it, with the secrets that it may send."""
    rows = [row for row in draft.headers if row.name.strip() and not row.secret]
    plain = {row.name.strip(): row.value.strip() for row in rows}
    return connection(draft.profile.model_copy(update={"headers": plain}), given.key, given.headers)


async def _stored(draft: Draft, keys: Keys) -> Credentials | NeedsConsent:
    """The stored secrets that the draft keeps, read where they are: a test moves nothing."""
    kept = {row.name for row in draft.headers if row.kept}
    secret_headers = {name: where for name, where in draft.profile.secret_headers.items() if name in kept}
    key_origin = "" if draft.new_key or draft.forget_key or draft.renamed else draft.profile.key_origin
    wanted = draft.profile.model_copy(update={"secret_headers": secret_headers, "key_origin": key_origin})
    if not draft.move_key:
        return await credentials_for(wanted, keys)
    found = {name: await keys.get(wanted.id, where, name) for name, where in secret_headers.items()}
    if draft.variable and key_origin:
        stored_key = keys.from_environment(draft.variable)
    else:
        stored_key = await keys.get(wanted.id, key_origin) if key_origin else None
    problem = "" if keys.state.available else keys.state.words
    return Credentials(stored_key, {name: value for name, value in found.items() if value is not None}, problem)
