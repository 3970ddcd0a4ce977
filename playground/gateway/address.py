"""Reads a typed base URL, with each repair in words, and gives the URLs of endpoints.

The base URL ends in the version segment, and endpoint paths are appended to it (specification, section 1).
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

from playground.domain.errors import CausedError, FailureCause
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol

_SPOKEN = tuple(f"/{get_protocol(name).endpoint}" for name in PROTOCOLS)
#: Endpoint paths that people paste with the base; one that ends like another is before it.
ENDPOINTS = (*_SPOKEN, "/completions", "/models")

DEFAULT_PORTS = {"http": 80, "https": 443}
LONGEST = 8_000  # characters of a base URL: the limit of servers and proxies for a line

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*):/+")
_VERSION = re.compile(r"/v\d+[a-z0-9.]*(/|$)", re.IGNORECASE)
_REPEATED_VERSION = re.compile(r"(/v\d+)(?:\1)+(?=/|$)", re.IGNORECASE)
#: An endpoint's path with more behind it; /models alone may be part of a provider's own path.
_PASTED = re.compile(rf"({'|'.join(ENDPOINTS[:-1])}|/models(?=/v\d|{'|'.join(_SPOKEN)}|/models))(?:/|$)", re.IGNORECASE)
_HOST = re.compile(r"^[^\s<>\"{}|\\^`%/?#@]+$")


class AddressError(CausedError):
    """An address cannot be used; the text is for people."""

    def __init__(self, message: str) -> None:
        super().__init__(FailureCause.ADDRESS, message)


@dataclass(frozen=True)
class Address:
    """A usable base URL, the URL of its model list, and the repairs that were made.

    ``suggestion`` is another base URL worth trying ("" if there is none), and ``note`` the reason.
    """

    base: str
    models: str
    repairs: tuple[str, ...] = ()
    suggestion: str = ""
    note: str = ""

    def endpoint(self, path: str) -> str:
        """Return the URL of an endpoint path below the base."""
        return f"{self.base}/{path.lstrip('/')}"


@lru_cache(maxsize=64)  # every request calls it
def resolve(base_url: str) -> Address:
    """Read ``base_url`` as typed. Raises ValueError, in words for people, for an unusable one."""
    base, repairs = repair(base_url)
    suggestion = note = ""
    if not _VERSION.search(urlsplit(base).path):
        suggestion = f"{base}/v1"
        note = f"The address has no version segment. Most gateways expect {suggestion}."
    return Address(
        base=base,
        models=f"{base}/models",
        repairs=repairs,
        suggestion=suggestion,
        note=note,
    )


def repair(base_url: str) -> tuple[str, tuple[str, ...]]:
    """Return the base URL in its plain form and the repairs. Raises ValueError like ``resolve``."""
    repairs: list[str] = []
    text = base_url.strip().strip("\"'<>`").strip()
    if text != base_url:
        repairs.append("removed spaces or quotes around the address")
    if len(text) > LONGEST:
        raise AddressError(
            f"The base URL is {len(text):,} characters long, more than the {LONGEST:,} that can be used."
        )
    if not text:
        raise AddressError("Enter the gateway's base URL, such as https://gateway.example/v1.")
    if re.search(r"[\s\x00-\x1f\x7f]", text):
        raise AddressError("The base URL has a space or a line break inside. Remove it.")
    text = _with_scheme(text, repairs)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise AddressError("The base URL has a host or port that cannot be read. Ports go from 0 to 65535.") from None
    if "@" in parts.netloc:
        raise AddressError("The base URL has a user name or password in it. Remove it; a key goes into the key field.")
    host = parts.hostname or ""
    if not host or not _HOST.match(host):
        raise AddressError("The base URL has no host name. It looks like https://gateway.example/v1.")
    if parts.query or "?" in text.split("#")[0]:
        repairs.append("removed the part from “?” on")
    if parts.fragment or "#" in text:
        repairs.append("removed the part from “#” on")
    host = f"[{host}]" if ":" in host else host
    netloc = host if port is None else f"{host}:{port}"
    return f"{parts.scheme}://{netloc}{_plain_path(parts, repairs)}", tuple(repairs)


def _with_scheme(text: str, repairs: list[str]) -> str:
    """Return ``text`` with http:// or https:// in front and in lower case."""
    match = _SCHEME.match(text)
    if match is None:
        bare = text.removeprefix("//")
        scheme = "http" if is_loopback(f"http://{bare}") else "https"
        repairs.append(f"added {scheme}://")
        return f"{scheme}://{bare}"
    scheme, rest = match[1].lower(), text[match.end() :]
    if scheme not in DEFAULT_PORTS:
        raise AddressError(f"A base URL starts with https:// or http://, not {scheme}://.")
    if not match[0].endswith("://") or match[0].endswith(":///"):
        repairs.append(f"corrected the slashes after {scheme}:")
    return f"{scheme}://{rest}"


