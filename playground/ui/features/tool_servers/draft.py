"""What stands in the form of a tool server, saved or not, as a value; and the way from there to the book.

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
from playground.engine.tool_servers.command_line import from_lines, to_lines
from playground.engine.tool_servers.secret_values import (
    ARGUMENT,
    ENVIRONMENT,
    HEADER,
    OAUTH,
    keyring_names,
    named_in,
    part_address,
    part_arguments,
    secret_header,
    secret_variable,
)
from playground.jsonkit.values import JSON, JSONObject

NEW_NAME: Final = "New server"
_OF_ANY: Final = ("index", "main", "__main__", "cli", "server", "dist", "build", "src", "bin")  # say nothing in a path
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")
_LEAST_WAIT, _LONGEST_WAIT = 0.1, 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class Row:
    """A variable or a header as typed. ``kept``: its value is in the keyring and was not retyped. ``locked``: a person
    wants it there, whatever it looks like.
    """

    name: str = ""
    value: str = field(default="", repr=False)
    kept: bool = False
    locked: bool = False

    def secret(self, kind: str) -> bool:
        """Whether the value may not stand in a file."""
        looks = secret_variable if kind == ENVIRONMENT else secret_header
        return self.kept or self.locked or looks(self.name.strip(), self.value)


@dataclass(frozen=True, slots=True)
class Draft:
    """One server in the form. ``server`` lacks what stands beside it here, which is as typed.

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
        """The draft that changes nothing about ``server``."""
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
        """An empty one."""
        return cls(ToolServer(id=new_id(), name=""))

    @property
    def title(self) -> str:
        """The name to show: as typed, else from what it runs, else that it is new."""
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
        """Another server like it, without its secrets."""
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
    """The server of a draft, what goes to the keyring under which names, and which names there are no more."""

    server: ToolServer
    secrets: dict[str, Secret]
    gone: tuple[str, ...] = ()


def problem(draft: Draft) -> str:
    """Why the draft cannot be saved, in words; empty when it can."""
    for rows, what in ((draft.environment, "variable"), (draft.headers, "header")):
        names = [row.name.strip().casefold() for row in rows if row.name.strip()]
        twice = next((name for name in names if names.count(name) > 1), "")
        if twice:
            return f"The {what} “{twice}” stands there twice. Remove one."
        if any(row.value.strip() and not row.name.strip() for row in rows):
            return f"A {what} has a value but no name."
    if any("=" in row.name or "\0" in row.name for row in draft.environment):
        return "A variable's name cannot hold “=”."
    if any(row.name.strip() and not _HEADER_NAME.match(row.name.strip()) for row in draft.headers):
        return "A header's name holds a character that is not allowed there."
    return ""


def settle(draft: Draft, stored: ToolServer | None) -> Settled:
    """What is to be kept of a draft without a ``problem``; ``stored`` is what is kept now."""
    places = {row.name: row for row in draft.places}
    taken = (*named_in((draft.arguments, draft.url)), *places)
    parted = part_arguments(from_lines(draft.arguments), taken)
    address = part_address(draft.url.strip(), (*taken, *parted.secrets))
    environment, variables = _apart(draft.environment, ENVIRONMENT)
    headers, secret_headers = _apart(draft.headers, HEADER)
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
    gone = tuple(name for name in keyring_names(stored) if name not in named) if stored is not None else ()
    if stored is not None and stored.oauth and not (server.oauth and server.url == stored.url):
        gone += (OAUTH,)  # a sign-in is good for one address
    return Settled(server, {name: secret for name, secret in secrets.items() if name in named}, gone)


def _apart(rows: Iterable[Row], kind: str) -> tuple[dict[str, str], dict[str, Secret | None]]:
    """What may stand in a file, and what may not: its new value, or None for the one that is kept."""
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
    """The time-out as typed, in seconds; None where it is none."""
    try:
        seconds = float(text.replace(",", "."))
    except ValueError:
        return None
    return seconds if _LEAST_WAIT <= seconds <= _LONGEST_WAIT else None


# ---- kept while it is not saved --------------------------------------------------------------------------------------


def to_keep(draft: Draft) -> JSONObject:
    """The draft as a file may hold it: without the secrets in it."""
    settled = settle(draft, None).server
    rows = {
        part: [[row.name, "" if row.secret(kind) else row.value, row.kept, row.locked] for row in getattr(draft, part)]
        for part, kind in zip(_PARTS, (ENVIRONMENT, HEADER, ENVIRONMENT), strict=True)
    }
    rows["places"] = [[row.name, "", row.kept, row.locked] for row in draft.places]
    server = draft.server.model_dump(mode="json", exclude_defaults=True)
    return {"server": server, "arguments": to_lines(settled.arguments), "url": settled.url, **rows}


def as_kept(entry: JSON) -> Draft | None:
    """A draft that was kept; None where it cannot be read."""
    try:
        parts: dict[str, Any] = {part: tuple(Row(*row) for row in entry[part]) for part in _PARTS}
        server = ToolServer.model_validate(entry["server"]).model_copy(update={"demo": False})  # no file says that
        return Draft(server, str(entry["arguments"]), str(entry["url"]), **parts)
    except (KeyError, TypeError, ValueError):
        return None
