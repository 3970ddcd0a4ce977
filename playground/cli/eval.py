"""The `eval` command. Imports nothing heavy before it runs."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from playground.cli.arguments import add_command, add_list, number, options_of, whole_number
from playground.cli.execution import run_on_gateway
from playground.cli.gateway import add_gateway, add_servers, gateway_options
from playground.engine.headless.exit_codes import ExitCode

if TYPE_CHECKING:
    from playground.engine.headless.evaluated_file import EvaluationOptions

#: The files that can be written, and what is in them.
_OUTPUTS: Final = {
    "json": "all results as JSON",
    "jsonl": "a line of JSON for each answer",
    "csv": "a row for each answer",
    "junit": "JUnit XML, a suite for each variant",
    "html": "one page with tables and pictures",
    "promptfoo": "a promptfoo configuration with results",
    "inspect": "the cases as a dataset for Inspect AI",
}


def add_eval(commands: Any) -> None:
    """Add the command to argparse's ``commands``."""
    command = add_command(
        commands,
        "eval",
        _eval,
        (code for code in ExitCode if code not in (ExitCode.WAITING, ExitCode.STEP_LIMIT)),
        "run the evaluation of an experiment: cases × variants × repeats, with checks",
        "Run the evaluation that stands in a saved experiment. Each answer is kept beside the file as it "
        "ends (NAME.answers.sqlite), and is found again by what was asked. A table goes to standard output, progress "
        "to standard error. The key is read from the environment variable PLAYGROUND_API_KEY, or is a saved gateway's "
        "own (--gateway). What is not said here is as the file has it.",
    )
    command.add_argument(
        "file", type=Path, metavar="FILE", help="a saved experiment (JSON); - reads it from standard input"
    )
    command.add_argument("--repeats", type=whole_number(1, 1000), metavar="N", help="how often each case is asked")
    command.add_argument("--at-once", type=whole_number(1, 256), metavar="N", help="requests under way at most")
    command.add_argument(
        "--seed", type=whole_number(0), metavar="N", help="of the order that is drawn, and of intervals"
    )
    add_list(command, "--only", "VARIANT", "this variant: its name or letter; repeatable")
    add_list(command, "--case", "GLOB", "cases whose names match, with * and ?; repeatable", dest="cases")
    which = command.add_mutually_exclusive_group()
    which.add_argument(
        "--continue", action="store_true", dest="go_on", help="ask for what is missing of the answers that are kept"
    )
    which.add_argument("--fresh", action="store_true", help="let the answers that are kept go, and ask for all")
    command.add_argument("--answers", type=Path, metavar="FILE", help="keep the answers there")
    command.add_argument(
        "--fail-under", type=_rate, metavar="RATE", help="end with 1 if a variant passes less often: 0.9, or 90%%"
    )

    command.add_argument(
        "--dask",
        default="",
        metavar="ADDRESS",
        help="have the answers made by the workers of the Dask cluster whose scheduler is there, such as "
        "tcp://127.0.0.1:8786; they are kept here. A worker reads the key from its own environment. Needs "
        "gateway-playground[dask] here and there",
    )

    budget = command.add_argument_group("bounds, at which it stops and keeps what came")
    for name, read, metavar, words in (
        ("requests", whole_number(1), "N", "requests at most"),
        ("tokens", whole_number(1), "N", "tokens at most, in and out"),
        ("money", _money, "AMOUNT", "money at most, as the gateway tells it"),
    ):
        budget.add_argument(f"--budget-{name}", type=read, dest=name, metavar=metavar, help=words)

    outputs = command.add_argument_group("files to write")
    for name, words in _OUTPUTS.items():
        outputs.add_argument(f"--{name}", type=Path, metavar="OUT", help=words)
    add_servers(command, "A call of a tool that is not allowed waits: that answer ends there.")
    command.add_argument(
        "--record-calls",
        action="store_true",
        default=None,
        help="keep what tool servers answer beside the answers, and give it again when the same is called",
    )
    add_gateway(command)


def _eval(arguments: argparse.Namespace) -> int:
    from playground.engine.headless.evaluation import evaluate_file

    if arguments.dask and arguments.base_url is None and arguments.gateway is None:
        arguments.parser.error("--dask wants --base-url or --gateway: the demo gateway is on this computer alone")
    return run_on_gateway(partial(evaluate_file, arguments.file), arguments, _options)


def _options(arguments: argparse.Namespace) -> EvaluationOptions:
    from playground.engine.headless.evaluated_file import EvaluationOptions

    outputs = {name: getattr(arguments, name) for name in _OUTPUTS if getattr(arguments, name) is not None}
    variable = (arguments.key_variable or "") if arguments.dask else ""
    return options_of(
        EvaluationOptions, arguments, **gateway_options(arguments), outputs=outputs, workers_variable=variable
    )


def _rate(text: str) -> float:
    words = "give a rate from 0 to 1, or from 0% to 100%"
    percent = text.strip().endswith("%")
    value = number(text.strip().removesuffix("%"), lambda value: 0 <= value <= (100 if percent else 1), words)
    return value / 100 if percent else value


def _money(text: str) -> float:
    return number(text, lambda value: 0 < value < float("inf"), "give an amount, more than 0")
