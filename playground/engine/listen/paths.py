"""Where a request of a program goes: the path below the proxy's address, and the address at the gateway."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from playground.gateway.address import DEFAULT_PORTS, is_loopback
from playground.protocols import DEFAULT, PROTOCOLS
from playground.protocols.protocol import get_protocol, protocol_at

#: First segments of paths that belong below the gateway's base URL, also where a program leaves /v1 out.
_RESOURCES: Final = frozenset(
    {
        *(get_protocol(name).endpoint.partition("/")[0] for name in PROTOCOLS),
        *("completions", "models", "embeddings", "files", "audio", "images", "batches", "moderations"),
        *("conversations", "uploads", "fine_tuning", "vector_stores", "realtime"),
    }
)
_VERSION: Final = re.compile(r"/v\d+[a-z0-9.]*$", re.IGNORECASE)
_LEADING_VERSIONS: Final = re.compile(r"(?:/v1)+(?=/|$)")


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a request.

    ``path`` and ``query`` are as the program sent them, below the proxy's address. ``protocol`` is that of the
    endpoint, empty for another path; ``family`` is the protocol whose key header and error shape the path has.
    """

    path: str
    query: str
    url: str
    protocol: str
    family: str
    notes: tuple[str, ...] = ()


def target_of(base: str, method: str, path: str, query: str) -> Target:
    """Return where a path below the proxy's address goes at the gateway with the base URL ``base``.

    Programs are given the address with or without ``/v1``; both spellings of a path reach the same endpoint.
    """
    path = path or "/"  # the address alone, as some programs probe it
    versions = _LEADING_VERSIONS.match(path)
    below = path[versions.end() :] if versions is not None else path
    resource = below.strip("/").partition("/")[0]
    notes: list[str] = []
    if versions is not None and versions[0] != "/v1":
        notes.append(f"The program doubled the version in its path ({path[:100]}); it was passed on once.")
    is_understood = resource in _RESOURCES
    if versions is not None or is_understood:
        url = base + below
    else:
        url = _VERSION.sub("", base) + path
    if not is_understood:
        notes.append("This path is not understood here. It was passed on unchanged.")
    protocol = protocol_at(below) if method == "POST" else ""
    return Target(
        path=path,
        query=query,
        url=f"{url}?{query}" if query else url,
        protocol=protocol,
        family=protocol or _family(resource),
        notes=tuple(notes),
    )


def is_loop(base: str, port: int) -> bool:
    """Return whether a base URL leads to this port of this computer."""
    parts = urlsplit(base)
    return is_loopback(base) and (parts.port or DEFAULT_PORTS.get(parts.scheme)) == port


def _family(resource: str) -> str:
    endpoints = {get_protocol(name).endpoint.partition("/")[0]: name for name in PROTOCOLS}
    return endpoints.get(resource, DEFAULT)
