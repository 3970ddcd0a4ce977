"""Tool servers as a configuration file: JSON with ``mcpServers``, which the window imports and ``--mcp`` reads.

No secret is written. In its place stands a reference to a variable of the environment, such as ``${GITHUB_TOKEN}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from playground.domain.hidden import short_name
from playground.domain.tool_servers import ToolServer, Via
from playground.engine.gateways.secrets import Secret
from playground.engine.tool_servers.imports import Asked, Found, ImportRefusedError, settle
from playground.engine.tool_servers.secret_values import ARGUMENT, ENVIRONMENT, HEADER, PLACE
from playground.jsonkit.values import JSONObject

_INPUT: Final = "input:"
_SCHEME: Final = re.compile(r"(?:Bearer|Basic|Token)[ \t]+", re.IGNORECASE)
_WHOLE_REFERENCE: Final = re.compile(r"\$\{(?:env:|input:)?[\w.-]+(?::-.*)?\}")
_TYPES: Final = {Via.HTTP: "http", Via.SSE: "sse"}


class Configuration(NamedTuple):
    """The content of a file, and notes on what differs from the text it was made of.

    ``secrets`` are the literal secrets of that text: none of them is in ``content``.
    """

    content: JSONObject
    notes: tuple[str, ...]
    left_out: tuple[str, ...]
    secrets: tuple[Secret, ...]


def write_configuration(servers: Iterable[Found]) -> Configuration:
    """Write imported servers as a configuration; those that cannot be imported are named in ``left_out``."""
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
        number, key = 2, server.name
        while key in entries:
            key, number = f"{server.name} {number}", number + 1
        entries[key] = entry
        inputs |= {asked.key: _input(asked) for asked in server.asked if asked.key.startswith(_INPUT)}
        notes += (f"{name}: {note}" for note in server.notes)
        notes += (
            f"{name}: a secret was left out. Set the variable {variable} in the environment." for variable in replaced
        )
        secrets += replaced.values()
    content: JSONObject = {"inputs": list(inputs.values())} if inputs else {}
    return Configuration({**content, "mcpServers": entries}, tuple(notes), tuple(left_out), tuple(secrets))


def _entry(server: Found) -> tuple[JSONObject, dict[str, Secret]]:
    """One server of the file, and its literal secrets by the names of the variables in their places.

    Raises ImportRefusedError for a server that cannot be imported.
    """
    references = {asked.key: _reference(asked) for asked in server.asked}
    env_file = server.env_file
    settled = settle(_without_file(server), references, {})
    written = settled.server
    variables = _Variables(written)
    values = {name: variables.text(name, secret) for name, secret in settled.secrets.items()}
    environment = {name: values[ENVIRONMENT + name] for name in written.secret_environment}
    headers = {name: values[HEADER + name] for name in written.secret_headers}

    def filled(text: str) -> str:
        return PLACE.sub(lambda match: values.get(ARGUMENT + match[1], match[0]), text)

    entry: JSONObject = {
        "type": _TYPES.get(written.via),
        "command": written.command,
        "args": [filled(text) for text in written.arguments],
        "env": {**written.environment, **environment},
        "envFile": env_file,
        "cwd": written.folder,
        "url": filled(written.url),
        "headers": {**written.headers, **headers},
    }
    return {name: value for name, value in entry.items() if value}, variables.replaced


def _without_file(server: Found) -> Found:
    """The server without its file of variables, which is named in the configuration and not read."""
    return Found(**{name: getattr(server, name) for name in Found.__slots__} | {"env_file": ""})


def _reference(asked: Asked) -> str:
    if asked.default and not asked.secret and re.fullmatch(r"[A-Za-z_]\w*", asked.key):
        return f"${{{asked.key}:-{asked.default}}}"
    return f"${{{asked.key}}}"


def _input(asked: Asked) -> JSONObject:
    content: JSONObject = {
        "id": asked.key.removeprefix(_INPUT),
        "type": "pickString" if asked.choices else "promptString",
        "description": asked.help,
        "options": list(asked.choices),
        "default": "" if asked.secret else asked.default,
        "password": asked.secret,
    }
    return {name: value for name, value in content.items() if value}


class _Variables:
    """Puts references to variables in the place of literal secrets."""

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self.replaced: dict[str, Secret] = {}

    def text(self, name: str, secret: Secret) -> str:
        """The text of the file in the place of the secret that has this name in the keyring."""
        value = secret.get_secret_value()
        scheme = _SCHEME.match(value)
        rest = value[scheme.end() :] if scheme is not None else value
        if _WHOLE_REFERENCE.fullmatch(rest.strip()):
            return value
        variable = name.partition(":")[2]
        if not name.startswith(ENVIRONMENT):
            variable = f"{self._server.name}_{variable}"
        variable = re.sub(r"\W+", "_", variable, flags=re.ASCII).strip("_").upper() or "SECRET"
        if variable[0].isdigit():
            variable = f"_{variable}"
        number, free = 2, variable
        while free in self.replaced:
            free, number = f"{variable}_{number}", number + 1
        self.replaced[free] = Secret(rest)
        return f"{scheme[0] if scheme is not None else ''}${{{free}}}"
