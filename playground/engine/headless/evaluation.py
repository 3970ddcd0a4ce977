"""`playground eval`: answers are saved beside the file; standard output gets a table, standard error the progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
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
from playground.engine.headless.cluster.worker import ClusterRun
from playground.engine.headless.command import (
    Command,
    CommandFailedError,
    check_output,
    other_gateway_notes,
    run_command,
    write_file,
)
from playground.engine.headless.evaluated_file import EvaluationOptions, answers_path, resolved_of
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.show import Console
from playground.engine.io.file_lock import FileLock, LockedError
from playground.engine.requests.request_file import BadInputError
from playground.engine.session.session import Session
from playground.jsonkit.texts import cut

_BAR_INTERVAL: Final = 0.25  # seconds between two updates of the bar
_BAR_WIDTH: Final = 30  # characters
_LINE_INTERVAL: Final = 10.0  # seconds between two lines without a terminal
_LINE_STEP: Final = 0.1  # of all answers between two lines
_MAX_FAILING: Final = 50  # cases listed as failing


async def evaluate_file(path: Path, options: EvaluationOptions, out: TextIO, err: TextIO) -> ExitCode:
    """Run the evaluation in the file at `path`. Raises OutputError where `out` fails.

    An interrupt saves and shows the answers received.
    """

    async def work(command: Command) -> ExitCode:
        try:
            return await _evaluate(command, path, options, err)
        except AnswersError as error:
            raise CommandFailedError(str(error)) from None

    return await run_command(options, out, err, work)


async def _evaluate(command: Command, path: Path, options: EvaluationOptions, err: TextIO) -> ExitCode:
    for output in options.outputs.values():
        check_output(output, path)
    answers = answers_path(path, options)
    if options.dask and options.serves:
        raise BadInputError(
            "tool servers are started on this computer, and workers are on others: leave out --mcp and --allow, or "
            "--dask"
        )
    with _locked(answers):
        command.read_servers()
        resolved, session = await resolved_of(path, command, options)
        for problem in await resolved.problems():
            raise BadInputError(problem.words)
        store = AnswerStore(answers, command.console.secrets)
        try:
            variants = [(column.title, column.variant) for column in resolved.columns]
            command.say_all(other_gateway_notes(variants, command.gateway.profile.name))
            async with _provider(command, resolved, session, options) as provider:
                runner = Runner(resolved, store, making=provider)
                await _prepare(runner, store, options)
                return await _run(command, runner, store, options, err)
        finally:
            await store.aclose()


@contextmanager
def _locked(answers: Path) -> Iterator[None]:
    """Lock a file of answers, which two evaluations must not fill at once. Raises BadInputError."""
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
    try:
        yield
    finally:
        lock.release()


@asynccontextmanager
async def _provider(
    command: Command, resolved: ResolvedEvaluation, session: Session, options: EvaluationOptions
) -> AsyncIterator[AnswerProvider | None]:
    """Yield the cluster that makes the answers, None for this process. Raises BadInputError, ClusterError."""
    if not options.dask:
        yield None
        return
    run = ClusterRun.from_session(new_id(), session, command.gateway, options)
    try:
        from playground.engine.headless.cluster.client import open_cluster
    except ModuleNotFoundError as error:
        raise BadInputError(
            f"--dask needs a library that is not installed ({error.name}). Install it with: "
            "pip install 'gateway-playground[dask]'"
        ) from None
    async with open_cluster(options.dask, run, resolved, command.console.say) as cluster:
        yield cluster


async def _prepare(runner: Runner, store: AnswerStore, options: EvaluationOptions) -> None:
    """Load the saved answers. Raises BadInputError where the options do not say what to do with them."""
    await runner.load()
    count = len(runner.answers)
    if options.fresh:
        await store.forget(runner.resolved.id)
    elif count and not options.go_on:
        raise BadInputError(
            f"{store.path} has {count} of the {runner.progress.total} answers already. Ask for what is missing with "
            "--continue, or for all of them again with --fresh"
        )


async def _run(
    command: Command, runner: Runner, store: AnswerStore, options: EvaluationOptions, err: TextIO
) -> ExitCode:
    console, start = command.console, time.monotonic()
    bar = _ProgressBar(err, err.isatty())
    console.lost = runner.stop
    await command.interruptible(_follow(runner, bar))
    bar.show(runner.progress, last=True)
    results = Results(runner.resolved, runner.answers)
    for line in summary(results, console.clean):
        console.line(line)
    is_written = await _write(results, store, options, time.monotonic() - start, console)
    return command.end(
        lambda: _exit_code(results, runner, options, console),
        "Interrupted. The answers so far are saved; --continue asks for the rest.",
        is_written=is_written,
    )


async def _follow(runner: Runner, bar: _ProgressBar) -> None:
    """Run the evaluation with its progress on the bar."""
    try:
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(bar.watch(lambda: runner.progress))
            try:
                await runner.run()
            finally:
                watching.cancel()
    except BaseExceptionGroup as errors:
        raise first_error(errors) from None


def _exit_code(results: Results, runner: Runner, options: EvaluationOptions, console: Console) -> ExitCode:
    """Print how the evaluation ended, and return the exit code."""
    columns = results.columns
    if runner.state is State.STOPPED:
        console.say(f"Stopped: {runner.reason} The answers so far are saved; --continue asks for the rest.")
        return ExitCode.HTTP if runner.refused else ExitCode.INCOMPLETE
    if options.fail_under is not None:
        below = [row for row in columns if row.rate.share is None or row.rate.share < options.fail_under]
        for row in below:
            rate = "was not judged" if row.rate.share is None else f"passed {100 * row.rate.share:.1f} %"
            console.say(f"{row.column.title} {rate}; --fail-under asks for {100 * options.fail_under:g} %.")
        if below:
            return ExitCode.FAILED
    if failed := sum(row.failed for row in columns):
        console.say(f"{failed} of {runner.progress.total} answers failed for good; they count neither way.")
        return ExitCode.INCOMPLETE
    return ExitCode.OK


# ---- output ----------------------------------------------------------------------------------------------------------


class _ProgressBar:
    """Progress on standard error: a bar on a terminal, lines elsewhere. Errors of writing are ignored."""

    def __init__(self, err: TextIO, is_terminal: bool) -> None:
        self._err, self._is_terminal = err, is_terminal
        self._last_share, self._last_time = -1.0, 0.0

    async def watch(self, progress: Callable[[], Progress]) -> None:
        """Show the progress until cancelled."""
        while True:
            self.show(progress())
            await asyncio.sleep(_BAR_INTERVAL)

    def show(self, progress: Progress, *, last: bool = False) -> None:
        """Show the progress; `last` ends the line."""
        share = progress.done / progress.total if progress.total else 1.0
        words = progress_words(progress)
        if self._is_terminal:
            full = int(share * _BAR_WIDTH)
            end = "\n" if last else ""
            self._write(f"\r\x1b[K[{'#' * full}{'.' * (_BAR_WIDTH - full)}] {words}{end}")
            return
        now = time.monotonic()
        if last or share >= self._last_share + _LINE_STEP or now - self._last_time >= _LINE_INTERVAL:
            if last and share == self._last_share:
                return
            self._last_share, self._last_time = share, now
            self._write(f"playground: {words}\n")

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # the reader has left
            self._err.write(text)
            self._err.flush()


def progress_words(progress: Progress) -> str:
    """Return the progress in a line, such as ``53 of 90 · 2 failed · $0.031 · ≈ 40 s left``."""
    parts = [f"{progress.done:,} of {progress.total:,}"]
    parts += [f"{progress.failed:,} failed"] if progress.failed else []
    parts += [progress.price] if progress.price else []
    if progress.left_words:
        parts.append(progress.left_words)
    elif progress.seconds:
        parts.append(span(round(progress.seconds, 1)))
    return " · ".join(parts)


def summary(results: Results, clean: Callable[[str], str]) -> list[str]:
    """Return the lines of the table at the end and of the comparisons. `clean` takes secrets out of a cell."""
    rows = [["", "passed", "95 %", "answers", "failed", "s", "tokens", "price"]]
    for row in results.columns:
        share, interval, medians = row.rate.share, row.rate.interval, row.medians
        rows.append(
            [
                cut(clean(row.column.title), 40),
                f"{100 * share:.0f} %" if share is not None else "–",
                f"{100 * interval.low:.0f}–{100 * interval.high:.0f}" if share is not None else "",
                str(row.answered),
                str(row.failed),
                f"{medians['seconds']:.2f}" if "seconds" in medians else "",
                f"{medians['tokens']:,.0f}" if "tokens" in medians else "",
                row.price,
            ]
        )
    lines = _aligned(rows)
    lines += [f"  {comparison.words}" for comparison in results.comparisons()]
    if checks := results.checks():
        cells = [[check.title, cut(clean(check.words), 60), check.rate.words] for check in checks]
        lines += ["", *_aligned(cells, numbers=False)]
    if failing := _failing(results):
        lines += ["", "failed a check:", *failing]
    return lines


def _failing(results: Results) -> list[str]:
    lines = []
    for case in results.resolved.cases:
        for column in results.resolved.columns:
            cell = results.cell(case, column)
            marked = zip(cell.answers, cell.marks, strict=True)
            wrong = [answer for answer, mark in marked if mark is False and answer is not None]
            if not wrong:
                continue
            reason = results.failed_checks(case, wrong[0])[0]
            count = f"{len(wrong)} of {len(cell.answers)}"
            lines.append(f"  {cut(results.resolved.title(case), 40)} · {column.letter} · {count} · {cut(reason, 120)}")
    more = len(lines) - _MAX_FAILING
    return [*lines[:_MAX_FAILING], f"  and {more} more"] if more > 0 else lines


def _aligned(rows: Sequence[Sequence[str]], *, numbers: bool = True) -> list[str]:
    """Return the lines of a table; with `numbers`, all columns but the first are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if numbers and index else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


async def _write(
    results: Results, store: AnswerStore, options: EvaluationOptions, seconds: float, console: Console
) -> bool:
    """Write the exports that were asked for. Return False where one could not be written."""

    async def fetch(answer: Answer) -> SavedAnswer:
        return await store.details(results.resolved.id, answer)

    is_written = True
    for kind, path in options.outputs.items():
        text = await export(kind, results, fetch, console.secrets, seconds)
        is_written = await asyncio.to_thread(write_file, path, text, console) and is_written
    return is_written
