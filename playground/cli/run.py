"""The `run` command. Imports nothing heavy before it runs."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from playground.cli.arguments import add_command, add_record, options_of, whole_number
from playground.cli.execution import run_on_gateway
from playground.cli.gateway import add_gateway, add_servers, gateway_options
from playground.engine.headless.exit_codes import ExitCode

if TYPE_CHECKING:
    from playground.engine.headless.run import RunOptions

_WHEN: Final = {"never": "never", "after-tools": "after_tool_calls", "always": "always"}


def add_run(commands: Any) -> None:
    """Add the command to argparse's ``commands``."""
    run = add_command(
        commands,
        "run",
        _run,
        ExitCode,
        "run one request from a file, or the whole loop of its tool calls",
        "Run one request from a file, as it stands there. With --answers, --mcp or --max-steps the calls "
        "of the model are answered from a table or asked of tool servers, and requests go out until an answer without "
        "calls. Text goes to standard output, everything else to standard error; of several answers to one request "
        "each stands under a heading. "
        "The key is read from the environment variable PLAYGROUND_API_KEY, or is a saved gateway's own (--gateway). "
        "What is not set is as that has it, or as a new gateway in the window.",
    )
    run.add_argument(
        "file", type=Path, metavar="FILE", help="a request or a saved experiment (JSON); - reads it from standard input"
    )
    run.add_argument(
        "--json", action="store_true", dest="as_json", help="print the finished turn, or the transcript, as JSON"
    )
    which = run.add_mutually_exclusive_group()
    which.add_argument(
        "--variant", default=None, metavar="NAME", help="run this variant of the experiment: its name, or its letter"
    )
    which.add_argument(
        "--all-variants", action="store_true", help="with --json: run all variants at once, the experiment as set first"
    )
    add_record(run)

    loop = run.add_argument_group("answers to tool calls")
    loop.add_argument("--answers", type=Path, metavar="TABLE", help="a table of answers (JSON)")
    loop.add_argument(
        "--max-steps", type=whole_number(1), metavar="N", help="requests at most (default: the table's, else 20)"
    )

    run.add_argument(
        "--reasoning",
        type=_reasoning,
        metavar="WHEN[:FIELD]",
        help="send earlier reasoning back: never, after-tools or always, and under which field (default: as in FILE)",
    )
    add_servers(run, "A call of a tool that is not allowed ends the run with 6.")
    add_gateway(run)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.all_variants and not arguments.as_json:
        arguments.parser.error("--all-variants goes with --json")
    from playground.engine.headless.run import run_file

    return run_on_gateway(partial(run_file, arguments.file), arguments, _options)


def _options(arguments: argparse.Namespace) -> RunOptions:
    from playground.domain.request import ReasoningReturn, SendReasoning
    from playground.engine.headless.run import RunOptions

    when, field = arguments.reasoning or ("", "")
    reasoning = ReasoningReturn(when=SendReasoning(when), field=field) if when else None
    return options_of(RunOptions, arguments, **gateway_options(arguments), reasoning=reasoning)


def _reasoning(text: str) -> tuple[str, str]:
    when, _, field = text.partition(":")
    if when not in _WHEN:
        raise argparse.ArgumentTypeError(f"give one of {', '.join(_WHEN)}, and a field after a colon if need be")
    return _WHEN[when], field.strip()
