"""Services and servers that speak the protocols, as data: ``resources/gateways.json``, and a person's own beside it.

Everything that is known of a vendor stands there, with its source and date; no code knows one. A service is reached at
a base URL of its own; a server runs on the person's computer, at ports that are usual for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final
from urllib.parse import urlsplit

from pydantic import Field, TypeAdapter

from playground.domain.adaptations import Adaptation
from playground.domain.values import Value
from playground.engine.io.resources import resource_root
from playground.gateway.address import DEFAULT_PORTS, is_loopback, repair
from playground.gateway.connection import Auth
from playground.jsonkit.values import JSON, JSONObject

_LARGEST: Final = 1024 * 1024  # bytes of the list
_LONGEST: Final = 2_000  # characters of what is looked for; nobody types more, and no address of a service is longer
_MOST_NAMES: Final = 3  # in braces that an address is looked through for: each more takes as many times as long
_BRACED: Final = re.compile(r"\{(\w+)\}")
_FILLING: Final = re.compile(r"[\w.~-]+", re.ASCII)
_LAST_VERSION: Final = re.compile(r"/v\d+[a-z0-9.]*$", re.IGNORECASE)


class Signature(Value):
    """What tells a server by what it answers; all that is not empty has to fit, letters of any case.

    ``header`` is the name of a response header, ``said`` what its value begins with. ``owner`` is the ``owned_by`` of
    an entry of its model list. ``member`` is the name of a member that an entry has.
    """

    header: str = ""
    said: str = ""
    owner: str = ""
    member: str = ""


class Details(Value):
    """Where a server tells more of its models than its list does: asked with GET, or POST with ``body``.

    ``path`` is laid on the origin when it begins with a slash, else on the base URL. In ``path`` and ``body`` the text
    ``{model}`` stands for a model's id: then each model is asked about by itself, and only when it is looked at.
    In the list, ``source`` beside them is where that is from; and ``price_source`` where ``price_tokens`` is.
    """

    path: str = Field(min_length=1)
    body: str = ""


class KnownGateway(Value):
    """One service or server.

    ``base_url`` may hold names in braces that a person fills in (``https://{resource}.example/v1``). ``hosts`` are
    those by which a pasted address is recognised, besides that of the base URL; ``*.`` before one stands for whatever
    comes before it. ``protocols`` says how the key is sent on each protocol that it speaks. ``headers`` have to go with
    every request. ``key_variables`` are the usual variables of the environment, ``keys_url`` the page on which keys are
    made; ``keyless`` says that it usually wants none. ``ports`` are those on which it usually listens on this computer,
    ``signatures`` what tells it there, any of them. ``adaptations`` are what it is known to refuse. ``details`` are
    where it tells more of its models, tried in their order; ``price_tokens`` is for how many tokens the prices of its
    list are where their names do not say it, 0 where nobody knows. ``note`` is a sentence for people. ``source`` is
    where all this is from, ``date`` the day it was looked up. ``own`` marks a person's own.
    """

    id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    base_url: str
    hosts: tuple[str, ...] = ()
    protocols: dict[str, Auth] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    key_variables: tuple[str, ...] = ()
    keys_url: str = ""
    keyless: bool = False
    ports: tuple[int, ...] = ()
    signatures: tuple[Signature, ...] = ()
    adaptations: tuple[Adaptation, ...] = ()
    details: tuple[Details, ...] = ()
    price_tokens: int = Field(default=0, ge=0)
    note: str = ""
    source: str = ""
    date: str = ""
    own: bool = Field(default=False, exclude=True)

    def tells(self, headers: Iterable[tuple[str, str]], entries: Iterable[JSON]) -> bool:
        """Whether a list with these headers and entries bears one of its signatures."""
        said = {name.casefold(): value.casefold() for name, value in headers}
        of_models = [one for one in entries if isinstance(one, dict)]
        return any(_bears(said, of_models, one) for one in self.signatures)


def _bears(said: dict[str, str], entries: list[JSONObject], sign: Signature) -> bool:
    if sign == Signature():
        return False
    if sign.header and not said.get(sign.header.casefold(), "").startswith(sign.said.casefold()):
        return False
    if sign.header and sign.header.casefold() not in said:
        return False
    if sign.owner and not any(str(one.get("owned_by")).casefold() == sign.owner.casefold() for one in entries):
        return False
    return not sign.member or any(sign.member in one for one in entries)


class Recognised(Value):
    """Which service an address is one of, the base URL that is meant, and what is known of the names in braces."""

    known: KnownGateway
    base_url: str
    values: dict[str, str] = Field(default_factory=dict)


@cache
def shipped() -> tuple[KnownGateway, ...]:
    """Those that come with the application, in the order of their names. Reads one small file, once."""
    import json

    from playground.named_file import read_named

    content = json.loads(read_named(resource_root() / "gateways.json", _LARGEST))
    found = TypeAdapter(tuple[KnownGateway, ...]).validate_python(content["gateways"])
    return tuple(sorted(found, key=lambda one: one.name.casefold()))


def host_of(known: KnownGateway) -> str:
    """Host and port of the base URL, the names in braces among it."""
    return known.base_url.partition("://")[2].partition("/")[0]


def is_page(url: str) -> bool:
    """Whether ``url`` may be opened in a browser: one of https, whatever a file says that was edited by hand."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname)


def find(text: str, among: Iterable[KnownGateway]) -> tuple[KnownGateway, ...]:
    """Those that every word of ``text`` is a part of: by name, id or a host. Names that begin with it come first."""
    words = text[:_LONGEST].casefold().split()
    if not words:
        return ()
    found = [
        (_rank(known, words[0]), number, known)
        for number, known in enumerate(among)
        if all(word in " ".join((known.name, known.id, host_of(known), *known.hosts)).casefold() for word in words)
    ]
    return tuple(known for _, _, known in sorted(found, key=lambda one: one[:2]))


def _rank(known: KnownGateway, word: str) -> int:
    name = known.name.casefold()
    if name.startswith(word):
        return 0
    return 1 if any(one.startswith(word) for one in name.split()) else 2 if word in name else 3


def recognise(text: str, among: Iterable[KnownGateway]) -> Recognised | None:
    """The service that a pasted address is one of: its base URL, an endpoint, a page of its site; None for none.

    A server on this computer is told by its port, where that is usual for one alone.
    """
    try:
        repaired = repair(text[:_LONGEST])[0]
        parts = urlsplit(repaired)
    except ValueError:
        return None
    host = (parts.hostname or "").removeprefix("www.").rstrip(".")
    known = tuple(among)
    if is_loopback(repaired):
        here = [one for one in known if is_loopback(one.base_url) and _port(one.base_url) == _port(repaired)]
        return Recognised(known=here[0], base_url=_meant(repaired, here[0], {}, True)) if len(here) == 1 else None
    for one in known:
        values = _match(host_of(one).partition(":")[0], host, r"[\w-]+")
        if values is not None and _port(repaired) == _port(one.base_url):
            path = _match(urlsplit(one.base_url).path, parts.path, r"[^/]+", whole=False) or {}
            return Recognised(known=one, base_url=_meant(repaired, one, values | path, True), values=values | path)
    for one in known:
        if parts.port is None and any(host == name or _is_below(host, name) for name in one.hosts):
            return Recognised(known=one, base_url=_meant(repaired, one, {}, False))
    return None


def _is_below(host: str, name: str) -> bool:
    return name.startswith("*.") and host.endswith(name[1:])


def _port(url: str) -> int | None:
    parts = urlsplit(_BRACED.sub("x", url))
    return parts.port or DEFAULT_PORTS.get(parts.scheme)


def _match(pattern: str, text: str, one: str, *, whole: bool = True) -> dict[str, str] | None:
    """What stands in ``text`` for the names in braces of ``pattern``; None where it does not fit."""
    pieces = _BRACED.split(pattern)
    if len(pieces) > 2 * _MOST_NAMES + 1:
        return None
    names: list[str] = []
    spelled = re.escape(pieces[0])
    for name, after in zip(pieces[1::2], pieces[2::2], strict=True):
        if name in names:  # it stands for the same wherever it is
            spelled += rf"(?:\{names.index(name) + 1})"
        else:
            names.append(name)
            spelled += f"({one})"
        spelled += re.escape(after)
    found = (re.fullmatch if whole else re.match)(spelled, text, re.IGNORECASE)
    return dict(zip(names, found.groups(), strict=True)) if found is not None else None


def _meant(repaired: str, known: KnownGateway, values: Mapping[str, str], same_host: bool) -> str:
    """The pasted address where it is another one of the service's interface, else the usual one.

    Several have more than one: for another protocol, another region, another contract.
    """
    usual = filled(known.base_url, values)
    path, base = urlsplit(repaired).path, urlsplit(_BRACED.sub("x", usual)).path
    if path == base and not same_host:
        return repaired
    if same_host and _LAST_VERSION.search(path) and not f"{path}/".startswith(f"{base}/"):
        return repaired
    return usual


def blanks(known: KnownGateway) -> tuple[str, ...]:
    """The names in braces that a person fills in, each once, in order."""
    return tuple(dict.fromkeys(_BRACED.findall(" ".join((known.base_url, *known.headers.values())))))


def filled(text: str, values: Mapping[str, str]) -> str:
    """A base URL or a header's value with what is known of the names in braces; others stay in their braces."""
    return _BRACED.sub(lambda found: values.get(found[1], "").strip() or found[0], text)


def values_of(known: KnownGateway, base_url: str, headers: Mapping[str, str]) -> dict[str, str]:
    """What stands for the names in braces in an address and headers that were filled in."""
    found = recognise(base_url, (known,))
    values = dict(found.values) if found is not None else {}
    for name, pattern in known.headers.items():
        values |= _match(pattern, headers.get(name, ""), r".+") or {}
    return values


def filling_problem(name: str, value: str) -> str:
    """Why ``value`` cannot stand for that name in an address, in words; empty when it can."""
    if not value.strip():
        return f"Fill in {name} first."
    if not _FILLING.fullmatch(value.strip()):
        return f"{name} may hold letters, digits, full stops, hyphens and underscores."
    return ""
