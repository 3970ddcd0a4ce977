"""Secrets of tool servers: recognised in typed and imported settings, and their names in the keyring.

Variables and headers are saved under their names. A secret in an argument or an address is replaced by
``{{secret:NAME}}``. Nothing here writes a file or shows a value.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from playground.domain.tool_servers import SIGN_IN_SECRETS, ToolServer
from playground.engine.gateways.secrets import Keys, Secret, looks_secret
from playground.gateway.redact import MASK as MASK
from playground.gateway.redact import SHORTEST
from playground.jsonkit.reading import parse_json

ORIGIN: Final = "tool-server"  # for ``Keys``: secrets belong to a server, whose command or address is confirmed
OAUTH: Final = "oauth"
ENVIRONMENT, HEADER, ARGUMENT = "env:", "header:", "argument:"

PLACE: Final = re.compile(r"\{\{secret:([A-Za-z0-9_.-]{1,100})\}\}")

_SECRET_WORDS = frozenset({"key", "keys", "apikey", "token", "secret", "secrets", "password", "passwd", "pass"})
_SECRET_WORDS |= {"passphrase", "pwd", "pat", "auth", "authorization", "credential", "credentials", "cookie", "dsn"}
_SECRET_PARTS: Final = re.compile("token|secret|password|passphrase|apikey|accesskey|privatekey", re.IGNORECASE)
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NO_SECRETS: Final = frozenset({"pwd", "oldpwd", "ssh_auth_sock", "max_tokens", "xkey"})
_KEY: Final = re.compile(
    r"\s*(?:sk-\S{6}|gh[pousr]_\w{16}|github_pat_\w{16}|glpat-\S{12}|xox[a-z]-\S{8}|xapp-\S{8}|AKIA[0-9A-Z]{12}"
    r"|AIza[\w-]{20}|hf_\w{16}|npm_\w{20}|pypi-\S{16}|ntn_\w{16}|lin_api_\w{12}|eyJ[\w-]{8,}\.[\w-]{4}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY)"
)
_WITH_PASSWORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^/?#\s:@]*:(?P<password>[^/?#\s@]+)@")
_FLAG: Final = re.compile(r"--?(?P<name>[A-Za-z][\w.-]*)(?:=(?P<value>.*))?\Z", re.DOTALL)
_HEADER_FLAG: Final = "header"
_ASSIGNED: Final = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.+)\Z", re.DOTALL)
_HEADER: Final = re.compile(r"(?P<name>[A-Za-z][\w-]*):\s*(?P<value>\S.*)\Z", re.DOTALL)
_DRAWN: Final = re.compile(r"[A-Za-z0-9_~-]{20,}\Z")  # at random: long, of letters and digits
_NUMBER: Final = re.compile(r"[-+]?[0-9]{1,11}(?:\.[0-9]*)?\Z")
_PLAIN_HEADERS: Final = frozenset({"accept", "accept-encoding", "accept-language", "content-type", "user-agent"})
_REFERENCE: Final = re.compile(r"\$\{[^}]*\}|\$[A-Za-z_]\w*|%[A-Za-z_]\w*%|\{\{secret:[^}]*\}\}")


class MissingSecretError(Exception):
    """A secret of a server is missing in the keyring. The text is for people and names no value."""


class Parted(NamedTuple):
    """Texts with ``{{secret:NAME}}`` in the places of secrets, and the secrets by their names."""

    texts: tuple[str, ...]
    secrets: dict[str, Secret]


def secret_variable(name: str, value: str = "") -> bool:
    """Return whether a variable's name or value marks a secret."""
    if name.casefold().replace("-", "_") in _NO_SECRETS or _whole_reference(value):
        return key_like(value)
    if value.strip().casefold() in ("true", "false", "yes", "no"):
        return False
    words = {word.casefold() for word in _WORDS.findall(name)}
    return bool(words & _SECRET_WORDS) or _SECRET_PARTS.search(name) is not None or key_like(value)


def secret_header(name: str, value: str = "") -> bool:
    """Return whether a header's name or value marks a secret."""
    return looks_secret(name, value) or secret_variable(name, value)


def imported_header(name: str, value: str) -> bool:
    """Return whether a header of a configuration is saved as a secret: any value that is worth hiding is."""
    ordinary = name.strip().lower() in _PLAIN_HEADERS or name.strip().lower().startswith("mcp-")
    return secret_header(name, value) or (not ordinary and not _REFERENCE.search(value) and worth_hiding(value))


def key_like(value: str) -> bool:
    """Return whether a text looks like a key, or is an address with a password in it."""
    return looks_secret("", value) or _KEY.match(value) is not None or _WITH_PASSWORD.search(value) is not None


