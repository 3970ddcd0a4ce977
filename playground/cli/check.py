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
        "find out what a gateway and a model of it can do",
        "Ask a gateway a series of small requests, and say line by line whether it speaks the protocols: "
        "list, answer, stream, token counts, tools, JSON, image, reasoning, errors. What it may cost is said first. "
        "Lines go to standard error as they come, a table to standard output at the end. The key is read from the "
        "environment variable PLAYGROUND_API_KEY. It ends with 0 when a short answer and a stream work over each "
        "--protocol that is named, else over one at least; with --only, when each of those lines works.",
    )
    command.add_argument("--model", default="", metavar="ID", help="the model (default: the first one that is listed)")
    command.add_argument(
        "--protocol",
        action="append",
        dest="protocols",
        default=[],
        choices=PROTOCOLS,
        help="check this one alone; repeatable",
    )
    command.add_argument(
        "--only",
        type=_ids,
        action="extend",
        default=[],
        metavar="ID,…",
        help="make these checks alone, by the ids that --list shows; repeatable",
    )
    command.add_argument(
        "--list", action="store_true", dest="lists", help="list the checks and what each may cost, and ask nothing"
    )
    command.add_argument(
        "--json", action="store_true", dest="as_json", help="print the report as JSON instead of the table"
    )
    command.add_argument(
        "--out", type=Path, metavar="FILE", help="write the report there: .json, .md or .html, by its ending"
    )
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
