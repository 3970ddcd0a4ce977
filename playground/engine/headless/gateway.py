"""The gateway that the command line names, with its secrets; and those that the window saved."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO
from urllib.parse import unquote, urlsplit

from playground.domain.adaptations import Adaptation, with_rule
from playground.domain.hidden import short_name, show_hidden
from playground.engine.gateways.credentials import (
    ConsentReason,
    Credentials,
    NeedsConsent,
    consent_needed,
    credentials_for,
    plain_origin,
)
from playground.engine.gateways.profiles import Auth, Profile, ProfileStore, connection, resolve_address, split_headers
from playground.engine.gateways.secrets import (
    KEY_VARIABLE,
    Keys,
    Secret,
    clean_key,
    hidden_header,
    key_from_environment,
    looks_secret,
)
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.show import Console
from playground.engine.requests.request_file import BadInputError
from playground.gateway.address import is_loopback
from playground.gateway.prepared_request import header_problem
from playground.gateway.proxy import proxy_url, read_proxy
from playground.jsonkit.texts import listed
from playground.protocols import PROTOCOLS

if TYPE_CHECKING:
    from playground.gateway.client import GatewayClient
    from playground.gateway.connection import Connection
    from playground.jsonkit.values import JSONObject

_MAX_NAMES: Final = 20  # names that one sentence holds


def saved_profile(name: str, profiles: Sequence[Profile]) -> Profile:
    """Return the profile with an id or name, whose case counts only between equal names.

    Raises BadInputError where there is none, or several.
    """
    if matches := [profile for profile in profiles if profile.id == name]:
        return matches[0]
    name = name.strip()
    matches = [profile for profile in profiles if profile.name.strip() == name]
    matches = matches or [profile for profile in profiles if profile.name.strip().casefold() == name.casefold()]
    if len(matches) == 1:
        return matches[0]
    if matches:
        ids = "; ".join(f"{match.id} ({match.base_url or 'no address'})" for match in matches[:_MAX_NAMES])
        raise BadInputError(f"{len(matches)} gateways are called “{_visible(name)}”. Name one by its id: {ids}")
    if not profiles:
        raise BadInputError("no gateway is set up yet. Set one up in the window, or give an address with --base-url")
    names = [f"“{_visible(profile.name)}”" for profile in profiles]
    more = [f"{len(names) - _MAX_NAMES} more"] if len(names) > _MAX_NAMES else []
    raise BadInputError(f"no gateway is called “{_visible(name)}”. There are {listed([*names[:_MAX_NAMES], *more])}")


async def saved_secrets(profile: Profile, *, allow_http: bool) -> Credentials:
    """Return the key and secret headers of a profile. Raises BadInputError where one of them or consent is missing."""
    needed = consent_needed(profile)
    if needed is not None and not (allow_http and needed.reason is ConsentReason.PLAIN_HTTP):
        raise BadInputError(_not_agreed(profile, needed))
    if needed is not None:
        profile = profile.model_copy(update={"plain_http_origin": needed.new_origin})
    keys = Keys()
    credentials = await credentials_for(profile, keys)
    if isinstance(credentials, NeedsConsent):
        raise BadInputError(_not_agreed(profile, credentials))
    if credentials.problem:
        raise BadInputError(
            f"{credentials.problem} A key can also be read from the environment, with --key-variable NAME"
        )
    return credentials


def _not_agreed(profile: Profile, needed: NeedsConsent) -> str:
    alternative = " or give --allow-http here" if needed.reason is ConsentReason.PLAIN_HTTP else ""
    return (
        f"{needed.words} Nothing was sent. Open the settings of “{_visible(profile.name)}” in the window and agree "
        f"there{alternative}"
    )


def list_gateways(out: TextIO, err: TextIO, *, as_json: bool) -> ExitCode:
    """Print the saved gateways, one per line or as JSON. Raises OutputError where `out` fails."""
    console = Console(out, err)
    if (own := key_from_environment()) is not None:
        console.hide([own])
    store = ProfileStore()
    for words in store.messages:
        console.say(words)
    if as_json:
        rows: list[JSONObject] = [
            {
                "id": profile.id,
                "name": profile.name,
                "base_url": profile.base_url,
                "default_model": profile.default_model,
                "key": "variable" if profile.key_variable else "keyring" if profile.key_origin else "none",
                "key_variable": profile.key_variable,
                "secret_headers": sorted(profile.secret_headers),
            }
            for profile in store.profiles
        ]
        console.json({"gateways": rows})
    elif not store.profiles:
        console.say("No gateway is set up yet. They are set up in the window.")
    else:
        cells = [
            (_visible(profile.name), profile.base_url or "no address", _where_key_is(profile))
            for profile in store.profiles
        ]
        widths = [max(len(row[index]) for row in cells) for index in (0, 1)]
        for name, address, key in cells:
            console.line(f"{name:<{widths[0]}}  {address:<{widths[1]}}  {key}")
    console.end()
    return ExitCode.OK


def _where_key_is(profile: Profile) -> str:
    """Return the place of the key in words, without asking a keyring."""
    if profile.key_variable:
        suffix = "" if os.environ.get(profile.key_variable, "").strip() else ", which is not set"
        return f"key in {profile.key_variable}{suffix}"
    return "key in the system keyring" if profile.key_origin else "no key"


def _visible(name: str) -> str:
    return show_hidden(short_name(name))


@dataclass(frozen=True)
class GatewayOptions:
    """Options of the command line; None leaves the saved gateway, or the default of a new one, as it is.

    `saved` is the name or id of a gateway set up in the window; without one, `base_url` is used. `key` is the value of
    the environment variable `key_variable`. `headers` are (name, value) pairs; secret ones are recognised by name and
    value. `proxy` may hold a password. `timeouts` are seconds by the names of `Timeouts`, None for no limit.
    `max_event` and `max_body` are in MiB. `rules` adapt requests of every protocol. `workers_variable` names the
    variable in which the workers of a cluster have the key; no other key is read then.
    """

    base_url: str | None = None
    saved: str = ""
    key: Secret | None = None
    key_variable: str = KEY_VARIABLE
    headers: tuple[tuple[str, str], ...] = ()
    key_style: Auth | None = None
    timeouts: Mapping[str, float | None] = field(default_factory=dict)
    retries: int | None = None
    max_event: int | None = None
    max_body: int | None = None
    ca: Path | None = None
    proxy: str = field(default="", repr=False)
    allow_http: bool = False
    rules: tuple[Adaptation, ...] = ()
    workers_variable: str = ""

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The secrets on the command line and in the environment."""
        values = [self.key, key_from_environment(), key_from_environment(self.key_variable)]
        keys = [secret for secret in values if secret is not None]
        keys += [Secret(clean_key(secret.get_secret_value()).key) for secret in keys]
        headers = [
            Secret(value.strip())
            for name, value in self.headers
            if looks_secret(name, value) or hidden_header(name, value.strip())
        ]
        return (*keys, *headers, *_of_proxy(self.proxy))


