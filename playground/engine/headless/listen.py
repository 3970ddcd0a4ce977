"""`playground listen`: the proxy for other programs, with a line for each exchange, until an interrupt."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from playground.domain.durations import span
from playground.domain.prices import DOLLARS, money
from playground.engine.headless.command import Command, CommandFailedError, run_command
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.gateway import GatewayOptions
from playground.engine.headless.show import Console
from playground.engine.listen.exchanges import Listened, Summary
from playground.engine.listen.mock_table import LARGEST_TABLE, read_mock_table
from playground.engine.listen.programs import ANY_KEY, Program, known_programs
from playground.engine.listen.recording import summary_json
from playground.engine.listen.server import ListenServer, ListenSettings
from playground.engine.requests.request_file import BadInputError, read_text
from playground.gateway.redact import Redactor
from playground.jsonkit.texts import listed

_YOUR_KEY: Final = "YOUR-KEY"


@dataclass(frozen=True)
class ListenOptions(GatewayOptions):
    """Options of the command line. ``programs`` are ids of programs whose settings are printed."""

    port: int = 0
    allow_host: tuple[str, ...] = ()
    record: Path | None = None
    mock: Path | None = None
    jsonl: bool = False
    pass_key: bool = False
    plain_path: bool = False
    programs: tuple[str, ...] = ()


async def listen(options: ListenOptions, out: TextIO, err: TextIO) -> ExitCode:
    """Pass requests of other programs on until an interrupt. Raises OutputError where `out` fails."""
    return await run_command(options, out, err, lambda command: _listen(command, options))


def list_programs(out: TextIO) -> ExitCode:
    """Print the id and name of each known program."""
    width = max(len(program.id) for program in known_programs())
    out.writelines(f"{program.id:<{width}}  {program.name}\n" for program in known_programs())
    return ExitCode.OK


async def _listen(command: Command, options: ListenOptions) -> ExitCode:
    console, gateway = command.console, command.gateway
    chosen = _programs(options.programs)
    table = read_text(options.mock, LARGEST_TABLE, read_mock_table) if options.mock is not None else None
    command.say_all(())
    has_key = gateway.key is not None or bool(gateway.headers)
    stored_key = has_key and not options.pass_key
    settings = ListenSettings(
        gateway.connection,
        stored_key=stored_key,
        port=options.port,
        secret_path=not options.plain_path,
        folder=options.record,
        secrets=gateway.secrets,
        hosts=frozenset(options.allow_host),
        price_of=gateway.profile.prices.get,
    )
    task = asyncio.current_task()
    if task is not None:
        console.lost = task.cancel
    is_interrupted = False

    def report(listened: Listened) -> None:
        summary = listened.summary
        if summary is not None and summary.ended_by:
            _print(summary, console, as_json=options.jsonl)
            if server.problem:
                console.say(server.problem)

    server = ListenServer(settings, report)
    server.table = table
    try:
        base = await server.start()
    except ValueError as error:
        raise BadInputError(str(error)) from None
    try:
        _announce(base, settings, console, chosen)
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        is_interrupted = True
    finally:
        await server.aclose()
    console.end()
    count = len(server.exchanges)
    console.say(f"Ended after {count} request{'s' * (count != 1)}.")
    if server.problem:
        raise CommandFailedError(server.problem)
    return ExitCode.OK if is_interrupted else ExitCode.FAILED


def _programs(ids: tuple[str, ...]) -> list[Program]:
    """Return the programs of these ids. Raises BadInputError."""
    programs = {program.id: program for program in known_programs()}
    if unknown := [name for name in ids if name not in programs]:
        raise BadInputError(f"there is no program {listed(unknown)}; there are {listed(list(programs))}")
    return [programs[name] for name in ids]


def _announce(base: str, settings: ListenSettings, console: Console, programs: list[Program]) -> None:
    """Print the address, where requests go, and the settings of the chosen programs."""
    key = ANY_KEY if settings.stored_key else _YOUR_KEY
    whose = "with the gateway's own key" if settings.stored_key else "with the program's own key"
    console.say(f"Listening at {base} and {base}/v1. Requests go to {settings.connection.base_url}, {whose}.")
    if settings.folder is not None:
        console.say(f"Requests and answers are recorded in {settings.folder}, without keys.")
    for program in programs:
        lines = [*program.shell_lines(base, key)]
        for place, text in program.settings_for(base, key):
            lines += [f"{place}:", *(f"  {line}" for line in text.split("\n"))]
        lines += [program.note] if program.note else []
        console.say(f"{program.name}:\n" + "\n".join(f"  {line}" for line in lines))
    if not programs:
        console.say("Give a program this address as base URL. “playground listen --programs” lists known programs.")
    console.say("Ctrl+C ends it.")


def _print(summary: Summary, console: Console, *, as_json: bool) -> None:
    """Print the row of an exchange that has ended."""
    if as_json:
        console.raw(json.dumps(summary_json(summary, Redactor(())), ensure_ascii=False) + "\n")
        return
    tokens = [
        f"{summary.input_tokens:,} tokens in" if summary.input_tokens is not None else "",
        f"{summary.cached_tokens:,} cached" if summary.cached_tokens else "",
        f"{summary.output_tokens:,} out" if summary.output_tokens is not None else "",
    ]
    parts = [
        f"{summary.number}  {summary.method} {summary.path}",
        summary.program,
        summary.model,
        str(summary.status) if summary.status is not None else "no answer",
        summary.failure,
        span(summary.duration) if summary.duration is not None else "",
        *tokens,
        money(summary.cost, DOLLARS) if summary.cost else "",
        f"calls {listed(list(summary.calls))}" if summary.calls else "",
        f"try {summary.retry + 1}" if summary.retry else "",
        summary.finish,
        *summary.changes,
    ]
    console.line(" · ".join(part for part in parts if part))