def variable_of_file(name: str, value: str) -> bool:
    """Return whether a variable of an environment file is saved as a secret.

    Such files hold settings as well: plain words, and addresses without a key in them, stay readable.
    """
    if secret_variable(name, value):
        return True
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return worth_hiding(value) and mixed and ("://" not in value or bool(part_address(value).secrets))


def worth_hiding(value: str) -> bool:
    """Return whether the value of a reference is treated as a secret, whatever its name.

    Values with fewer than ``SHORTEST`` characters, numbers, and existing files and folders are not: masking them would
    spoil ordinary text.
    """
    text = value.strip()
    if len(text) < SHORTEST or _NUMBER.match(text):
        return False
    try:
        return not (Path(text).is_absolute() and Path(text).exists())
    except (OSError, ValueError):  # no file can have this name
        return True


def _whole_reference(value: str) -> bool:
    return bool(value) and not _REFERENCE.sub("", value).strip()


# ---- in arguments and addresses --------------------------------------------------------------------------------------


def part_arguments(arguments: Iterable[str], used: Iterable[str] = ()) -> Parted:
    """Separate secrets from arguments: after a flag that names one, after "=", in an address, or by their look.

    ``used`` are names of other secrets.
    """
    names = _Names(used)
    texts: list[str] = []
    flag = ""
    for argument in arguments:
        name, flag = flag, ""
        match = _FLAG.match(argument)
        if match is not None and match["value"] is None:
            texts.append(argument)
            flag = match["name"] if secret_variable(match["name"]) else ""
            if match["name"].casefold() in ("header", "h"):
                flag = _HEADER_FLAG
            continue
        texts.append(_part_argument(argument, name, names))
    return Parted(tuple(texts), names.secrets)


def _part_argument(argument: str, flag: str, names: _Names) -> str:
    if _whole_reference(argument) or not argument.strip():
        return argument
    if flag and flag != _HEADER_FLAG:
        return names.put(flag, argument)
    header = _HEADER.match(argument)
    if header is not None and "://" not in argument and looks_secret(header["name"], header["value"]):
        return _without(argument, header, "value", names, header["name"])
    if password := _WITH_PASSWORD.search(argument):
        return _without(argument, password, "password", names, "password")
    assigned = _FLAG.match(argument) or _ASSIGNED.match(argument)
    if assigned is not None and assigned["value"] and secret_variable(assigned["name"], assigned["value"]):
        return _without(argument, assigned, "value", names, assigned["name"])
    return names.put("key", argument) if key_like(argument) else argument


def _without(text: str, match: re.Match[str], group: str, names: _Names, name: str) -> str:
    """Return ``text`` with a place for the secret that a group matched, unless it is a reference."""
    if _whole_reference(match[group]):
        return text
    return text[: match.start(group)] + names.put(name, match[group]) + text[match.end(group) :]


def part_address(url: str, used: Iterable[str] = ()) -> Parted:
    """Separate secrets from an address: a password, query values by their names, and random parts of the path."""
    names = _Names(used)
    if password := _WITH_PASSWORD.search(url):
        url = _without(url, password, "password", names, "password")
    front, mark, query = url.partition("?")
    steps = enumerate(front.split("/"))  # the first three are the scheme, an empty one, and the host
    front = "/".join(names.put("address", step) if number > 2 and _drawn(step) else step for number, step in steps)
    members = [_part_member(member, names) for member in query.split("&")] if mark else []
    return Parted((front + mark + "&".join(members),), names.secrets)


def _part_member(member: str, names: _Names) -> str:
    name, mark, value = member.partition("=")
    if not value or _whole_reference(value) or not (secret_variable(name, value) or _drawn(value)):
        return member
    return name + mark + names.put(name, value)


def _drawn(text: str) -> bool:
    return _DRAWN.match(text) is not None and any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


class _Names:
    """Assigns a unique name to each secret."""

    def __init__(self, used: Iterable[str]) -> None:
        self.secrets: dict[str, Secret] = {}
        self._used = {name.casefold() for name in used}

    def put(self, name: str, value: str) -> str:
        """Add a secret and return its place."""
        free = numbered(place_name(name), self._used, "-")
        self._used.add(free)
        self.secrets[free] = Secret(value)
        return place(free)


def numbered(name: str, used: Container[str], separator: str) -> str:
    """Return the name, with a number from 2 after it if it is used."""
    number, free = 2, name
    while free in used:
        free, number = f"{name}{separator}{number}", number + 1
    return free


def place_name(name: str) -> str:
    """Return a valid name of a place for the secret of that name."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-")[:80].casefold() or "secret"


# ---- in the keyring --------------------------------------------------------------------------------------------------


def place(name: str) -> str:
    """Return the placeholder of a secret in an argument or an address."""
    return f"{{{{secret:{name}}}}}"


def named_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the secrets with a place in ``texts``, each once."""
    return tuple(dict.fromkeys(name for text in texts for name in PLACE.findall(text)))


