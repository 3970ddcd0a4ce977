"""The draft of a tool server: the content of its form as a value, and its conversion to a server.

No widgets in here. A draft holds a typed secret only until it is saved, and its repr never shows one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, TypeVar

from playground.domain.hints import problems_of
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
from playground.ui.widgets.name_value import HeaderValue, NameValue, row_problems

N = TypeVar("N", bound=NameValue)

NEW_NAME: Final = "New server"
_OF_ANY: Final = ("index", "main", "__main__", "cli", "server", "dist", "build", "src", "bin")  # say nothing in a path


@dataclass(frozen=True, slots=True)
class Variable(NameValue):
    """An environment variable as typed."""

    noun: ClassVar[str] = "variable"

    def looks_secret(self, name: str, value: str) -> bool:
        """Return whether the variable's name or value marks a secret."""
        return secret_variable(name, value)

    @property
    def problem(self) -> str:
        """The reason why this variable cannot be saved; empty if it can."""
        return "A variable's name cannot hold “=”." if {"=", "\0"} & {*self.name} else ""


@dataclass(frozen=True, slots=True)
class ServerHeader(HeaderValue):
    """A header as typed."""

    def looks_secret(self, name: str, value: str) -> bool:
        """Return whether the header's name or value marks a secret."""
        return secret_header(name, value)


@dataclass(frozen=True, slots=True)
class PlaceSecret(NameValue):
    """A secret inside the arguments or the address, which have its name."""

    noun: ClassVar[str] = "secret"

    def looks_secret(self, name: str, value: str) -> bool:
        """Return True."""
        return True


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of the form. ``server`` lacks the values of the other fields, which are as typed.

    ``places`` are secrets inside the arguments and the address, by their names.
    """

    server: ToolServer
    arguments: str = field(default="", repr=False)
    environment: tuple[Variable, ...] = ()
    headers: tuple[ServerHeader, ...] = ()
    places: tuple[PlaceSecret, ...] = ()

    @classmethod
    def from_server(cls, server: ToolServer) -> Draft:
        """Return the draft of a saved server without changes."""
        return cls(
            server.model_copy(
                update={"arguments": ()}
                | {name: {} for name in ("environment", "headers")}
                | dict.fromkeys(("secret_environment", "secret_headers"), ())
            ),
            to_lines(server.arguments),
            _rows(Variable, server.environment, server.secret_environment),
            _rows(ServerHeader, server.headers, server.secret_headers),
            tuple(PlaceSecret(name, stored=True) for name in named_in((*server.arguments, server.url))),
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
        return re.sub(r"^[a-z]+://|[/?#].*$", "", self.server.url.strip())[:60].rpartition("@")[2] or NEW_NAME

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


_PARTS: Final = {"environment": Variable, "headers": ServerHeader, "places": PlaceSecret}


def _without_secrets(rows: tuple[N, ...]) -> tuple[N, ...]:
    return tuple(replace(row, stored=False, locked=row.locked or row.stored) for row in rows)


def _rows(kind: type[N], plain: dict[str, str], secret: Iterable[str]) -> tuple[N, ...]:
    return (*(kind(name, value) for name, value in plain.items()), *(kind(name, stored=True) for name in secret))


@dataclass(frozen=True, slots=True)
class Settled:
    """The server of a draft, its secrets by their names in the keyring, and the names to delete there."""

    server: ToolServer
    secrets: dict[str, Secret]
    obsolete: tuple[str, ...] = ()


def problem(draft: Draft) -> str:
    """Return why the draft cannot be saved, or ""."""
    problems = (*row_problems(draft.environment), *row_problems(draft.headers))
    if reason := next(filter(None, problems), ""):
        return reason
    return next(iter(problems_of(draft.server).values()), "")


def settle(draft: Draft, stored: ToolServer | None) -> Settled:
    """Return the server and secrets to save of a draft without a ``problem``; ``stored`` is the saved server."""
    places = {row.name: row for row in draft.places}
    taken_names = (*named_in((draft.arguments, draft.server.url)), *places)
    parted = part_arguments(from_lines(draft.arguments), taken_names)
    address = part_address(draft.server.url.strip(), (*taken_names, *parted.secrets))
    environment, variables = _split_secrets(draft.environment)
    headers, secret_headers = _split_secrets(draft.headers)
    secrets = {ENVIRONMENT + name: value for name, value in variables.items() if value is not None}
    secrets |= {HEADER + name: value for name, value in secret_headers.items() if value is not None}
    secrets |= {ARGUMENT + name: secret for name, secret in (parted.secrets | address.secrets).items()}
    secrets |= {ARGUMENT + name: Secret(row.value) for name, row in places.items() if row.value}
    server = draft.server.model_copy(
        update={
            "name": draft.title,
            **{name: getattr(draft.server, name).strip() for name in ("command", "folder", "prefix")},
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


def _split_secrets(rows: Iterable[NameValue]) -> tuple[dict[str, str], dict[str, Secret | None]]:
    """Return the plain values, and the secrets: a new value, or None for the one in the keyring."""
    plain: dict[str, str] = {}
    secret: dict[str, Secret | None] = {}
    for row in rows:
        name = row.name.strip()
        if not name:
            continue
        if row.secret:
            secret[name] = None if row.stored and not row.value else Secret(row.value)
        else:
            plain[name] = row.value
    return plain, secret


# ---- in a file ----------------------------------------------------------------------------------------------------


def to_json(draft: Draft) -> JSONObject:
    """Return the draft as JSON without its secrets."""
    settled = settle(draft, None).server
    rows = {
        part: [[row.name, "" if row.secret else row.value, row.stored, row.locked] for row in getattr(draft, part)]
        for part in _PARTS
    }
    server = draft.server.model_dump(mode="json", exclude_defaults=True, exclude={"url"})
    return {"server": server, "arguments": to_lines(settled.arguments), "url": settled.url, **rows}


def from_json(entry: JSON) -> Draft | None:
    """Return a draft from JSON, or None if it cannot be read."""
    try:
        parts: dict[str, Any] = {part: tuple(kind(*row) for row in entry[part]) for part, kind in _PARTS.items()}
        server = ToolServer.model_validate(entry["server"])
        server = server.model_copy(update={"url": str(entry["url"]), "demo": False})  # the demo is never in a file
        return Draft(server, str(entry["arguments"]), **parts)
    except (KeyError, TypeError, ValueError):
        return None