@dataclass
class Gateway:
    """The destination of requests with its secrets. `remarks` are sentences for the user on the options."""

    profile: Profile
    key: Secret | None
    headers: dict[str, Secret]
    remarks: tuple[str, ...]
    proxy: str = field(repr=False)
    other_secrets: tuple[Secret, ...] = ()
    client: GatewayClient | None = None

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Everything that must not be written: the key, secret headers and the secrets of the options."""
        return (*((self.key,) if self.key is not None else ()), *self.headers.values(), *self.other_secrets)

    @property
    def connection(self) -> Connection:
        """The settings to reach it, with its secrets."""
        return connection(self.profile, self.key, self.headers).model_copy(update={"proxy": self.proxy})

    async def connect(self, _profile_id: str) -> GatewayClient:
        """Return the client; a command has one gateway, whatever id a session asks for."""
        from playground.gateway.client import GatewayClient

        if self.client is None:
            self.client = GatewayClient(self.connection)
        return self.client

    async def aclose(self) -> None:
        """Close its connections."""
        if self.client is not None:
            await self.client.aclose()


async def gateway_of(options: GatewayOptions) -> Gateway:
    """Return the saved gateway that the options name, or a new one at their address. Raises BadInputError.

    The options win over the saved settings.
    """
    saved, notes = _saved(options.saved) if options.saved else (None, [])
    try:
        address = resolve_address(saved.base_url if saved is not None else options.base_url or "")
        if options.proxy:
            read_proxy(options.proxy)
    except ValueError as error:
        raise BadInputError(str(error)) from None
    for name, value in options.headers:
        if problem := header_problem(name, value):
            raise BadInputError(problem)
    headers, secret = split_headers(options.headers)
    typed = clean_key(options.key.get_secret_value() if options.key is not None else "")
    key = Secret(typed.key) if typed.key else None
    profile = _overridden(saved or Profile(name="the command line's gateway", base_url=address.base), options)
    if saved is not None:
        stored = _without(profile, [name for name, _ in options.headers])
        if key is not None or options.workers_variable:
            stored = stored.model_copy(update={"key_origin": "", "key_variable": ""})
        credentials = await saved_secrets(stored, allow_http=options.allow_http)
        key, secret = key or credentials.key, credentials.headers | secret
        headers = stored.headers | headers
    origin = profile.origin
    profile = profile.model_copy(
        update={
            "headers": headers,
            "secret_headers": dict.fromkeys(secret, origin),
            "key_origin": origin if key is not None else "",
        }
    )
    consent = consent_needed(profile)
    if consent is not None or (_leaves(options.proxy, origin) and (key or secret) and not options.allow_http):
        way = plain_origin(origin) if consent is not None else f"The way to {plain_origin(origin)} through that proxy"
        raise BadInputError(
            f"{way} is not encrypted: anyone on the way can read the key. Use https://, or send it anyway with "
            "--allow-http"
        )
    remarks = [f"Using {address.base} ({'; '.join(address.repairs)})."] if address.repairs else []
    remarks += [f"{options.key_variable}: {words}" for words in typed.remarks]
    if saved is not None and key is None and not options.workers_variable and key_from_environment() is not None:
        remarks.append(f"{KEY_VARIABLE} is not sent to a saved gateway; --key-variable {KEY_VARIABLE} sends it.")
    proxy = options.proxy or profile.proxy
    return Gateway(profile, key, secret, (*notes, *remarks), proxy, (*options.secrets, *_of_proxy(proxy)))


def _saved(name: str) -> tuple[Profile, list[str]]:
    """Return the saved gateway of a name or id, and remarks on the file of gateways. Raises BadInputError."""
    store = ProfileStore()
    return saved_profile(name, store.profiles), store.messages


def _overridden(profile: Profile, options: GatewayOptions) -> Profile:
    """Return the profile with the options applied, except for secrets."""
    options_by_field: dict[str, Any] = {
        "retries": options.retries,
        "max_event_mib": options.max_event,
        "max_body_mib": options.max_body,
        "ca_file": str(options.ca) if options.ca is not None else None,
        "auth": dict.fromkeys(PROTOCOLS, options.key_style) if options.key_style is not None else None,
        "proxy": "" if options.proxy else None,
        "plain_http_origin": profile.origin if options.allow_http else None,
        "adaptations": reduce(with_rule, options.rules, profile.adaptations),
    }
    timeouts = profile.timeouts.model_copy(update=dict(options.timeouts))
    update = {name: value for name, value in options_by_field.items() if value is not None}
    return profile.model_copy(update={"timeouts": timeouts, **update})


def _without(profile: Profile, names: list[str]) -> Profile:
    """Return the profile without the headers of those names, in any case of letters."""
    removed = {name.lower() for name in names}
    return profile.model_copy(
        update={
            "headers": {name: value for name, value in profile.headers.items() if name.lower() not in removed},
            "secret_headers": {
                name: origin for name, origin in profile.secret_headers.items() if name.lower() not in removed
            },
        }
    )


def _of_proxy(address: str) -> tuple[Secret, ...]:
    """Return the password in a proxy's address, as typed and percent-decoded."""
    try:
        password = urlsplit(address if "://" in address else f"//{address}").password or ""
    except ValueError:
        return ()
    return tuple(Secret(text) for text in dict.fromkeys((password, unquote(password))) if text)


def _leaves(proxy: str, origin: str) -> bool:
    """Return whether an unencrypted request leaves this machine for a proxy."""
    return bool(proxy) and origin.startswith("http:") and not is_loopback(proxy_url(origin, proxy))
