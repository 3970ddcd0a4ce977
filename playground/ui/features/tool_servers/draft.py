"""The draft of a tool server: the content of its form as a value, and its conversion to a server.

No widgets in here. A draft holds a typed secret only until it is saved, and its repr never shows one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from playground.domain.tool_servers import ToolServer, Via
from playground.domain.transcript import new_id
from playground.engine.gateways.secrets import Secret
from playground.engine.tool_servers.secret_values import (
    ARGUMENT,
    ENVIRONMENT,
    HEADER,
    OAUTH,
    from_lines,
    keyring_names,
    named_in,
    part_address,
    part_arguments,
    secret_header,
    secret_variable,
    to_lines,
)
from playground.jsonkit.values import JSON, JSONObject

NEW_NAME: Final = "New server"
_OF_ANY: Final = ("index", "main", "__main__", "cli", "server", "dist", "build", "src", "bin")  # say nothing in a path
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")
_LEAST_WAIT, _LONGEST_WAIT = 0.1, 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class Row:
    """A variable or a header as typed.

    ``kept``: its value is in the keyring and was not retyped. ``locked``: the user wants it in the keyring.
    """

    name: str = ""
    value: str = field(default="", repr=False)
    kept: bool = False
    locked: bool = False

    def secret(self, kind: str) -> bool:
        """Return whether the value must not be in a file."""
        looks = secret_variable if kind == ENVIRONMENT else secret_header
        return self.kept or self.locked or looks(self.name.strip(), self.value)


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of the form. ``server`` lacks the values of the other fields, which are as typed.

    ``places`` are secrets inside the arguments and the address, by their names.
    """

    server: ToolServer
    arguments: str = field(default="", repr=False)
    url: str = field(default="", repr=False)
    environment: tuple[Row, ...] = ()
    headers: tuple[Row, ...] = ()
    places: tuple[Row, ...] = ()

    @classmethod
    def of(cls, server: ToolServer) -> Draft:
        """Return the draft of a saved server without changes."""
        return cls(
            server.model_copy(
                update={"arguments": (), "url": ""}
                | {name: {} for name in ("environment", "headers")}
                | dict.fromkeys(("secret_environment", "secret_headers"), ())
            ),
            to_lines(server.arguments),
            server.url,
            _rows(server.environment, server.secret_environment),
            _rows(server.headers, server.secret_headers),
            tuple(Row(name, kept=True) for name in named_in((*server.arguments, server.url))),
        )

    @classmethod
    def new(cls) -> Draft:
        """Return an empty draft."""
        return cls(ToolServer(id=new_id(), name=""))

    @property
    def title(self) -> str:
        """The name to show: as typed, else from the command or address, else “New server”."""
        typed = self.server.name.strip()
        if typed:
            return typed
        if self.server.via is Via.STDIO:
            words = [word for word in from_lines(self.arguments) if not word.startswith("-")]
            parts = re.split(r"[/\\]", words[0] if words else self.server.command.strip())
            telling = [part for part in parts if part and part.partition(".")[0].lower() not in _OF_ANY]
            return (telling or parts)[-1][:60] or NEW_NAME
        return re.sub(r"^[a-z]+://|[/?#].*$", "", self.url.strip())[:60].rpartition("@")[2] or NEW_NAME

    def copy(self, name: str) -> Draft:
        """Return the draft of a copy of the server, without its secrets."""
        server = self.server.model_copy(update={"id": new_id(), "name": name, "demo": False})
        return replace(
            self,
            server=server,
            environment=_without_secrets(self.environment),
            headers=_without_secrets(self.headers),
            places=_without_secrets(self.places),
        )


_PARTS: Final = ("environment", "headers", "places")


