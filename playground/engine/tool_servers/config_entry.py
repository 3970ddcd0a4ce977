"""One server of another application's configuration: its connection, its references, and the values to ask for.

References are ``${NAME}``, ``${NAME:-default}``, ``$NAME``, ``{env:NAME}`` and inputs: Claude Code, Cursor, VS Code,
Gemini CLI, opencode and Continue each have a form of their own. Members with several spellings are read under all of
them; a member that cannot be imported is named in a note.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from playground.domain.hidden import short_name, without_unseen
from playground.domain.tool_servers import Via
from playground.engine.tool_servers.config_file import NamedEntry
from playground.engine.tool_servers.secret_values import secret_header, secret_variable
from playground.jsonkit.values import JSON, JSONObject

# ---- references ------------------------------------------------------------------------------------------------------

_LONGEST_REFERENCE: Final = 2_000  # characters of one reference
_DEEPEST_REFERENCE: Final = 8
_START: Final = re.compile(
    r"\$\{\{\s*(?:secrets|env|vars|inputs)\.(?P<continue>[A-Za-z_]\w{0,199})\s*\}\}"
    r"|(?P<braces>\$\{)(?=[^{}\s])"
    r"|\{(?P<opencode>(?:env|file):[^{}\s][^{}]{0,999})\}"
    r"|(?<![\w$\\])\$(?P<bare>[A-Z_][A-Z0-9_]{1,199})(?![\w(])"
)
_BRACE: Final = re.compile(r"[{}]")
_SHELL: Final = re.compile(  # without a colon only behind capitals: "${your-key}" is no default
    r"(?P<name>(?:env:)?(?:[A-Za-z_]\w{0,199}(?=:[-=?])|[A-Z_][A-Z0-9_]{0,199}))(?P<sign>:?[-=?])(?P<rest>.*)\Z",
    re.DOTALL,
)
_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]*\Z")


class Reference(NamedTuple):
    """A reference in a text, from ``start`` to ``end``.

    ``key`` names the value: ``NAME``, ``env:NAME``, ``input:ID`` or ``workspaceFolder``, with the default if any.
    ``variable`` is its variable of the environment, empty for none. ``default`` is the text used without a value, None
    for none. ``bare`` marks the form ``$NAME``.
    """

    start: int
    end: int
    key: str
    variable: str = ""
    default: str | None = None
    bare: bool = False


def references(text: str) -> Iterator[Reference]:
    """Yield the references of a text in order; one inside a default belongs to the outer reference."""
    place = 0
    while match := _START.search(text, place):
        reference = _reference(text, match)
        place = reference.end if reference is not None else match.end()
        if reference is not None:
            yield reference


def _reference(text: str, match: re.Match[str]) -> Reference | None:
    start, end = match.span()
    if name := match["continue"]:
        return Reference(start, end, f"env:{name}", name)
    if name := match["bare"]:
        return Reference(start, end, name, name, bare=True)
    if inner := match["opencode"]:
        return Reference(start, end, inner, variable_of(inner))
    close = _closing(text, end)
    if close is None:
        return None
    inner = text[end:close]
    shell = _SHELL.match(inner)
    if shell is None:
        return Reference(start, close + 1, inner, variable_of(inner))
    default = None if "?" in shell["sign"] else shell["rest"]
    return Reference(start, close + 1, inner, shell["name"].removeprefix("env:"), default)


def variable_of(key: str) -> str:
    """Return the variable of the environment that a key names; empty for none."""
    shell = _SHELL.match(key)
    name = shell["name"] if shell is not None else key
    if name.startswith("env:"):
        return name.removeprefix("env:")
    return name if shell is not None or _VARIABLE.match(name) else ""


def fill_references(text: str, value_of: Callable[[Reference], str | None]) -> str:
    """Replace each reference by its value; one with the value None stays."""
    parts: list[str] = []
    place = 0
    for reference in references(text):
        value = value_of(reference)
        if value is not None:
            parts += [text[place : reference.start], value]
            place = reference.end
    return "".join([*parts, text[place:]])


def default_of(reference: Reference, environment: Mapping[str, str], depth: int = 0) -> str:
    """Return the default of a reference, with values of the environment or defaults for the references in it."""
    if not reference.default or depth > _DEEPEST_REFERENCE:
        return ""
    return fill_references(
        reference.default,
        lambda inner: environment.get(inner.variable) or default_of(inner, environment, depth + 1),
    )


def _closing(text: str, start: int) -> int | None:
    """Return the index of the brace that closes the one before ``start``; None without one."""
    depth = 1
    for match in _BRACE.finditer(text, start, start + _LONGEST_REFERENCE):
        depth += 1 if match[0] == "{" else -1
        if depth == 0 or depth > _DEEPEST_REFERENCE:
            return None if depth else match.start()
    return None


# ---- open values -----------------------------------------------------------------------------------------------------

LONGEST: Final = 20_000  # characters of one text
MOST_CHOICES: Final = 500
_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "fish"})


@dataclass(frozen=True, slots=True)
class OpenValue:
    """A value to ask for. ``key`` is the text between ``${`` and ``}``; ``optional`` allows an empty answer."""

    key: str
    label: str
    help: str = ""
    default: str = field(default="", repr=False)
    secret: bool = False
    choices: tuple[str, ...] = ()
    folder: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class ImportedServer:
    """A server of a configuration, with references; fields that can hold secrets are left out of its repr.

    ``problem`` is the reason why it cannot be imported; ``notes`` tell omissions and guesses. ``enabled`` is false for
    a server that the configuration switches off.
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
    open_values: tuple[OpenValue, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""
    enabled: bool = True


def _open_values(
    server: ImportedServer, inputs: Mapping[str, JSONObject], environment: Mapping[str, str]
) -> tuple[OpenValue, ...]:
    """Return the values to ask for, each once."""
    texts = [("", server.command, False), *(("", text, True) for text in server.arguments)]
    texts += (("", text, False) for text in (server.folder, server.env_file, server.url))
    texts += ((name, text, False) for name, text in (*server.environment.items(), *server.headers.items()))
    values: dict[str, OpenValue] = {}
    for name, text, is_argument in texts:
        for reference in references(text):
            if reference.key not in values and own_value(reference, server, environment, is_argument) is None:
                values[reference.key] = _open_value(reference, name, inputs, environment)
    return tuple(values.values())


def own_value(
    reference: Reference, server: ImportedServer, environment: Mapping[str, str], is_argument: bool = False
) -> str | None:
    """Return the text for a reference that needs no question, None for one that does."""
    key, variable = reference.key, reference.variable
    written = f"${variable}" if reference.bare else f"${{{key}}}"
    if key == "userHome":
        return str(Path.home())
    if key in ("pathSeparator", "/"):
        return os.sep
    if not variable and ":" not in key and not key.startswith("workspaceFolder"):
        return written  # left to the program
    if key.startswith("env:") or reference.default is not None:
        return None
    value = server.environment.get(variable)
    if value is not None and not any(inner.variable == variable for inner in references(value)):
        return written  # in the environment of the program
    if is_argument and (_is_script(server) or (reference.bare and variable not in environment)):
        return written  # left to a shell, or no reference
    return None


def _is_script(server: ImportedServer) -> bool:
    """Return whether a server is a script that a shell reads from its arguments."""
    return Path(server.command).name in _SHELLS and any(re.match(r"-\w*c\Z", word) for word in server.arguments[:3])


def _open_value(
    reference: Reference, name: str, inputs: Mapping[str, JSONObject], environment: Mapping[str, str]
) -> OpenValue:
    key, variable = reference.key, reference.variable
    if variable:
        value = environment.get(variable, "")
        default = value or default_of(reference, environment)
        secret = secret_variable(variable, default) or secret_variable(name, default)
        words = "It is not set in the environment."
        if default:
            words = "From the environment of this application." if value else "The default of the configuration."
        optional = reference.default is not None
        return OpenValue(key, f"Variable {short_name(variable)}", words, default, secret, optional=optional)
    if key == "workspaceFolder" or key.startswith("workspaceFolder:"):
        return OpenValue(key, "Folder of the project", "VS Code inserts the open folder.", folder=True)
    if key.startswith("file:"):
        path = short_name(key.removeprefix("file:"))
        return OpenValue(key, f"Text of {path}", "opencode inserts the text of this file.", secret=True)
    declared = inputs.get(key.removeprefix("input:"), {}) if key.startswith("input:") else {}
    label = short_name(key.removeprefix("input:"))
    help, preset, options = declared.get("description"), declared.get("default"), declared.get("options")
    choices = tuple(map(_option, options)) if declared.get("type") == "pickString" and isinstance(options, list) else ()
    return OpenValue(
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
    """Return a plain value as text."""
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


# ---- entries ---------------------------------------------------------------------------------------------------------

#: The spellings of each member; the first one present wins.
_COMMAND: Final = "command", "cmd"
_URL: Final = "httpUrl", "url", "serverUrl", "server_url", "uri", "endpoint"
_ENVIRONMENT: Final = "env", "environment", "envs"
_HEADERS: Final = "headers", "http_headers"
_ENV_FILE: Final = "envFile", "env_file"
_KIND: Final = "type", "transport", "transportType"
_FOLDER: Final = "cwd", "workingDirectory", "working_directory"
_NAMES_OF_VARIABLES: Final = "env_vars", "env_keys"
_READ: Final = frozenset(
    (
        *_COMMAND, *_URL, *_ENVIRONMENT, *_HEADERS, *_ENV_FILE, *_KIND, *_FOLDER, *_NAMES_OF_VARIABLES, "args", "auth",
        "bearer_token_env_var", "env_http_headers", "authorization_token", "requestOptions", "requestInit", "oauth",
    )
)  # fmt: skip
_IGNORED: Final = frozenset((
    "description", "name", "gallery", "version", "dev", "icon", "id", "$schema", "iconPath", "title", "displayName",
    "display_name", "server_label", "source", "bundled", "createdAt", "updatedAt",
))  # fmt: skip
_TIMES: Final = frozenset((
    "timeout", "initTimeout", "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec", "connectionTimeout",
    "requestTimeout", "read_timeout", "networkTimeout",
))  # fmt: skip
_APPROVALS: Final = frozenset({"autoApprove", "alwaysAllow", "autoAllow", "trust", "allowedTools", "alwaysApprove"})
_SANDBOXES: Final = frozenset({"sandbox", "sandboxEnabled", "sandboxed"})
_TOOL_LISTS: Final = frozenset((
    "includeTools", "excludeTools", "enabled_tools", "disabled_tools", "disabledTools", "enabledTools", "tools",
    "available_tools", "allowed_tools", "tool_configuration",
))  # fmt: skip
_SWITCHES: Final = {"disabled": True, "enabled": False, "isActive": False, "active": False}
_VIA: Final = {
    **dict.fromkeys(("stdio", "local", "command"), Via.STDIO),
    **dict.fromkeys(("http", "streamablehttp", "httpstream", "streamable"), Via.HTTP),
    "sse": Via.SSE,
}
_BY_ADDRESS: Final = frozenset({"remote", "url", "mcp", "custom", ""})  # types of more than one transport
_BUILT_IN: Final = frozenset({"builtin", "platform", "frontend", "inline_python"})
_EXECUTABLE: Final = re.compile(r"(?:[A-Za-z]:\\|\\\\)[^\"<>|?*]*?\.(?:exe|cmd|bat|com|ps1)\b", re.IGNORECASE)


def read_entry(
    entry: NamedEntry, inputs: Mapping[str, JSONObject], environment: Mapping[str, str], system: str = sys.platform
) -> ImportedServer:
    """Read one server; values of ``environment`` become the defaults of references to it."""
    value = entry.value
    if isinstance(value, dict) and isinstance(value.get("mcp_config"), dict):  # the manifest of a desktop extension
        value = value["mcp_config"]
    if not isinstance(value, dict):
        return ImportedServer(_named(entry.name, {}), problem="It is not an object with “command” or “url”.")
    reading = _Reading(value)
    reading.notes += entry.notes
    command, arguments = _command(reading, system)
    url = reading.first(_URL)
    via = _via(reading, bool(command), url)
    variables, headers = _variables(reading), _headers(reading)
    enabled = entry.enabled
    for member in sorted(set(value) - _READ - _IGNORED):
        if member in _SWITCHES:
            enabled = enabled and value[member] is not _SWITCHES[member]
        else:
            reading.leave_out(member)
    if not enabled:
        reading.notes.append("It is switched off there. Here it runs when it is started.")
    if value.get("auth") is not None or value.get("oauth"):
        reading.notes.append("Its sign-in is not imported: the server describes it when it starts.")
    is_local = via is Via.STDIO
    server = ImportedServer(
        name=_named(entry.name, value),
        via=via,
        command=command,
        arguments=arguments if is_local else (),
        folder=reading.first(_FOLDER),
        environment=variables if is_local else {},
        env_file=reading.first(_ENV_FILE) if is_local else "",
        url=url if not is_local else "",
        headers=headers if not is_local else {},
        oauth=not is_local and not any(secret_header(name, text) for name, text in headers.items()),
        enabled=enabled,
    )
    problem = reading.problem or _missing_member(reading, server, bool(command), url)
    values = _open_values(server, inputs, environment)
    return dataclasses.replace(server, open_values=values, notes=tuple(reading.notes), problem=problem)


def _missing_member(reading: _Reading, server: ImportedServer, has_command: bool, url: str) -> str:
    if not (has_command or url.strip() or reading.kind()):
        return "It has neither a command nor an address."
    if server.via is Via.STDIO:
        return "" if server.command.strip() else "It has no command."
    return "" if url.strip() else "It has no address."


def _named(typed: str, entry: JSONObject) -> str:
    name = " ".join(without_unseen(typed).split())
    if not name:
        command = entry.get("command")
        name = Path(command.split()[0]).name if isinstance(command, str) and command.split() else "Server"
    return name[:80]


def _via(reading: _Reading, has_command: bool, url: str) -> Via:
    """Return the transport by the type of the entry, else by its address."""
    kind = reading.kind()
    via = _VIA.get(re.sub(r"[-_ ]", "", kind))
    if via is not None:
        return via
    if not kind and reading.member("httpUrl") is not None:
        return Via.HTTP
    if kind in ("ws", "wss", "websocket"):
        reading.problem = "It is reached through a web socket, which is not supported."
    elif kind in _BUILT_IN:
        reading.problem = "It is a part of that application, not a server."
    elif kind not in _BY_ADDRESS:
        reading.notes.append(f"Its type “{short_name(kind)}” is not known.")
    return Via.STDIO if has_command and not url else Via.SSE if _is_sse(url) else Via.HTTP


def _is_sse(url: str) -> bool:
    """Return whether the path of an address ends in ``sse``, as those of the older transport do by custom."""
    try:
        path = urlsplit(url.strip()).path
    except ValueError:
        return False
    return path.rstrip("/").casefold().endswith("/sse")


def _command(reading: _Reading, system: str) -> tuple[str, tuple[str, ...]]:
    """Return the program and its arguments. One text with both is split as in a shell."""
    member = next((name for name in _COMMAND if reading.member(name) is not None), _COMMAND[0])
    nested = reading.member(member)
    if isinstance(nested, dict):  # the older form of Zed: {"path": …, "args": […], "env": {…}}
        inner = _Reading({"command": nested.get("path") or nested.get("command"), "args": nested.get("args")})
        words = (*inner.words("command"), *inner.words("args"))
        reading.problem = reading.problem or inner.problem
    else:
        words = reading.words(member)
        if isinstance(nested, str) and words:
            words = _split(words[0], reading)
        words = (*words, *reading.words("args"))
    if not words:
        return "", ()
    program = re.split(r"[\\/]", words[0])[-1].casefold()
    if program in ("cmd", "cmd.exe") and len(words) > 2 and words[1].casefold() == "/c" and system != "win32":
        words = words[2:]
        reading.notes.append("“cmd /c” is left out, since only Windows has it.")
    wrapped = next((word for word in words[1:] if word.startswith(("http://", "https://"))), "")
    if wrapped and any(re.match(r"mcp-remote(?:@|$)", word) for word in words):
        reading.notes.append("It reaches an address through “mcp-remote”. That address can be used directly, too.")
    return words[0], words[1:]


def _split(text: str, reading: _Reading) -> tuple[str, ...]:
    """Split a command line into words, but not a path with spaces."""
    if not text.strip() or not re.search(r"\s", text.strip()):
        return (text,)
    executable = _EXECUTABLE.match(text)
    if executable is not None:
        head, rest = executable[0], text[executable.end() :]
    else:
        first, _, rest = text.strip().partition(" ")
        following = rest.split(" ")[0]
        if first.startswith(("/", "~")) and "/" in following and following[:1] not in "/-~.$@\"'":
            return (text,)  # a folder with a space in its name
        head, rest = "", text
    try:
        words = shlex.split(rest, posix="\\" not in rest)
    except ValueError:
        return (text,)
    words = [word.strip("\"'") if "\\" in rest else word for word in words]
    if head and not words:
        return (text,)
    reading.notes.append("Its command was written as one text; it is split at the spaces.")
    return (head, *words) if head else tuple(words)


def _variables(reading: _Reading) -> dict[str, str]:
    variables: dict[str, str] = {}
    nested = reading.member("command")
    if isinstance(nested, dict) and isinstance(nested.get("env"), dict):
        variables |= _Reading({"env": nested["env"]}).members("env")
    for member in _ENVIRONMENT:
        variables |= reading.members(member)
    for member in _NAMES_OF_VARIABLES:  # variables to pass on
        listed = reading.member(member)
        for item in listed if isinstance(listed, list) else ():
            name = item.get("name") if isinstance(item, dict) else item
            if isinstance(name, str) and re.match(r"\w{1,200}\Z", name):
                variables.setdefault(name, f"${{env:{name}}}")
    return variables


def _headers(reading: _Reading) -> dict[str, str]:
    headers: dict[str, str] = {}
    for member in _HEADERS:
        headers |= reading.members(member)
    for member in ("requestOptions", "requestInit"):
        options = reading.member(member)
        if isinstance(options, dict):
            headers |= _Reading(options).members("headers")
            reading.notes += [f"“{member}.{short_name(name)}” is left out." for name in options if name != "headers"]
    for name, variable in reading.members("env_http_headers").items():
        headers[name] = f"${{env:{variable}}}"
    if variable := reading.text("bearer_token_env_var"):
        headers["Authorization"] = f"Bearer ${{env:{variable}}}"
    if token := reading.text("authorization_token"):
        headers["Authorization"] = f"Bearer {token}"
    return headers


class _Reading:
    """Reads members of one entry and collects notes and the last problem."""

    def __init__(self, entry: JSONObject) -> None:
        self._entry = entry
        self.notes: list[str] = []
        self.problem = ""

    def member(self, member: str) -> JSON:
        """Return the value of ``member``; None for none."""
        return self._entry.get(member)

    def first(self, members: Iterable[str]) -> str:
        """Return the first text of ``members`` that is not empty."""
        texts = [(member, self.text(member)) for member in members]
        filled = [(member, text) for member, text in texts if text]
        for member, text in filled[1:]:
            if text != filled[0][1]:
                self.notes.append(f"“{member}” is left out, since there is “{filled[0][0]}”.")
        return filled[0][1] if filled else ""

    def kind(self) -> str:
        """Return the type of the entry in small letters; empty for none."""
        value = next((self._entry[member] for member in _KIND if self.member(member) is not None), "")
        if isinstance(value, dict):
            value = value.get("type", "")
        return value.casefold() if isinstance(value, str) else ""

    def text(self, member: str) -> str:
        """Return a text, empty for none; another type is a problem."""
        value = self._entry.get(member)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.problem = f"“{member}” is not a text."
            return ""
        return self._checked(member, value)

    def words(self, member: str) -> tuple[str, ...]:
        """Return a list of texts; another type is a problem."""
        value = self._entry.get(member)
        if value is None:
            return ()
        if isinstance(value, str):
            return (self._checked(member, value),) if value else ()
        if not isinstance(value, list) or not all(is_plain(item) for item in value):
            self.problem = f"“{member}” is not a list of texts."
            return ()
        return tuple(self._checked(member, spelled(item)) for item in value)

    def members(self, member: str) -> dict[str, str]:
        """Return texts by names; another type is a problem."""
        value = self._entry.get(member)
        if value is None:
            return {}
        if isinstance(value, list) and value and all(isinstance(item, str) and "=" in item for item in value):
            value = dict(item.split("=", 1) for item in value)
        if not isinstance(value, dict):
            self.problem = f"“{member}” is not an object."
            return {}
        out: dict[str, str] = {}
        for name, item in value.items():
            if item is None:
                continue  # a variable removed from an inherited environment
            if not is_plain(item) or not name.strip() or "=" in name or "\0" in name:
                self.notes.append(f"“{short_name(name)}” in “{member}” could not be understood.")
                continue
            out[name.strip()] = self._checked(member, spelled(item))
        return out

    def _checked(self, member: str, value: str) -> str:
        if len(value) > LONGEST or "\0" in value:
            self.problem = f"A text in “{member}” is too long, or holds a null character."
            return ""
        return value

    def leave_out(self, member: str) -> None:
        """Add a note on a member that cannot be imported."""
        value = self._entry[member]
        if member in _TIMES:
            note = "Its time-out is not imported. Set it in the form."
        elif member in _APPROVALS:
            note = "Its auto-run rules are not imported. Set them once you trust the server."
        elif member in _SANDBOXES:
            name = "" if member == "sandbox" else f" (“{short_name(member)}”)"
            note = f"It runs in a sandbox there{name}. Here it runs without one."
        elif member in _TOOL_LISTS:
            note = f"Which of its tools are offered (“{member}”) is not imported. Choose them in the list."
        else:
            self.notes.append(f"“{short_name(member)}” is unknown and left out.")
            return
        if (value or member in _TIMES) and not (member in _TIMES and note in self.notes):
            self.notes.append(note)
