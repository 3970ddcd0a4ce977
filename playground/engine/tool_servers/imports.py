"""Tool servers from the JSON that other applications keep of theirs: Claude Desktop, VS Code, Cursor, LM Studio.

What stands there is read as it is (``read_servers``); what it leaves open, an input or a variable, is asked for; then
it is settled (``settle``): one of our servers, and its secrets apart. Nothing is run, no file is opened here but one of
variables that a server names, and no note, error or repr shows a secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playground.domain.hidden import short_name, without_unseen
from playground.domain.tool_servers import ToolServer, Via
from playground.domain.transcript import new_id
from playground.engine.gateways.secrets import Secret
from playground.engine.tool_servers.book import lacking
from playground.engine.tool_servers.secret_values import (
    ARGUMENT,
    ENVIRONMENT,
    HEADER,
    imported_header,
    part_address,
    part_arguments,
    place,
    secret_header,
    secret_variable,
    variable_of_file,
    worth_hiding,
)
from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.relaxed import read_relaxed
from playground.jsonkit.texts import listed
from playground.jsonkit.values import JSON, JSONObject
from playground.named_file import read_named

MOST: Final = 500  # servers in one text
LONGEST: Final = 20_000  # characters of one text in it
LARGEST_ENV_FILE: Final = 1_000_000  # bytes
INPUT_VARIABLE: Final = "PLAYGROUND_INPUT_"  # where nobody can be asked, the value of an input is in this and its name

_REFERENCE: Final = re.compile(r"\$\{(?P<name>[^{}\s][^{}]{0,199})\}")
_BARE: Final = re.compile(r"[A-Z_][A-Z0-9_]*\Z")
_KNOWN: Final = frozenset(
    {"type", "transport", "command", "args", "env", "envFile", "cwd", "url", "serverUrl", "httpUrl", "headers", "auth"}
)
_OF_NO_USE: Final = frozenset({"description", "name", "gallery", "version", "dev", "icon", "id", "$schema", "enabled"})
_ANSWERED_THERE: Final = frozenset({"autoApprove", "alwaysAllow", "autoAllow", "trust", "allowedTools"})
_VIA: Final = {
    "stdio": Via.STDIO,
    "local": Via.STDIO,
    "http": Via.HTTP,
    "streamable-http": Via.HTTP,
    "streamablehttp": Via.HTTP,
    "streamable_http": Via.HTTP,
    "remote": Via.HTTP,
    "sse": Via.SSE,
}


class ImportRefusedError(ValueError):
    """Nothing can be imported; the text says why and what to do, and shows no secret."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a server leaves open. ``key`` is the text between ``${`` and ``}``; ``default`` is offered."""

    key: str
    label: str
    help: str = ""
    default: str = field(default="", repr=False)
    secret: bool = False
    choices: tuple[str, ...] = ()
    folder: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """One server as it stands in the text, with references in it; secrets are in it as well, so it shows little.

    ``problem`` says why it cannot be imported; ``notes`` what is left out or was guessed.
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


def read_servers(text: str, environment: Mapping[str, str] = os.environ) -> Imported:
    """The servers in ``text``; values of ``environment`` are offered where it refers to them.

    Raises ImportRefusedError.
    """
    text = _unfenced(text.strip().lstrip("\ufeff").strip())
    if not text:
        raise ImportRefusedError("There is nothing to import. Paste the JSON in which another application keeps them.")
    if text.startswith('"'):
        text = "{" + text.rstrip().rstrip(",") + "}"  # one entry, as it is copied out of a page of instructions
    try:
        value = read_relaxed(text)
    except JsonTextError as error:
        raise ImportRefusedError(f"This is not JSON: {error}.") from None
    kind, entries, inputs = _entries(value)
    if not entries:
        raise ImportRefusedError("No server stands in there.")
    if len(entries) > MOST:
        raise ImportRefusedError(f"More than {MOST} servers cannot be imported at once.")
    known = {str(it.get("id")): it for it in inputs if isinstance(it, dict)}
    return Imported(kind, tuple(_found(name, entry, known, environment) for name, entry in entries))


def _unfenced(text: str) -> str:
    """What stands in a Markdown code fence, where that is all there is."""
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text[text.index("\n") + 1 : -3].strip()
    return text


def _entries(value: JSON) -> tuple[str, list[tuple[str, JSON]], list[JSON]]:
    """Whose form it is, the servers by their names, and the inputs."""
    if not isinstance(value, dict):
        raise ImportRefusedError("The JSON must be an object with “mcpServers” or “servers”.")
    inputs = value.get("inputs")
    inputs = inputs if isinstance(inputs, list) else []
    if isinstance(value.get("mcp"), dict) and "command" not in value:
        kind, entries, more = _entries(value["mcp"])
        return f"{kind}, its settings", entries, [*inputs, *more]
    for member, kind in (("mcpServers", "Claude Desktop, Cursor or LM Studio"), ("servers", "VS Code")):
        if isinstance(value.get(member), dict):
            return kind, list(value[member].items()), inputs
    if _is_server(value):
        return "one server", [(str(value.get("name") or ""), value)], inputs
    if value and all(isinstance(entry, dict) and _is_server(entry) for entry in value.values()):
        return "servers by their names", list(value.items()), []
    raise ImportRefusedError("There is neither “mcpServers” nor “servers” in this JSON, and it is no server itself.")


def _is_server(value: JSONObject) -> bool:
    return any(isinstance(value.get(name), str | list) for name in ("command", "url", "serverUrl", "httpUrl"))


# ---- one server as it stands there -----------------------------------------------------------------------------------


def _found(typed: str, entry: JSON, inputs: dict[str, JSONObject], environment: Mapping[str, str]) -> Found:
    if not isinstance(entry, dict):
        return Found(_named(typed, {}), problem="It is not an object with “command” or “url”.")
    reading = _Reading(entry)
    command = reading.words("command")
    arguments = (*command[1:], *reading.words("args"))
    url = next(filter(None, map(reading.text, ("url", "serverUrl", "httpUrl"))), "")
    kind = (reading.text("type") or reading.text("transport")).casefold()
    via = _VIA.get(kind)
    if via is None:
        if kind:
            reading.notes.append(f"Its type “{short_name(kind)}” is not known.")
        via = Via.STDIO if command and not url else Via.SSE if url.split("?")[0].endswith("/sse") else Via.HTTP
    variables, headers = reading.members("env"), reading.members("headers")
    for member in sorted(set(entry) - _KNOWN - _OF_NO_USE):
        reading.left_out(member)
    if entry.get("auth") is not None:
        reading.notes.append("How to sign in there is not taken over: the server is asked how, when it is started.")
    found = Found(
        name=_named(typed, entry),
        via=via,
        command=command[0] if command else "",
        arguments=arguments if via is Via.STDIO else (),
        folder=reading.text("cwd"),
        environment=variables if via is Via.STDIO else {},
        env_file=reading.text("envFile") if via is Via.STDIO else "",
        url=url if via is not Via.STDIO else "",
        headers=headers if via is not Via.STDIO else {},
        oauth=via is not Via.STDIO and not any(secret_header(name, value) for name, value in headers.items()),
    )
    lacks = "It has no command." if via is Via.STDIO and not found.command.strip() else ""
    lacks = "It has neither a command nor an address." if not (command or url.strip() or kind) else lacks
    lacks = lacks or ("It has no address." if via is not Via.STDIO and not url.strip() else "")
    asked = tuple(_asked(found, inputs, environment))
    return _with(found, asked=asked, notes=tuple(reading.notes), problem=reading.problem or lacks)


def _with(found: Found, **changes: Any) -> Found:
    return Found(**{name: getattr(found, name) for name in Found.__slots__} | changes)


def _named(typed: str, entry: JSONObject) -> str:
    name = " ".join(without_unseen(typed).split())
    if not name:
        command = entry.get("command")
        name = Path(command.split()[0]).name if isinstance(command, str) and command.split() else "Server"
    return name[:80]


class _Reading:
    """Takes members of one entry, and remembers what could not be taken."""

    def __init__(self, entry: JSONObject) -> None:
        self._entry = entry
        self.notes: list[str] = []
        self.problem = ""

    def text(self, member: str) -> str:
        value = self._entry.get(member)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.problem = f"“{member}” is not a text."
            return ""
        return self._checked(member, value)

    def words(self, member: str) -> tuple[str, ...]:
        value = self._entry.get(member)
        if value is None:
            return ()
        if isinstance(value, str):
            return (self._checked(member, value),) if value else ()
        if not isinstance(value, list) or not all(_plain(item) for item in value):
            self.problem = f"“{member}” is not a list of texts."
            return ()
        return tuple(self._checked(member, _spelled(item)) for item in value)

    def members(self, member: str) -> dict[str, str]:
        value = self._entry.get(member)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.problem = f"“{member}” is not an object."
            return {}
        out: dict[str, str] = {}
        for name, item in value.items():
            if item is None:
                continue  # a variable that is taken away there: ours has only what is named
            if not _plain(item) or not name.strip() or "=" in name or "\0" in name:
                self.notes.append(f"“{short_name(name)}” in “{member}” could not be understood.")
                continue
            out[name.strip()] = self._checked(member, _spelled(item))
        return out

    def _checked(self, member: str, value: str) -> str:
        if len(value) > LONGEST or "\0" in value:
            self.problem = f"A text in “{member}” is too long, or holds a null character."
            return ""
        return value

    def left_out(self, member: str) -> None:
        value = self._entry[member]
        if member in _ANSWERED_THERE:
            if value:
                self.notes.append(
                    "What may run there without a question is not taken over: say so here, once you know it."
                )
        elif member == "disabled":
            if value:
                self.notes.append("It is switched off there. Here it runs when it is started.")
        elif member in ("timeout", "initTimeout"):
            self.notes.append("Its time-out is not taken over: set it here.")
        else:
            self.notes.append(f"“{short_name(member)}” is not known here, and left out.")


def _plain(value: JSON) -> bool:
    return isinstance(value, str | int | float)


def _spelled(value: JSON) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


# ---- what it leaves open ---------------------------------------------------------------------------------------------


def _texts(found: Found) -> Iterable[tuple[str, str]]:
    """Every text in which there may be references, and the name it goes under."""
    yield "", found.command
    yield from (("", text) for text in found.arguments)
    yield from (("", text) for text in (found.folder, found.env_file, found.url))
    yield from found.environment.items()
    yield from found.headers.items()


def _asked(found: Found, inputs: dict[str, JSONObject], environment: Mapping[str, str]) -> Iterable[Asked]:
    seen: dict[str, None] = {}
    for name, text in _texts(found):
        for reference in _REFERENCE.finditer(text):
            key = reference["name"]
            if key in seen or _own(key, found, environment) is not None:
                continue
            seen[key] = None
            yield _question(key, name, inputs, environment)


def _own(key: str, found: Found, environment: Mapping[str, str]) -> str | None:
    """What a reference stands for, where nobody has to be asked: None where somebody has."""
    if key == "userHome":
        return str(Path.home())
    if key in ("pathSeparator", "/"):
        return os.sep
    if _variable(key) is None and ":" not in key and not key.startswith("workspaceFolder"):
        return f"${{{key}}}"  # not one of ours: the program itself may know it
    given = found.environment.get(key, f"${{{key}}}")  # a variable that is given on under its own name is ours
    if _BARE.match(key) and (given != f"${{{key}}}" or key not in environment):
        return f"${{{key}}}"  # the program finds it in its environment
    return None


def _variable(key: str) -> str | None:
    """The variable of the environment that a reference names, if it does."""
    if key.startswith("env:"):
        return key.removeprefix("env:")
    return key if _BARE.match(key) else None


def _question(key: str, name: str, inputs: dict[str, JSONObject], environment: Mapping[str, str]) -> Asked:
    variable = _variable(key)
    if variable is not None:
        value = environment.get(variable, "")
        secret = secret_variable(variable, value) or secret_variable(name, value)
        words = "From the environment of this application." if value else "It is not set in the environment."
        return Asked(key, f"Variable {short_name(variable)}", words, value, secret)
    if key == "workspaceFolder" or key.startswith("workspaceFolder:"):
        return Asked(key, "Folder of the project", "VS Code puts the open folder here.", folder=True)
    told = inputs.get(key.removeprefix("input:"), {}) if key.startswith("input:") else {}
    label = short_name(key.removeprefix("input:"))
    help = told.get("description")
    default = told.get("default")
    options = told.get("options")
    choices = tuple(map(_option, options)) if told.get("type") == "pickString" and isinstance(options, list) else ()
    return Asked(
        key,
        label,
        help[:LONGEST] if isinstance(help, str) else "",
        default[:LONGEST] if isinstance(default, str) else "",
        told.get("password") is True or secret_variable(key.removeprefix("input:")) or secret_variable(name),
        choices[:MOST],
    )


def _option(value: JSON) -> str:
    if isinstance(value, dict):
        value = value.get("value", value.get("label", ""))
    return _spelled(value)[:LONGEST] if _plain(value) else ""


# ---- settled ---------------------------------------------------------------------------------------------------------


def settle(found: Found, answers: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> Settled:
    """A server of ours, with ``answers`` to what was asked, by their keys. Reads its file of variables: blocks.

    Raises ImportRefusedError where the server cannot be imported; what is not answered becomes an empty text.
    """
    if found.problem:
        raise ImportRefusedError(found.problem)
    put = _Putting(found, answers, environment)
    if put.has_named_secret(found.command) or put.has_named_secret(found.folder):
        raise ImportRefusedError("Its command itself is made of a secret, which cannot be kept so.")
    notes = list(found.notes)
    notes += [f"“{asked.label}” is not filled in yet." for asked in found.asked if not answers.get(asked.key)]
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
    parted = part_arguments([put.with_places(text) for text in found.arguments], put.placed)
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
        variable = _variable(asked.key) or INPUT_VARIABLE + re.sub(r"\W", "_", asked.key.removeprefix("input:")).upper()
        if asked.folder:
            answers[asked.key] = environment.get(variable, str(Path.cwd()))
        elif asked.default or variable in environment:
            answers[asked.key] = environment.get(variable, asked.default)
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
        # What a folder is, and a choice that the configuration lists, is no secret.
        self._secret = self._named_secret | {
            asked.key
            for asked in found.asked
            if not (asked.folder or asked.choices) and worth_hiding(answers.get(asked.key, ""))
        }
        self._asked = {asked.key for asked in found.asked}
        self.placed: dict[str, Secret] = {}  # secrets of arguments and addresses, by the names of their places

    def plain(self, text: str) -> str:
        """With the answers themselves."""
        return _REFERENCE.sub(lambda reference: self._value(reference["name"]), text)

    def with_places(self, text: str) -> str:
        """With secret answers as places that the keyring fills."""
        return _REFERENCE.sub(lambda reference: self._place(reference["name"]), text)

    def has_named_secret(self, text: str) -> bool:
        """Return whether an answer whose name says that it is a secret belongs into ``text``."""
        return any(reference["name"] in self._named_secret for reference in _REFERENCE.finditer(text))

    def has_secret(self, text: str) -> bool:
        """Whether an answer that is a secret belongs into ``text``."""
        return any(reference["name"] in self._secret for reference in _REFERENCE.finditer(text))

    def _value(self, key: str) -> str:
        if key in self._asked:
            return self._answers.get(key, "")
        own = _own(key, self._found, self._environment)
        return own if own is not None else ""

    def _place(self, key: str) -> str:
        value = self._value(key)
        if key not in self._secret or not value:
            return value
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", key.split(":", 1)[-1]).strip("-")[:80].casefold() or "secret"
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
