"""What of a tool server is a secret: recognised as it is typed or imported, and named where it is kept in the keyring.

A variable or a header is kept under its name. A secret inside an argument or an address leaves ``{{secret:NAME}}`` in
its place. Nothing here asks the keyring by itself, writes a file, or shows a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from playground.domain.tool_servers import SIGN_IN_SECRETS, ToolServer
from playground.engine.gateways.secrets import Keys, Secret, looks_secret
from playground.gateway.redact import SHORTEST
from playground.jsonkit.reading import parse_json

ORIGIN: Final = "tool-server"  # for ``Keys``: a server's secrets belong to the server, and what it is is confirmed
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
    """The keyring has not what a server needs. The text is for people and names no value."""


class Parted(NamedTuple):
    """Texts with ``{{secret:NAME}}`` where a secret stood, and the secrets by their names."""

    texts: tuple[str, ...]
    secrets: dict[str, Secret]


def secret_variable(name: str, value: str = "") -> bool:
    """Whether a variable of this name, or with this value, is one for the keyring."""
    if name.casefold().replace("-", "_") in _NO_SECRETS or _whole_reference(value):
        return key_like(value)
    if value.strip().casefold() in ("true", "false", "yes", "no"):
        return False
    words = {word.casefold() for word in _WORDS.findall(name)}
    return bool(words & _SECRET_WORDS) or _SECRET_PARTS.search(name) is not None or key_like(value)


def secret_header(name: str, value: str = "") -> bool:
    """Whether a header of this name, or with this value, is one for the keyring."""
    return looks_secret(name, value) or secret_variable(name, value)


def imported_header(name: str, value: str) -> bool:
    """Return whether a header of a configuration is kept as a secret: each one with a value that is worth hiding."""
    ordinary = name.strip().lower() in _PLAIN_HEADERS or name.strip().lower().startswith("mcp-")
    return secret_header(name, value) or (not ordinary and not _REFERENCE.search(value) and worth_hiding(value))


def key_like(value: str) -> bool:
    """Whether a text looks like a key, or is an address with a password in it."""
    return looks_secret("", value) or _KEY.match(value) is not None or _WITH_PASSWORD.search(value) is not None


def variable_of_file(name: str, value: str) -> bool:
    """Return whether a variable of an environment file is kept as a secret.

    Such files hold settings as well: plain words, and addresses without a key in them, stay readable.
    """
    if secret_variable(name, value):
        return True
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return worth_hiding(value) and mixed and ("://" not in value or bool(part_address(value).secrets))


def worth_hiding(value: str) -> bool:
    """Return whether a value that a configuration takes from elsewhere is treated as a secret, whatever its name.

    Not if it has fewer than ``SHORTEST`` characters, or is a number or a file or folder of this computer: to take
    such values out would spoil ordinary text.
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


def part_arguments(arguments: Iterable[str], taken: Iterable[str] = ()) -> Parted:
    """Arguments without the secrets in them: after a flag that names one, behind "=", in an address, or by their look.

    ``taken`` are names that mean another secret already.
    """
    names = _Names(taken)
    texts: list[str] = []
    flag = ""
    for argument in arguments:
        name, flag = flag, ""
        found = _FLAG.match(argument)
        if found is not None and found["value"] is None:
            texts.append(argument)
            flag = found["name"] if secret_variable(found["name"]) else ""
            if found["name"].casefold() in ("header", "h"):
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


def _without(text: str, found: re.Match[str], group: str, names: _Names, name: str) -> str:
    """``text`` with the secret that a group matched in the keyring, if it is not somewhere else already."""
    if _whole_reference(found[group]):
        return text
    return text[: found.start(group)] + names.put(name, found[group]) + text[found.end(group) :]


def part_address(url: str, taken: Iterable[str] = ()) -> Parted:
    """An address without the secrets in it: a password, values of the query by their names, parts drawn at random."""
    names = _Names(taken)
    if password := _WITH_PASSWORD.search(url):
        url = _without(url, password, "password", names, "password")
    front, mark, query = url.partition("?")
    front = "/".join(_part_step(step, number, names) for number, step in enumerate(front.split("/")))
    members = [_part_member(member, names) for member in query.split("&")] if mark else []
    return Parted((front + mark + "&".join(members),), names.secrets)