def keyring_names(server: ToolServer) -> tuple[str, ...]:
    """Return the names in the keyring of the secrets that a server needs; its sign-in is not one."""
    return (
        *(ENVIRONMENT + name for name in server.secret_environment),
        *(HEADER + name for name in server.secret_headers),
        *(ARGUMENT + name for name in named_in((*server.arguments, server.url))),
    )


async def fetch(server: ToolServer, keys: Keys) -> dict[str, str]:
    """Return the secrets of ``keyring_names`` by these names. Raises MissingSecretError."""
    secrets: dict[str, str] = {}
    for name in keyring_names(server):
        secret = await keys.get(server.id, ORIGIN, name)
        if secret is None:
            if not keys.state.available:
                raise MissingSecretError(keys.state.words)
            raise MissingSecretError(
                f"{words_of(name)} is no longer in the system keyring. Enter it again in “Tool servers”."
            )
        secrets[name] = secret.get_secret_value()
    return secrets


async def keep(server: ToolServer, keys: Keys, secrets: Mapping[str, Secret]) -> str:
    """Save secrets by the names of ``keyring_names``; return the problem in words, empty for none."""
    words = ""
    for name, secret in secrets.items():
        state = await keys.set(server.id, ORIGIN, secret, name)
        words = words or ("" if state.available else state.words)
    return words


async def forget(server_id: str, keys: Keys, names: Iterable[str]) -> str:
    """Delete secrets from the keyring; return the problem in words, empty for none."""
    words = ""
    for name in names:
        state = await keys.delete(server_id, ORIGIN, name)
        words = words or ("" if state.available else state.words)
    return words


def put_in(text: str, secrets: Mapping[str, str]) -> str:
    """Return an argument or an address with its secrets, as ``fetch`` returns them, in their places."""
    return PLACE.sub(lambda match: secrets.get(ARGUMENT + match[1], match[0]), text)


def tokens_in(sign_in: Secret) -> tuple[Secret, ...]:
    """Return the secrets in the JSON text of a sign-in."""
    try:
        value = parse_json(sign_in.get_secret_value())
    except ValueError:
        return ()
    parts = [value.get(part) for part in ("tokens", "client")] if isinstance(value, dict) else []
    members = [member for part in parts if isinstance(part, dict) for member in part.items()]
    return tuple(Secret(text) for name, text in members if name in SIGN_IN_SECRETS and isinstance(text, str))


def words_of(name: str) -> str:
    """Describe a secret of the keyring by its name."""
    for kind, words in ((ENVIRONMENT, "The variable"), (HEADER, "The header"), (ARGUMENT, "The secret")):
        if name.startswith(kind):
            return f"{words} “{name.removeprefix(kind)}”"
    return "The sign-in"


def secret_in_url(url: str) -> str:
    """Name the kind of secret in an address; empty for none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.password and not PLACE.fullmatch(parts.password):
        return "the password"
    return "a key" if part_address(url).secrets else ""


# ---- command lines ---------------------------------------------------------------------------------------------------


_WINDOWS_WORD: Final = re.compile(r'(?:"[^"]*"?|[^\s"])+')
_STAND_IN: Final = "__secret_place__"  # needs no quotes


def split(text: str, system: str = sys.platform) -> tuple[str, ...]:
    """Split a command line into words without quotes. Raises ValueError, in words, for an open quotation mark."""
    if system == "win32":
        return tuple(word.replace('"', "") for word in _WINDOWS_WORD.findall(text))
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise ValueError("A quotation mark is not closed.") from None


def command_text(server: ToolServer, system: str = sys.platform) -> str:
    """Return the whole command line on one line, with marks in the places of secrets."""
    words = tuple(PLACE.sub(_STAND_IN, word) for word in (server.command, *server.arguments))
    line = subprocess.list2cmdline(words) if system == "win32" else shlex.join(words)
    return line.replace(_STAND_IN, MASK)


def shown_address(server: ToolServer) -> str:
    """Return the address with marks in the places of secrets."""
    return PLACE.sub(MASK, server.url)


def to_lines(arguments: Iterable[str]) -> str:
    """Write one argument per line; an argument that a line cannot hold becomes a JSON string."""
    return "\n".join(map(_line, arguments))


def from_lines(text: str) -> tuple[str, ...]:
    """Read arguments from lines; empty lines and spaces at the ends are ignored."""
    return tuple(_argument(line.strip()) for line in text.split("\n") if line.strip())


def _line(argument: str) -> str:
    plain = argument.strip() == argument and argument and "\n" not in argument and not argument.startswith('"')
    return argument if plain else json.dumps(argument, ensure_ascii=False)


def _argument(line: str) -> str:
    if line.startswith('"') and line.endswith('"') and len(line) > 1:
        try:
            value = json.loads(line)
        except ValueError:
            return line
        if isinstance(value, str):
            return value
    return line
