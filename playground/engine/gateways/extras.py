"""What may go with a request besides its parameters: the rules for extra headers and for the extra body.

Both are kept in plain text with an experiment or a profile, so what looks like a secret is refused here.
"""

from __future__ import annotations

import re

from playground.engine.gateways.secrets import looks_secret
from playground.gateway.prepared_request import header_problem
from playground.jsonkit.values import JSON

_KEY_VALUE = re.compile(r"\s*(?:bearer\s+)?sk-\S{8}|\s*bearer\s+\S{16}", re.IGNORECASE)
_KEY_WRITTEN = re.compile(rf'"(?:{_KEY_VALUE.pattern})', re.IGNORECASE)


def extra_header_problem(name: str, value: str) -> str:
    """Why a header may not go with an experiment, which is kept in plain text; empty when it may."""
    name, value = name.strip(), value.strip()
    if not name:
        return "A name is needed."
    if looks_secret(name, value):
        return f"“{name}” looks like a secret. It belongs into the gateway's settings, where the keyring keeps it."
    return header_problem(name, value)


def secret_in(body: JSON, text: str | None = None) -> str:
    """The first name in a body whose value looks like a key, which may not be written to a file; empty for none.

    Where its ``text`` is known, most large bodies need not be gone through.
    """
    if text is not None and "\\" not in text and not key_written(text):
        return ""
    left: list[tuple[object, JSON]] = [("", body)]
    while left:
        name, value = left.pop()
        if isinstance(value, str) and _KEY_VALUE.match(value):
            return str(name)
        members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        left += reversed(list(members))
    return ""


def key_written(text: str) -> bool:
    """Whether a string that looks like a key stands in a body as it is being written, which may be no JSON yet."""
    return _KEY_WRITTEN.search(text) is not None
