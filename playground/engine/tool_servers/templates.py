"""Templates of addresses (RFC 6570, all four levels with texts for values): which names they have, and filled in.

A template comes from a server: what is no expression in it stays as it is.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

_EXPRESSION: Final = re.compile(r"\{([+#./;?&]?)([\w.%]+(?::\d{1,4}|\*)?(?:,[\w.%]+(?::\d{1,4}|\*)?)*)\}")
_RESERVED: Final = ":/?#[]@!$&'()*+,;="
#: By the sign of an expression: what stands before it, between its values, and whether names are written.
_WAYS: Final = {
    "": ("", ",", False),
    "+": ("", ",", False),
    "#": ("#", ",", False),
    ".": (".", ".", False),
    "/": ("/", "/", False),
    ";": (";", ";", True),
    "?": ("?", "&", True),
    "&": ("&", "&", True),
}


def names_of(template: str) -> tuple[str, ...]:
    """The names that are to be filled in, in order, each once."""
    found = (name for match in _EXPRESSION.finditer(template) for name in match[2].split(","))
    return tuple(dict.fromkeys(_plain(name)[0] for name in found))


def fill(template: str, values: dict[str, str]) -> str:
    """The address that comes of it. A name without a value, or with an empty one, is left out with its sign."""

    def put(match: re.Match[str]) -> str:
        first, between, named = _WAYS[match[1]]
        safe = _RESERVED if match[1] in ("+", "#") else ""
        out: list[str] = []
        for spelled in match[2].split(","):
            name, most = _plain(spelled)
            if value := values.get(name, ""):
                said = quote(value[:most], safe=safe + "-._~")
                out.append(f"{name}={said}" if named else said)
        return first + between.join(out) if out else ""

    return _EXPRESSION.sub(put, template)


def _plain(spelled: str) -> tuple[str, int | None]:
    """A name without what follows it, and how much of its value is meant."""
    name, _, most = spelled.rstrip("*").partition(":")
    return name, int(most) if most else None
