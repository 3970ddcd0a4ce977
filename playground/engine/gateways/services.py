"""Services and servers that speak the protocols: those of ``resources/gateways.json`` and a person's own.

All facts about a vendor are data with their source and date; no code names one. A service has a base URL of its own; a
server runs on the person's computer, at its usual ports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

from pydantic import Field, TypeAdapter
from pydantic.fields import FieldInfo

from playground.domain.adaptations import Adaptation
from playground.domain.encoding import encode
from playground.domain.hints import problems_of, setting
from playground.domain.values import Value
from playground.engine.gateways.profiles import ProfileError
from playground.engine.gateways.secrets import looks_secret, secret_in, variable_problem
from playground.engine.io.files import resource_root
from playground.engine.io.list_file import JsonListStore
from playground.gateway.address import DEFAULT_PORTS, is_loopback, repair
from playground.gateway.connection import Auth
from playground.jsonkit.values import JSON, JSONObject

_MAX_FILE_BYTES: Final = 1024 * 1024
_MAX_QUERY: Final = 2_000  # characters of a search text or a pasted address
_MAX_PLACEHOLDERS: Final = 3  # in one address: each multiplies the time of a match
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_PLACEHOLDER_VALUE: Final = re.compile(r"[\w.~-]+", re.ASCII)
_VERSION_SEGMENT: Final = re.compile(r"/v\d+[a-z0-9.]*$", re.IGNORECASE)


class Signature(Value):
    """Marks by which a server's answer identifies it; all that are not empty have to fit, in any letter case.

    ``header`` is the name of a response header, ``said`` the beginning of its value. ``owner`` is the ``owned_by`` of
    an entry of the model list, ``member`` the name of a member of an entry.
    """

    header: str = ""
    said: str = ""
    owner: str = ""
    member: str = ""

    def matches(self, headers: Mapping[str, str], entries: Iterable[JSONObject]) -> bool:
        """Return whether a model list with these headers (names and values case-folded) bears the signature."""
        if self.header:
            value = headers.get(self.header.casefold())
            if value is None or not value.startswith(self.said.casefold()):
                return False
        if not self.owner and not self.member:
            return bool(self.header)
        owner = self.owner.casefold()
        return any(
            (not owner or str(entry.get("owned_by", "")).casefold() == owner)
            and (not self.member or self.member in entry)
            for entry in entries
        )


class Details(Value):
    """A page with more facts about models than the list: requested with GET, or POST with ``body``.

    ``path`` is relative to the origin if it begins with a slash, else to the base URL. In ``path`` and ``body``,
    ``{model}`` is replaced by a model's id; such a page is requested for one model at a time, when it is looked at. In
    the file, ``source`` gives the origin of the entry, and ``price_source`` that of ``price_tokens``.
    """

    path: str = Field(min_length=1)
    body: str = ""


class KnownGateway(Value):
    """One service or server.

    ``base_url`` may hold placeholders in braces that a person fills in (``https://{resource}.example/v1``). ``hosts``
    identify a pasted address, besides the host of the base URL; a leading ``*.`` matches any subdomain.
    ``protocols`` maps each protocol that it speaks to how the key is sent. ``headers`` go with every request.
    ``key_variables`` are the usual environment variables, ``keys_url`` is the page where keys are made; ``keyless``
    servers usually want none. ``ports`` are the usual ones on this computer, ``signatures`` the marks of its answers,
    any of which identifies it. ``adaptations`` are what it is known to refuse. ``details`` are pages with facts about
    models, in the order in which they are tried; ``price_tokens`` is the number of tokens that the list's prices are
    for, 0 if unknown. ``note`` is a sentence for people. ``source`` and ``date`` document the entry; in the file,
    ``protocol_sources`` does for protocols that another page describes. ``own`` marks a person's own entry.
    """

    id: str = Field(min_length=1)
    name: Annotated[str, setting("&Name")] = Field(min_length=1)
    base_url: Annotated[str, setting("Base &URL", placeholder="https://gateway.example/v1")]
    hosts: tuple[str, ...] = ()
    protocols: dict[str, Auth] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    key_variables: Annotated[
        tuple[str, ...],
        setting(
            "&Variables",
            placeholder="GATEWAY_API_KEY",
            check=lambda names: next(filter(None, map(variable_problem, names)), ""),
            after="keys_url",
        ),
    ] = ()
    keys_url: Annotated[
        str,
        setting(
            "&Keys are made at",
            placeholder="https://gateway.example/keys",
            check=lambda url: _page_problem(url) if url else "",
        ),
    ] = ""
    keyless: bool = False
    ports: tuple[int, ...] = ()
    signatures: tuple[Signature, ...] = ()
    adaptations: tuple[Adaptation, ...] = ()
    details: tuple[Details, ...] = ()
    price_tokens: int = Field(default=0, ge=0)
    note: Annotated[str, setting("N&ote")] = ""
    source: str = ""
    date: str = ""
    own: bool = Field(default=False, exclude=True)

    @property
    def host(self) -> str:
        """Host and port of the base URL, with placeholders."""
        return self.base_url.partition("://")[2].partition("/")[0]

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names in braces in base URL and headers, each once, in order."""
        return tuple(dict.fromkeys(_PLACEHOLDER.findall(" ".join((self.base_url, *self.headers.values())))))

    def bears_signature(self, headers: Iterable[tuple[str, str]], entries: Iterable[JSON]) -> bool:
        """Return whether a model list with these headers and entries bears one of its signatures."""
        folded = {name.casefold(): value.casefold() for name, value in headers}
        models = [entry for entry in entries if isinstance(entry, dict)]
        return any(signature.matches(folded, models) for signature in self.signatures)


class Recognised(Value):
    """A pasted address: its service, the base URL that is meant, and the values of placeholders in it."""

    service: KnownGateway
    base_url: str
    values: dict[str, str] = Field(default_factory=dict)


@cache
def shipped() -> tuple[KnownGateway, ...]:
    """Return the application's own entries by name. Reads one small file, once."""
    import json

    from playground.system.named_file import read_named

    content = json.loads(read_named(resource_root() / "gateways.json", _MAX_FILE_BYTES))
    services = TypeAdapter(tuple[KnownGateway, ...]).validate_python(content["gateways"])
    return tuple(sorted(services, key=lambda service: service.name.casefold()))


def is_page(url: str) -> bool:
    """Return whether ``url`` may be opened in a browser: an https address, whatever an edited file holds."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname)


# ---- searching and recognising ---------------------------------------------------------------------------------------


def find(text: str, services: Iterable[KnownGateway]) -> tuple[KnownGateway, ...]:
    """Return the services whose name, id or hosts hold every word of ``text``, those that begin with it first."""
    words = text[:_MAX_QUERY].casefold().split()
    if not words:
        return ()

    def holds_all(service: KnownGateway) -> bool:
        texts = " ".join((service.name, service.id, service.host, *service.hosts)).casefold()
        return all(word in texts for word in words)

    return tuple(sorted(filter(holds_all, services), key=lambda service: _rank(service, words[0])))


def _rank(service: KnownGateway, word: str) -> int:
    name = service.name.casefold()
    if name.startswith(word):
        return 0
    return 1 if any(part.startswith(word) for part in name.split()) else 2 if word in name else 3


def recognise(text: str, services: Iterable[KnownGateway]) -> Recognised | None:
    """Return the service of a pasted address: a base URL, an endpoint, or a page of its site; None for no match.

    A server on this computer is identified by its port if that is usual for one server alone.
    """
    try:
        address = repair(text[:_MAX_QUERY])[0]
        parts = urlsplit(address)
    except ValueError:
        return None
    host = (parts.hostname or "").removeprefix("www.").rstrip(".")
    services = tuple(services)
    if is_loopback(address):
        local = [item for item in services if is_loopback(item.base_url) and _port(item.base_url) == _port(address)]
        if len(local) != 1:
            return None
        return Recognised(service=local[0], base_url=_meant_address(address, local[0], {}, same_host=True))
    for service in services:
        values = _match(service.host.partition(":")[0], host, r"[\w-]+")
        if values is not None and _port(address) == _port(service.base_url):
            values |= _match(urlsplit(service.base_url).path, parts.path, r"[^/]+", is_prefix=True) or {}
            base_url = _meant_address(address, service, values, same_host=True)
            return Recognised(service=service, base_url=base_url, values=values)
    for service in services:
        if parts.port is None and any(host == name or _is_below(host, name) for name in service.hosts):
            return Recognised(service=service, base_url=_meant_address(address, service, {}, same_host=False))
    return None


def _is_below(host: str, name: str) -> bool:
    return name.startswith("*.") and host.endswith(name[1:])


def _port(url: str) -> int | None:
    parts = urlsplit(_PLACEHOLDER.sub("x", url))
    return parts.port or DEFAULT_PORTS.get(parts.scheme)


def _match(template: str, text: str, value_pattern: str, *, is_prefix: bool = False) -> dict[str, str] | None:
    """Return the values of the template's placeholders in ``text``; None if the text does not fit."""
    pieces = _PLACEHOLDER.split(template)
    if len(pieces) > 2 * _MAX_PLACEHOLDERS + 1:
        return None
    names: list[str] = []
    pattern = re.escape(pieces[0])
    for name, literal in zip(pieces[1::2], pieces[2::2], strict=True):
        if name in names:  # a repeated placeholder has the same value
            pattern += rf"(?:\{names.index(name) + 1})"
        else:
            names.append(name)
            pattern += f"({value_pattern})"
        pattern += re.escape(literal)
    match = (re.match if is_prefix else re.fullmatch)(pattern, text, re.IGNORECASE)
    return dict(zip(names, match.groups(), strict=True)) if match is not None else None


def _meant_address(address: str, service: KnownGateway, values: Mapping[str, str], *, same_host: bool) -> str:
    """Return the pasted address if it is another base URL of the service, else the usual base URL.

    Some services have several: for another protocol, region or contract.
    """
    usual = filled(service.base_url, values)
    path, base_path = urlsplit(address).path, urlsplit(_PLACEHOLDER.sub("x", usual)).path
    if path == base_path and not same_host:
        return address
    if same_host and _VERSION_SEGMENT.search(path) and not f"{path}/".startswith(f"{base_path}/"):
        return address
    return usual


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a base URL or header value with its placeholders replaced; those without a value stay in braces."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], "").strip() or match[0], text)


def values_of(service: KnownGateway, base_url: str, headers: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the placeholders in a filled-in address and headers."""
    match = recognise(base_url, (service,))
    values = dict(match.values) if match is not None else {}
    for name, template in service.headers.items():
        values |= _match(template, headers.get(name, ""), r".+") or {}
    return values


def filling_problem(name: str, value: str) -> str:
    """Return why ``value`` cannot replace that placeholder in an address, in words; empty if it can."""
    if not value.strip():
        return f"Fill in {name} first."
    if not _PLACEHOLDER_VALUE.fullmatch(value.strip()):
        return f"{name} may hold letters, digits, full stops, hyphens and underscores."
    return ""


# ---- a person's own services -----------------------------------------------------------------------------------------


class KnownGateways(JsonListStore[KnownGateway]):
    """The shipped services and a person's own, which replace shipped ones of the same id. No file holds a secret."""

    member = "services"
    noun = "service"
    error = ProfileError

    @property
    def all(self) -> tuple[KnownGateway, ...]:
        """All services by name."""
        own = {service.id for service in self._items}
        rest = [service for service in shipped() if service.id not in own]
        return tuple(sorted((*self._items, *rest), key=lambda service: service.name.casefold()))

    def get(self, item_id: str) -> KnownGateway | None:
        """Return the service of that id (``Profile.service``), or None."""
        return super().get(item_id) or next((service for service in shipped() if service.id == item_id), None)

    def put(self, service: KnownGateway) -> KnownGateway:
        """Save an own service, in place of the one of its id. Raises ProfileError with the words of ``own_problem``."""
        if problem := own_problem(service):
            raise ProfileError(problem)
        update = {"own": True, "base_url": _clean_base_url(service), "name": service.name.strip()}
        service = service.model_copy(update=update)
        self.save([*(item for item in self._items if item.id != service.id), service])
        return service

    def _read(self, entry: Any) -> KnownGateway:
        service = KnownGateway.model_validate(entry)
        _check_base_url(service)
        return service.model_copy(update={"own": True})

    def _write(self, item: KnownGateway) -> JSONObject:
        return encode(item, _is_set)


def services_near(gateways: Path) -> KnownGateways:
    """Return the services whose file is next to the file ``gateways``. Blocks for two small files."""
    return KnownGateways(gateways.with_name("known-gateways.json"))


def _is_set(name: str, info: FieldInfo, item: Any) -> bool:
    return name != "own" and item != info.get_default(call_default_factory=True, validated_data={})


def _clean_base_url(service: KnownGateway) -> str:
    """Return the base URL without a query or fragment, which may hold a key; placeholders stay."""
    stand_ins = {name: f"blank{uuid4().hex}" for name in service.placeholders}
    base = repair(filled(service.base_url, stand_ins))[0]
    for name, text in stand_ins.items():
        base = base.replace(text, f"{{{name}}}")
    return base


def own_problem(service: KnownGateway) -> str:
    """Return why an own service cannot be saved, in words for people; empty if it can."""
    if not service.name.strip():
        return "Enter a name."
    try:
        _check_base_url(service)
    except ValueError as error:
        return str(error)
    for name, value in service.headers.items():
        if looks_secret(name, value) or secret_in({name: value}):
            return f"The header “{name}” looks like a secret, and the list of services is saved in a file."
    return next(iter(problems_of(service).values()), "")


def _check_base_url(service: KnownGateway) -> None:
    """Raise ValueError, in words for people, for an invalid base URL."""
    repair(filled(service.base_url, dict.fromkeys(service.placeholders, "x")))


def _page_problem(url: str) -> str:
    """Return why an address of the page where keys are made cannot be saved; empty if it can."""
    if not is_page(url):
        return "The page where keys are made starts with https://, followed by a host."
    parts = urlsplit(url)
    fields = parse_qsl(f"{parts.query}&{parts.fragment}")
    if "@" in parts.netloc or any(looks_secret(name, value) for name, value in fields):
        return "The address of the page where keys are made holds a key or a password. Take it out."
    return ""
