"""Which proxy the surroundings name for a gateway: the environment's variables, or the system's settings.

The one answer serves the client that connects and the words that are shown; the latter never hold its user name or
password. Nothing here opens a socket.
"""

from __future__ import annotations

import os
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from playground.gateway.address import is_loopback

#: How a proxy's address may begin. A SOCKS proxy looks up names itself, whichever of its two it is.
SCHEMES: Final = ("http", "https", "socks5", "socks5h")
_LONGEST_LOGIN: Final = 255  # bytes of a user name, and of a password, that a SOCKS proxy can be told


def proxy_url(url: str, given: str = "") -> str:
    """The proxy on the way to ``url``, credentials included and so never to be shown; "" when it goes straight there.

    One that is ``given`` is used for every address. Of the surroundings' loopback addresses and those in ``NO_PROXY``
    go straight.
    """
    from urllib.request import getproxies, proxy_bypass  # late: it brings an HTTP client of its own

    found = given.strip()
    if not found:
        parts = urlsplit(url)
        if is_loopback(url) or proxy_bypass(parts.netloc.rpartition("@")[2]):
            return ""
        proxies = getproxies()
        found = (proxies.get(parts.scheme) or proxies.get("all") or "").strip()
    scheme, there, rest = found.partition("://")
    if not there:
        return f"http://{found}" if found else ""
    # Desktops name a SOCKS proxy without saying which; version 5 is what is in use.
    return f"{'socks5' if scheme.lower() == 'socks' else scheme.lower()}://{rest}"


def read_proxy(typed: str) -> SplitResult:
    """The parts of a proxy's address, which is a host and a port. Raises ValueError in words, with no secret."""
    try:
        parts = urlsplit(proxy_url("", typed))
        port = parts.port
    except ValueError:
        raise ValueError("The proxy's address cannot be read. It looks like http://host:port.") from None
    beyond = parts.path.strip("/") or parts.query or parts.fragment
    if not parts.hostname or beyond or port == 0 or any(map(str.isspace, parts.netloc)):
        raise ValueError("The proxy's address is a host and a port, as in http://host:port.")
    if problem := scheme_problem(parts):
        raise ValueError(f"The proxy's address {problem}.")
    return parts


def scheme_problem(parts: SplitResult) -> str:
    """What is wrong with how a proxy's address begins, or with its login; "" when nothing. Goes on after its name."""
    if parts.scheme in ("socks4", "socks4a"):
        return (
            "is one of SOCKS 4, which is not supported. Most such proxies speak SOCKS 5, too: begin it with socks5://"
        )
    if parts.scheme not in SCHEMES:
        return f"begins with none of {', '.join(f'{scheme}://' for scheme in SCHEMES)}"
    for text in (parts.username, parts.password) if parts.scheme.startswith("socks") else ():
        if len(unquote(text or "").encode()) > _LONGEST_LOGIN:
            return "has a user name or a password longer than the 255 bytes that SOCKS can carry"
    return ""


def check_proxy(typed: str) -> str:
    """The address of a proxy as it may stand in a file, empty for none. Raises ValueError in words, with no secret."""
    if not typed.strip():
        return ""
    parts = read_proxy(typed)
    if "@" in parts.netloc:
        raise ValueError(
            "The proxy's address holds a user name or a password, and it is kept in a file. Take them out. A proxy "
            "that wants them is named in the environment (HTTPS_PROXY, ALL_PROXY) before the application starts."
        )
    return f"{parts.scheme}://{parts.netloc}"


def proxy_for(url: str, given: str = "") -> str:
    """Host and port of that proxy, for people; "" when there is none."""
    return proxy_url(url, given).partition("://")[2].rpartition("@")[2].partition("/")[0]


def proxy_secrets(given: str) -> tuple[str, ...]:
    """What must not be shown or kept of a proxy that is ``given``, and of those that the environment names.

    Their passwords, as written and as they are sent.
    """
    named = (value for name, value in os.environ.items() if name.lower().endswith("_proxy"))
    addresses = (one.strip().rpartition("@")[0] for one in (given, *named))
    passwords = [(one.partition("://")[2] or one).partition(":")[2] for one in addresses]
    return tuple(dict.fromkeys(text for word in passwords if word for text in (word, unquote(word))))
