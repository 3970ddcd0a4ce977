"""The `check` command. Imports nothing heavy before it runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playground.cli.arguments import add_command, add_record, options_of
from playground.cli.execution import run_on_gateway
from playground.cli.gateway import add_gateway, gateway_options
from playground.engine.headless.exit_codes import ExitCode
from playground.protocols import PROTOCOLS

if TYPE_CHECKING:
    from playground.engine.headless.check import CheckOptions


def add_check(commands: Any) -> None:
    """Add the command to argparse's ``commands``."""
    command = add_command(
        commands,
        "check",
        _check,
        (code for code in ExitCode if code not in (ExitCode.WAITING, ExitCode.STEP_LIMIT)),
        "check what a gateway and a model support",
        "Send a gateway small requests and report for each feature whether it works: model list, answer, stream, "
        "token counts, tools, JSON, image, reasoning, errors. The possible cost is printed first. Results are printed "
        "to standard error as they arrive, and as a table to standard output at the end. The key is read from the "
        "environment variable PLAYGROUND_API_KEY. The exit code is 0 if a short answer and a stream work over each "
        "--protocol, or over one of them if none is named; with --only, if each of those checks works.",
    )
    command.add_argument("--model", default="", metavar="ID", help="the model (default: the first of the list)")
    command.add_argument(
        "--protocol",
        action="append",
        dest="protocols",
        default=[],
        choices=PROTOCOLS,
        help="check only this protocol; repeatable",
    )
    command.add_argument(
        "--only",
        type=_ids,
        action="extend",
        default=[],
        metavar="ID,…",
        help="run only these checks, by the ids of --list; repeatable",
    )
    command.add_argument(
        "--list", action="store_true", dest="lists", help="list the checks and their possible cost, and send nothing"
    )
    command.add_argument(
        "--json", action="store_true", dest="as_json", help="print the report as JSON instead of the table"
    )
    command.add_argument("--out", type=Path, metavar="FILE", help="write the report to this file: .md, .html or .json")
    add_record(command)
    add_gateway(command)


def _check(arguments: argparse.Namespace) -> int:
    from playground.engine.headless.check import check_gateway

    return run_on_gateway(check_gateway, arguments, _options)


def _options(arguments: argparse.Namespace) -> CheckOptions:
    from playground.engine.headless.check import CheckOptions

    chosen = {"protocols": tuple(dict.fromkeys(arguments.protocols)), "only": tuple(dict.fromkeys(arguments.only))}
    return options_of(CheckOptions, arguments, **gateway_options(arguments), **chosen)


def _ids(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
