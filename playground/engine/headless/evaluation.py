"""Runs the evaluation of an experiment's file without a window: answers go beside the file, a table to standard output.

Progress goes to standard error: a bar on a terminal, lines elsewhere. Whatever ends it, what came is kept, and shown.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TextIO

from playground.domain.durations import span
from playground.domain.transcript import new_id
from playground.engine.evaluation.answers import AnswersError, AnswerStore, SavedAnswer
from playground.engine.evaluation.export.formats import export
from playground.engine.evaluation.provider import Answer, AnswerProvider
from playground.engine.evaluation.resolved import ResolvedEvaluation
from playground.engine.evaluation.results import Results
from playground.engine.evaluation.runner import Progress, Runner, State, first_error
from playground.engine.gateways.redacted_output import write_output
from playground.engine.headless.cluster.order import ClusterError, order_of
from playground.engine.headless.collecting import seldom_collected
from playground.engine.headless.evaluated_file import (
    EvaluationOptions,
    answers_path,
    check_places,
    elsewhere,
    inquiry_of,
)
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.gateway import Gateway, gateway_of
from playground.engine.headless.show import Console, OutputError
from playground.engine.headless.tool_servers import CommandServers, ServersError
from playground.engine.io.file_lock import FileLock, LockedError
from playground.engine.requests.request_file import BadInputError
from playground.engine.session.session import Session
from playground.jsonkit.texts import cut

_OFTEN: Final = 0.25  # seconds between two pictures of the bar
_SELDOM: Final = 10.0  # seconds between two lines, where there is no terminal
_STEP: Final = 0.1  # of all answers between two lines
_WIDTH: Final = 30  # characters of the bar
_MOST: Final = 50  # cases that are listed as failing


async def evaluate_file(path: Path, options: EvaluationOptions, out: TextIO, err: TextIO) -> int:
    """Run the evaluation in the file at ``path``. Returns an exit code. Raises OutputError where ``out`` fails.

    Cancelled, it keeps and shows what came, as an interrupt asks for.
    """
    console = Console(out, err)
    console.hide(options.secrets)
    store: AnswerStore | None = None
    gateway: Gateway | None = None
    servers: CommandServers | None = None
    lock: FileLock | None = None
    try:
        gateway = await gateway_of(options)
        console.hide(gateway.secrets)
        check_places(path, options)
        lock = _locked(answers_path(path, options))
        if options.dask and options.serves:
            raise BadInputError(
                "tool servers are started on this computer, and workers are on others: leave out --mcp and --allow, or "
                "--dask"
            )
        servers = CommandServers(options, console) if options.serves else None
        resolved, session = await inquiry_of(path, gateway, options, servers)
        for problem in await resolved.problems():
            raise BadInputError(problem.words)
        store = AnswerStore(answers_path(path, options), console.secrets)
        for words in (*gateway.remarks, *elsewhere(resolved, gateway.profile.name)):
            console.say(words)
        async with _making(resolved, session, gateway, options, console) as making:
            runner = Runner(resolved, store, making=making)
            await _prepare(runner, store, options)
            return await _run(runner, store, options, console, err)
    except BadInputError as error:
        console.say(str(error))
        return ExitCode.BAD_INPUT
    except (AnswersError, ClusterError, ServersError) as error:
        console.say(str(error))
        return ExitCode.FAILED
    finally:
        if store is not None:
            await store.aclose()
        if gateway is not None:
            await gateway.aclose()
        if servers is not None:
            await servers.aclose()
        if lock is not None:
            lock.release()


def _locked(answers: Path) -> FileLock:
    """Return the lock of a file of answers, which two evaluations must not fill at once. Raises BadInputError."""
    try:
        answers.parent.mkdir(parents=True, exist_ok=True)
        place = answers.resolve()
        lock = FileLock(place.with_name(f"{place.name}.lock"), temporary=True)
        lock.acquire()
    except LockedError:
        raise BadInputError(
            f"another evaluation is writing to {answers}. Wait until it ends, or name another file with --answers"
        ) from None
    except (OSError, RuntimeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
        raise BadInputError(
            f"{answers} cannot be locked, so the same answers could be paid for twice: {reason}. Name a file in "
            "another folder with --answers"
        ) from None
    return lock


@asynccontextmanager
async def _making(
    resolved: ResolvedEvaluation, session: Session, gateway: Gateway, options: EvaluationOptions, console: Console
) -> AsyncIterator[AnswerProvider | None]:
    """What makes the answers, as long as it is needed; None for this process. Raises BadInputError, ClusterError."""
    if not options.dask:
        yield None
        return
    order = order_of(new_id(), session, gateway, options)
    try:
        from playground.engine.headless.cluster.fleet import fleet
    except ModuleNotFoundError as error:
        raise BadInputError(
            f"--dask needs a library that is not installed ({error.name}). Install it with: "
            "pip install 'gateway-playground[dask]'"
        ) from None
    async with fleet(options.dask, order, resolved, console.say) as found:
        yield found


async def _prepare(runner: Runner, store: AnswerStore, options: EvaluationOptions) -> None:
    """See what is kept already. Raises BadInputError where it is not said what is to become of that."""
    await runner.load()
    kept = len(runner.answers)
    if options.fresh:
        await store.forget(runner.resolved.id)
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
                with seldom_collected():
                    await runner.run()
            finally:
                watching.cancel()
    except asyncio.CancelledError:
        interrupted = True
    except BaseExceptionGroup as failed:
        raise first_error(failed) from None
    bar.show(runner.progress, last=True)
    results = Results(runner.resolved, runner.answers)
    for line in summary(results, runner.progress, console.clean):
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


def summary(results: Results, progress: Progress, clean: Callable[[str], str]) -> list[str]:
    """The table that is printed at the end, and what can be told from it. ``clean`` takes secrets out of a cell."""
    columns = results.columns
    rows = [["", "passed", "95 %", "answers", "failed", "s", "tokens", "price"]]
    for one in columns:
        share, interval = one.rate.share, one.rate.interval
        judged = share is not None
        rows.append(
            [
                cut(clean(one.column.title), 40),
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
        out += _laid_out([[one.title, cut(clean(one.words), 60), one.rate.words] for one in checks], numbers=False)
    failing = _failing(results)
    if failing:
        out += ["", "failed a check:", *failing]
    return out


def _failing(results: Results) -> list[str]:
    out = []
    for case in results.resolved.cases:
        for column in results.resolved.columns:
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
            out.append(f"  {cut(results.resolved.title(case), 40)} · {column.letter} · {count} · {cut(said, 120)}")
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
    fetch = _fetching(results.resolved, store)
    fine = True
    for kind, place in options.outputs.items():
        try:
            text = await export(kind, results, fetch, console.secrets, seconds)
            await asyncio.to_thread(write_output, place, text, console.secrets)
        except OSError as error:
            console.say(f"{place} cannot be written: {error.strerror or error}.")
            fine = False
    return fine


def _fetching(resolved: ResolvedEvaluation, store: AnswerStore) -> Callable[[Answer], Awaitable[SavedAnswer]]:
    async def fetch(answer: Answer) -> SavedAnswer:
        return await store.details(resolved.id, answer)

    return fetch
