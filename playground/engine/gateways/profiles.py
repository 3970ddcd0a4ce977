"""Profiles of gateways and their file.

The file holds no secret: the key and the values of secret headers are in the keyring
(``playground.engine.gateways.secrets``), under the origin that they were entered for;
``playground.engine.gateways.credentials`` combines both. This module opens no sockets; it makes the ``Connection`` that
the gateway package uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

from pydantic import Field

from playground.domain.adaptations import Adaptation
from playground.domain.encoding import encode
from playground.domain.hints import setting
from playground.domain.prices import Price
from playground.domain.request import ReasoningReturn
from playground.domain.values import Value
from playground.engine.gateways.secrets import Secret, looks_secret, secret_in
from playground.engine.io.list_file import JsonListStore, ListFileError
from playground.gateway.address import Address as Address
from playground.gateway.address import is_loopback, origin, resolve
from playground.gateway.address import needs_consent as needs_consent
from playground.gateway.connection import MEBIBYTE
from playground.gateway.connection import Auth as Auth
from playground.gateway.connection import Connection as Connection
from playground.gateway.connection import Timeouts as Timeouts
from playground.gateway.proxy import check_proxy as check_proxy
from playground.gateway.proxy import proxy_url
from playground.jsonkit.values import JSON, JSONObject

DEMO_IS_OFF = "The demo gateway has no address yet: it starts when it is first used."

#: Re-exported for the window, which may not import the gateway package; so are the names imported "as" themselves.
resolve_address = resolve


class ProfileError(ListFileError):
    """A profile cannot be saved. The text gives the reason and the remedy, and holds no secret."""


def _proxy_problem(proxy: str) -> str:
    """Return why a proxy cannot be used; empty if it can."""
    try:
        check_proxy(proxy)
    except ValueError as error:
        return str(error)
    return ""


class Profile(Value):
    """The settings of one gateway.

    ``headers`` are sent with every request and written to the file. ``secret_headers`` maps the names of headers with
    secret values to the origin that the value was entered for; ``key_origin`` is that of the key, empty if none is
    stored. ``auth`` maps a protocol to how the key is sent (default: bearer). ``plain_http_origin`` is the origin for
    which a person agreed to send secrets unencrypted. ``proxy`` replaces that of the environment; its address holds
    no password. ``retries`` is the number of automatic retries of a run; ``max_event_mib`` and ``max_body_mib`` limit
    one event and a whole answer, in MiB; ``prices`` maps model ids to entered prices. ``extra_body`` is merged into
    the body of every request, before the experiment's own. ``adaptations`` are rules for what the gateway refuses.
    ``service`` is the id of a known service, empty for none. ``key_variable`` is the environment variable with the
    key, which is read when needed and sent to ``key_origin`` only. ``favourites`` and ``recent`` are model ids, the
    latter newest first. ``demo`` marks the embedded gateway, which is never written.
    """

    id: str = Field(default_factory=lambda: uuid4().hex)
    name: Annotated[str, setting("&Name")] = "New gateway"
    base_url: Annotated[str, setting("Base &URL")] = ""
    default_model: Annotated[str, setting("Default &model", placeholder="none")] = ""
    auth: dict[str, Auth] = Field(default_factory=dict)
    reasoning_return: Annotated[ReasoningReturn, setting("Reasoning", group="Reasoning of earlier messages")] = (
        ReasoningReturn()
    )
    timeouts: Annotated[Timeouts, setting("Time-outs", group="Time-outs")] = Timeouts()
    retries: Annotated[
        int,
        setting(
            "Tries after a failure", group="Limits", help="Automatic retries of a request without any content yet."
        ),
    ] = Field(default=4, ge=0, le=20)
    max_event_mib: Annotated[
        int,
        setting("Largest event", group="Limits", help="Of one event of a stream.", unit="MiB", high=4096),
    ] = Field(default=100, ge=1)
    max_body_mib: Annotated[
        int, setting("Largest answer", group="Limits", help="Of a whole answer.", unit="MiB", high=16384)
    ] = Field(default=256, ge=1)
    adaptations: Annotated[tuple[Adaptation, ...], setting("&Rules", group="What this gateway does not take")] = ()
    headers: Annotated[dict[str, str], setting("&Headers", group="Extra headers")] = Field(default_factory=dict)
    extra_body: Annotated[JSONObject, setting("&Body", group="Extra body: merged into every request's body")] = Field(
        default_factory=dict
    )
    secret_headers: dict[str, str] = Field(default_factory=dict)
    ca_file: Annotated[
        str | None,
        setting(
            "&PEM file",
            group="Certificates and proxy",
            editor="file",
            files="Certificates (*.pem *.crt *.cer);;All (*)",
            placeholder="system certificates only",
        ),
    ] = None
    proxy: Annotated[
        str,
        setting(
            "Pro&xy",
            group="Certificates and proxy",
            placeholder="from the system or environment",
            help="http://host:port, https://host:port or socks5://host:port. A SOCKS proxy looks up the gateway's name "
            "itself. User name and password belong in the environment (HTTPS_PROXY, ALL_PROXY).",
            check=_proxy_problem,
        ),
    ] = Field(default="", repr=False)
    prices: dict[str, Price] = Field(default_factory=dict)
    service: str = ""
    favourites: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()
    key_variable: str = Field(default="", pattern="^([A-Za-z_][A-Za-z0-9_]*)?$")
    key_origin: str = ""
    plain_http_origin: str = ""
    demo: bool = Field(default=False, exclude=True)

    @property
    def origin(self) -> str:
        """Scheme, host and port of the base URL; empty for an invalid one."""
        try:
            return origin(resolve_address(self.base_url).base)
        except ValueError:
            return ""

    @property
    def sends_unencrypted(self) -> bool:
        """Return whether a key would be sent over an unencrypted network connection."""
        try:
            base = resolve_address(self.base_url).base
            leaves = bool(self.proxy) and base.startswith("http:") and not is_loopback(proxy_url(base, self.proxy))
            return leaves or needs_consent(base)
        except ValueError:
            return False


def split_headers(rows: Iterable[tuple[str, str]]) -> tuple[dict[str, str], dict[str, Secret]]:
    """Split typed header rows into those for the file and those for the keyring."""
    plain: dict[str, str] = {}
    secret: dict[str, Secret] = {}
    for typed, value in rows:
        name = typed.strip()
        if name and looks_secret(name, value):
            secret[name] = Secret(value.strip())
        elif name:
            plain[name] = value.strip()
    return plain, secret


def connection(
    profile: Profile, key: Secret | None = None, secret_headers: Mapping[str, Secret] | None = None
) -> Connection:
    """Return the profile with its secrets in the form that the gateway package uses."""
    secrets = {name: value.get_secret_value() for name, value in (secret_headers or {}).items()}
    return Connection(
        base_url=profile.base_url,
        key=key,
        headers=profile.headers | secrets,
        secret_headers=frozenset(secrets),
        auth=profile.auth,
        timeouts=profile.timeouts,
        ca_file=profile.ca_file,
        proxy=profile.proxy,
        retries=profile.retries,
        max_event_bytes=profile.max_event_mib * MEBIBYTE,
        max_body_bytes=profile.max_body_mib * MEBIBYTE,
    )


# ---- the file --------------------------------------------------------------------------------------------------------


def default_path() -> Path:
    """Return the path of the file in the platform's folder for settings."""
    from platformdirs import user_config_path

    return user_config_path("gateway-playground", appauthor=False) / "gateways.json"


