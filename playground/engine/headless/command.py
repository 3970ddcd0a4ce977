"""The runner that `run`, `eval` and `check` share: output, gateway, tool servers, interrupts and exit codes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from playground.engine.cassettes import cassette
from playground.engine.files.experiment_file import ExperimentFileError, read_content
from playground.engine.gateways.redaction import write_output
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.gateway import Gateway, GatewayOptions, gateway_of
from playground.engine.headless.show import Console
from playground.engine.headless.tool_servers import CommandServers, ServerOptions, ServersError
from playground.engine.requests.request_file import BadInputError
from playground.engine.session.session import Experiment, Session
from playground.engine.session.snapshot import restore
from playground.engine.session.tool_calls import ToolCaller
from playground.engine.session.variants import Variant
from playground.jsonkit.values import JSON

if TYPE_CHECKING:
    from playground.gateway.tape import Exchange


class CommandFailedError(Exception):
    """The command ends with `ExitCode.FAILED`. The message is a whole sentence for the user."""


class Command:
    """A command under way: its output, its gateway and its tool servers, all closed at its end."""

    def __init__(self, console: Console, gateway: Gateway, options: GatewayOptions, stack: AsyncExitStack) -> None:
        self.console = console
        self.gateway = gateway
        self.servers: CommandServers | None = None
        self.is_interrupted = False
        self._options, self._stack = options, stack

    def read_servers(self) -> None:
        """Read the tool servers that the options name, if any. Raises BadInputError."""
        if isinstance(self._options, ServerOptions) and self._options.serves:
            self.servers = CommandServers(self._options, self.console)
            self._stack.push_async_callback(self.servers.aclose)

    async def start_servers(self, lanes: Iterable[Session]) -> None:
        """Start the tool servers and offer their tools in lanes. Raises BadInputError, CommandFailedError."""
        if self.servers is not None:
            try:
                await self.servers.open(lanes)
            except ServersError as error:
                raise CommandFailedError(str(error)) from None

    def session(self, *, literal: bool = False) -> Session:
        """Return an empty session on the gateway, which asks the tool servers."""
        servers = self.servers
        return gateway_session(
            self.gateway, serving=(lambda: servers.serving) if servers is not None else None, literal=literal
        )

    def say_all(self, sentences: Iterable[str]) -> None:
        """Print the remarks on the gateway and further sentences."""
        for sentence in (*self.gateway.remarks, *sentences):
            self.console.say(sentence)

    async def interruptible(self, work: Coroutine[Any, Any, object]) -> None:
        """Await the main work; an interrupt ends it and is noted, so that what was received is still shown."""
        try:
            await work
        except asyncio.CancelledError:
            self.is_interrupted = True

    def end(self, exit_code: Callable[[], ExitCode], interrupted: str, *, is_written: bool) -> ExitCode:
        """Close the output and return the exit code. Raises OutputError.

        `is_written` is False where a file could not be written; `interrupted` is printed after an interrupt.
        """
        self.console.end()
        if self.is_interrupted:
            self.console.say(interrupted)
            return ExitCode.INTERRUPTED
        code = exit_code()
        return code if is_written or code is not ExitCode.OK else ExitCode.FAILED


async def run_command(
    options: GatewayOptions, out: TextIO, err: TextIO, work: Callable[[Command], Awaitable[ExitCode]]
) -> ExitCode:
    """Do the work of a command on the gateway that the options name. Raises OutputError where `out` fails."""
    console = Console(out, err)
    console.hide(options.secrets)
    async with AsyncExitStack() as stack:
        try:
            gateway = await gateway_of(options)
            stack.push_async_callback(gateway.aclose)
            console.hide(gateway.secrets)
            return await work(Command(console, gateway, options, stack))
        except BadInputError as error:
            console.say(str(error))
            return ExitCode.BAD_INPUT
        except CommandFailedError as error:
            console.say(str(error))
            return ExitCode.FAILED
        except asyncio.CancelledError:
            console.say("Interrupted.")
            return ExitCode.INTERRUPTED


def gateway_session(
    gateway: Gateway, *, serving: Callable[[], ToolCaller] | None = None, literal: bool = False
) -> Session:
    """Return an empty session on a gateway. With `literal`, texts have no variables."""
    return Experiment(
        gateway.connect,
        profile_id=gateway.profile.id,
        profile_of=lambda _profile_id: gateway.profile,
        literal=literal,
        serving=serving,
    ).main


def restore_experiment(value: JSON, session: Session) -> None:
    """Make a session the saved experiment that a file holds. Raises BadInputError."""
    try:
        restore(read_content(value), session)
    except (ExperimentFileError, ValueError) as error:
        raise BadInputError(str(error)) from None


def other_gateway_notes(variants: Iterable[tuple[str, Variant | None]], gateway: str) -> list[str]:
    """Return a note for each variant, a title and its differences, that is set for another gateway than `gateway`."""
    return [
        f"{title} is set for the gateway “{variant.gateway}”; the gateway of the command line is used."
        for title, variant in variants
        if variant is not None and variant.gateway not in ("", gateway)
    ]


def write_file(path: Path, text: str, console: Console) -> bool:
    """Write a file without secrets. Return False where that failed, after printing the reason."""
    try:
        write_output(path, text, console.secrets)
    except OSError as error:
        console.say(f"{path} cannot be written: {error.strerror or error}.")
        return False
    return True


def write_cassette(path: Path | None, exchanges: Collection[Exchange], title: str, console: Console) -> bool:
    """Write the exchanges of a command where a path is given. Return False where that failed."""
    if path is None or not exchanges:
        return True
    try:
        cassette.save(path, exchanges, title, console.secrets)
    except cassette.CassetteError as error:
        console.say(str(error))
        return False
    return True


def check_output(path: Path | None, *inputs: Path | None) -> None:
    """Raise BadInputError where no file can be written at `path`, or where it is one of the `inputs`."""
    if path is None:
        return
    if path.is_dir():
        raise BadInputError(f"{path} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise BadInputError(f"{path} cannot be written: there is no folder {path.parent}")
    if path.exists() and any(file is not None and file.exists() and file.samefile(path) for file in inputs):
        raise BadInputError(f"{path} is an input of this command and would be overwritten; give another name")
    if (path.is_file() or not path.exists()) and not os.access(path.parent, os.W_OK):
        raise BadInputError(f"{path} cannot be written: nothing can be written into {path.parent}")
