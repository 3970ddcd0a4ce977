"""Checks of requests to a server on loopback: programs of this machine may use it, and no web page.

A browser lets a page reach loopback in three ways. A host name of the page may resolve to this machine (DNS rebinding),
so a server answers to loopback names only. A page may post plain text or a form without a preflight request, so bodies
have to be JSON. A page may read an answer whose headers allow it, so no answer does.

Uses only the standard library, because the demo gateway imports it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable
from typing import Final

#: A Host header, and an option's value: a name or address, in brackets where it has colons, with any port.
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]{1,254})(?::\d{0,5})?", re.ASCII)
_SHOWN: Final = 100  # characters of a header in a message


def read_host(text: str) -> str:
    """Return the name in a Host header, in lower case, without port, brackets and a last dot. Raises ValueError."""
    match = _HOST.fullmatch(text)
    if match is None:
        raise ValueError(f"{_quoted(text)} is no host name")
    return match[1].strip("[]").lower().removesuffix(".")


def is_loopback_name(name: str) -> bool:
    """Return whether ``name``, as ``read_host`` returns it, is localhost, ::1, or in 127.0.0.0/8."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def wrong_host(headers: Iterable[str], allowed: Collection[str], command: str) -> str:
    """Return why a request with these Host headers is refused, and the remedy; "" for an accepted one.

    ``allowed`` are names beside those of loopback. Browsers always send a Host, so a request without one is accepted.
    """
    for text in headers:
        try:
            name = read_host(text)
        except ValueError:
            name = ""
        if not is_loopback_name(name) and name not in allowed:
            remedy = f"playground {command} --allow-host {name or 'NAME'}"
            return (
                f"The request is for the host {_quoted(text)}. Only loopback names are answered (localhost, 127.0.0.1, "
                "[::1]), or any web page could reach this server under a name of its own. If the name is yours: "
                f"{remedy}"
            )
    return ""


def is_origin(text: str) -> bool:
    """Return whether ``text`` is the origin of a web page, as a browser spells it."""
    return re.fullmatch(r"null|https?://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?", text, re.ASCII) is not None


def no_json(headers: Collection[str]) -> str:
    """Return why a body with these Content-Type headers is refused; "" for JSON."""
    kinds = [text.partition(";")[0].strip().lower() for text in headers]
    if kinds and all(kind == "application/json" or re.fullmatch(r"application/[\w.+-]+\+json", kind) for kind in kinds):
        return ""
    reason = f"it is {' and '.join(map(_quoted, headers))}" if any(headers) else "it is missing"
    return f"The Content-Type must be application/json; {reason}. Other types may come from any web page."


def ambiguous_length(names: Collection[str], version: str) -> str:
    """Return why a request with headers of these names is refused for its length; "" for one that is not.

    ``version`` is that of HTTP, such as "1.1". The connection has to be closed after the answer.
    """
    lowered = {name.strip().lower() for name in names}
    if "transfer-encoding" not in lowered:
        return ""
    if "content-length" in lowered:
        return "The request has both Content-Length and Transfer-Encoding, so its end is not certain. Send one of them."
    if version == "1.0":
        return "HTTP/1.0 has no Transfer-Encoding, so the end of the request is not certain. Send Content-Length."
    return ""


def _quoted(text: str) -> str:
    displayed = "".join(char if char.isprintable() else "�" for char in text[:_SHOWN])
    return f"“{displayed}{'…' * (len(text) > _SHOWN)}”"
