"""The gateway that the command line names, with its secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from playground.domain.adaptations import Adaptation, with_rule
from playground.engine.gateways.credentials import consent_needed, plain_origin
from playground.engine.gateways.profiles import Auth, Profile, ProfileStore, connection, resolve_address, split_headers
from playground.engine.gateways.secrets import (
    KEY_VARIABLE,
    Secret,
    clean_key,
    hidden_header,
    key_from_environment,
    looks_secret,
)
from playground.engine.headless.saved_gateways import saved_profile, saved_secrets
from playground.engine.requests.request_file import BadInputError
from playground.gateway.address import is_loopback
from playground.gateway.prepared_request import header_problem
from playground.gateway.proxy import proxy_url, read_proxy
from playground.protocols import PROTOCOLS

if TYPE_CHECKING:
    from playground.gateway.client import GatewayClient


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

    async def connect(self, _profile_id: str) -> GatewayClient:
        """Return the client; a command has one gateway, whatever id a session asks for."""
        from playground.gateway.client import GatewayClient

        if self.client is None:
            settings = connection(self.profile, self.key, self.headers)
            self.client = GatewayClient(settings.model_copy(update={"proxy": self.proxy}))
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
            f"{way} is not encrypted: anyone on the way can read the key. Use https://, or send it all the same with "
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
