"""A cluster that makes answers: the command's end of it. It is handed errands as they are due, and returns what came.

Raised while it is opened is a ClusterError, with all that is wrong with the cluster in words, before anything is asked.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from distributed import Client

from playground.engine.evaluation.answers import judgements_of
from playground.engine.evaluation.metrics import AnswerMetrics
from playground.engine.evaluation.provider import AnswerProviderError, AnswerResult, SerializedAnswer, Spend
from playground.engine.evaluation.resolved import Job, ResolvedEvaluation
from playground.engine.evaluation.runner import first_error
from playground.engine.headless.cluster.order import About, ClusterError, Errand, Order, Result, about, kept_of
from playground.engine.headless.cluster.plugins import AT_SCHEDULER, HandPlugin, PostPlugin, hands, operation
from playground.jsonkit.texts import cut

CONNECT: Final = 15.0  # seconds for the scheduler to answer
COMING: Final = 30.0  # seconds for a worker to come where there is none
_TRIES: Final = 3  # of a question to the scheduler
_GATHER: Final = 0.003  # seconds in which errands, and results, come together
_NAMED: Final = 3  # workers that are named
_LONGEST: Final = 300  # characters of what others say


class Fleet:
    """Makes answers on the workers of a cluster. ``say`` is told, in sentences, what happens to them.

    ``fleet`` opens one.
    """

    def __init__(
        self,
        client: Client,
        address: str,
        order: Order,
        resolved: ResolvedEvaluation,
        say: Callable[[str], None],
        workers: int,
    ) -> None:
        self._client, self._address, self._order, self._inquiry, self._say = client, address, order, resolved, say
        self._numbers = itertools.count(1)
        self._new: list[tuple[int, Errand]] = []
        self._called = asyncio.Event()
        self._due: dict[int, asyncio.Future[Result]] = {}
        self._failure = ""
        self._workers = workers

    async def answered(self, job: Job, spend: Spend) -> SerializedAnswer:
        """One answer with its verdicts. Raises AnswerProviderError."""
        result = await self._done(self._errand(job))
        for one in result.spent:
            spend(AnswerMetrics(*one))
        return result.packed

    async def judged(self, found: AnswerResult, job: Job, spend: Spend) -> AnswerResult:
        """A kept answer with the verdicts that it lacked. Raises AnswerProviderError."""
        kept = await asyncio.to_thread(kept_of, found)
        result = await self._done(self._errand(job)._replace(kept=kept))
        for one in result.spent:
            spend(AnswerMetrics(*one))
        return AnswerResult(result.packed.answer, found.turns, judgements_of(result.judgements))

    def _errand(self, job: Job) -> Errand:
        return Errand(self._inquiry.numbers[job.case.id], job.column.letter, job.repeat, job.digest)

    async def _done(self, errand: Errand) -> Result:
        if self._failure:
            raise AnswerProviderError(self._failure)
        number = next(self._numbers)
        due = self._due[number] = asyncio.get_running_loop().create_future()
        self._new.append((number, errand))
        self._called.set()
        try:
            result: Result = await due
        finally:
            del self._due[number]
        if result.problem:
            raise AnswerProviderError(f"A worker could not go on: {result.problem}.")
        return result

    async def work(self) -> None:
        """Hand out errands and take what comes, until cancelled, or until the cluster answers no more."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._send())
                await self._gather()
        except* (OSError, ValueError) as failed:  # ValueError: the scheduler is another one now, and knows no post
            words = cut(" ".join(str(failed.exceptions[0]).split()), _LONGEST)
            self._fail(f"The scheduler at {self._address} does not answer any more ({words}).")

    async def _send(self) -> None:
        while True:
            await self._called.wait()
            await asyncio.sleep(_GATHER)
            self._called.clear()
            new, self._new = self._new, []
            await self._ask("send", errands=new)

    async def _gather(self) -> None:
        known, since = 0, time.monotonic()
        while True:
            found = await self._ask("gather", known=known)
            if found is None:
                self._fail(f"The scheduler at {self._address} lost this run.")
                return
            results, events, workers, refused = found
            for number, errand, result in results:
                known = max(known, number)
                due = self._due.get(errand)
                if due is not None and not due.done():
                    due.set_result(Result(*result))
            for number, *event in events:
                known = max(known, number)
                self._heard(*event)
            if workers or not self._due:
                since = time.monotonic()
            elif refused and not workers and refused >= self._workers:
                self._fail(f"No worker of {self._address} can take part.")
            elif time.monotonic() - since > COMING:
                self._fail(f"No worker is left at {self._address}.")
            await asyncio.sleep(_GATHER)

    def _heard(self, what: str, worker: str, more: Any) -> None:
        if what == "refused":
            self._say(f"{worker} takes no part: {more}.")
        elif what == "lost":
            again = f"; {more} answers that were under way there are asked for again by others" if more else ""
            self._say(f"The worker {worker} was lost{again}.")
        else:
            due = self._due.get(more)
            if due is not None and not due.done():
                due.set_exception(
                    AnswerProviderError(f"Several workers were lost while they made one answer, {worker} last.")
                )

    def _fail(self, words: str) -> None:
        self._failure = self._failure or words
        for due in self._due.values():
            if not due.done():
                due.set_exception(AnswerProviderError(self._failure))

    async def _ask(self, method: str, **fields: Any) -> Any:
        """What the post answers. Raises OSError and ValueError where nobody does."""
        for tried in itertools.count(1):
            try:
                async with asyncio.timeout(CONNECT):
                    return await getattr(self._client.scheduler, operation(method))(run=self._order.run, **fields)
            except OSError:
                if tried == _TRIES:
                    raise
            await asyncio.sleep(tried)
        raise AssertionError


