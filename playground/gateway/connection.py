"""The settings to reach one gateway, as a value: address, key, headers, time-outs and size limits.

The caller makes a connection from a stored profile and the key in the keyring. It opens nothing, and neither its repr
nor its dump shows the key or a header's value.
"""

from __future__ import annotations

import unicodedata
from enum import StrEnum
from typing import Annotated

from pydantic import Field, SecretStr

from playground.domain.hints import Hint, setting
from playground.domain.values import Value

MEBIBYTE = 1024 * 1024

_LINE_ENDS = frozenset("\r\n\v\f\x85\u2028\u2029")


class Auth(StrEnum):
    """Which header carries the key."""

    BEARER = "bearer"  # Authorization: Bearer <key> (specification, section 5)
    X_API_KEY = "x-api-key"
    BOTH = "both"


def _timeout(label: str, help_: str) -> Hint:
    return setting(label, help=f"{help_} Leave it empty to switch it off.", placeholder="off", unit="seconds")


class Timeouts(Value):
    """Time-outs in seconds; None for no time-out.

    ``connect`` covers name, TCP and TLS. ``first`` runs from the end of the request to the first content. ``idle`` runs
    between two pieces of content; keep-alives do not restart it. ``settle`` runs after every choice has finished with
    content or a call, until the end marker. ``total`` covers the whole exchange.
    """

    connect: Annotated[float | None, _timeout("Connect", "For name, connection and TLS.")] = Field(default=10.0, gt=0)
    first: Annotated[
        float | None, _timeout("First content", "From the request to the first content; keep-alives do not count.")
    ] = Field(default=120.0, gt=0)
    idle: Annotated[
        float | None, _timeout("Between content", "Between two pieces of content; keep-alives do not count.")
    ] = Field(default=60.0, gt=0)
    settle: float | None = Field(default=5.0, gt=0)
    total: Annotated[float | None, _timeout("Whole answer", "For the whole exchange.")] = Field(default=None, gt=0)


class Connection(Value):
    """The connection settings of one gateway.

    ``base_url`` is as typed; ``playground.gateway.address.resolve`` reads it. ``auth`` maps a protocol name to the
    header of its key (default: bearer). ``headers`` replace headers of the application. ``ca_file`` is a PEM file
    trusted besides the system's certificates. ``proxy`` is a proxy's address, used instead of that of the environment;
    it may hold a password. ``secret_headers`` names headers with secret values, besides the usual ones.
    ``max_event_bytes`` limits one event of a stream or one JSON answer, ``max_body_bytes`` any whole body, both after
    decompression. ``retries`` is for the caller: the client never retries.
    """

    base_url: str
    key: SecretStr | None = None
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    auth: dict[str, Auth] = Field(default_factory=dict)
    timeouts: Timeouts = Timeouts()
    ca_file: str | None = None
    proxy: str = Field(default="", repr=False)
    secret_headers: frozenset[str] = frozenset()
    retries: int = Field(default=0, ge=0)
    max_event_bytes: int = Field(default=100 * MEBIBYTE, gt=0)
    max_body_bytes: int = Field(default=256 * MEBIBYTE, gt=0)

    def auth_for(self, protocol: str) -> Auth:
        """Return the header that carries the key in a protocol."""
        return self.auth.get(protocol, Auth.BEARER)

    @property
    def clean_key(self) -> str:
        """The key without the spaces, line breaks and invisible characters that pasting adds; empty without a key."""
        typed = self.key.get_secret_value() if self.key is not None else ""
        return "".join(character for character in typed if not _is_blank(character))

    @property
    def key_repairs(self) -> tuple[str, ...]:
        """The kinds of characters that ``clean_key`` removes, in words."""
        typed = self.key.get_secret_value() if self.key is not None else ""
        blanks = [character for character in typed if _is_blank(character)]
        kinds = {
            "line breaks": any(character in _LINE_ENDS for character in blanks),
            "spaces": any(character.isspace() and character not in _LINE_ENDS for character in blanks),
            "invisible characters": any(not character.isspace() for character in blanks),
        }
        return tuple(kind for kind, is_present in kinds.items() if is_present)

    @property
    def key_problem(self) -> str:
        """The reason why no header can carry the key, in words that do not show it; "" if one can."""
        for number, character in enumerate(self.clean_key, start=1):
            if " " <= character <= "~":
                continue
            name = unicodedata.name(character, "")
            sign = f"U+{ord(character):04X}{f' ({name.lower()})' if name else ''}"
            return f"The key holds {sign} at position {number}, which no header can carry. Paste the key again."
        return ""


def _is_blank(character: str) -> bool:
    """Return whether a character is white space, a control or a mark without a width: no key has one."""
    return character.isspace() or unicodedata.category(character) in ("Cc", "Cf")
