"""The options of a gateway and of tool servers, for the commands that use them. Imports nothing heavy."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from playground.cli.arguments import add_list, number, whole_number

if TYPE_CHECKING:
    from playground.domain.adaptations import Adaptation

#: The clocks of ``playground.gateway.connection.Timeouts``; a plain number sets those that wait for content.
CLOCKS: Final = ("connect", "first", "idle", "settle", "total")
FOR_CONTENT: Final = ("first", "idle")
_OFF: Final = ("off", "none", "0")


def add_gateway(parser: argparse.ArgumentParser) -> None:
    """Add the options of a gateway to a command that makes requests."""
    add_connection(parser)
    _add_request_options(parser)


def add_connection(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where a gateway is and how to connect to it."""
    gateway = parser.add_argument_group("the gateway")
    which = gateway.add_mutually_exclusive_group()
    which.add_argument("--base-url", metavar="URL", help="its address (default: the demo gateway)")
    which.add_argument(
        "--gateway",
        metavar="NAME",
        help="a gateway saved in the window, by name or id, with its key and settings; other options override them. "
        "See playground gateways",
    )
    gateway.add_argument(
        "--key-variable",
        metavar="NAME",
        help="read the key from this environment variable (default: a saved gateway's own key, else "
        "PLAYGROUND_API_KEY)",
    )
    add_list(gateway, "--header", "'NAME: VALUE'", "add a header; repeatable", _header, dest="headers")
    gateway.add_argument(
        "--key-style", choices=("bearer", "x-api-key", "both"), help="the header that carries the key (default: bearer)"
    )
    gateway.add_argument("--proxy", default="", metavar="URL", help="the proxy to use (default: the system's)")
    gateway.add_argument(
        "--ca", type=Path, metavar="FILE", help="a PEM file of certificates to trust besides the system's"
    )
    gateway.add_argument("--allow-http", action="store_true", help="send the key unencrypted to an http:// address")


def _add_request_options(parser: argparse.ArgumentParser) -> None:
    rules = parser.add_argument_group(
        "fields that the gateway refuses, in addition to rules of a saved gateway; repeatable"
    )
    add_list(rules, "--without", "FIELD", "leave this field out")
    add_list(rules, "--rename", "FIELD=NAME", "send this field under another name", _pair)
    add_list(rules, "--role", "ROLE=ROLE", "send a role as another one", _pair)
    add_list(rules, "--replace", "FIELD=JSON", "replace the value of a field", _pair)

    patience = parser.add_argument_group("time and size")
    patience.add_argument(
        "--timeout",
        type=read_timeouts,
        dest="timeouts",
        default={},
        metavar="SECONDS",
        help="seconds to wait for the first content and between two pieces of it; or each limit by name, with the "
        "defaults connect=10,first=120,idle=60,settle=5,total=off",
    )
    patience.add_argument(
        "--retries",
        type=whole_number(0, 20),
        metavar="N",
        help="attempts after a failure, before any content is received (default: 4)",
    )
    patience.add_argument(
        "--max-event", type=whole_number(1), metavar="MIB", help="largest event of a stream (default: 100)"
    )
    patience.add_argument("--max-body", type=whole_number(1), metavar="MIB", help="largest answer (default: 256)")


def gateway_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of `GatewayOptions` that are not arguments of the same name."""
    from playground.engine.gateways.profiles import Auth
    from playground.engine.gateways.secrets import KEY_VARIABLE, key_from_environment, variable_problem

    variable = arguments.key_variable or KEY_VARIABLE
    # A key belongs to the place it was given for: the one in the usual variable is not a saved gateway's.
    key = key_from_environment(variable) if arguments.key_variable or arguments.gateway is None else None
    if arguments.key_variable and key is None:
        problem = variable_problem(arguments.key_variable)  # a key in the place of the name must not be printed
        is_on_workers = getattr(arguments, "dask", "")  # workers have their own variable; this process needs none
        if problem or not is_on_workers:
            arguments.parser.error(problem or f"the environment variable {arguments.key_variable} is not set")
    if arguments.gateway is not None and not arguments.gateway.strip():
        arguments.parser.error("--gateway needs the name of a gateway")
    return {
        "saved": arguments.gateway or "",
        "key": key,
        "key_variable": variable,
        "key_style": Auth(arguments.key_style) if arguments.key_style else None,
        "rules": tuple(_rules(arguments)) if "without" in arguments else (),  # only of commands that make requests
    }


def _pair(text: str) -> tuple[str, str]:
    """Read ``NAME=TEXT``."""
    name, sign, value = (part.strip() for part in text.partition("="))
    if not (name and sign and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=SOMETHING")
    return name, value


def _rules(arguments: argparse.Namespace) -> Iterator[Adaptation]:
    """Yield the rules, for each protocol: which one is spoken depends on the file."""
    from playground.domain.adaptations import Adaptation, AdaptationKind
    from playground.engine.gateways.secrets import secret_in
    from playground.jsonkit.reading import read_typed
    from playground.protocols import PROTOCOLS

    rules: list[tuple[AdaptationKind, str, Any]] = []
    rules += ((AdaptationKind.OMIT, name.strip(), None) for name in arguments.without)
    rules += ((AdaptationKind.RENAME, *pair) for pair in arguments.rename)
    rules += ((AdaptationKind.ROLE, *pair) for pair in arguments.role)
    for name, text in arguments.replace:
        try:
            value = read_typed(text)
        except ValueError:
            value = text  # a word needs no quotation marks
        if secret_in({name: value}):
            arguments.parser.error(f"--replace {name}: this looks like a key; keys come from the environment")
        rules.append((AdaptationKind.REPLACE, name, value))
    for kind, name, to in rules:
        if not name or name == "model":
            arguments.parser.error(f"a rule cannot change {name!r}")
        for protocol in PROTOCOLS:
            yield Adaptation(kind=kind, field=name, to=to, protocol=protocol)


def add_servers(command: Any, more: str) -> None:
    """Add the options of tool servers; `more` is added to their description."""
    servers = command.add_argument_group(
        "tool servers (Model Context Protocol)",
        "Servers in CONFIG are started, and end with the command. A server's tools are offered unless FILE has tools "
        f"of that server. {more}",
    )
    add_list(
        servers,
        "--mcp",
        "CONFIG",
        "a configuration file of servers: JSON (Claude, VS Code, Cursor, Gemini CLI, opencode), TOML (Codex) or YAML "
        "(Continue, Goose); its ${NAME} is read from the environment; repeatable",
        Path,
    )
    add_list(
        servers,
        "--allow",
        "TOOL",
        "a tool that may be called: TOOL or SERVER.TOOL, * for any text; tools that may change or delete something "
        "need their full name; repeatable",
    )


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise argparse.ArgumentTypeError("give a header as 'Name: value'")  # not repeated: it may hold a key
    return name.strip(), value.strip()


def read_timeouts(text: str) -> dict[str, float | None]:
    """Read one number of seconds, or one for each named clock."""
    if "=" not in text:
        return dict.fromkeys(FOR_CONTENT, _seconds(text))
    timeouts: dict[str, float | None] = {}
    for item in text.split(","):
        name, _, value = item.partition("=")
        if name.strip() not in CLOCKS:
            raise argparse.ArgumentTypeError(f"{name.strip()!r} is no time limit; use {', '.join(CLOCKS)}")
        timeouts[name.strip()] = _seconds(value)
    return timeouts


def _seconds(text: str) -> float | None:
    if text.strip().lower() in _OFF:
        return None
    return number(text, lambda value: 0 < value < float("inf"), "give seconds, more than 0, or off")
