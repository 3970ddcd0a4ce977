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
    "jsonl": "a line of JSON per answer",
    "csv": "a row per answer",
    "junit": "JUnit XML, a suite per variant",
    "html": "one page with tables and plots",
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
        "Run the evaluation of a saved experiment. Each answer is saved beside the file as it ends "
        "(NAME.answers.sqlite), and is found again by its request. A table is printed to standard output, progress to "
        "standard error. The key is read from the environment variable PLAYGROUND_API_KEY, or belongs to a saved "
        "gateway (--gateway). Options override the settings of the file.",
    )
    command.add_argument(
        "file", type=Path, metavar="FILE", help="a saved experiment (JSON); - reads it from standard input"
    )
    command.add_argument("--repeats", type=whole_number(1, 1000), metavar="N", help="repeats of each case")
    command.add_argument("--at-once", type=whole_number(1, 256), metavar="N", help="parallel requests")
    command.add_argument(
        "--seed", type=whole_number(0), metavar="N", help="the seed of a random order and of intervals"
    )
    add_list(command, "--only", "VARIANT", "only this variant, by name or letter; repeatable")
    add_list(command, "--case", "GLOB", "only cases with matching names, with * and ?; repeatable", dest="cases")
    which = command.add_mutually_exclusive_group()
    which.add_argument("--continue", action="store_true", dest="go_on", help="request only missing answers")
    which.add_argument("--fresh", action="store_true", help="delete saved answers and request all")
    command.add_argument("--answers", type=Path, metavar="FILE", help="save the answers in this file")
    command.add_argument(
        "--fail-under", type=_rate, metavar="RATE", help="exit with 1 if a variant passes less often: 0.9, or 90%%"
    )

    command.add_argument(
        "--dask",
        default="",
        metavar="ADDRESS",
        help="request the answers on the workers of a Dask cluster, by the address of its scheduler, for example "
        "tcp://127.0.0.1:8786. Answers are saved on this computer. Workers read the key from their own environment. "
        "Needs gateway-playground[dask] here and on the workers",
    )

    budget = command.add_argument_group("limits; at a limit the run stops and keeps all answers")
    for name, read, metavar, words in (
        ("requests", whole_number(1), "N", "max requests"),
        ("tokens", whole_number(1), "N", "max tokens, input and output"),
        ("money", _money, "AMOUNT", "max cost, as the gateway reports it"),
    ):
        budget.add_argument(f"--budget-{name}", type=read, dest=name, metavar=metavar, help=words)

    outputs = command.add_argument_group("files to write")
    for name, words in _OUTPUTS.items():
        outputs.add_argument(f"--{name}", type=Path, metavar="OUT", help=words)
    add_servers(command, "A call of any other tool ends that answer.")
    command.add_argument(
        "--record-calls",
        action="store_true",
        default=None,
        help="save results of tool servers with the answers, and use them again for equal calls",
    )
    add_gateway(command)


def _eval(arguments: argparse.Namespace) -> int:
    from playground.engine.headless.evaluation import evaluate_file

    if arguments.dask and arguments.base_url is None and arguments.gateway is None:
        arguments.parser.error(
            "--dask needs --base-url or --gateway: workers cannot reach the demo gateway of this computer"
        )
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
