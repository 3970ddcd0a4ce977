"""Tool servers from the configurations that other applications keep of theirs, whatever their form.

A configuration is read as it is (``read_servers``); what it leaves open, an input or a variable, is asked for; then
it is settled (``settle``): one of our servers, and its secrets apart. Nothing is run, no file is opened here but one of
variables that a server names, and no note, error or repr shows a secret.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from playground.domain.hidden import short_name
from playground.domain.tool_servers import ToolServer
from playground.domain.transcript import new_id
from playground.engine.gateways.secrets import Secret
from playground.engine.tool_servers.book import lacking
from playground.engine.tool_servers.configurations import ImportRefusedError as ImportRefusedError
from playground.engine.tool_servers.configurations import read_configuration
from playground.engine.tool_servers.open_values import Asked as Asked
from playground.engine.tool_servers.open_values import Found as Found
from playground.engine.tool_servers.open_values import own_value
from playground.engine.tool_servers.references import Reference, references, replace, variable_of
from playground.engine.tool_servers.secret_values import (
    ARGUMENT,
    ENVIRONMENT,
    HEADER,
    imported_header,
    part_address,
    part_arguments,
    place,
    secret_variable,
    variable_of_file,
    worth_hiding,
)
from playground.engine.tool_servers.server_entry import read_entry
from playground.jsonkit.texts import listed
from playground.named_file import read_named

MOST: Final = 500  # servers in one text
LARGEST_ENV_FILE: Final = 1_000_000  # bytes
INPUT_VARIABLE: Final = "PLAYGROUND_INPUT_"  # where nobody can be asked, the value of an input is in this and its name


@dataclass(frozen=True, slots=True)
class Imported:
    """``kind`` says whose file it looks like."""

    kind: str
    servers: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """A server of ours, and its secrets by the names under which the keyring is to have them."""

    server: ToolServer
    secrets: dict[str, Secret]
    notes: tuple[str, ...] = ()


def read_servers(text: str, environment: Mapping[str, str] = os.environ, system: str = sys.platform) -> Imported:
    """The servers in ``text``; values of ``environment`` are offered where it refers to them.

    ``system`` is the one on which they are to run. Raises ImportRefusedError.
    """
    text = _unfenced(text.strip().lstrip("\ufeff").strip())
    if not text:
        raise ImportRefusedError("There is nothing to import. Paste the JSON in which another application keeps them.")
    configuration = read_configuration(text)
    if not configuration.entries:
        raise ImportRefusedError("No server stands in there.")
    if len(configuration.entries) > MOST:
        raise ImportRefusedError(f"More than {MOST} servers cannot be imported at once.")
    inputs = {str(it.get("id")): it for it in configuration.inputs if isinstance(it, dict)}
    servers = tuple(read_entry(entry, inputs, environment, system) for entry in configuration.entries)
    return Imported(configuration.kind, servers)


def _unfenced(text: str) -> str:
    """The text in a Markdown code fence, where that is all there is."""
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text[text.index("\n") + 1 : -3].strip()
    return text


# ---- settled ---------------------------------------------------------------------------------------------------------


def settle(found: Found, answers: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> Settled:
    """A server of ours, with ``answers`` to what was asked, by their keys. Reads its file of variables: blocks.

    Without an answer, the default is taken. Raises ImportRefusedError where the server cannot be imported.
    """
    if found.problem:
        raise ImportRefusedError(found.problem)
    answers = {asked.key: asked.default for asked in found.asked} | dict(answers)
    put = _Putting(found, answers, environment)
    if put.has_named_secret(found.command) or put.has_named_secret(found.folder):
        raise ImportRefusedError("Its command itself is made of a secret, which cannot be kept so.")
    notes = list(found.notes)
    notes += [
        f"“{asked.label}” is not filled in yet."
        for asked in found.asked
        if not (asked.optional or answers.get(asked.key))
    ]
    variables: dict[str, str] = {}
    if found.env_file:
        path = Path(put.plain(found.env_file)).expanduser()
        try:
            variables = read_env_file(path)
        except OSError as error:
            notes.append(f"Its file of variables {short_name(str(path))} cannot be read: {error.strerror or error}.")
    kept, secrets = _apart(found.environment, put, secret_variable, ENVIRONMENT)
    for name, value in variables.items():
        if name in found.environment:
            continue
        if variable_of_file(name, value):
            secrets[ENVIRONMENT + name] = Secret(value)
        else:
            kept[name] = value
    headers, secret_headers = _apart(found.headers, put, imported_header, HEADER)
    parted = part_arguments([put.with_places(text, is_argument=True) for text in found.arguments], put.placed)
    address = part_address(put.with_places(found.url).strip(), put.placed)
    placed = {**put.placed, **parted.secrets, **address.secrets}
    named = {name for text in (*parted.texts, *address.texts) for name in placed if place(name) in text}
    secrets |= secret_headers | {ARGUMENT + name: secret for name, secret in placed.items() if name in named}
    server = ToolServer(
        id=new_id(),
        name=found.name,
        via=found.via,
        command=put.plain(found.command),
        arguments=parted.texts,
        folder=put.plain(found.folder),
        environment=kept,
        secret_environment=_names(secrets, ENVIRONMENT),
        url=address.texts[0],
        headers=headers,
        secret_headers=_names(secrets, HEADER),
        oauth=found.oauth,
    )
    if lacks := lacking(server):
        notes.append(lacks)
    return Settled(server, secrets, tuple(notes))


def settle_alone(found: Found, environment: Mapping[str, str] = os.environ) -> Settled:
    """The same where nobody can be asked. Raises ImportRefusedError, saying which variable has to be set."""
    answers: dict[str, str] = {}
    missing: list[str] = []
    for asked in found.asked:
        variable = (
            variable_of(asked.key) or INPUT_VARIABLE + re.sub(r"\W", "_", asked.key.removeprefix("input:")).upper()
        )
        if asked.folder:
            answers[asked.key] = environment.get(variable, str(Path.cwd()))
        elif asked.default or asked.optional or variable in environment:
            answers[asked.key] = environment.get(variable) or asked.default
        else:
            missing.append(variable)
    if missing:
        raise ImportRefusedError(f"The server “{found.name}” needs a value: set {listed(missing)} in the environment.")
    return settle(found, answers, environment)


class _Putting:
    """Puts answers in the place of references."""

    def __init__(self, found: Found, answers: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self._found, self._answers, self._environment = found, answers, environment
        self._named_secret = {asked.key for asked in found.asked if asked.secret}
        # A folder, a listed choice and a default that the configuration spells out are no secrets.
        self._secret = self._named_secret | {
            asked.key
            for asked in found.asked
            if not (asked.folder or asked.choices)
            and (answers.get(asked.key, "") != asked.default or asked.default in environment.values())
            and worth_hiding(answers.get(asked.key, ""))
        }
        self._asked = {asked.key for asked in found.asked}
        self.placed: dict[str, Secret] = {}  # secrets of arguments and addresses, by the names of their places

    def plain(self, text: str) -> str:
        """With the answers themselves."""
        return replace(text, self._value)

    def with_places(self, text: str, is_argument: bool = False) -> str:
        """With secret answers as places that the keyring fills."""
        return replace(text, lambda reference: self._place(reference, is_argument))

    def has_named_secret(self, text: str) -> bool:
        """Return whether an answer whose name says that it is a secret belongs into ``text``."""
        return any(reference.key in self._named_secret for reference in references(text))

    def has_secret(self, text: str) -> bool:
        """Whether an answer that is a secret belongs into ``text``."""
        return any(reference.key in self._secret for reference in references(text))

    def _value(self, reference: Reference, is_argument: bool = False) -> str:
        own = own_value(reference, self._found, self._environment, is_argument)
        if own is not None or reference.key not in self._asked:
            return own or ""
        return self._answers.get(reference.key, "")

    def _place(self, reference: Reference, is_argument: bool) -> str:
        key, value = reference.key, self._value(reference, is_argument)
        if key not in self._secret or not value or own_value(reference, self._found, self._environment, is_argument):
            return value
        named = reference.variable or key.split(":", 1)[-1]
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", named).strip("-")[:80].casefold() or "secret"
        self.placed[name] = Secret(value)
        return place(name)


def _apart(
    members: Mapping[str, str], put: _Putting, is_secret: Any, kind: str
) -> tuple[dict[str, str], dict[str, Secret]]:
    plain: dict[str, str] = {}
    secrets: dict[str, Secret] = {}
    for name, text in members.items():
        value = put.plain(text)
        if put.has_secret(text) or is_secret(name, value):
            secrets[kind + name] = Secret(value)
        else:
            plain[name] = value
    return plain, secrets


def _names(secrets: Iterable[str], kind: str) -> tuple[str, ...]:
    return tuple(name.removeprefix(kind) for name in secrets if name.startswith(kind))


# ---- files of variables ----------------------------------------------------------------------------------------------

_LINE: Final = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_.]*)\s*=[ \t]*(?P<value>.*)")
_QUOTED: Final = re.compile(r"(?P<quote>['\"])(?P<text>(?:\\.|(?!(?P=quote)).)*)(?P=quote)")
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}


def read_env_file(path: Path) -> dict[str, str]:
    """The variables of a file such as ``.env``. Blocks. Raises OSError."""
    return read_variables(read_named(path, LARGEST_ENV_FILE).decode("utf-8", "replace"))


def read_variables(text: str) -> dict[str, str]:
    """Variables a line each, ``NAME=value``, quoted or not; lines that are none are passed over."""
    out: dict[str, str] = {}
    for line in text.lstrip("\ufeff").splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        value = found["value"]
        quoted = _QUOTED.match(value)
        if quoted is None:
            value = re.split(r"\s#", value, maxsplit=1)[0].strip()
        elif quoted["quote"] == "'":
            value = quoted["text"]
        else:
            value = re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), quoted["text"])
        out[found["name"]] = value.replace("\0", "")
    return out
