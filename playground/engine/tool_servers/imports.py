"""Tool servers from and to configurations of other applications.

``read_servers`` reads a configuration; values that it leaves open (inputs and variables) are asked for; ``settle``
makes a server of each entry and separates its secrets. Nothing is run; only files of variables that a server names are
opened. No note, error or repr shows a secret. ``write_configuration`` writes JSON with ``mcpServers``, which the window
imports and ``--mcp`` reads; references to variables, such as ``${GITHUB_TOKEN}``, replace its secrets.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from playground.domain.hidden import short_name
from playground.domain.tool_servers import ToolServer, Via
from playground.domain.transcript import new_id
from playground.engine.gateways.secrets import Secret
from playground.engine.tool_servers.config_entry import ImportedServer as ImportedServer
from playground.engine.tool_servers.config_entry import OpenValue as OpenValue
from playground.engine.tool_servers.config_entry import (
    Reference,
    fill_references,
    own_value,
    read_entry,
    references,
    variable_of,
)
from playground.engine.tool_servers.config_file import ImportRefusedError as ImportRefusedError
from playground.engine.tool_servers.config_file import read_configuration
from playground.engine.tool_servers.registry import missing_setting
from playground.engine.tool_servers.secret_values import (
    ARGUMENT,
    ENVIRONMENT,
    HEADER,
    PLACE,
    imported_header,
    named_in,
    numbered,
    part_address,
    part_arguments,
    place,
    place_name,
    secret_variable,
    variable_of_file,
    worth_hiding,
)
from playground.jsonkit.texts import listed
from playground.jsonkit.values import JSONObject
from playground.system.named_file import read_named

MOST: Final = 500  # servers in one text
LARGEST_ENV_FILE: Final = 1_000_000  # bytes
INPUT_VARIABLE: Final = "PLAYGROUND_INPUT_"  # with an input's name: the variable for its value without a window
_INPUT: Final = "input:"


@dataclass(frozen=True, slots=True)
class Imported:
    """The servers of a configuration; ``kind`` names the applications that write this form."""

    kind: str
    servers: tuple[ImportedServer, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """A server for the registry, and its secrets by their names in the keyring."""

    server: ToolServer
    secrets: dict[str, Secret]
    notes: tuple[str, ...] = ()


def read_servers(text: str, environment: Mapping[str, str] = os.environ, system: str = sys.platform) -> Imported:
    """Read the servers of a configuration, for use on ``system``. Raises ImportRefusedError.

    Values of ``environment`` become the defaults of references to it.
    """
    text = text.strip().lstrip("\ufeff").strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:  # a code fence of Markdown
        text = text[text.index("\n") + 1 : -3].strip()
    if not text:
        raise ImportRefusedError("There is nothing to import. Paste the JSON in which another application keeps them.")
    configuration = read_configuration(text)
    if not configuration.entries:
        raise ImportRefusedError("No server was found.")
    if len(configuration.entries) > MOST:
        raise ImportRefusedError(f"More than {MOST} servers cannot be imported at once.")
    inputs = {str(item.get("id")): item for item in configuration.inputs if isinstance(item, dict)}
    servers = tuple(read_entry(entry, inputs, environment, system) for entry in configuration.entries)
    return Imported(configuration.kind, servers)


# ---- settled servers -------------------------------------------------------------------------------------------------


def settle(
    imported: ImportedServer, answers: Mapping[str, str], environment: Mapping[str, str] = os.environ
) -> Settled:
    """Return the server with ``answers`` for its open values, by their keys, else their defaults.

    Blocks to read its file of variables. Raises ImportRefusedError for a server that cannot be imported.
    """
    if imported.problem:
        raise ImportRefusedError(imported.problem)
    answers = {value.key: value.default for value in imported.open_values} | dict(answers)
    filler = _Filler(imported, answers, environment)
    if filler.has_named_secret(imported.command) or filler.has_named_secret(imported.folder):
        raise ImportRefusedError("Its command itself is made of a secret, which cannot be kept so.")
    notes = list(imported.notes)
    notes += [
        f"“{value.label}” is not filled in yet."
        for value in imported.open_values
        if not (value.optional or answers.get(value.key))
    ]
    secrets: dict[str, Secret] = {}
    variables = filler.separate(imported.environment, secret_variable, ENVIRONMENT, secrets)
    if imported.env_file:
        path = Path(filler.plain(imported.env_file)).expanduser()
        try:
            file_variables = read_env_file(path)
        except OSError as error:
            notes.append(f"Its file of variables {short_name(str(path))} cannot be read: {error.strerror or error}.")
        else:
            for name, text in file_variables.items():
                if name not in imported.environment and variable_of_file(name, text):
                    secrets[ENVIRONMENT + name] = Secret(text)
                elif name not in imported.environment:
                    variables[name] = text
    headers = filler.separate(imported.headers, imported_header, HEADER, secrets)
    arguments = part_arguments(
        [filler.with_places(text, is_argument=True) for text in imported.arguments], filler.placed
    )
    address = part_address(filler.with_places(imported.url).strip(), filler.placed)
    placed = {**filler.placed, **arguments.secrets, **address.secrets}
    used = named_in((*arguments.texts, *address.texts))
    secrets |= {ARGUMENT + name: secret for name, secret in placed.items() if name in used}
    server = ToolServer(
        id=new_id(),
        name=imported.name,
        via=imported.via,
        command=filler.plain(imported.command),
        arguments=arguments.texts,
        folder=filler.plain(imported.folder),
        environment=variables,
        secret_environment=_names(secrets, ENVIRONMENT),
        url=address.texts[0],
        headers=headers,
        secret_headers=_names(secrets, HEADER),
        oauth=imported.oauth,
    )
    if problem := missing_setting(server):
        notes.append(problem)
    return Settled(server, secrets, tuple(notes))


def settle_alone(imported: ImportedServer, environment: Mapping[str, str] = os.environ) -> Settled:
    """Settle a server without a person. Raises ImportRefusedError naming the variables to set in the environment."""
    answers: dict[str, str] = {}
    missing: list[str] = []
    for value in imported.open_values:
        variable = variable_of(value.key) or INPUT_VARIABLE + re.sub(r"\W", "_", value.key.removeprefix(_INPUT)).upper()
        if value.folder:
            answers[value.key] = environment.get(variable, str(Path.cwd()))
        elif value.default or value.optional or variable in environment:
            answers[value.key] = environment.get(variable) or value.default
        else:
            missing.append(variable)
    if missing:
        raise ImportRefusedError(
            f"The server “{imported.name}” needs a value: set {listed(missing)} in the environment."
        )
    return settle(imported, answers, environment)


class _Filler:
    """Replaces references by answers."""

    def __init__(self, imported: ImportedServer, answers: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self._imported, self._answers, self._environment = imported, answers, environment
        values = imported.open_values
        self._open = {value.key for value in values}
        self._named_secret = {value.key for value in values if value.secret}
        # A folder, a choice and a default that the configuration spells out are no secrets.
        self._secret = self._named_secret | {
            value.key
            for value in values
            if not (value.folder or value.choices)
            and (answers.get(value.key, "") != value.default or value.default in environment.values())
            and worth_hiding(answers.get(value.key, ""))
        }
        self.placed: dict[str, Secret] = {}  # secrets of arguments and addresses by the names of their places

    def plain(self, text: str) -> str:
        """Return the text with the answers themselves."""
        return fill_references(text, self._value)

    def with_places(self, text: str, is_argument: bool = False) -> str:
        """Return the text with places of the keyring for secret answers."""
        return fill_references(text, lambda reference: self._place(reference, is_argument))

    def has_named_secret(self, text: str) -> bool:
        """Return whether the text refers to a value whose name marks a secret."""
        return any(reference.key in self._named_secret for reference in references(text))

    def separate(
        self, members: Mapping[str, str], is_secret: Callable[[str, str], bool], kind: str, secrets: dict[str, Secret]
    ) -> dict[str, str]:
        """Return the members that are no secrets; the others are added to ``secrets``."""
        out: dict[str, str] = {}
        for name, text in members.items():
            value = self.plain(text)
            if any(reference.key in self._secret for reference in references(text)) or is_secret(name, value):
                secrets[kind + name] = Secret(value)
            else:
                out[name] = value
        return out

    def _value(self, reference: Reference, is_argument: bool = False) -> str:
        own = own_value(reference, self._imported, self._environment, is_argument)
        if own is not None or reference.key not in self._open:
            return own or ""
        return self._answers.get(reference.key, "")

    def _place(self, reference: Reference, is_argument: bool) -> str:
        value = self._value(reference, is_argument)
        if reference.key not in self._secret or not value:
            return value
        if own_value(reference, self._imported, self._environment, is_argument):
            return value
        name = place_name(reference.variable or reference.key.split(":", 1)[-1])
        self.placed[name] = Secret(value)
        return place(name)


def _names(secrets: Iterable[str], kind: str) -> tuple[str, ...]:
    return tuple(name.removeprefix(kind) for name in secrets if name.startswith(kind))


# ---- files of variables ----------------------------------------------------------------------------------------------

_LINE: Final = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_.]*)\s*=[ \t]*(?P<value>.*)")
_QUOTED: Final = re.compile(r"(?P<quote>['\"])(?P<text>(?:\\.|(?!(?P=quote)).)*)(?P=quote)")
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}


def read_env_file(path: Path) -> dict[str, str]:
    """Read the variables of a file such as ``.env``. Blocks. Raises OSError."""
    return read_variables(read_named(path, LARGEST_ENV_FILE).decode("utf-8", "replace"))


def read_variables(text: str) -> dict[str, str]:
    """Read variables from lines ``NAME=value``, quoted or not; other lines are ignored."""
    out: dict[str, str] = {}
    for line in text.lstrip("\ufeff").splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        value = match["value"]
        quoted = _QUOTED.match(value)
        if quoted is None:
            value = re.split(r"\s#", value, maxsplit=1)[0].strip()
        elif quoted["quote"] == "'":
            value = quoted["text"]
        else:
            value = re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), quoted["text"])
        out[match["name"]] = value.replace("\0", "")
    return out


# ---- written configurations ------------------------------------------------------------------------------------------

_SCHEME: Final = re.compile(r"(?:Bearer|Basic|Token)[ \t]+", re.IGNORECASE)
_WHOLE_REFERENCE: Final = re.compile(r"\$\{(?:env:|input:)?[\w.-]+(?::-.*)?\}")
_TYPES: Final = {Via.HTTP: "http", Via.SSE: "sse"}


class WrittenConfiguration(NamedTuple):
    """The content of a configuration file, and notes on its differences from the original text.

    ``left_out`` names the servers that cannot be imported; ``secrets`` are the literal secrets of the original, none of
    which is in ``content``.
    """

    content: JSONObject
    notes: tuple[str, ...]
    left_out: tuple[str, ...]
    secrets: tuple[Secret, ...]


def write_configuration(servers: Iterable[ImportedServer]) -> WrittenConfiguration:
    """Write imported servers as a configuration."""
    entries: dict[str, JSONObject] = {}
    inputs: dict[str, JSONObject] = {}
    notes: list[str] = []
    left_out: list[str] = []
    secrets: list[Secret] = []
    for server in servers:
        name = short_name(server.name)
        try:
            entry, replaced = _entry(server)
        except ImportRefusedError as error:
            left_out.append(f"The server “{name}”: {error}")
            continue
        entries[numbered(server.name, entries, " ")] = entry
        inputs |= {value.key: _input(value) for value in server.open_values if value.key.startswith(_INPUT)}
        notes += (f"{name}: {note}" for note in server.notes)
        notes += (
            f"{name}: a secret was left out. Set the variable {variable} in the environment." for variable in replaced
        )
        secrets += replaced.values()
    content: JSONObject = {"inputs": list(inputs.values())} if inputs else {}
    return WrittenConfiguration({**content, "mcpServers": entries}, tuple(notes), tuple(left_out), tuple(secrets))


def _entry(imported: ImportedServer) -> tuple[JSONObject, dict[str, Secret]]:
    """Return the entry of a server, and its literal secrets by the variables that replace them.

    The file of variables is named and not read. Raises ImportRefusedError for a server that cannot be imported.
    """
    answers = {value.key: _reference(value) for value in imported.open_values}
    settled = settle(replace(imported, env_file=""), answers, {})
    server, replaced = settled.server, dict[str, Secret]()
    values = {name: _without_secret(server, name, secret, replaced) for name, secret in settled.secrets.items()}
    environment = {name: values[ENVIRONMENT + name] for name in server.secret_environment}
    headers = {name: values[HEADER + name] for name in server.secret_headers}

    def filled(text: str) -> str:
        return PLACE.sub(lambda match: values.get(ARGUMENT + match[1], match[0]), text)

    entry: JSONObject = {
        "type": _TYPES.get(server.via),
        "command": server.command,
        "args": [filled(text) for text in server.arguments],
        "env": {**server.environment, **environment},
        "envFile": imported.env_file,
        "cwd": server.folder,
        "url": filled(server.url),
        "headers": {**server.headers, **headers},
    }
    return {name: value for name, value in entry.items() if value}, replaced


def _reference(value: OpenValue) -> str:
    if value.default and not value.secret and re.fullmatch(r"[A-Za-z_]\w*", value.key):
        return f"${{{value.key}:-{value.default}}}"
    return f"${{{value.key}}}"


def _input(value: OpenValue) -> JSONObject:
    content: JSONObject = {
        "id": value.key.removeprefix(_INPUT),
        "type": "pickString" if value.choices else "promptString",
        "description": value.help,
        "options": list(value.choices),
        "default": "" if value.secret else value.default,
        "password": value.secret,
    }
    return {name: member for name, member in content.items() if member}


def _without_secret(server: ToolServer, name: str, secret: Secret, replaced: dict[str, Secret]) -> str:
    """Return the text with a reference for the secret of that name in the keyring, and add it to ``replaced``."""
    value = secret.get_secret_value()
    match = _SCHEME.match(value)
    scheme = match[0] if match is not None else ""
    rest = value[len(scheme) :]
    if _WHOLE_REFERENCE.fullmatch(rest.strip()):
        return value
    variable = name.partition(":")[2]
    if not name.startswith(ENVIRONMENT):
        variable = f"{server.name}_{variable}"
    variable = re.sub(r"\W+", "_", variable, flags=re.ASCII).strip("_").upper() or "SECRET"
    variable = numbered(f"_{variable}" if variable[0].isdigit() else variable, replaced, "_")
    replaced[variable] = Secret(rest)
    return f"{scheme}${{{variable}}}"
