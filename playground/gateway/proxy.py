"""The proxy for a gateway: of its own settings, of the environment's variables, or of the system's settings.

The client and the window both read it here; what the window shows has no user name and no password.
"""

from __future__ import annotations

import os
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from playground.gateway.address import is_loopback

#: Schemes of a proxy's address. A SOCKS proxy looks up names itself with either of its two.
SCHEMES: Final = ("http", "https", "socks5", "socks5h")
_LONGEST_LOGIN: Final = 255  # bytes of a user name, and of a password, in SOCKS


def proxy_url(url: str, setting: str = "") -> str:
    """Return the address of the proxy for ``url``, with its credentials, so never show it; "" for no proxy.

    ``setting`` is the gateway's own proxy, used for every address. A proxy of the environment or the system is not used
    for loopback addresses and those in ``NO_PROXY``.
    """
    from urllib.request import getproxies, proxy_bypass  # loads an HTTP client

    address = setting.strip()
    if not address:
        parts = urlsplit(url)
        if is_loopback(url) or proxy_bypass(parts.netloc.rpartition("@")[2]):
            return ""
        proxies = getproxies()
        address = (proxies.get(parts.scheme) or proxies.get("all") or "").strip()
    scheme, separator, rest = address.partition("://")
    if not separator:
        return f"http://{address}" if address else ""
    # Desktop settings name a SOCKS proxy without its version; version 5 is the usual one.
    return f"{'socks5' if scheme.lower() == 'socks' else scheme.lower()}://{rest}"


def read_proxy(typed: str) -> SplitResult:
    """Return the parts of a proxy's address, a host and a port. Raises ValueError in words, with no secret."""
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
    """Return the problem of the scheme or the login of a proxy's address, to follow its name; "" if there is none."""
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
    """Return a proxy's address for a file, "" for none. Raises ValueError in words, with no secret."""
    if not typed.strip():
        return ""
    parts = read_proxy(typed)
    if "@" in parts.netloc:
        raise ValueError(
            "The proxy's address holds a user name or a password, and it is saved in a file. Remove them. Name a proxy "
            "that needs them in the environment (HTTPS_PROXY, ALL_PROXY) before the application starts."
        )
    return f"{parts.scheme}://{parts.netloc}"


def proxy_for(url: str, setting: str = "") -> str:
    """Return host and port of the proxy for ``url``, for people; "" for no proxy. ``setting`` as in ``proxy_url``."""
    return proxy_url(url, setting).partition("://")[2].rpartition("@")[2].partition("/")[0]


def proxy_secrets(setting: str) -> tuple[str, ...]:
    """Return the passwords of a gateway's own proxy and of the environment's, as written and as sent."""
    variables = (value for name, value in os.environ.items() if name.lower().endswith("_proxy"))
    logins = (address.strip().rpartition("@")[0] for address in (setting, *variables))
    passwords = [(login.partition("://")[2] or login).partition(":")[2] for login in logins]
    return tuple(dict.fromkeys(text for word in passwords if word for text in (word, unquote(word))))
