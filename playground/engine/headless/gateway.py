"""The gateway of a command without a window: the one that the command line names, with all that is secret about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playground.engine.gateways.credentials import consent_needed, plain_origin
from playground.engine.gateways.profiles import Auth, Profile, Timeouts, connection, resolve_address, split_headers
from playground.engine.gateways.secrets import KEY_VARIABLE, Secret, clean_key
from playground.engine.requests.request_file import BadInputError
from playground.gateway.address import is_loopback
from playground.gateway.outgoing import header_problem
from playground.gateway.proxy import proxy_url, read_proxy
from playground.protocols import PROTOCOLS

if TYPE_CHECKING:
    from playground.gateway.client import GatewayClient


@dataclass(frozen=True)
class GatewayOptions:
    """What the command line says of the gateway; what is None is as a new one in the window has it.

    ``key`` is as it was given. ``headers`` are (name, value) pairs; those that carry a secret are told by name and
    value. ``proxy`` may hold a password. ``timeouts`` are seconds by the names of ``Timeouts``, None for no limit.
    ``max_event`` and ``max_body`` are in MiB.
    """

    base_url: str
    key: Secret | None = None
    headers: tuple[tuple[str, str], ...] = ()
    key_style: Auth | None = None
    timeouts: Mapping[str, float | None] = field(default_factory=dict)
    retries: int | None = None
    max_event: int | None = None
    max_body: int | None = None
    ca: Path | None = None
    proxy: str = field(default="", repr=False)
    allow_http: bool = False


@dataclass
class Gateway:
    """Where requests go, and all that is secret about it. ``remarks`` are sentences on what was given."""

    profile: Profile
    key: Secret | None
    headers: dict[str, Secret]
    remarks: tuple[str, ...]
    proxy: str = field(repr=False)
    client: GatewayClient | None = None

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """All that must stand in no file."""
        return (*((self.key,) if self.key is not None else ()), *self.headers.values())

    async def connect(self, _profile_id: str) -> GatewayClient:
        """The client, whatever gateway is meant: here there is one."""
        from playground.gateway.client import GatewayClient

        if self.client is None:
            made = connection(self.profile, self.key, self.headers)
            self.client = GatewayClient(made.model_copy(update={"proxy": self.proxy}))
        return self.client

    async def aclose(self) -> None:
        """Close its connections."""
        if self.client is not None:
            await self.client.aclose()


def gateway_of(options: GatewayOptions) -> Gateway:
    """The gateway that the options name, with everything else as a new one has it. Raises BadInputError."""
    try:
        address = resolve_address(options.base_url)
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
    origin = Profile(base_url=address.base).origin
    given: dict[str, Any] = {
        "retries": options.retries,
        "max_event_mib": options.max_event,
        "max_body_mib": options.max_body,
        "ca_file": str(options.ca) if options.ca is not None else None,
        "auth": dict.fromkeys(PROTOCOLS, options.key_style) if options.key_style is not None else None,
    }
    profile = Profile(
        name="the command line's gateway",
        base_url=address.base,
        headers=headers,
        secret_headers=dict.fromkeys(secret, origin),
        timeouts=Timeouts().model_copy(update=dict(options.timeouts)),
        key_origin=origin if key is not None else "",
        plain_http_origin=origin if options.allow_http else "",
        **{name: value for name, value in given.items() if value is not None},
    )
    consent = consent_needed(profile)
    if consent is not None or (_leaves(options.proxy, origin) and (key or secret) and not options.allow_http):
        way = plain_origin(origin) if consent is not None else f"The way to {plain_origin(origin)} through that proxy"
        raise BadInputError(
            f"{way} is not encrypted: anyone on the way can read the key. Use https://, or send it all the same with "
            "--allow-http"
        )
    remarks = [f"Using {address.base} ({'; '.join(address.repairs)})."] if address.repairs else []
    remarks += [f"{KEY_VARIABLE}: {words}" for words in typed.remarks]
    return Gateway(profile, key, secret, tuple(remarks), options.proxy)


def _leaves(proxy: str, origin: str) -> bool:
    """Whether an unencrypted request leaves this machine for a proxy."""
    return bool(proxy) and origin.startswith("http:") and not is_loopback(proxy_url(origin, proxy))
