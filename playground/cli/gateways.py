"""The `gateways` command: the gateways that are set up in the window."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from playground.cli.arguments import Help, exit_codes
from playground.cli.execution import exit_code_of
from playground.engine.headless.exit_codes import ExitCode


def add_gateways(commands: Any) -> None:
    """Add the command to argparse's ``commands``."""
    command = commands.add_parser(
        "gateways",
        help="list the gateways that are set up in the window",
        description="List the gateways that are set up in the window, for --gateway: name, address, and where the key "
        "is. No key is printed, and no keyring and no gateway is asked.",
        formatter_class=Help,
        epilog=exit_codes((ExitCode.OK, ExitCode.FAILED)),
    )
    command.add_argument("--json", action="store_true", help="print them as JSON, with their ids")
    command.set_defaults(command=_gateways, parser=command)


def _gateways(arguments: argparse.Namespace) -> int:
    from playground.engine.headless.saved_gateways import list_gateways

    return exit_code_of(lambda: list_gateways(sys.stdout, sys.stderr, as_json=arguments.json))