class ProfileStore(JsonListStore[Profile]):
    """The list of gateways and which one is active, in a JSON file."""

    member = "gateways"
    noun = "gateway"
    error = ProfileError

    def __init__(self, path: Path | None = None) -> None:
        super().__init__(path or default_path())

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """All gateways, in the order in which they are shown."""
        return self.items

    @property
    def active(self) -> Profile | None:
        """The selected gateway; the first one when none is selected, None when there are none."""
        return self.get(str(self._members.get("active") or "")) or next(iter(self._items), None)

    def add_profile(self, profile: Profile, index: int | None = None) -> Profile:
        """Insert a gateway, by default as the last. Raises ProfileError when the id is taken, and like ``update``."""
        with self._lock:
            if self.get(profile.id) is not None:
                raise ProfileError("A gateway with this id exists already.")
            profile, items = _checked(profile), list(self._items)
            items.insert(len(items) if index is None else index, profile)
            self.save(items)
            return profile

    def update(self, profile: Profile) -> Profile:
        """Replace the gateway of the same id and return it as stored.

        Raises ProfileError when it is unknown, would put a secret into the file, or cannot be written.
        """
        with self._lock:
            self._require(profile.id)
            return self._put_checked(profile)

    def edit(self, profile_id: str, change: Callable[[Profile], Profile]) -> None:
        """Replace a gateway by the result of ``change`` for its present state. Raises ProfileError like ``update``."""
        with self._lock:
            profile = self._require(profile_id)
            if (changed := change(profile)) != profile:
                self.update(changed)

    def select(self, profile_id: str) -> None:
        """Make a gateway the active one. Raises ProfileError for an unknown id."""
        with self._lock:
            self._require(profile_id)
            if profile_id != self._members.get("active"):
                self.save(self._items, active=profile_id)

    def _require(self, profile_id: str) -> Profile:
        profile = self.get(profile_id)
        if profile is None:
            raise ProfileError("This gateway was removed in the meantime.")
        return profile

    def _put_checked(self, profile: Profile) -> Profile:
        profile = _checked(profile)
        self._put(profile)
        return profile

    def _read(self, entry: Any) -> Profile:
        profile = Profile.model_validate(entry)
        if self.get(profile.id) is not None:
            no_secrets: dict[str, Any] = {"key_origin": "", "key_variable": "", "secret_headers": {}}
            profile = profile.model_copy(update={"id": uuid4().hex, **no_secrets})
        return profile.model_copy(update={"demo": False})

    def _write(self, item: Profile) -> JSONObject:
        return encode(item, lambda name, _info, _item: name != "demo")

    def save(self, items: Iterable[Profile], **members: JSON) -> None:
        """Write the list without demo gateways, which last as long as the process. Raises ProfileError."""
        super().save(items, **{"active": self._members.get("active") or "", **members})

    def _is_written(self, item: Profile) -> bool:
        return not item.demo


def _checked(profile: Profile) -> Profile:
    """Return the profile in the form for the file. Raises ProfileError for a secret in a plain field."""
    for name, value in profile.headers.items():
        if looks_secret(name, value) and not profile.demo:
            raise ProfileError(f"The header “{name}” looks like a secret; its value belongs in the keyring.")
    if name := secret_in(profile.extra_body):
        raise ProfileError(f"“{name}” in the extra body looks like a key, and the extra body is saved in a file.")
    try:
        profile = profile.model_copy(update={"proxy": check_proxy(profile.proxy)})
    except ValueError as error:
        raise ProfileError(str(error)) from None
    try:
        return profile.model_copy(update={"base_url": resolve_address(profile.base_url).base})
    except ValueError as error:
        # An incomplete address may be saved, but not one that may hold a password or a key.
        if any(mark in profile.base_url for mark in "@?#"):
            raise ProfileError(str(error)) from None
        return profile
