"""Who may ask a server of ours on loopback: the programs of this machine, and no web page.

A browser lets a page reach loopback in three ways. A name of the page's own may be made to lead here (DNS rebinding):
so a server answers to loopback names alone. A body may be posted without asking first, if it says that it is plain text
or a form: so bodies are JSON alone, about which a browser asks. And what says that all may read it is: so nothing does.

The standard library and no part of the program is used here: the demo gateway uses it, and knows none of us.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable
from typing import Final

#: A Host header, and an option's value: a name or address, in brackets where it has colons, with any port.
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]{1,254})(?::\d{0,5})?", re.ASCII)
_SHOWN: Final = 100  # characters of what a header said


def read_host(text: str) -> str:
    """The name in a Host header, in lower case, without port, brackets and a last dot. Raises ValueError for none."""
    found = _HOST.fullmatch(text)
    if found is None:
        raise ValueError(f"{_quoted(text)} is no host name")
    return found[1].strip("[]").lower().removesuffix(".")


def is_loopback_name(name: str) -> bool:
    """Whether ``name``, as ``read_host`` gives it, is localhost or an address in 127.0.0.0/8, or ::1."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def wrong_host(given: Iterable[str], allowed: Collection[str], command: str) -> str:
    """Why a request with those Host headers is not answered, and what mends it; "" for one that is.

    ``allowed`` are names beside those of loopback. A request without a Host is none of a browser's.
    """
    for text in given:
        try:
            name = read_host(text)
        except ValueError:
            name = ""
        if not is_loopback_name(name) and name not in allowed:
            mended = f"playground {command} --allow-host {name or 'NAME'}"
            return (
                f"The request is for the host {_quoted(text)}. Only loopback names are answered (localhost, 127.0.0.1, "
                "[::1]), or any web page could reach this server under a name of its own. If the name is yours: "
                f"{mended}"
            )
    return ""


def is_origin(text: str) -> bool:
    """Whether ``text`` is the origin of a web page, as a browser spells it."""
    return re.fullmatch(r"null|https?://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?", text, re.ASCII) is not None


def no_json(given: Collection[str]) -> str:
    """Why a body with those Content-Type headers is not taken; "" for one that says it is JSON."""
    kinds = [text.partition(";")[0].strip().lower() for text in given]
    if kinds and all(kind == "application/json" or re.fullmatch(r"application/[\w.+-]+\+json", kind) for kind in kinds):
        return ""
    said = f"it is {' and '.join(map(_quoted, given))}" if any(given) else "it is missing"
    return f"The Content-Type must be application/json; {said}. Other types may come from any web page."


def ambiguous_length(names: Collection[str], version: str) -> str:
    """Return why a request with headers of these names is refused for its length; "" for one that is not.

    ``version`` is that of HTTP, such as "1.1". The connection has to be closed after the answer.
    """
    given = {name.strip().lower() for name in names}
    if "transfer-encoding" not in given:
        return ""
    if "content-length" in given:
        return "The request has both Content-Length and Transfer-Encoding, so its end is not certain. Send one of them."
    if version == "1.0":
        return "HTTP/1.0 has no Transfer-Encoding, so the end of the request is not certain. Send Content-Length."
    return ""


def _quoted(text: str) -> str:
    shown = "".join(char if char.isprintable() else "�" for char in text[:_SHOWN])
    return f"“{shown}{'…' * (len(text) > _SHOWN)}”"
