"""One server of another application's configuration: how it is reached, and what has to be asked to start it.

Members with many spellings are read under all of them; a member that cannot be taken over is named in a note.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from playground.domain.hidden import short_name, without_unseen
from playground.domain.tool_servers import Via
from playground.engine.tool_servers.configurations import NamedEntry
from playground.engine.tool_servers.open_values import LONGEST, Found, is_plain, questions, spelled
from playground.engine.tool_servers.secret_values import secret_header
from playground.jsonkit.values import JSON, JSONObject

#: The spellings of a member, the one that wins first.
_COMMAND: Final = "command", "cmd"
_URL: Final = "httpUrl", "url", "serverUrl", "server_url", "uri", "endpoint"
_ENVIRONMENT: Final = "env", "environment", "envs"
_HEADERS: Final = "headers", "http_headers"
_ENV_FILE: Final = "envFile", "env_file"
_KIND: Final = "type", "transport", "transportType"
_FOLDER: Final = "cwd", "workingDirectory", "working_directory"
_NAMES_OF_VARIABLES: Final = "env_vars", "env_keys"
_TAKEN: Final = frozenset(
    (
        *_COMMAND, *_URL, *_ENVIRONMENT, *_HEADERS, *_ENV_FILE, *_KIND, *_FOLDER, *_NAMES_OF_VARIABLES, "args", "auth",
        "bearer_token_env_var", "env_http_headers", "authorization_token", "requestOptions", "requestInit", "oauth",
    )
)  # fmt: skip
_OF_NO_USE: Final = frozenset(
    (
        "description", "name", "gallery", "version", "dev", "icon", "id", "$schema", "iconPath", "title", "displayName",
        "display_name", "server_label", "source", "bundled", "createdAt", "updatedAt",
    )
)  # fmt: skip
_ANSWERED_THERE: Final = frozenset(
    {"autoApprove", "alwaysAllow", "autoAllow", "trust", "allowedTools", "alwaysApprove"}
)
_TIMES: Final = frozenset(
    (
        "timeout", "initTimeout", "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec", "connectionTimeout",
        "requestTimeout", "read_timeout", "networkTimeout",
    )
)  # fmt: skip
_SWITCHES: Final = {"disabled": True, "enabled": False, "isActive": False, "active": False}
_SANDBOXES: Final = frozenset({"sandbox", "sandboxEnabled", "sandboxed"})
_TOOL_LISTS: Final = frozenset(
    (
        "includeTools", "excludeTools", "enabled_tools", "disabled_tools", "disabledTools", "enabledTools", "tools",
        "available_tools", "allowed_tools", "tool_configuration",
    )
)  # fmt: skip
_VIA: Final = {
    "stdio": Via.STDIO,
    "local": Via.STDIO,
    "command": Via.STDIO,
    "http": Via.HTTP,
    "streamablehttp": Via.HTTP,
    "httpstream": Via.HTTP,
    "streamable": Via.HTTP,
    "sse": Via.SSE,
}
_BY_ADDRESS: Final = frozenset({"remote", "url", "mcp", "custom", ""})  # they leave the transport open
_BUILT_IN: Final = frozenset({"builtin", "platform", "frontend", "inline_python"})
_EXECUTABLE: Final = re.compile(r"(?:[A-Za-z]:\\|\\\\)[^\"<>|?*]*?\.(?:exe|cmd|bat|com|ps1)\b", re.IGNORECASE)


def read_entry(
    entry: NamedEntry, inputs: Mapping[str, JSONObject], environment: Mapping[str, str], system: str = sys.platform
) -> Found:
    """One server; values of ``environment`` are offered where it refers to them."""
    value = entry.value
    if isinstance(value, dict) and isinstance(value.get("mcp_config"), dict):  # the manifest of a desktop extension
        value = value["mcp_config"]
    if not isinstance(value, dict):
        return Found(_named(entry.name, {}), problem="It is not an object with “command” or “url”.")
    reading = _Reading(value)
    reading.notes += entry.notes
    command, arguments = _command(reading, system)
    url = reading.first(_URL)
    via = _via(reading, bool(command), url)
    variables, headers = _variables(reading), _headers(reading)
    enabled = entry.enabled
    for member in sorted(set(value) - _TAKEN - _OF_NO_USE):
        if member in _SWITCHES:
            enabled = enabled and value[member] is not _SWITCHES[member]
        else:
            reading.left_out(member)
    if not enabled:
        reading.notes.append("It is switched off there. Here it runs when it is started.")
    if value.get("auth") is not None or value.get("oauth"):
        reading.notes.append("How to sign in there is not taken over: the server is asked how, when it is started.")
    is_local = via is Via.STDIO
    server = Found(
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
    problem = reading.problem or _lacking(reading, server, bool(command), url)
    return replace(
        server, asked=tuple(questions(server, inputs, environment)), notes=tuple(reading.notes), problem=problem
    )


def _lacking(reading: _Reading, server: Found, has_command: bool, url: str) -> str:
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
    """The transport: as the entry says, or as its address tells."""
    kind = reading.kind()
    via = _VIA.get(re.sub(r"[-_ ]", "", kind))
    if via is not None:
        return via
    if not kind and reading.has("httpUrl"):
        return Via.HTTP
    if kind in ("ws", "wss", "websocket"):
        reading.problem = "It is reached through a web socket, which is not supported here."
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
    """The program and its arguments. One text with both in it is split as a shell splits it."""
    member = next((name for name in _COMMAND if reading.has(name)), _COMMAND[0])
    nested = reading.member(member)
    if isinstance(nested, dict):  # as Zed had it: {"path": …, "args": […], "env": {…}}
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
        reading.notes.append("It reaches an address through “mcp-remote”. That address can be used here directly, too.")
    return words[0], words[1:]


def _split(text: str, reading: _Reading) -> tuple[str, ...]:
    """The words of a command line; a path with spaces in it stays one."""
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
    for member in _NAMES_OF_VARIABLES:  # the names of variables that are filled on
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
    """Takes members of one entry, and remembers what could not be taken."""

    def __init__(self, entry: JSONObject) -> None:
        self._entry = entry
        self.notes: list[str] = []
        self.problem = ""

    def has(self, member: str) -> bool:
        """Return whether the entry has a value for ``member``."""
        return self._entry.get(member) is not None

    def member(self, member: str) -> JSON:
        """The value of ``member`` as it is; None for none."""
        return self._entry.get(member)

    def first(self, members: Iterable[str]) -> str:
        """The first text among those of ``members`` that is not empty."""
        texts = [(member, self.text(member)) for member in members]
        filled = [(member, text) for member, text in texts if text]
        for member, text in filled[1:]:
            if text != filled[0][1]:
                self.notes.append(f"“{member}” is left out, since there is “{filled[0][0]}”.")
        return filled[0][1] if filled else ""

    def kind(self) -> str:
        """How the entry says that it is reached, in small letters; empty where it does not say."""
        value = next((self._entry[member] for member in _KIND if self.has(member)), "")
        if isinstance(value, dict):
            value = value.get("type", "")
        return value.casefold() if isinstance(value, str) else ""

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
        if not isinstance(value, list) or not all(is_plain(item) for item in value):
            self.problem = f"“{member}” is not a list of texts."
            return ()
        return tuple(self._checked(member, spelled(item)) for item in value)

    def members(self, member: str) -> dict[str, str]:
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
                continue  # a variable that is taken away there: ours has only what is named
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

    def left_out(self, member: str) -> None:
        value = self._entry[member]
        if member in _ANSWERED_THERE:
            if value:
                self.notes.append(
                    "What may run there without a question is not taken over: say so here, once you know it."
                )
        elif member in _SANDBOXES:
            if value:
                name = "" if member == "sandbox" else f" (“{short_name(member)}”)"
                self.notes.append(f"It runs in a sandbox there{name}. Here it runs without one.")
        elif member in _TOOL_LISTS:
            if value:
                self.notes.append(f"Which of its tools are offered (“{member}”) is not taken over: choose them here.")
        elif member in _TIMES:
            if "Its time-out is not taken over: set it here." not in self.notes:
                self.notes.append("Its time-out is not taken over: set it here.")
        else:
            self.notes.append(f"“{short_name(member)}” is not known here, and left out.")
