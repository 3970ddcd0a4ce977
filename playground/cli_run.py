"""The ``run`` command: its options, and the run that they ask for. Imports nothing heavy before it is asked to run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from playground.cli_help import Help, exit_codes, number, silence, whole
from playground.engine.headless.exit_codes import ExitCode

if TYPE_CHECKING:
    from playground.engine.headless.run import RunOptions

#: The clocks of ``playground.gateway.connection.Timeouts``; a plain number sets those that wait for content.
CLOCKS: Final = ("connect", "first", "idle", "settle", "total")
FOR_CONTENT: Final = ("first", "idle")
_OFF: Final = ("off", "none", "0")

_WHEN: Final = {"never": "never", "after-tools": "after_tool_calls", "always": "always"}


def add_run(commands: Any) -> None:
    """Add the command to argparse's ``commands``."""
    run = commands.add_parser(
        "run",
        help="run one request from a file, or the whole loop with its tool calls answered from a table",
        description="Run one request from a file, as it stands there. With --answers or --max-steps the calls of the "
        "model are answered from a table, and requests go out until an answer without calls. Text goes to standard "
        "output, everything else to standard error; of several answers to one request each stands under a heading. "
        "The key is read from the environment variable PLAYGROUND_API_KEY. What is not set is as a new gateway in the "
        "window has it.",
        formatter_class=Help,
        epilog=exit_codes(ExitCode),
    )
    run.add_argument(
        "file", type=Path, metavar="FILE", help="a request or a saved experiment (JSON); - reads it from standard input"
    )
    run.add_argument("--json", action="store_true", help="print the finished turn, or the transcript, as JSON")
    which = run.add_mutually_exclusive_group()
    which.add_argument(
        "--variant", default=None, metavar="NAME", help="run this variant of the experiment: its name, or its letter"
    )
    which.add_argument(
        "--all-variants", action="store_true", help="with --json: run all variants at once, the experiment as set first"
    )
    run.add_argument(
        "--record", type=Path, metavar="CASSETTE", help="write what went over the wire to this file, without keys"
    )

    loop = run.add_argument_group("answers to tool calls")
    loop.add_argument("--answers", type=Path, metavar="TABLE", help="a table of answers (JSON)")
    loop.add_argument(
        "--max-steps", type=whole(1), metavar="N", help="requests at most (default: the table's, else 20)"
    )

    gateway = run.add_argument_group("the gateway")
    gateway.add_argument("--base-url", metavar="URL", help="its address (default: the demo gateway)")
    gateway.add_argument(
        "--header",
        action="append",
        type=_header,
        default=[],
        metavar="'NAME: VALUE'",
        help="send this header, too; can be repeated",
    )
    gateway.add_argument(
        "--key-style", choices=("bearer", "x-api-key", "both"), help="the header that carries the key (default: bearer)"
    )
    gateway.add_argument(
        "--reasoning",
        type=_reasoning,
        metavar="WHEN[:FIELD]",
        help="send earlier reasoning back: never, after-tools or always, and under which field (default: as in FILE)",
    )
    gateway.add_argument("--proxy", default="", metavar="URL", help="go through this proxy (default: the system's)")
    gateway.add_argument(
        "--ca", type=Path, metavar="FILE", help="a PEM file of certificates to trust besides the system's"
    )
    gateway.add_argument(
        "--allow-http", action="store_true", help="send the key unencrypted where the address is http://"
    )

    patience = run.add_argument_group("time and size")
    patience.add_argument(
        "--timeout",
        type=read_timeouts,
        default={},
        metavar="SECONDS",
        help="how long to wait for the first content and between two pieces of it; or one clock each, such as "
        "connect=10,first=120,idle=60,settle=5,total=off, which are the defaults",
    )
    patience.add_argument(
        "--retries", type=whole(0, 20), metavar="N", help="tries after a failure before any content came (default: 4)"
    )
    patience.add_argument("--max-event", type=whole(1), metavar="MIB", help="largest event of a stream (default: 100)")
    patience.add_argument("--max-body", type=whole(1), metavar="MIB", help="largest answer (default: 256)")
    run.set_defaults(command=_run, parser=run)