def _part_step(step: str, number: int, names: _Names) -> str:
    if number < 3 or not _drawn(step):  # scheme, nothing, host
        return step
    return names.put("address", step)


def _part_member(member: str, names: _Names) -> str:
    name, mark, value = member.partition("=")
    if not value or _whole_reference(value) or not (secret_variable(name, value) or _drawn(value)):
        return member
    return name + mark + names.put(name, value)


def _drawn(text: str) -> bool:
    return _DRAWN.match(text) is not None and any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


class _Names:
    """Gives names to secrets, no name to two."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.secrets: dict[str, Secret] = {}
        self._taken = {name.casefold() for name in taken}

    def put(self, name: str, value: str) -> str:
        """What stands in the place of the secret ``value``."""
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-")[:80].casefold() or "secret"
        number, free = 2, plain
        while free in self._taken:
            free, number = f"{plain}-{number}", number + 1
        self._taken.add(free)
        self.secrets[free] = Secret(value)
        return place(free)


# ---- where they are kept ---------------------------------------------------------------------------------------------


def place(name: str) -> str:
    """What stands for the secret of that name in an argument or an address."""
    return f"{{{{secret:{name}}}}}"


def named_in(texts: Iterable[str]) -> tuple[str, ...]:
    """The names of secrets that stand in ``texts``, each once."""
    return tuple(dict.fromkeys(name for text in texts for name in PLACE.findall(text)))


def keyring_names(server: ToolServer) -> tuple[str, ...]:
    """By what names the keyring has the secrets that this server cannot do without; its OAuth token is not one."""
    return (
        *(ENVIRONMENT + name for name in server.secret_environment),
        *(HEADER + name for name in server.secret_headers),
        *(ARGUMENT + name for name in named_in((*server.arguments, server.url))),
    )


async def fetch(server: ToolServer, keys: Keys) -> dict[str, str]:
    """The secrets of ``keyring_names``, by these names. Raises MissingSecretError."""
    found: dict[str, str] = {}
    for name in keyring_names(server):
        secret = await keys.get(server.id, ORIGIN, name)
        if secret is None:
            if not keys.state.available:
                raise MissingSecretError(keys.state.words)
            raise MissingSecretError(
                f"{words_of(name)} is no longer in the system keyring. Enter it again in “Tool servers”."
            )
        found[name] = secret.get_secret_value()
    return found


async def keep(server: ToolServer, keys: Keys, secrets: Mapping[str, Secret]) -> str:
    """Put secrets into the keyring, by the names of ``keyring_names``. Returns what is to be said about it."""
    words = ""
    for name, secret in secrets.items():
        state = await keys.set(server.id, ORIGIN, secret, name)
        words = words or ("" if state.available else state.words)
    return words


async def forget(server_id: str, keys: Keys, names: Iterable[str]) -> str:
    """Take secrets out of the keyring. Returns what is to be said about it."""
    words = ""
    for name in names:
        state = await keys.delete(server_id, ORIGIN, name)
        words = words or ("" if state.available else state.words)
    return words


def put_in(text: str, secrets: Mapping[str, str]) -> str:
    """An argument or an address with its secrets in it; ``secrets`` as ``fetch`` gives them."""
    return PLACE.sub(lambda found: secrets.get(ARGUMENT + found[1], found[0]), text)


def tokens_in(sign_in: Secret) -> tuple[Secret, ...]:
    """What of a sign-in, which is kept as one text, is a secret by itself."""
    try:
        value = parse_json(sign_in.get_secret_value())
    except ValueError:
        return ()
    parts = [value.get(part) for part in ("tokens", "client")] if isinstance(value, dict) else []
    members = [it for part in parts if isinstance(part, dict) for it in part.items()]
    return tuple(Secret(it) for name, it in members if name in SIGN_IN_SECRETS and isinstance(it, str))


def words_of(name: str) -> str:
    """What a secret of the keyring is to people."""
    for kind, words in ((ENVIRONMENT, "The variable"), (HEADER, "The header"), (ARGUMENT, "The secret")):
        if name.startswith(kind):
            return f"{words} “{name.removeprefix(kind)}”"
    return "The sign-in"


def secret_in_url(url: str) -> str:
    """What of an address may not be written to a file, in words; empty where all of it may."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.password and not PLACE.fullmatch(parts.password):
        return "the password"
    return "a key" if part_address(url).secrets else ""
