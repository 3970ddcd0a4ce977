"""Which proxy the surroundings name for a gateway: the environment's variables, or the system's settings.

The one answer serves the client that connects and the words that are shown; the latter never hold its user name or
password. Nothing here opens a socket.
"""

from __future__ import annotations

from urllib.parse import SplitResult, unquote, urlsplit

from playground.gateway.address import is_loopback


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
    return found if "://" in found or not found else f"http://{found}"


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
    return parts


def check_proxy(typed: str) -> str:
    """The address of a proxy as it may stand in a file, empty for none. Raises ValueError in words, with no secret."""
    if not typed.strip():
        return ""
    parts = read_proxy(typed)
    if "@" in parts.netloc:
        raise ValueError(
            "The proxy's address holds a user name or a password, and it is kept in a file. Take them out. A proxy "
            "that wants them is named in the environment (HTTPS_PROXY) before the application starts."
        )
    if parts.scheme not in ("http", "https"):
        raise ValueError("The proxy's address starts with http:// or https://; others, SOCKS too, are not supported.")
    return f"{parts.scheme}://{parts.netloc}"


def proxy_for(url: str, given: str = "") -> str:
    """Host and port of that proxy, for people; "" when there is none."""
    return proxy_url(url, given).partition("://")[2].rpartition("@")[2].partition("/")[0]


def proxy_secrets(given: str) -> tuple[str, ...]:
    """What of a proxy that is ``given`` must not be shown or kept: its password, as written and as it is sent."""
    userinfo, at, _ = proxy_url("", given).partition("://")[2].rpartition("@") if given.strip() else ("", "", "")
    password = userinfo.partition(":")[2]
    return (password, unquote(password)) if at and password else ()