def _plain_path(parts: SplitResult, repairs: list[str]) -> str:
    """Return the path without trailing slashes, pasted endpoints and doubled versions."""
    path = parts.path
    if path.rstrip("/") != path:
        if path.strip("/"):
            repairs.append("removed the trailing slash")
        path = path.rstrip("/")
    if "//" in path:
        repairs.append("joined doubled slashes")
        path = re.sub("/+", "/", path)
    while pasted := next((end for end in ENDPOINTS if path.lower().endswith(end)), ""):
        repairs.append(f"removed {pasted}, which is added by itself")
        path = path[: -len(pasted)].rstrip("/")
    if doubled := _REPEATED_VERSION.search(path):
        repairs.append(f"replaced {doubled[0]} with {doubled[1]}")
        path = _REPEATED_VERSION.sub(r"\1", path)
    return path


def doubled(base: str) -> str:
    """Return a part that a repaired base seems to have twice, in words that explain a 404; "" if there is none."""
    path = urlsplit(base).path
    if pasted := _PASTED.search(path):
        return f"The address holds {pasted[1]}, which is added by itself."
    if len(list(_VERSION.finditer(path))) > 1:
        return f"The address names a version more than once ({path})."
    return ""


def candidates(base: str) -> tuple[str, ...]:
    """Return similar base URLs on the same origin, the likeliest first.

    They have a version segment if it is missing, or lack an endpoint's path and the rest behind it, a second version,
    or any version; the last one is the origin with the usual version.
    """
    parts = urlsplit(base)
    start, path = f"{parts.scheme}://{parts.netloc}", parts.path
    paths: list[str] = []
    if pasted := _PASTED.search(path):
        path = path[: pasted.start()]
        paths.append(path)
    versions = list(_VERSION.finditer(path))
    if not versions:
        paths.append(f"{path}/v1")
    elif len(versions) > 1:
        paths += [path[: versions[0].end()].rstrip("/"), path[: versions[0].start()] + path[versions[-1].start() :]]
    else:
        paths.append(path[: versions[0].start()])
    urls = (start + path for path in (*paths, "/v1"))
    return tuple(dict.fromkeys(url for url in urls if url != base))


def is_loopback(url: str) -> bool:
    """Return whether ``url`` names this machine: localhost, 127.0.0.0/8, ::1 or an unspecified address."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").lower()
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(number, "ipv4_mapped", None)
    number = mapped or number
    return number.is_loopback or number.is_unspecified


def origin(url: str) -> str:
    """Return scheme, host and port in one spelling, to bind a key to. Raises ValueError if there is no host."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    if not host:
        raise AddressError("The address has no host name.")
    host = f"[{host}]" if ":" in host else host
    port = parts.port if parts.port is not None else DEFAULT_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}:{port}"


def needs_consent(url: str) -> bool:
    """Return whether a key sent to ``url`` could be read on the way: http to a host that is not this machine."""
    return urlsplit(url).scheme == "http" and not is_loopback(url)
