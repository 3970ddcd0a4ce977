"""`playground check`: a line for each check as it ends, a table at the end, and an exit code for scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from playground.domain.errors import FailureKind
from playground.domain.hidden import show_hidden
from playground.engine.advice import advise
from playground.engine.advice.parts import option_of
from playground.engine.gateway_check.check_run import (
    CheckEvent,
    CheckRun,
    LineAdded,
    WaitChanged,
    estimates_of,
    keys_of,
)
from playground.engine.gateway_check.checks import BY_ID, Estimate, Key, check_title, supported_protocols, total
from playground.engine.gateway_check.report import FORMATS, Line, Report, Verdict, groups, line_name, line_words
from playground.engine.gateway_check.requests import Target
from playground.engine.headless.command import Command, check_output, run_command, write_cassette, write_file
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.gateway import Gateway, GatewayOptions
from playground.engine.headless.show import Console, failure_words
from playground.engine.requests.request_file import BadInputError
from playground.jsonkit.texts import cut, listed

if TYPE_CHECKING:
    from playground.gateway.tape import Exchange

_MAX_DETAIL: Final = 110  # characters of a detail in the table


@dataclass(frozen=True)
class CheckOptions(GatewayOptions):
    """Options of the command line. `protocols` and `only` are empty for all; `lists` sends no request to a model."""

    model: str = ""
    protocols: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    lists: bool = False
    as_json: bool = False
    out: Path | None = None
    record: Path | None = None


async def check_gateway(options: CheckOptions, out: TextIO, err: TextIO) -> ExitCode:
    """Check a gateway. Raises OutputError where `out` fails. An interrupt shows the checks done."""
    return await run_command(options, out, err, lambda command: _check(command, options))


def _validate(options: CheckOptions) -> None:
    """Raise BadInputError for options that cannot be carried out, before the first request."""
    if unknown := [check for check in options.only if check not in BY_ID]:
        raise BadInputError(f"there is no check {listed(unknown)}; there are {listed(list(BY_ID))}")
    if options.out is not None and options.out.suffix.lower().lstrip(".") not in FORMATS:
        endings = listed([f".{ending}" for ending in FORMATS], "or")
        raise BadInputError(f"{options.out} does not say how to write it: end it with {endings}")
    check_output(options.out)
    check_output(options.record)


async def _check(command: Command, options: CheckOptions) -> ExitCode:
    _validate(options)
    command.say_all(())
    console = command.console
    target = await _target(command.gateway, options, console)
    if target is None:
        return ExitCode.TRANSPORT
    keys = [key for key in keys_of(target, options.protocols) if not options.only or key[0] in options.only]
    estimates = estimates_of(target, keys)
    if options.lists:
        _print_list(keys, estimates, console)
        return ExitCode.OK
    sums = total(estimates.values())
    of_checks = "1 check" if len(keys) == 1 else f"{len(keys)} checks"
    console.say(
        f"Checking {show_hidden(target.model)} at {target.connection.base_url}: {of_checks}, at most about "
        f"{sums.prompt} tokens in and {sums.output} out; {sums.price_words}."
    )
    run = CheckRun(target, keys, lambda event: _print_event(event, console), options.protocols)
    if (task := asyncio.current_task()) is not None:
        console.lost = task.cancel
    await command.interruptible(run.perform())
    report = run.report
    is_written = await asyncio.to_thread(_write, report, run.exchanges, options, console)
    if options.as_json:
        console.raw(FORMATS["json"](report, None, console.secrets))
    else:
        for line in _table(report):
            console.line(line)
    if report.learnt:
        options_of = " ".join(map(option_of, report.learnt))
        console.say(
            f"What was refused went through with {options_of}: give that to the commands that ask this gateway."
        )
    return command.end(
        lambda: _exit_code(report, run.exchanges, options),
        "Interrupted: the results so far are above.",
        is_written=is_written,
    )


async def _target(gateway: Gateway, options: CheckOptions, console: Console) -> Target | None:
    """Return the gateway with the model of the options, else the first one of its list; None where nothing answers.

    Raises BadInputError.
    """
    profile = gateway.profile
    client = await gateway.connect(profile.id)
    model, listing = options.model or profile.default_model, None
    if not options.lists and model not in profile.prices:  # without a known price, the list of models may have one
        listing = await client.list_models(price_tokens=await asyncio.to_thread(_price_tokens, profile.service))
    if not model and listing is not None:
        if not listing.ids:
            if listing.failure is not None and listing.failure.kind is not FailureKind.HTTP:
                console.say(failure_words(listing.failure, advise(listing.failure)))
                if listing.exchanges and listing.exchanges[0].status is None:
                    return None
            raise BadInputError("the gateway lists no model to choose: name one with --model")
        model = listing.ids[0]
    return Target(
        gateway=profile.name if options.saved else profile.origin,
        connection=client.connection,
        model=model,
        profile_id=profile.id if options.saved else "",
        adaptations=profile.adaptations,
        inherited_body=profile.extra_body,
        reasoning_return=profile.reasoning_return,
        price=profile.prices.get(model) or (listing.facts(model).price if listing is not None else None),
    )


def _price_tokens(service: str) -> int:
    """Return the number of tokens that a service's listed prices are for, 0 if unknown."""
    from playground.engine.gateways.profiles import default_path
    from playground.engine.gateways.services import services_near

    entry = services_near(default_path()).get(service) if service else None
    return entry.price_tokens if entry is not None else 0


