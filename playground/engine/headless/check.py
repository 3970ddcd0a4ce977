"""Checks a gateway without a window: a line as each comes, a table at the end, and an exit code for scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from playground.domain.errors import FailureKind
from playground.domain.hidden import show_hidden
from playground.engine.advice import advise
from playground.engine.advice.parts import option_of
from playground.engine.cassettes import cassette
from playground.engine.gateway_check.check_run import (
    CheckEvent,
    CheckRun,
    LineAdded,
    WaitChanged,
    estimates_of,
    keys_of,
)
from playground.engine.gateway_check.checks import BY_ID, Estimate, Key, check_title, supported_protocols, total
from playground.engine.gateway_check.export import FORMATS, groups, line_name, line_words
from playground.engine.gateway_check.report import Line, Report, Verdict
from playground.engine.gateway_check.requests import Target
from playground.engine.gateways.redacted_output import write_output
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.gateway import Gateway, GatewayOptions, gateway_of
from playground.engine.headless.show import Console, OutputError, failure_words
from playground.engine.requests.request_file import BadInputError
from playground.jsonkit.texts import cut, listed

if TYPE_CHECKING:
    from playground.gateway.tape import Exchange

_WIDE: Final = 110  # characters of what came in the table


@dataclass(frozen=True)
class CheckOptions(GatewayOptions):
    """What the command line says. ``protocols`` and ``only`` are empty for all; ``lists`` asks nothing of a gateway."""

    model: str = ""
    protocols: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    lists: bool = False
    as_json: bool = False
    out: Path | None = None
    record: Path | None = None


async def check_gateway(options: CheckOptions, out: TextIO, err: TextIO) -> int:
    """Check the gateway that the options name. Returns an exit code. Raises OutputError where ``out`` fails.

    Cancelled, it shows what came, as an interrupt asks for.
    """
    console = Console(out, err)
    console.hide(options.secrets)
    try:
        _look_over(options)
        gateway = await gateway_of(options)
        console.hide(gateway.secrets)
    except BadInputError as error:
        console.say(str(error))
        return ExitCode.BAD_INPUT
    try:
        for words in gateway.remarks:
            console.say(words)
        return await _check(gateway, options, console)
    except BadInputError as error:
        console.say(str(error))
        return ExitCode.BAD_INPUT
    except asyncio.CancelledError:
        console.say("Interrupted.")
        return ExitCode.INTERRUPTED
    finally:
        await gateway.aclose()


def _look_over(options: CheckOptions) -> None:
    """Raises BadInputError for what cannot be done: better before the first request than after the last."""
    if unknown := [one for one in options.only if one not in BY_ID]:
        raise BadInputError(f"there is no check {listed(unknown)}; there are {listed(list(BY_ID))}")
    if options.out is not None and options.out.suffix.lower().lstrip(".") not in FORMATS:
        raise BadInputError(f"{options.out} does not say how to write it: end it with {listed(_endings(), 'or')}")
    for path in (options.out, options.record):
        if path is not None and path.is_dir():
            raise BadInputError(f"{path} is a folder; give the name of a file")
        if path is not None and not path.parent.is_dir():
            raise BadInputError(f"{path} cannot be written: there is no folder {path.parent}")


def _endings() -> list[str]:
    return [f".{ending}" for ending in FORMATS]


async def _check(gateway: Gateway, options: CheckOptions, console: Console) -> int:
    target = await _target(gateway, options, console)
    if target is None:
        return ExitCode.TRANSPORT
    wanted = [key for key in keys_of(target, options.protocols) if not options.only or key[0] in options.only]
    estimates = estimates_of(target, wanted)
    if options.lists:
        _list(wanted, estimates, console)
        return ExitCode.OK
    sums = total(estimates.values())
    of_checks = "1 check" if len(wanted) == 1 else f"{len(wanted)} checks"
    console.say(
        f"Checking {show_hidden(target.model)} at {target.connection.base_url}: {of_checks}, at most about "
        f"{sums.prompt} tokens in and {sums.output} out; {sums.price_words}."
    )
    run = CheckRun(target, wanted, lambda told: _tell(told, console), options.protocols)
    interrupted = False
    if (task := asyncio.current_task()) is not None:
        console.lost = partial(_cancel, task)
    try:
        await run.perform()
    except asyncio.CancelledError:
        interrupted = True
    report = run.report
    fine = await asyncio.to_thread(_write, report, run.exchanges, options, console)
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
    console.finish()
    if console.trouble is not None:
        raise OutputError(console.trouble)
    if interrupted:
        console.say("Interrupted: what came stands above.")
        return ExitCode.INTERRUPTED
    code = _code(report, run.exchanges, options)
    return code if fine or code is not ExitCode.OK else ExitCode.FAILED


def _cancel(task: asyncio.Task[object]) -> None:
    task.cancel()


async def _target(gateway: Gateway, options: CheckOptions, console: Console) -> Target | None:
    """Whom to ask: the model that is named, else the first one that is listed. None where there is no list to choose
    from because nothing answers. Raises BadInputError.
    """
    profile = gateway.profile
    client = await gateway.connect(profile.id)
    model, listing = options.model or profile.default_model, None
    if not options.lists and model not in profile.prices:  # the list says what it costs, if nobody else does
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
    """For how many tokens prices in the list of a saved gateway's service are where their names do not say it."""
    from playground.engine.gateways.profiles import default_path
    from playground.engine.gateways.services import services_near

    known = services_near(default_path()).get(service) if service else None
    return known.price_tokens if known is not None else 0


