"""Gateways on this computer: what answers at the ports that known servers usually listen on, and what it is.

Asked for by a person, never by itself. Loopback only; one GET of a model list each, without a key, and nothing of the
environment's proxies. Whatever else listens there may say what it likes: it is cut short, and named as what it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from playground.domain.errors import Failure, FailureKind
from playground.engine.gateways.profiles import Profile, resolve_address
from playground.engine.gateways.reach import Reach, reach_of
from playground.engine.gateways.services import KnownGateway, Signature
from playground.gateway.address import DEFAULT_PORTS, is_loopback
from playground.gateway.client import is_listening
from playground.gateway.connection import Connection, Timeouts
from playground.jsonkit.texts import cut

if TYPE_CHECKING:
    from playground.gateway.models import Model, ModelList
    from playground.gateway.tape import Exchange

SECONDS: Final = 0.5  # for one list
_LARGEST: Final = 4 * 1024 * 1024  # bytes of a list
_HOSTS: Final = ("127.0.0.1", "[::1]")
_USUAL: Final = "/v1"  # where most servers have their list
_LONGEST: Final = 200  # characters of what somebody else said


class Kind(StrEnum):
    """What answers."""

    GATEWAY = "gateway"  # it listed its models
    KEY = "key"  # it wants a key first
    ERROR = "error"  # it speaks of errors as gateways do, or has one of its own
    SILENT = "silent"  # it took the connection, and the time was over before its list
    OTHER = "other"  # something that is no gateway


@dataclass(frozen=True)
class Found:
    """Something that answers at ``base_url``.

    ``known`` is what it is: one that is ``sure`` by what it answered, else all that usually listen there. ``models`` is
    the number that it listed, at least that where the list was ``cut``. ``words`` are on what it said instead of a
    list. ``saved`` is the gateway of that address that is set up already.
    """

    base_url: str
    kind: Kind
    known: tuple[KnownGateway, ...] = ()
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
class _Place:
    """A port of this computer, and the paths below which a list may be, the usual one first."""

    scheme: str
    port: int
    paths: tuple[str, ...]


async def look_nearby(
    among: Iterable[KnownGateway],
    profiles: Sequence[Profile],
    tell: Callable[[Found], None],
    *,
    besides: Collection[str] = (),
    seconds: float = SECONDS,
) -> None:
    """Look at the ports of those ``among``, and of the ``profiles`` of this computer; ``tell`` is called for each find.

    A server that answers under both names of this computer is told once. Addresses that are among ``besides`` are left
    out. ``seconds`` is the time that one list may take.
    """
    known = tuple(among)
    at_port = partial(_at_port, known=known, profiles=profiles, tell=tell, besides=besides, seconds=seconds)
    async with asyncio.TaskGroup() as group:
        for place in _places(known, profiles):
            group.create_task(at_port(place))


def _places(known: Iterable[KnownGateway], profiles: Iterable[Profile]) -> tuple[_Place, ...]:
    """Where to look, each port once, in the order they are known."""
    paths: dict[tuple[str, int], list[str]] = {}
    for one in known:
        for port in one.ports:
            paths.setdefault(("http", port), []).append(urlsplit(one.base_url).path)
    for url in (*(one.base_url for one in known), *(profile.base_url for profile in profiles)):
        if "{" not in url and (where := _loopback(url)) is not None:
            scheme, port, path = where
            paths.setdefault((scheme, port), []).append(path)
    return tuple(
        _Place(scheme, port, tuple(dict.fromkeys((_USUAL, *(path.rstrip("/") for path in found)))))
        for (scheme, port), found in paths.items()
    )


def _loopback(url: str) -> tuple[str, int, str] | None:
    """Scheme, port and path of an address of this computer; None for another, and for one that cannot be read."""
    try:
        base = resolve_address(url).base
    except ValueError:
        return None
    parts = urlsplit(base)
    return (parts.scheme, parts.port or DEFAULT_PORTS[parts.scheme], parts.path) if is_loopback(base) else None


async def _at_port(
    place: _Place,
    known: tuple[KnownGateway, ...],
    profiles: Sequence[Profile],
    tell: Callable[[Found], None],
    besides: Collection[str],
    seconds: float,
) -> None:
    hosts = [host for host in _HOSTS if f"{place.scheme}://{host}:{place.port}" not in besides]
    seen: list[tuple[object, ...]] = []
    for found, said in filter(None, await asyncio.gather(*(_at(place, host, known, seconds) for host in hosts))):
        alike = (found.kind, found.models, said, urlsplit(found.base_url).path)
        if alike not in seen:
            seen.append(alike)
            where = _loopback(found.base_url)
            saved = next((one for one in profiles if _loopback(one.base_url) == where), None)
            tell(replace(found, saved=saved))


async def _at(place: _Place, host: str, known: tuple[KnownGateway, ...], seconds: float) -> tuple[Found, object] | None:
    """What answers at one address, and what tells it from the same server under another name; None for nothing."""
    from playground.gateway.client import GatewayClient

    if not await is_listening(host.strip("[]"), place.port, seconds):
        return None
    usual = tuple(one for one in known if _is_usual(one, place))
    first: tuple[Found, object] | None = None
    for path in place.paths:
        base = f"{place.scheme}://{host}:{place.port}{path}"
        times = Timeouts(connect=seconds, first=seconds, idle=seconds, settle=seconds, total=seconds)
        made = Connection(base_url=base, timeouts=times, max_body_bytes=_LARGEST, max_event_bytes=_LARGEST)
        async with GatewayClient(made) as client:
            listed = await client.list_models(pages=1)
        if not listed.exchanges or listed.exchanges[0].connected is None:
            return first
        found = await asyncio.to_thread(_read, base, listed, known, usual)
        if found.kind is not Kind.OTHER:
            return found, listed.ids
        first = first or (found, found.words.replace(host, ""))
    return first


def _is_usual(known: KnownGateway, place: _Place) -> bool:
    where = _loopback(known.base_url) if "{" not in known.base_url else None
    return place.port in known.ports or (where is not None and where[:2] == (place.scheme, place.port))


def _read(base: str, listed: ModelList, known: tuple[KnownGateway, ...], usual: tuple[KnownGateway, ...]) -> Found:
    """What a list, or what came instead of one, tells."""
    exchange = listed.exchanges[0]
    headers = {name.lower(): value for name, value in exchange.response_headers}
    signed = tuple(one for one in known if any(_fits(it, headers, listed.models) for it in one.signatures))
    # One that is made of another answers as that does: the port tells which.
    told = tuple(one for one in signed if one in usual) or signed
    kind, words = _kind(listed.failure, exchange)
    return Found(
        base_url=base,
        kind=kind,
        known=told[:1] or usual,
        sure=bool(told),
        models=len(listed.models),
        cut=listed.cut,
        words=cut(words, _LONGEST),
    )


def _fits(signature: Signature, headers: Mapping[str, str], models: Sequence[Model]) -> bool:
    if signature.header:
        value = headers.get(signature.header.lower())
        if value is None or not value.lower().startswith(signature.said.lower()):
            return False
    if signature.owner or signature.member:
        entries = (model.raw for model in models if isinstance(model.raw, dict))
        owner, member = signature.owner.lower(), signature.member
        return any(
            (not owner or str(entry.get("owned_by", "")).lower() == owner) and (not member or member in entry)
            for entry in entries
        )
    return bool(signature.header)


def _kind(failure: Failure | None, exchange: Exchange) -> tuple[Kind, str]:
    """What an answer is, and in words why it is no list."""
    content_type = exchange.content_type or ""
    if failure is None:
        return Kind.GATEWAY, ""
    if reach_of(failure) is Reach.REFUSED:
        return Kind.KEY, failure.message
    if exchange.status is None and failure.kind in (FailureKind.TIMEOUT_FIRST, FailureKind.TIMEOUT_TOTAL):
        return Kind.SILENT, "It took the connection and said nothing in time."
    if failure.kind in (FailureKind.TIMEOUT_FIRST, FailureKind.TIMEOUT_IDLE, FailureKind.TIMEOUT_TOTAL):
        return Kind.SILENT, "It began to answer and was not done in time."
    if failure.kind is FailureKind.TLS:
        return Kind.ERROR, failure.message
    if failure.kind is FailureKind.HTTP:
        of_json = "json" in content_type
        if (failure.status or 0) >= 500 or (of_json and failure.status not in (404, 405)):
            return Kind.ERROR, f"It answers with HTTP {failure.status}: {failure.message}"
        return Kind.OTHER, f"It has no model list (HTTP {failure.status})."
    if failure.kind is FailureKind.DECODE and "html" in content_type:
        return Kind.OTHER, "A web page answers."
    if failure.kind is FailureKind.DECODE:
        return Kind.OTHER, "What it answers is no model list."
    return Kind.OTHER, failure.message
