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
        "run a request from a file, or its whole tool loop",
        "Run the request of a file. With --answers, --mcp or --max-steps, tool calls are answered from a table or "
        "by tool servers, and requests are sent until an answer has no calls. The text is printed to standard output, "
        "everything else to standard error; several choices have a heading each. The key is read from the environment "
        "variable PLAYGROUND_API_KEY, or belongs to a saved gateway (--gateway). Other settings are those of the saved "
        "gateway, or the defaults.",
    )
    run.add_argument(
        "file", type=Path, metavar="FILE", help="a request or a saved experiment (JSON); - reads it from standard input"
    )
    run.add_argument(
        "--json", action="store_true", dest="as_json", help="print the finished message, or the transcript, as JSON"
    )
    which = run.add_mutually_exclusive_group()
    which.add_argument(
        "--variant", default=None, metavar="NAME", help="run this variant of the experiment, by name or letter"
    )
    which.add_argument(
        "--all-variants", action="store_true", help="with --json: run all variants at once, the current settings first"
    )
    add_record(run)

    loop = run.add_argument_group("results of tool calls")
    loop.add_argument("--answers", type=Path, metavar="TABLE", help="an answer table (JSON)")
    loop.add_argument(
        "--max-steps", type=whole_number(1), metavar="N", help="max requests (default: the table's limit, or 20)"
    )

    run.add_argument(
        "--reasoning",
        type=_reasoning,
        metavar="WHEN[:FIELD]",
        help="send earlier reasoning back: never, after-tools or always, and in which field (default: as in FILE)",
    )
    add_servers(run, "A call of any other tool ends the run with 6.")
    add_gateway(run)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.all_variants and not arguments.as_json:
        arguments.parser.error("--all-variants needs --json")
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
        raise argparse.ArgumentTypeError(f"give one of {', '.join(_WHEN)}, optionally followed by a colon and a field")
    return _WHEN[when], field.strip()