def _tell(told: CheckEvent, console: Console) -> None:
    if isinstance(told, LineAdded):
        line = told.line
        console.aside(f"{line_name(line)}: {line.verdict.words}. {show_hidden(cut(line_words(line), 4 * _WIDE))}\n")
    elif isinstance(told, WaitChanged) and told.words:
        console.say(told.words)


def _list(wanted: Iterable[Key], estimates: dict[Key, Estimate], console: Console) -> None:
    rows = [(key[0], check_title(key), BY_ID[key[0]].about, estimates[key].words) for key in wanted]
    wide = max(len(row[0]) for row in rows)
    for check, titled, what, words in rows:
        console.line(f"{check.ljust(wide)}  {titled}: {what} [{words}]")


def _table(report: Report) -> list[str]:
    out: list[str] = []
    for heading, lines in groups(report):
        wide = max(len(line.title) for line in lines)
        said = max(len(line.verdict.words) for line in lines)
        out += [*([""] if out else []), f"{heading}:"]
        for line in lines:
            words = show_hidden(cut(" ".join(line_words(line).split()), _WIDE))
            out.append(f"{line.title.ljust(wide)}  {line.verdict.words.ljust(said)}  {words}".rstrip())
            out += [f"{'':{wide}}  · {show_hidden(cut(one.note, _WIDE))}" for one in line.deviations]
    return out


def _write(report: Report, exchanges: list[Exchange], options: CheckOptions, console: Console) -> bool:
    """Write what was asked for. Returns False where that failed."""
    fine = True
    if options.out is not None:
        text = FORMATS[options.out.suffix.lower().lstrip(".")](report, None, console.secrets)
        try:
            write_output(options.out, text, console.secrets)
        except OSError as error:
            console.say(f"{options.out} cannot be written: {error.strerror or error}.")
            fine = False
    if options.record is not None and exchanges:
        try:
            cassette.save(options.record, exchanges, f"Check of {report.model}", console.secrets)
        except cassette.CassetteError as error:
            console.say(str(error))
            fine = False
    return fine


def _code(report: Report, exchanges: list[Exchange], options: CheckOptions) -> ExitCode:
    """0 where all that had to work does; else what kept it from working."""
    if options.only:
        failing = [line for line in report.lines if not line.verdict.fine]
    else:
        found = supported_protocols(report)
        if all(found.values()) or (not options.protocols and any(found.values())):
            return ExitCode.OK
        failing = [line for line in report.lines if BY_ID[line.check].essential and not line.verdict.fine]
    if not failing:
        return ExitCode.OK
    if exchanges and all(exchange.status is None for exchange in exchanges):
        return ExitCode.TRANSPORT
    return ExitCode.HTTP if any(_is_http(line, exchanges) for line in failing) else ExitCode.INCOMPLETE


def _is_http(line: Line, exchanges: list[Exchange]) -> bool:
    """Whether an HTTP error is what a line failed by."""
    shown = next((one for one in exchanges if line.exchanges and one.id == line.exchanges[-1]), None)
    return line.verdict is Verdict.REFUSED or (shown is not None and (shown.status or 0) >= 300)
