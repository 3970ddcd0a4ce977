"""How a command is executed: what has to be ready first, signals, and the exit code of a failure."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from playground.engine.headless.exit_codes import ExitCode

if TYPE_CHECKING:
    from playground.engine.headless.gateway import GatewayOptions

Options = TypeVar("Options", bound="GatewayOptions")


def run_on_gateway(
    work: Callable[[Options, TextIO, TextIO], Coroutine[Any, Any, int]],
    arguments: argparse.Namespace,
    options: Callable[[argparse.Namespace], Options],
) -> int:
    """Run a command that asks a gateway, with the options of its arguments. Return the exit code."""
    import asyncio  # too slow to load for `--help`

    def execute() -> int:
        with _certificates(options(arguments)) as readable, _address(readable) as ready:
            return asyncio.run(_until_terminated(work(ready, sys.stdout, sys.stderr)))

    return exit_code_of(execute)


def exit_code_of(command: Callable[[], int]) -> int:
    """Run a command and return its exit code, also where it fails to read or write."""
    from playground.engine.headless.show import OutputError

    try:
        return command()
    except OutputError as error:
        silence()
        if not error.reader_left:
            sys.stderr.write(f"playground: {error}\n")
        return ExitCode.FAILED
    except OSError as error:
        from playground.engine.gateways.redaction import redact, redactor_of
        from playground.engine.gateways.secrets import key_from_environment

        key = key_from_environment()
        words = redact(str(error), redactor_of((key,) if key is not None else ()))
        sys.stderr.write(f"playground: {words}\n")
        return ExitCode.BAD_INPUT


async def _until_terminated(work: Coroutine[Any, Any, int]) -> int:
    """Await the work; SIGTERM ends it as Ctrl+C does."""
    import asyncio

    task = asyncio.current_task()
    with suppress(NotImplementedError):  # on Windows
        if task is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await work


@contextmanager
def _certificates(options: Options) -> Iterator[Options]:
    """Yield the options with certificates in a file that can be read more than once, unlike a shell's ``<(…)``."""
    from playground.system.named_file import read_named

    if options.ca is None or options.ca.is_file() or options.ca.is_dir() or not options.ca.exists():
        yield options
        return
    with NamedTemporaryFile(suffix=".pem") as copy:
        copy.write(read_named(options.ca, 16 * 1024 * 1024, pipes=True))
        copy.flush()
        yield replace(options, ca=Path(copy.name))


@contextmanager
def _address(options: Options) -> Iterator[Options]:
    """Yield the options with an address: the given one, else that of a demo gateway. Raises OSError."""
    if options.base_url is not None or options.saved:
        yield options
        return
    from playground.demo.server import DemoConfig, DemoServer
    from playground.engine.gateways.secrets import Secret

    server = DemoServer(DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=0))
    try:
        yield replace(options, base_url=server.start(), key=Secret("demo"))
    finally:
        server.stop()


def silence() -> None:
    """Redirect standard output to nowhere, so that what is still buffered does not fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def disable_tracing() -> None:
    """Remove the variables that make mcp load a tracing library, which fails where that is not installed."""
    for name in ("OTEL_PROPAGATORS", "OTEL_PYTHON_CONTEXT"):
        os.environ.pop(name, None)