def _run(arguments: argparse.Namespace) -> int:
    import asyncio

    if arguments.all_variants and not arguments.json:
        arguments.parser.error("--all-variants goes with --json")
    from playground.engine.headless.run import run_file
    from playground.engine.headless.show import OutputError

    try:
        with _certificates(_options(arguments)) as given, _address(given, arguments.base_url) as options:
            return asyncio.run(_to_its_end(run_file(arguments.file, options, sys.stdout, sys.stderr)))
    except OutputError as error:
        silence()
        if not error.reader_left:
            sys.stderr.write(f"playground: {error}\n")
        return ExitCode.FAILED
    except OSError as error:
        sys.stderr.write(f"playground: {error}\n")
        return ExitCode.BAD_INPUT


async def _to_its_end(run: Coroutine[Any, Any, int]) -> int:
    """The run, which SIGTERM ends as Ctrl+C does."""
    import asyncio
    import signal

    task = asyncio.current_task()
    with suppress(NotImplementedError):  # on Windows
        if task is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await run


@contextmanager
def _certificates(options: RunOptions) -> Iterator[RunOptions]:
    """The options with a file of certificates that can be read more than once: a shell's ``<(…)`` can not."""
    from tempfile import NamedTemporaryFile

    from playground.named_file import read_named

    if options.ca is None or options.ca.is_file() or options.ca.is_dir() or not options.ca.exists():
        yield options
        return
    with NamedTemporaryFile(suffix=".pem") as copy:
        copy.write(read_named(options.ca, 16 * 1024 * 1024, pipes=True))
        copy.flush()
        yield replace(options, ca=Path(copy.name))


@contextmanager
def _address(options: RunOptions, base_url: str | None) -> Iterator[RunOptions]:
    """The options with an address: the one given, else that of a demo gateway of their own. Raises OSError."""
    if base_url is not None:
        yield options
        return
    from playground.demo.server import DemoConfig, DemoServer
    from playground.engine.gateways.secrets import Secret

    server = DemoServer(DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=0))
    try:
        yield replace(options, base_url=server.start(), key=Secret("demo"))
    finally:
        server.stop()


def _options(arguments: argparse.Namespace) -> RunOptions:
    from playground.domain.request import ReasoningReturn, SendReasoning
    from playground.engine.gateways.profiles import Auth
    from playground.engine.gateways.secrets import key_from_environment
    from playground.engine.headless.run import RunOptions

    when, field = arguments.reasoning or ("", "")
    return RunOptions(
        base_url=arguments.base_url or "",
        key=key_from_environment(),
        headers=tuple(arguments.header),
        key_style=Auth(arguments.key_style) if arguments.key_style else None,
        reasoning=ReasoningReturn(when=SendReasoning(when), field=field) if when else None,
        timeouts=arguments.timeout,
        retries=arguments.retries,
        max_event=arguments.max_event,
        max_body=arguments.max_body,
        ca=arguments.ca,
        proxy=arguments.proxy,
        allow_http=arguments.allow_http,
        answers=arguments.answers,
        max_steps=arguments.max_steps,
        record=arguments.record,
        as_json=arguments.json,
        variant=arguments.variant,
        all_variants=arguments.all_variants,
    )


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise argparse.ArgumentTypeError("give a header as 'Name: value'")  # not repeated: it may hold a key
    return name.strip(), value.strip()


def _reasoning(text: str) -> tuple[str, str]:
    when, _, field = text.partition(":")
    if when not in _WHEN:
        raise argparse.ArgumentTypeError(f"give one of {', '.join(_WHEN)}, and a field after a colon if need be")
    return _WHEN[when], field.strip()


def read_timeouts(text: str) -> dict[str, float | None]:
    if "=" not in text:
        return dict.fromkeys(FOR_CONTENT, _seconds(text))
    found: dict[str, float | None] = {}
    for item in text.split(","):
        name, _, value = item.partition("=")
        if name.strip() not in CLOCKS:
            raise argparse.ArgumentTypeError(f"{name.strip()!r} is no clock; there are {', '.join(CLOCKS)}")
        found[name.strip()] = _seconds(value)
    return found


def _seconds(text: str) -> float | None:
    if text.strip().lower() in _OFF:
        return None
    return number(text, lambda value: 0 < value < float("inf"), "give seconds, more than 0, or off")
