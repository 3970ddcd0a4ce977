"""The command's end of a Dask cluster: each answer is one Dask task. Only this module imports Dask.

The command decides where a task runs and how many are under way; those of a lost worker run again on another one.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from distributed import Client, Semaphore, secede

from playground.engine.evaluation.answers import judgements_of
from playground.engine.evaluation.provider import AnswerProviderError, AnswerResult, SerializedAnswer, Spend
from playground.engine.evaluation.resolved import Job, ResolvedEvaluation
from playground.engine.evaluation.runner import first_error
from playground.engine.headless.cluster.worker import (
    ClusterError,
    ClusterRun,
    Readiness,
    Result,
    Task,
    check_process,
    close_run,
    make_answer,
    open_run,
)
from playground.jsonkit.texts import cut

CONNECT: Final = 15.0  # seconds for the scheduler to answer
WORKER_WAIT: Final = 30.0  # seconds for a worker to join where there is none
_MAX_LOST: Final = 3  # workers that one answer may be lost with
_POLL: Final = 1.0  # seconds between two looks at the list of workers
_MAX_NAMES: Final = 3  # workers listed in one sentence
_MAX_ERROR: Final = 300  # characters


def run_task(run_id: str, task: Task) -> Result:
    """Make an answer on a worker, outside of its thread pool: the wait for a gateway takes none of its threads."""
    secede()
    return make_answer(run_id, task)


class Cluster:
    """Makes answers on the workers of a cluster. `say` receives sentences for the user. `open_cluster` creates one."""

    def __init__(
        self, client: Client, address: str, run: ClusterRun, resolved: ResolvedEvaluation, say: Callable[[str], None]
    ) -> None:
        self._client, self._address, self._run, self._resolved, self._say = client, address, run, resolved, say
        at_once = resolved.plan.at_once
        name = f"playground {run.limited_as} {at_once}"
        self._semaphore = Semaphore(at_once, name, scheduler_rpc=client.scheduler, loop=client.loop)
        self._numbers = itertools.count(1)
        self._workers: set[str] = set()
        self._refused: set[str] = set()
        self._placed: dict[Any, str] = {}  # the worker of each Dask future
        self._joined = asyncio.Event()
        self._failure = ""

    async def answered(self, job: Job, spend: Spend) -> SerializedAnswer:
        """Return a new answer with its verdicts. Raises AnswerProviderError."""
        return await self._make(job, None, spend)

    async def judged(self, result: AnswerResult, job: Job, spend: Spend) -> AnswerResult:
        """Return a saved answer with the verdicts that it lacked. Raises AnswerProviderError."""
        packed = await self._make(job, result, spend)
        return AnswerResult(packed.answer, result.turns, judgements_of(packed.judgements))

    async def _make(self, job: Job, saved: AnswerResult | None, spend: Spend) -> SerializedAnswer:
        task = Task(self._resolved.numbers[job.case.id], job.column.letter, job.repeat, job.digest, saved)
        try:
            async with self._semaphore:
                result = await self._submit(task)
        except AnswerProviderError:
            raise
        except (CancelledError, OSError) as error:
            raise AnswerProviderError(self._failure or self._scheduler_lost(error)) from None
        except Exception as error:  # noqa: BLE001 - a worker's errors are raised here, whatever they are
            raise AnswerProviderError(f"A worker could not go on: {_error_text(error)}.") from None
        if result.answer is None:
            raise AnswerProviderError(f"A worker could not go on: {result.problem}.")
        for metrics in result.spent:
            spend(metrics)
        return result.answer

    async def _submit(self, task: Task) -> Result:
        """Have the worker with the fewest tasks make an answer, and another one where that is lost."""
        worker = ""
        for _ in range(_MAX_LOST):
            worker = await self._next_worker()
            key = f"playground-{self._run.id}-{next(self._numbers)}"
            future = self._client.submit(run_task, self._run.id, task, key=key, pure=False, workers=[worker])
            self._placed[future] = worker
            try:
                result: Result = await future
                return result
            except CancelledError:
                if self._failure or worker in self._workers:
                    raise
            finally:
                del self._placed[future]
                future.release()  # which cancels a task that is still under way
        raise AnswerProviderError(f"Several workers were lost while they made one answer, {worker} last.")

    async def _next_worker(self) -> str:
        """Return the worker with the fewest tasks; waits where there is none. Raises AnswerProviderError."""
        while not self._workers and not self._failure:
            await self._joined.wait()
        if self._failure:
            raise AnswerProviderError(self._failure)
        tasks = Counter(self._placed.values())
        return min(self._workers, key=tasks.__getitem__)

    async def start(self) -> None:
        """Prepare all workers. Raises ClusterError where the cluster cannot be used."""
        with suppress(TimeoutError):
            await self._client.wait_for_workers(1, timeout=WORKER_WAIT)
        try:
            scheduler = await self._client.run_on_scheduler(check_process)
        except Exception as error:  # noqa: BLE001 - the scheduler's errors are raised here, whatever they are
            raise ClusterError(_unfit("the scheduler", error)) from None
        reports = await self._open(await self._client.nthreads())
        if not reports:
            raise ClusterError(
                f"The cluster at {self._address} has no worker. Start one with: dask worker {self._address}"
            )
        for process, report in {f"the scheduler at {self._address}": scheduler, **reports}.items():
            if not isinstance(report, Readiness):
                raise ClusterError(_unfit(process, report))
            if report.versions != self._run.versions:
                raise ClusterError(
                    f"{process} has {report.versions}; here it is {self._run.versions}. Both must be the same."
                )
            if report.problem:
                raise ClusterError(f"{process} cannot take part: {report.problem}.")
        if keyless := [worker for worker, report in reports.items() if not report.has_key]:
            names = ", ".join(keyless[:_MAX_NAMES])
            names += f" and {len(keyless) - _MAX_NAMES} more" if len(keyless) > _MAX_NAMES else ""
            raise ClusterError(
                f"The environment variable {self._run.variable} is not set on {names}. Set it where the worker is "
                "started; the key is not sent to workers."
            )

    async def _open(self, workers: Collection[str]) -> Mapping[str, Any]:
        """Prepare workers for the run. Return a report, or the error, by worker."""
        if not workers:
            return {}
        reports: Mapping[str, Any] = await self._client.run(
            open_run, self._run, workers=list(workers), on_error="return"
        )
        self._workers |= {worker for worker, report in reports.items() if report == Readiness(self._run.versions)}
        if self._workers:
            self._joined.set()
        return reports

    async def watch(self) -> None:
        """Follow workers that join and leave, until cancelled or until the cluster cannot be used any more."""
        last_worker = time.monotonic()
        while not self._failure:
            await asyncio.sleep(_POLL)
            try:
                async with asyncio.timeout(CONNECT):
                    present = set(await self._client.nthreads())
                    await self._join(present - self._workers - self._refused)
            except (OSError, RuntimeError, ValueError) as error:  # the client's errors without a connection
                await self._fail(self._scheduler_lost(error))
                return
            for worker in self._workers - present:
                await self._leave(worker)
            if self._workers or not self._placed:
                last_worker = time.monotonic()
            elif present and present <= self._refused:
                await self._fail(f"No worker of {self._address} can take part.")
            elif time.monotonic() - last_worker > WORKER_WAIT:
                await self._fail(f"No worker is left at {self._address}.")

    async def _join(self, workers: Collection[str]) -> None:
        for worker, report in (await self._open(workers)).items():
            if worker in self._workers:
                continue
            self._refused.add(worker)
            if not isinstance(report, Readiness):
                words = _unfit("it", report)
            elif report.versions != self._run.versions:
                words = f"it has {report.versions}, where the command is it is {self._run.versions}"
            else:
                words = report.problem or f"the environment variable {self._run.variable} is not set there"
            self._say(f"{worker} is not used: {words.rstrip('.')}.")

    async def _leave(self, worker: str) -> None:
        self._workers.discard(worker)
        if not self._workers:
            self._joined.clear()
        lost = [future for future, place in self._placed.items() if place == worker]
        repeated = f"; {len(lost)} of its answers are requested again by other workers" if lost else ""
        self._say(f"The worker {worker} was lost{repeated}.")
        await self._cancel(lost)

    async def _fail(self, words: str) -> None:
        self._failure = self._failure or words
        self._joined.set()
        await self._cancel(list(self._placed))

    async def _cancel(self, futures: Collection[Any]) -> None:
        """Cancel Dask tasks, so that `_submit` goes on."""
        with suppress(OSError, RuntimeError, ValueError):
            await self._client.cancel(futures)

    def _scheduler_lost(self, error: BaseException) -> str:
        return f"The scheduler at {self._address} does not answer any more ({_error_text(error)})."

    async def close(self) -> None:
        """End the run on all workers, with what is under way there."""
        with suppress(OSError, RuntimeError, ValueError):
            async with asyncio.timeout(CONNECT):
                await self._client.run(close_run, self._run.id, workers=list(self._workers), on_error="ignore")


@asynccontextmanager
async def open_cluster(
    address: str, run: ClusterRun, resolved: ResolvedEvaluation, say: Callable[[str], None]
) -> AsyncIterator[Cluster]:
    """Open a cluster for a run. Raises ClusterError where it cannot be used, before any request to a gateway."""
    for name in ("distributed", "distributed.client", "distributed.semaphore"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # `Cluster` reports the same in sentences
    async with _connected(address) as client:
        cluster = Cluster(client, address, run, resolved, say)
        try:
            await cluster.start()
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(cluster.watch())
                try:
                    yield cluster
                finally:
                    watching.cancel()
        except BaseExceptionGroup as errors:
            raise first_error(errors) from None
        finally:
            await cluster.close()


@asynccontextmanager
async def _connected(address: str) -> AsyncIterator[Client]:
    client = None
    try:
        try:
            client = Client(address, asynchronous=True, set_as_default=False, timeout=CONNECT)
            await client
        except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
            raise ClusterError(f"No scheduler answers at {address} ({_error_text(error)}).") from None
        yield client
    finally:
        if client is not None:
            await client.close()


def _unfit(process: str, error: object) -> str:
    return f"{process} cannot be used ({_error_text(error)}). Install the same gateway-playground[dask] there as here."


def _error_text(error: object) -> str:
    return cut(" ".join(f"{type(error).__name__}: {error}".split()), _MAX_ERROR)