def _print_event(event: CheckEvent, console: Console) -> None:
    if isinstance(event, LineAdded):
        line = event.line
        console.aside(
            f"{line_name(line)}: {line.verdict.words}. {show_hidden(cut(line_words(line), 4 * _MAX_DETAIL))}\n"
        )
    elif isinstance(event, WaitChanged) and event.words:
        console.say(event.words)


def _print_list(keys: Iterable[Key], estimates: dict[Key, Estimate], console: Console) -> None:
    rows = [(key[0], check_title(key), BY_ID[key[0]].about, estimates[key].words) for key in keys]
    width = max(len(row[0]) for row in rows)
    for check, heading, description, estimate in rows:
        console.line(f"{check.ljust(width)}  {heading}: {description} [{estimate}]")


def _table(report: Report) -> list[str]:
    out: list[str] = []
    for heading, lines in groups(report):
        width = max(len(line.title) for line in lines)
        verdict_width = max(len(line.verdict.words) for line in lines)
        out += [*([""] if out else []), f"{heading}:"]
        for line in lines:
            words = show_hidden(cut(" ".join(line_words(line).split()), _MAX_DETAIL))
            out.append(f"{line.title.ljust(width)}  {line.verdict.words.ljust(verdict_width)}  {words}".rstrip())
            out += [f"{'':{width}}  · {show_hidden(cut(deviation.note, _MAX_DETAIL))}" for deviation in line.deviations]
    return out


def _write(report: Report, exchanges: list[Exchange], options: CheckOptions, console: Console) -> bool:
    """Write the report and the cassette of the options. Return False where that failed."""
    is_written = True
    if options.out is not None:
        text = FORMATS[options.out.suffix.lower().lstrip(".")](report, None, console.secrets)
        is_written = write_file(options.out, text, console)
    return write_cassette(options.record, exchanges, f"Check of {report.model}", console) and is_written


def _exit_code(report: Report, exchanges: list[Exchange], options: CheckOptions) -> ExitCode:
    """Return OK where all essential lines work, else the reason of the failure."""
    if options.only:
        failing = [line for line in report.lines if not line.verdict.fine]
    else:
        by_protocol = supported_protocols(report)
        if all(by_protocol.values()) or (not options.protocols and any(by_protocol.values())):
            return ExitCode.OK
        failing = [line for line in report.lines if BY_ID[line.check].essential and not line.verdict.fine]
    if not failing:
        return ExitCode.OK
    if exchanges and all(exchange.status is None for exchange in exchanges):
        return ExitCode.TRANSPORT
    return ExitCode.HTTP if any(_is_http(line, exchanges) for line in failing) else ExitCode.INCOMPLETE


def _is_http(line: Line, exchanges: list[Exchange]) -> bool:
    """Return whether a line failed because of an HTTP error."""
    last = next((exchange for exchange in exchanges if line.exchanges and exchange.id == line.exchanges[-1]), None)
    return line.verdict is Verdict.REFUSED or (last is not None and (last.status or 0) >= 300)