@asynccontextmanager
async def fleet(
    address: str, order: Order, resolved: ResolvedEvaluation, say: Callable[[str], None]
) -> AsyncIterator[Fleet]:
    """A fleet at work. Raises ClusterError where the cluster cannot be used, before anything is asked of a gateway."""
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what it would say is said in sentences
    async with _client(address) as client:
        workers = await _looked_at(client, address, order)
        await client.register_plugin(PostPlugin(), name=AT_SCHEDULER)
        made = Fleet(client, address, order, resolved, say, len(workers))
        await made._ask("open", client=client.id)
        try:
            await client.register_plugin(HandPlugin(order), name=hands(order.run))
            async with asyncio.TaskGroup() as group:
                working = group.create_task(made.work())
                try:
                    yield made
                finally:
                    working.cancel()
        except BaseExceptionGroup as failed:
            raise first_error(failed) from None
        finally:
            with suppress(OSError, ValueError, TimeoutError):
                async with asyncio.timeout(CONNECT):
                    await made._ask("close")
                    await client.unregister_worker_plugin(hands(order.run))


@asynccontextmanager
async def _client(address: str) -> AsyncIterator[Client]:
    client = None
    try:
        try:
            client = Client(address, asynchronous=True, set_as_default=False, timeout=CONNECT)
            await client
        except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
            raise ClusterError(f"No scheduler answers at {address} ({_said(error)}).") from None
        yield client
    finally:
        if client is not None:
            await client.close()


async def _looked_at(client: Client, address: str, order: Order) -> list[str]:
    """The workers there are, all fit to take part. Raises ClusterError."""
    with suppress(TimeoutError):
        await client.wait_for_workers(1, timeout=COMING)
    try:
        found = {f"the scheduler at {address}": await client.run_on_scheduler(about, "")}
    except Exception as error:  # noqa: BLE001 - whatever it raised there comes here
        raise ClusterError(_unfit("the scheduler", error)) from None
    said = await client.run(about, order.variable, on_error="return")
    if not said:
        raise ClusterError(f"The cluster at {address} has no worker. Start one with: dask worker {address}")
    for worker, one in {**found, **said}.items():
        if not isinstance(one, About):
            raise ClusterError(_unfit(worker, one))
        if one.versions != order.versions:
            raise ClusterError(
                f"{worker} has {one.versions.words}; here it is {order.versions.words}. Both must be the same."
            )
    if lacking := [worker for worker, one in said.items() if not one.has_key]:
        names = ", ".join(lacking[:_NAMED]) + (f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else "")
        raise ClusterError(
            f"The environment variable {order.variable} is not set on {names}. Set it where the worker is started; "
            "the key is not sent there from here."
        )
    return list(said)


def _unfit(where: str, error: object) -> str:
    return f"{where} cannot take part ({_said(error)}). Install the same gateway-playground[dask] there as here."


def _said(error: object) -> str:
    return cut(" ".join(f"{type(error).__name__}: {error}".split()), _LONGEST)
