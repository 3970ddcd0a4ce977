"""The `listen` command: a proxy that records other programs. Imports nothing heavy before it runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playground.cli.arguments import add_command, add_list, add_port, options_of
from playground.cli.execution import run_on_gateway
from playground.cli.gateway import add_connection, gateway_options
from playground.engine.headless.exit_codes import ExitCode

if TYPE_CHECKING:
    from playground.engine.headless.listen import ListenOptions


def add_listen(commands: Any) -> None:
    """Add the command to argparse's ``commands``."""
    command = add_command(
        commands,
        "listen",
        _listen,
        (ExitCode.OK, ExitCode.FAILED, ExitCode.BAD_INPUT),
        "see what another program sends to a gateway, until Ctrl+C",
        "Listen on 127.0.0.1 and pass each request of another program on to a gateway, byte for byte. Give the program "
        "the printed address as its base URL. A line is printed for each exchange that has ended.",
    )
    add_port(command)
    command.add_argument(
        "--record",
        type=Path,
        metavar="FOLDER",
        help="record the exchanges in this folder, without keys: a cassette for each, and index.jsonl",
    )
    command.add_argument(
        "--jsonl", action="store_true", help="print each exchange as a line of JSON instead of a line for people"
    )
    command.add_argument(
        "--mock",
        type=Path,
        metavar="TABLE",
        help="answer requests from this mock table (JSON); those that no row fits go to the gateway",
    )
    command.add_argument(
        "--pass-key",
        action="store_true",
        help="pass the program's own key on (default: replace it with the gateway's key, if there is one)",
    )
    command.add_argument(
        "--plain-path",
        action="store_true",
        help="leave the secret out of the address: every program on this computer can then use the gateway",
    )
    add_list(command, "--program", "ID", "print the settings of this known program; repeatable", dest="programs")
    command.add_argument("--programs", action="store_true", dest="lists", help="list the known programs, and end")
    add_connection(command)


def _listen(arguments: argparse.Namespace) -> int:
    from playground.engine.headless.listen import list_programs, listen

    if arguments.lists:
        return list_programs(sys.stdout)
    return run_on_gateway(listen, arguments, _options)


def _options(arguments: argparse.Namespace) -> ListenOptions:
    from playground.engine.headless.listen import ListenOptions

    return options_of(ListenOptions, arguments, **gateway_options(arguments))
