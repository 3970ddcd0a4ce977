"""Search for gateways on this computer, at the usual ports of known servers.

It runs only when a person asks for it, on loopback addresses only: one GET of a model list each, without a key or
proxy. Other programs may listen there; their answers are cut short and named for what they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from playground.domain.errors import Failure, FailureGroup, FailureKind
from playground.engine.gateways.profiles import Profile, resolve_address
from playground.engine.gateways.reach import Reach, reach_of
from playground.engine.gateways.services import KnownGateway
from playground.gateway.address import DEFAULT_PORTS, is_loopback
from playground.gateway.client import is_listening
from playground.gateway.connection import Connection, Timeouts
from playground.jsonkit.texts import cut

if TYPE_CHECKING:
    from playground.gateway.models import ModelList
    from playground.gateway.tape import Exchange

SECONDS: Final = 0.5  # for one list
_MAX_LIST_BYTES: Final = 4 * 1024 * 1024
_MAX_WORDS: Final = 200  # characters of a foreign message
_HOSTS: Final = ("127.0.0.1", "[::1]")
_USUAL_PATH: Final = "/v1"


class LocalKind(StrEnum):
    """The kind of an answer."""

    GATEWAY = "gateway"  # a model list
    KEY = "key"  # a refusal without a key
    ERROR = "error"  # an error like those of gateways
    SILENT = "silent"  # the connection was accepted, and no list arrived in time
    NO_GATEWAY = "other"  # not a gateway


@dataclass(frozen=True)
class LocalGateway:
    """A server that answers at ``base_url``.

    ``services`` is the one that its answer identifies if it is ``sure``, else those that usually have its port.
    ``models`` is the number of listed models, a minimum if the list is ``cut``. ``words`` describe an answer that is no
    list. ``saved`` is the profile with that address, if any.
    """

    base_url: str
    kind: LocalKind
    services: tuple[KnownGateway, ...] = ()
    sure: bool = False
    models: int = 0
    cut: bool = False
    words: str = ""
    saved: Profile | None = None

    @property
    def place(self) -> str:
        """Host and port."""
        return urlsplit(self.base_url).netloc


@dataclass(frozen=True)
class _Port:
    """A port of this computer, and the paths of possible lists, the usual one first."""

    scheme: str
    port: int
    paths: tuple[str, ...]


@dataclass(frozen=True)
class _Search:
    services: tuple[KnownGateway, ...]
    profiles: Sequence[Profile]
    excluded: Collection[str]
    seconds: float


async def find_local_gateways(
    services: Iterable[KnownGateway],
    profiles: Sequence[Profile],
    notify: Callable[[LocalGateway], None],
    *,
    excluded: Collection[str] = (),
    seconds: float = SECONDS,
) -> None:
    """Search the ports of ``services``, and those of local ``profiles``; ``notify`` is called for each match.

    A server that answers on both loopback addresses is reported once. Addresses in ``excluded`` are not asked.
    ``seconds`` is the time limit for one list.
    """
    search = _Search(tuple(services), profiles, excluded, seconds)
    async with asyncio.TaskGroup() as group:
        for port in _ports(search):
            group.create_task(_search_port(search, port, notify))


def _ports(search: _Search) -> tuple[_Port, ...]:
    """Return the ports to search, each once, in the order of the services."""
    paths: dict[tuple[str, int], list[str]] = {}
    for service in search.services:
        for port in service.ports:
            paths.setdefault(("http", port), []).append(urlsplit(service.base_url).path)
    urls = [service.base_url for service in search.services] + [profile.base_url for profile in search.profiles]
    for url in urls:
        if (address := _loopback(url)) is not None:
            scheme, port, path = address
            paths.setdefault((scheme, port), []).append(path)
    return tuple(
        _Port(scheme, port, tuple(dict.fromkeys((_USUAL_PATH, *(path.rstrip("/") for path in values)))))
        for (scheme, port), values in paths.items()
    )


def _loopback(url: str) -> tuple[str, int, str] | None:
    """Return scheme, port and path of an address of this computer; None for another, or an invalid one."""
    try:
        base = "" if "{" in url else resolve_address(url).base
    except ValueError:
        return None
    if not base or not is_loopback(base):
        return None
    parts = urlsplit(base)
    return parts.scheme, parts.port or DEFAULT_PORTS[parts.scheme], parts.path


async def _search_port(search: _Search, port: _Port, notify: Callable[[LocalGateway], None]) -> None:
    hosts = [host for host in _HOSTS if f"{port.scheme}://{host}:{port.port}" not in search.excluded]
    answers = await asyncio.gather(*(_search_host(search, port, host) for host in hosts))
    seen: list[tuple[object, ...]] = []
    for match, content in filter(None, answers):
        identity = (match.kind, match.models, content, urlsplit(match.base_url).path)
        if identity not in seen:
            seen.append(identity)
            address = _loopback(match.base_url)
            saved = next((profile for profile in search.profiles if _loopback(profile.base_url) == address), None)
            notify(replace(match, saved=saved))


async def _search_host(search: _Search, port: _Port, host: str) -> tuple[LocalGateway, object] | None:
    """Return the server at one address with its content, by which it is recognised at the other; None for none."""
    from playground.gateway.client import GatewayClient

    if not await is_listening(host.strip("[]"), port.port, search.seconds):
        return None
    limit = search.seconds
    timeouts = Timeouts(connect=limit, first=limit, idle=limit, settle=limit, total=limit)
    first: tuple[LocalGateway, object] | None = None
    for path in port.paths:
        connection = Connection(
            base_url=f"{port.scheme}://{host}:{port.port}{path}",
            timeouts=timeouts,
            max_body_bytes=_MAX_LIST_BYTES,
            max_event_bytes=_MAX_LIST_BYTES,
        )
        async with GatewayClient(connection) as client:
            listing = await client.list_models(pages=1)
        if not listing.exchanges or listing.exchanges[0].connected is None:
            return first
        match = await asyncio.to_thread(_read_listing, connection.base_url, listing, search.services, port)
        if match.kind is not LocalKind.NO_GATEWAY:
            return match, listing.ids
        first = first or (match, match.words.replace(host, ""))
    return first


def _read_listing(base_url: str, listing: ModelList, services: tuple[KnownGateway, ...], port: _Port) -> LocalGateway:
    usual = tuple(service for service in services if _has_port(service, port))
    headers = listing.exchanges[0].response_headers
    entries = [model.raw for model in listing.models]
    signed = tuple(service for service in services if service.bears_signature(headers, entries))
    # A server that is built on another one has its signature, too: the port decides.
    identified = tuple(service for service in signed if service in usual) or signed
    kind, words = _kind(listing.failure, listing.exchanges[0])
    return LocalGateway(
        base_url=base_url,
        kind=kind,
        services=identified[:1] or usual,
        sure=bool(identified),
        models=len(listing.models),
        cut=listing.cut,
        words=cut(words, _MAX_WORDS),
    )


def _has_port(service: KnownGateway, port: _Port) -> bool:
    address = _loopback(service.base_url)
    return port.port in service.ports or (address is not None and address[:2] == (port.scheme, port.port))


def _kind(failure: Failure | None, exchange: Exchange) -> tuple[LocalKind, str]:
    """Return the kind of an answer, and the reason why it is no list."""
    content_type = exchange.content_type or ""
    if failure is None:
        return LocalKind.GATEWAY, ""
    if reach_of(failure) is Reach.REFUSED:
        return LocalKind.KEY, failure.message
    if failure.group is FailureGroup.TIMEOUT:
        if exchange.status is None and failure.kind is not FailureKind.TIMEOUT_IDLE:
            return LocalKind.SILENT, "It accepted the connection and did not answer in time."
        return LocalKind.SILENT, "It began to answer and did not finish in time."
    if failure.group is FailureGroup.TLS:
        return LocalKind.ERROR, failure.message
    if failure.kind is FailureKind.HTTP:
        has_json = "json" in content_type
        if failure.group is FailureGroup.GATEWAY or (has_json and failure.status not in (404, 405)):
            return LocalKind.ERROR, f"It answers with HTTP {failure.status}: {failure.message}"
        return LocalKind.NO_GATEWAY, f"It has no model list (HTTP {failure.status})."
    if failure.kind is FailureKind.DECODE:
        is_page = "html" in content_type
        return LocalKind.NO_GATEWAY, "A web page answers." if is_page else "What it answers is no model list."
    return LocalKind.NO_GATEWAY, failure.message
