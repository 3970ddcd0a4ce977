"""The values that a server's configuration leaves open: variables, inputs, folders, and which of them are asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from playground.domain.hidden import short_name
from playground.domain.tool_servers import Via
from playground.engine.tool_servers.references import Reference, default_of, references
from playground.engine.tool_servers.secret_values import secret_variable
from playground.jsonkit.values import JSON, JSONObject

LONGEST: Final = 20_000  # characters of one text
MOST_CHOICES: Final = 500
_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "fish"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A value that a server leaves open.

    ``key`` is the text between ``${`` and ``}``. ``default`` is offered, and taken where there is no answer;
    ``optional``: it may be empty.
    """

    key: str
    label: str
    help: str = ""
    default: str = field(default="", repr=False)
    secret: bool = False
    choices: tuple[str, ...] = ()
    folder: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """One server as it is in the text, with references in it; secrets are in it as well, so its repr shows little.

    ``problem`` says why it cannot be imported; ``notes`` what is left out or was guessed. ``enabled`` is false for one
    that is switched off there.
    """

    name: str
    via: Via = Via.STDIO
    command: str = field(default="", repr=False)
    arguments: tuple[str, ...] = field(default=(), repr=False)
    folder: str = field(default="", repr=False)
    environment: dict[str, str] = field(default_factory=dict, repr=False)
    env_file: str = field(default="", repr=False)
    url: str = field(default="", repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    oauth: bool = False
    asked: tuple[Asked, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""
    enabled: bool = True


def _texts(server: Found) -> Iterable[tuple[str, str, bool]]:
    """Every text in which there may be references, its name, and whether it is an argument."""
    yield "", server.command, False
    yield from (("", text, True) for text in server.arguments)
    yield from (("", text, False) for text in (server.folder, server.env_file, server.url))
    yield from ((name, text, False) for name, text in server.environment.items())
    yield from ((name, text, False) for name, text in server.headers.items())


def questions(server: Found, inputs: Mapping[str, JSONObject], environment: Mapping[str, str]) -> Iterable[Asked]:
    """The values that have to be asked for, each once."""
    seen: set[str] = set()
    for name, text, is_argument in _texts(server):
        for reference in references(text):
            if reference.key in seen or own_value(reference, server, environment, is_argument) is not None:
                continue
            seen.add(reference.key)
            yield _question(reference, name, inputs, environment)


def own_value(
    reference: Reference, server: Found, environment: Mapping[str, str], is_argument: bool = False
) -> str | None:
    """The text for a reference about which no question is needed; None where one is."""
    key, variable = reference.key, reference.variable
    written = f"${variable}" if reference.bare else f"${{{key}}}"
    if key == "userHome":
        return str(Path.home())
    if key in ("pathSeparator", "/"):
        return os.sep
    if not variable and ":" not in key and not key.startswith("workspaceFolder"):
        return written  # the program itself may know it
    if key.startswith("env:") or reference.default is not None:
        return None
    value = server.environment.get(variable)
    if value is not None and not any(inner.variable == variable for inner in references(value)):
        return written  # the program finds it in its environment
    if is_argument and (_is_script(server) or (reference.bare and variable not in environment)):
        return written  # a shell fills it in, or it is no reference
    return None


def _is_script(server: Found) -> bool:
    """Return whether a server is a script that a shell reads from its arguments."""
    return Path(server.command).name in _SHELLS and any(re.match(r"-\w*c\Z", word) for word in server.arguments[:3])


def _question(
    reference: Reference, name: str, inputs: Mapping[str, JSONObject], environment: Mapping[str, str]
) -> Asked:
    key, variable = reference.key, reference.variable
    if variable:
        value = environment.get(variable, "")
        default = value or default_of(reference, environment)
        secret = secret_variable(variable, default) or secret_variable(name, default)
        words = "It is not set in the environment."
        if default:
            words = "From the environment of this application." if value else "The default of the configuration."
        optional = reference.default is not None
        return Asked(key, f"Variable {short_name(variable)}", words, default, secret, optional=optional)
    if key == "workspaceFolder" or key.startswith("workspaceFolder:"):
        return Asked(key, "Folder of the project", "VS Code puts the open folder here.", folder=True)
    if key.startswith("file:"):
        path = short_name(key.removeprefix("file:"))
        return Asked(key, f"Text of {path}", "opencode puts the text of this file here.", secret=True)
    declared = inputs.get(key.removeprefix("input:"), {}) if key.startswith("input:") else {}
    label = short_name(key.removeprefix("input:"))
    help, preset, options = declared.get("description"), declared.get("default"), declared.get("options")
    choices = tuple(map(_option, options)) if declared.get("type") == "pickString" and isinstance(options, list) else ()
    return Asked(
        key,
        label,
        help[:LONGEST] if isinstance(help, str) else "",
        preset[:LONGEST] if isinstance(preset, str) else "",
        declared.get("password") is True or secret_variable(key.removeprefix("input:")) or secret_variable(name),
        choices[:MOST_CHOICES],
    )


def _option(value: JSON) -> str:
    if isinstance(value, dict):
        value = value.get("value", value.get("label", ""))
    return spelled(value)[:LONGEST] if is_plain(value) else ""


def is_plain(value: JSON) -> bool:
    """Return whether a value can be written as a text that a program takes."""
    return isinstance(value, str | int | float)


def spelled(value: JSON) -> str:
    """A plain value as a text."""
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