def _without_secrets(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    return tuple(replace(row, kept=False, locked=row.locked or row.kept) for row in rows)


def _rows(plain: dict[str, str], secret: Iterable[str]) -> tuple[Row, ...]:
    return (*(Row(name, value) for name, value in plain.items()), *(Row(name, kept=True) for name in secret))


@dataclass(frozen=True, slots=True)
class Settled:
    """The server of a draft, its secrets by their names in the keyring, and the names to delete there."""

    server: ToolServer
    secrets: dict[str, Secret]
    obsolete: tuple[str, ...] = ()


def problem(draft: Draft) -> str:
    """Return why the draft cannot be saved, or ""."""
    for rows, what in ((draft.environment, "variable"), (draft.headers, "header")):
        names = [row.name.strip().casefold() for row in rows if row.name.strip()]
        repeated = next((name for name in names if names.count(name) > 1), "")
        if repeated:
            return f"The {what} “{repeated}” is there twice. Remove one."
        if any(row.value.strip() and not row.name.strip() for row in rows):
            return f"A {what} has a value but no name."
    if not draft.server.demo:
        if draft.server.via is Via.STDIO and not draft.server.command.strip():
            return "Enter the command that starts the server."
        if draft.server.via is not Via.STDIO and not draft.url.strip():
            return "Enter the address of the server."
    if any("=" in row.name or "\0" in row.name for row in draft.environment):
        return "A variable's name cannot hold “=”."
    if any(row.name.strip() and not _HEADER_NAME.match(row.name.strip()) for row in draft.headers):
        return "A header's name holds a character that is not allowed there."
    return ""


def settle(draft: Draft, stored: ToolServer | None) -> Settled:
    """Return the server and secrets to save of a draft without a ``problem``; ``stored`` is the saved server."""
    places = {row.name: row for row in draft.places}
    taken_names = (*named_in((draft.arguments, draft.url)), *places)
    parted = part_arguments(from_lines(draft.arguments), taken_names)
    address = part_address(draft.url.strip(), (*taken_names, *parted.secrets))
    environment, variables = _split_secrets(draft.environment, ENVIRONMENT)
    headers, secret_headers = _split_secrets(draft.headers, HEADER)
    secrets = {ENVIRONMENT + name: value for name, value in variables.items() if value is not None}
    secrets |= {HEADER + name: value for name, value in secret_headers.items() if value is not None}
    secrets |= {ARGUMENT + name: secret for name, secret in (parted.secrets | address.secrets).items()}
    secrets |= {ARGUMENT + name: Secret(row.value) for name, row in places.items() if row.value}
    server = draft.server.model_copy(
        update={
            "name": draft.title,
            "command": draft.server.command.strip(),
            "arguments": parted.texts,
            "url": address.texts[0],
            "environment": environment,
            "secret_environment": tuple(variables),
            "headers": headers,
            "secret_headers": tuple(secret_headers),
            "roots": tuple(root.strip() for root in draft.server.roots if root.strip()),
        }
    )
    named = keyring_names(server)
    obsolete = tuple(name for name in keyring_names(stored) if name not in named) if stored is not None else ()
    if stored is not None and stored.oauth and not (server.oauth and server.url == stored.url):
        obsolete += (OAUTH,)  # a sign-in is valid for one address
    return Settled(server, {name: secret for name, secret in secrets.items() if name in named}, obsolete)


def _split_secrets(rows: Iterable[Row], kind: str) -> tuple[dict[str, str], dict[str, Secret | None]]:
    """Return the plain values, and the secrets: a new value, or None for the one in the keyring."""
    plain: dict[str, str] = {}
    secret: dict[str, Secret | None] = {}
    for row in rows:
        name = row.name.strip()
        if not name:
            continue
        if row.secret(kind):
            secret[name] = None if row.kept and not row.value else Secret(row.value)
        else:
            plain[name] = row.value
    return plain, secret


def wait_of(text: str) -> float | None:
    """Return the time-out in seconds, or None for an invalid text."""
    try:
        seconds = float(text.replace(",", "."))
    except ValueError:
        return None
    return seconds if _LEAST_WAIT <= seconds <= _LONGEST_WAIT else None


# ---- in a file ----------------------------------------------------------------------------------------------------


def to_json(draft: Draft) -> JSONObject:
    """Return the draft as JSON without its secrets."""
    settled = settle(draft, None).server
    rows = {
        part: [[row.name, "" if row.secret(kind) else row.value, row.kept, row.locked] for row in getattr(draft, part)]
        for part, kind in zip(_PARTS, (ENVIRONMENT, HEADER, ENVIRONMENT), strict=True)
    }
    rows["places"] = [[row.name, "", row.kept, row.locked] for row in draft.places]
    server = draft.server.model_dump(mode="json", exclude_defaults=True)
    return {"server": server, "arguments": to_lines(settled.arguments), "url": settled.url, **rows}


def from_json(entry: JSON) -> Draft | None:
    """Return a draft from JSON, or None if it cannot be read."""
    try:
        parts: dict[str, Any] = {part: tuple(Row(*row) for row in entry[part]) for part in _PARTS}
        server = ToolServer.model_validate(entry["server"]).model_copy(update={"demo": False})  # never from a file
        return Draft(server, str(entry["arguments"]), str(entry["url"]), **parts)
    except (KeyError, TypeError, ValueError):
        return None
