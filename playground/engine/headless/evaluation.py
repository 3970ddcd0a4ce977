"""Runs the evaluation of an experiment's file without a window: answers go beside the file, a table to standard output.

Progress goes to standard error: a bar on a terminal, lines elsewhere. Whatever ends it, what came is kept, and shown.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, TextIO

from playground.domain.durations import span
from playground.engine.evaluation.answering import Answer
from playground.engine.evaluation.answers import SUFFIX, AnswersError, AnswerStore, Kept
from playground.engine.evaluation.export.formats import export
from playground.engine.evaluation.inquiry import Column, Inquiry
from playground.engine.evaluation.results import Results
from playground.engine.evaluation.runner import Progress, Runner, State, first_of
from playground.engine.files.experiment_file import SUFFIX as EXPERIMENT
from playground.engine.files.experiment_file import ExperimentFileError, read_content
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.gateway import Gateway, gateway_of
from playground.engine.headless.show import Console, OutputError
from playground.engine.headless.tool_servers import CommandServers, ServerOptions, ServersError
from playground.engine.io.whole_file import write_whole
from playground.engine.requests.request_file import STDIN, BadInputError, read_value
from playground.engine.session.plan import Case
from playground.engine.session.session import Session
from playground.engine.session.snapshot import restore
from playground.jsonkit.texts import cut

_OFTEN: Final = 0.25  # seconds between two pictures of the bar
_SELDOM: Final = 10.0  # seconds between two lines, where there is no terminal
_STEP: Final = 0.1  # of all answers between two lines
_WIDTH: Final = 30  # characters of the bar
_MOST: Final = 50  # cases that are listed as failing


@dataclass(frozen=True)
class EvaluationOptions(ServerOptions):
    """What the command line says besides the file; None: as the plan has it.

    ``only`` are names or letters of variants, ``cases`` patterns of names (``*`` stands for anything). ``go_on`` asks
    for what is missing of answers that are kept, ``fresh`` lets them go. ``outputs`` are files by the names of
    ``FORMATS``. ``fail_under`` is a rate from 0 to 1.
    """

    repeats: int | None = None
    at_once: int | None = None
    seed: int | None = None
    only: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    requests: int | None = None
    tokens: int | None = None
    money: float | None = None
    record_calls: bool | None = None
    go_on: bool = False
    fresh: bool = False
    answers: Path | None = None
    outputs: dict[str, Path] = field(default_factory=dict)
    fail_under: float | None = None


async def evaluate_file(path: Path, options: EvaluationOptions, out: TextIO, err: TextIO) -> int:
    """Run the evaluation in the file at ``path``. Returns an exit code. Raises OutputError where ``out`` fails.

    Cancelled, it keeps and shows what came, as an interrupt asks for.
    """
    console = Console(out, err)
    store: AnswerStore | None = None
    gateway: Gateway | None = None
    servers: CommandServers | None = None
    try:
        gateway = await gateway_of(options)
        _check_places(path, options)
        servers = CommandServers(options, console) if options.serves else None
        inquiry = await _inquiry(path, gateway, options, servers)
        for problem in await inquiry.problems():
            raise BadInputError(problem.words)
        secrets = (*gateway.secrets, *(servers.secrets if servers is not None else ()))
        store = AnswerStore(_answers(path, options), secrets)
        runner = Runner(inquiry, store)
        await _prepare(runner, store, options)
        for words in (*gateway.remarks, *_elsewhere(inquiry, gateway.profile.name)):
            console.say(words)
        return await _run(runner, store, options, console, err)
    except BadInputError as error:
        console.say(str(error))
        return ExitCode.BAD_INPUT
    except (AnswersError, ServersError) as error:
        console.say(str(error))
        return ExitCode.FAILED
    finally:
        if store is not None:
            await store.aclose()
        if gateway is not None:
            await gateway.aclose()
        if servers is not None:
            await servers.aclose()


async def _prepare(runner: Runner, store: AnswerStore, options: EvaluationOptions) -> None:
    """See what is kept already. Raises BadInputError where it is not said what is to become of that."""
    await runner.load()
    kept = len(runner.answers)
    if options.fresh:
        await store.forget(runner.inquiry.id)
    elif kept and not options.go_on:
        raise BadInputError(
            f"{store.path} has {kept} of the {runner.progress.total} answers already. Ask for what is missing with "
            "--continue, or for all of them anew with --fresh"
        )


async def _run(
    runner: Runner, store: AnswerStore, options: EvaluationOptions, console: Console, err: TextIO
) -> ExitCode:
    interrupted = False
    begun = time.monotonic()
    bar = _Bar(err, err.isatty())
    console.lost = runner.stop
    try:
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(bar.watch(lambda: runner.progress))
            try:
                await runner.run()
            finally:
                watching.cancel()
    except asyncio.CancelledError:
        interrupted = True
    except BaseExceptionGroup as failed:
        raise first_of(failed) from None
    bar.show(runner.progress, last=True)
    results = Results(runner.inquiry, runner.answers)
    for line in summary(results, runner.progress):
        console.line(line)
    written = await _write(results, store, options, time.monotonic() - begun, console)
    console.finish()
    if console.trouble is not None:
        raise OutputError(console.trouble)
    if interrupted:
        console.say("Interrupted. What came is kept; --continue asks for the rest.")
        return ExitCode.INTERRUPTED
    code = _ended(results, runner, options, console)
    return code if written or code is not ExitCode.OK else ExitCode.FAILED


def _ended(results: Results, runner: Runner, options: EvaluationOptions, console: Console) -> ExitCode:
    """Say how it ended."""
    columns = results.columns
    if runner.state is State.STOPPED:
        console.say(f"Stopped: {runner.reason} What came is kept; --continue asks for the rest.")
        return ExitCode.HTTP if runner.refused else ExitCode.INCOMPLETE
    if options.fail_under is not None:
        below = [one for one in columns if one.rate.share is None or one.rate.share < options.fail_under]
        for one in below:
            rate = "was not judged" if one.rate.share is None else f"passed {100 * one.rate.share:.1f} %"
            console.say(f"{one.column.title} {rate}; --fail-under asks for {100 * options.fail_under:g} %.")
        if below:
            return ExitCode.FAILED
    if failed := sum(one.failed for one in columns):
        console.say(f"{failed} of {runner.progress.total} answers failed for good; they count neither way.")
        return ExitCode.INCOMPLETE
    return ExitCode.OK


# ---- the file --------------------------------------------------------------------------------------------------------


async def _inquiry(path: Path, gateway: Gateway, options: EvaluationOptions, servers: CommandServers | None) -> Inquiry:
    """What the file asks, as far as the options want it. Raises BadInputError."""
    value = read_value(path, pipes=True)
    if not isinstance(value, dict) or "experiment" not in value:
        raise BadInputError("the file must be a saved experiment (“experiment” is missing)")
    session = Session(
        gateway.connect,
        profile_id=gateway.profile.id,
        profile_of=lambda _profile_id: gateway.profile,
        serving=(lambda: servers.serving) if servers is not None else None,
    )
    try:
        restore(read_content(value), session)
    except (ExperimentFileError, ValueError) as error:
        raise BadInputError(str(error)) from None
    if not session.settings.model and gateway.profile.default_model:
        session.change(model=gateway.profile.default_model)
    plan = session.settings.evaluation
    if plan is None:
        raise BadInputError("the experiment has no evaluation: there is no “evaluation” in the file")
    wanted = {
        "repeats": options.repeats,
        "at_once": options.at_once,
        "seed": options.seed,
        "record": options.record_calls,
    }
    budget = {"requests": options.requests, "tokens": options.tokens, "money": options.money}
    update = {name: amount for name, amount in wanted.items() if amount is not None}
    bounds = plan.budget.model_copy(update={name: amount for name, amount in budget.items() if amount is not None})
    session.change(evaluation=plan.model_copy(update={**update, "budget": bounds}))
    if servers is not None:
        await servers.open([session])
    inquiry = Inquiry(session)
    return inquiry.narrowed(_chosen_cases(inquiry, options.cases), _chosen_columns(inquiry, options.only))


def _chosen_columns(inquiry: Inquiry, names: Sequence[str]) -> Sequence[Column]:
    if not names:
        return inquiry.columns
    out = []
    for name in names:
        wanted = name.strip().casefold()
        named = [one for one in inquiry.columns if one.variant is not None and one.variant.name.casefold() == wanted]
        found = named or [one for one in inquiry.columns if one.letter.casefold() == wanted]
        if len(found) != 1:
            what = f"{len(found)} variants are called" if found else "there is no variant"
            raise BadInputError(f"{what} “{name}”; there is {', '.join(one.title for one in inquiry.columns)}")
        out += found
    return [one for one in inquiry.columns if one in out]


def _chosen_cases(inquiry: Inquiry, patterns: Sequence[str]) -> Sequence[Case]:
    if not patterns:
        return inquiry.cases
    folded = [pattern.casefold() for pattern in patterns]
    found = [
        case
        for case in inquiry.cases
        if any(
            fnmatchcase(name.casefold(), one) for one in folded for name in (case.name, case.id, inquiry.title(case))
        )
    ]
    if not found:
        raise BadInputError(f"no case is called {' or '.join(f'“{pattern}”' for pattern in patterns)}")
    return found


def _answers(path: Path, options: EvaluationOptions) -> Path:
    """Where the answers are kept. Raises BadInputError for a file that has no place."""
    if options.answers is not None:
        return options.answers
    if path == STDIN:
        raise BadInputError("answers of what is read from standard input need a file: name one with --answers")
    name = path.name.removesuffix(EXPERIMENT) if path.name.endswith(EXPERIMENT) else path.stem
    return path.with_name(f"{name}{SUFFIX}")


def _check_places(path: Path, options: EvaluationOptions) -> None:
    """Raises BadInputError where an export cannot be written: better before the requests than after them."""
    for place in options.outputs.values():
        if place.is_dir():
            raise BadInputError(f"{place} is a folder; name a file")
        if not place.parent.is_dir():
            raise BadInputError(f"{place} cannot be written: there is no folder {place.parent}")
        if place.exists() and path.exists() and place.samefile(path):
            raise BadInputError(f"{place} is the file that is run")


def _elsewhere(inquiry: Inquiry, asked: str) -> list[str]:
    """That a variant is of another gateway than the one that is ``asked``."""
    return [
        f"{one.title} is set for the gateway “{one.variant.gateway}”; here, the one of the command line is asked."
        for one in inquiry.columns
        if one.variant is not None and one.variant.gateway not in ("", asked)
    ]


# ---- what is shown ---------------------------------------------------------------------------------------------------


class _Bar:
    """Progress on standard error. Nothing is raised where it cannot be written."""

    def __init__(self, err: TextIO, terminal: bool) -> None:
        self._err, self._terminal = err, terminal
        self._said, self._at = -1.0, 0.0

    async def watch(self, progress: Callable[[], Progress]) -> None:
        """Show it until cancelled."""
        while True:
            self.show(progress())
            await asyncio.sleep(_OFTEN)

    def show(self, found: Progress, *, last: bool = False) -> None:
        """Show how far it is."""
        share = found.done / found.total if found.total else 1.0
        words = progress_words(found)
        if self._terminal:
            full = int(share * _WIDTH)
            end = "\n" if last else ""
            self._write(f"\r\x1b[K[{'#' * full}{'.' * (_WIDTH - full)}] {words}{end}")
            return
        now = time.monotonic()
        if last or share >= self._said + _STEP or now - self._at >= _SELDOM:
            if last and share == self._said:
                return
            self._said, self._at = share, now
            self._write(f"playground: {words}\n")

    def _write(self, text: str) -> None:
        try:
            self._err.write(text)
            self._err.flush()
        except (OSError, ValueError):
            pass  # nobody reads it; the answers are what counts


def progress_words(found: Progress) -> str:
    """``53 of 90 · 2 failed · $0.031 · ≈ 40 s left``."""
    parts = [f"{found.done:,} of {found.total:,}"]
    parts += [f"{found.failed:,} failed"] if found.failed else []
    parts += [found.price] if found.price else []
    if found.left_words:
        parts.append(found.left_words)
    elif found.seconds:
        parts.append(span(round(found.seconds, 1)))
    return " · ".join(parts)


def summary(results: Results, progress: Progress) -> list[str]:
    """The table that is printed at the end, and what can be told from it."""
    columns = results.columns
    rows = [["", "passed", "95 %", "answers", "failed", "s", "tokens", "price"]]
    for one in columns:
        share, interval = one.rate.share, one.rate.interval
        judged = share is not None
        rows.append(
            [
                cut(one.column.title, 40),
                f"{100 * share:.0f} %" if share is not None else "–",
                f"{100 * interval.low:.0f}–{100 * interval.high:.0f}" if judged else "",
                str(one.answered),
                str(one.failed),
                f"{one.medians['seconds']:.2f}" if "seconds" in one.medians else "",
                f"{one.medians['tokens']:,.0f}" if "tokens" in one.medians else "",
                one.price,
            ]
        )
    out = _laid_out(rows)
    out += [f"  {one.words}" for one in results.comparisons()]
    if checks := results.checks():
        out.append("")
        out += _laid_out([[one.title, cut(one.words, 60), one.rate.words] for one in checks], numbers=False)
    failing = _failing(results)
    if failing:
        out += ["", "failed a check:", *failing]
    return out


def _failing(results: Results) -> list[str]:
    out = []
    for case in results.inquiry.cases:
        for column in results.inquiry.columns:
            cell = results.cell(case, column)
            wrong = [
                one for one, mark in zip(cell.answers, cell.marks, strict=True) if mark is False and one is not None
            ]
            if not wrong:
                continue
            said = next(
                f"{check.title}: {verdict.reason}"
                for check, verdict in results.verdicts(case, wrong[0])
                if verdict is not None and verdict.passed is False
            )
            count = f"{len(wrong)} of {len(cell.answers)}"
            out.append(f"  {cut(results.inquiry.title(case), 40)} · {column.letter} · {count} · {cut(said, 120)}")
    more = len(out) - _MOST
    return [*out[:_MOST], f"  and {more} more"] if more > 0 else out


def _laid_out(rows: Sequence[Sequence[str]], *, numbers: bool = True) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]

    def line(row: Sequence[str]) -> str:
        cells = [
            cell.rjust(width) if numbers and at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    return [line(row) for row in rows]


# ---- what is written -------------------------------------------------------------------------------------------------


async def _write(
    results: Results, store: AnswerStore, options: EvaluationOptions, seconds: float, console: Console
) -> bool:
    """Write the exports that were asked for. Returns False where one could not be."""
    fetch = _fetching(results.inquiry, store)
    fine = True
    for kind, place in options.outputs.items():
        try:
            text = await export(kind, results, fetch, seconds)
            await asyncio.to_thread(write_whole, place, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            console.say(f"{place} cannot be written: {error.strerror or error}.")
            fine = False
    return fine


def _fetching(inquiry: Inquiry, store: AnswerStore) -> Callable[[Answer], Awaitable[Kept]]:
    async def fetch(answer: Answer) -> Kept:
        return await store.kept(inquiry.id, answer)

    return fetch
