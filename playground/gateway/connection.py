"""All that is needed to reach one gateway, as a value: address, key, headers, clocks and caps.

A connection is made by the caller from a stored profile and the key in the keyring. It opens nothing, and
neither its repr nor its dump shows the key or a header's value.
"""

from __future__ import annotations

import unicodedata
from enum import StrEnum

from pydantic import Field, SecretStr

from playground.domain.values import Value

#: Sent with ``x-api-key`` on the native messages protocol (public protocol; the specification is silent, section 5).
MESSAGES_VERSION = "2023-06-01"

MEBIBYTE = 1024 * 1024


class Auth(StrEnum):
    """Which header carries the key."""

    BEARER = "bearer"  # Authorization: Bearer <key> (specification, section 5)
    X_API_KEY = "x-api-key"
    BOTH = "both"


class Timeouts(Value):
    """How long to wait, in seconds; None switches a clock off.

    ``connect`` covers name, TCP and TLS. ``first`` runs from the request being sent to the first content.
    ``idle`` runs between two pieces of content; keep-alives do not re-arm it. ``settle`` is how long to wait
    for the end marker once every choice has finished. ``total`` covers the whole exchange.
    """

    connect: float | None = Field(default=10.0, gt=0)
    first: float | None = Field(default=120.0, gt=0)
    idle: float | None = Field(default=60.0, gt=0)
    settle: float | None = Field(default=5.0, gt=0)
    total: float | None = Field(default=None, gt=0)


class Connection(Value):
    """One gateway as seen from the wire.

    ``base_url`` is as typed; ``playground.gateway.address.resolve`` reads it. ``auth`` maps a protocol name to
    the way its key is sent (default: bearer). ``headers`` are added last and win over ours. ``ca_file`` is a PEM file
    trusted besides the system's certificates. ``max_event_bytes`` caps what may arrive without giving one event,
    ``max_body_bytes`` a whole decoded body.
    """

    base_url: str
    key: SecretStr | None = None
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    auth: dict[str, Auth] = Field(default_factory=dict)
    timeouts: Timeouts = Timeouts()
    ca_file: str | None = None
    max_event_bytes: int = Field(default=100 * MEBIBYTE, gt=0)
    max_body_bytes: int = Field(default=256 * MEBIBYTE, gt=0)

    def auth_for(self, protocol: str) -> Auth:
        """How the key is sent on that protocol."""
        return self.auth.get(protocol, Auth.BEARER)

    @property
    def clean_key(self) -> str:
        """The key without the spaces and line breaks that pasting adds around it; empty when there is none."""
        return self.key.get_secret_value().strip() if self.key is not None else ""

    @property
    def key_was_stripped(self) -> bool:
        """Whether ``clean_key`` differs from what was given, so that a person can be told."""
        return self.key is not None and self.key.get_secret_value() != self.clean_key

    @property
    def key_problem(self) -> str:
        """Why the key cannot be put into a header, in words that do not show it; empty when it can."""
        for number, character in enumerate(self.clean_key, start=1):
            if " " <= character <= "~":
                continue
            name = unicodedata.name(character, "")
            shown = f"U+{ord(character):04X}{f' ({name.lower()})' if name else ''}"
            if character in "\r\n":
                shown = "a line break"
            elif character == "\t":
                shown = "a tab"
            return f"The key holds {shown} at position {number}, which no header can carry. Paste the key again."
        return ""
