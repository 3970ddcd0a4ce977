"""A run of an evaluation: requests missing answers within bounds and saves each as it is complete.

Each gateway has as many workers as requests may be under way there; its rate limits apply to all of them
(``gateway.limits``). An answer is done once it is on disk. After a stop, unfinished answers are requested again by the
next run; a gateway that refuses all requests ends the run with its reason.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from playground.domain.costs import Cost, PriceLookup, total
from playground.domain.durations import span
from playground.engine.evaluation.answers import AnswerStore
from playground.engine.evaluation.metrics import AnswerMetrics, no_price, sum_costs
from playground.engine.evaluation.provider import (
    Answer,
    AnswerProvider,
    AnswerProviderError,
    AnswerResult,
    LocalAnswerProvider,
    SerializedAnswer,
    with_verdicts,
)
from playground.engine.evaluation.recording import RecordedCalls
from playground.engine.evaluation.resolved import Job, ResolvedEvaluation

Coro: TypeAlias = Coroutine[Any, Any, None]


class State(StrEnum):
    """The state of a run."""

    READY = "ready"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run. ``requests``, ``tokens`` and ``costs`` are those of this run alone.

    ``left`` is the estimated rest in seconds, None if unknown. ``reason`` is why the run ended by itself, in
    the words of the window.
    """

    total: int
    done: int
    failed: int = 0
    under_way: int = 0
    requests: int = 0
    tokens: int = 0
    costs: tuple[Cost, ...] = ()
    seconds: float = 0.0
    left: float | None = None
    state: State = State.READY
    reason: str = ""

    @property
    def left_words(self) -> str:
        """``≈ 40 s left``; empty if it does not run or the rest is unknown."""
        if not self.left or self.state is not State.RUNNING:
            return ""
        return f"≈ {span(round(self.left) if self.left >= 10 else round(self.left, 1))} left"

    @property
    def price(self) -> str:
        """The costs in words; empty if unknown."""
        return total(self.costs)


class Runner:
    """Runs an evaluation once. ``answers`` are the saved ones of the plan, ``stale`` those of other requests.

    ``reason`` is why it ended by itself; ``refused`` says that a gateway refuses all requests. ``on_saved`` is called
    with answers that were saved. Without ``making`` this process makes the answers.
    """

    def __init__(
        self,
        resolved: ResolvedEvaluation,
        store: AnswerStore,
        *,
        entered: PriceLookup = no_price,
        making: AnswerProvider | None = None,
        on_saved: Callable[[Sequence[Answer]], None] = lambda _answers: None,
    ) -> None:
        self.resolved = resolved
        self.answers: dict[tuple[str, int], Answer] = {}
        self.stale: list[Answer] = []
        self.state = State.READY
        self.reason = ""
        self._window_reason = ""
        self.refused = False
        self._store, self._entered, self._on_saved = store, entered, on_saved
        self._provider = making if making is not None else LocalAnswerProvider(resolved, entered, resolved.serving)
        self._jobs = resolved.jobs
        self._unsaved: list[AnswerResult | SerializedAnswer] = []
        self._saving = asyncio.Lock()
        self._resumed = asyncio.Event()
        self._resumed.set()
        self._task: asyncio.Task[object] | None = None
        self._costs: tuple[Cost, ...] = ()
        self._requests = self._tokens = self._under_way = self._ended = 0
        self._since = self._seconds = 0.0

    async def load(self) -> None:
        """Load the saved answers. Raises AnswersError."""
        keys = {job.key for job in self._jobs}
        answers = await self._store.load(self.resolved.id)
        self.answers = {answer.key: answer for answer in answers if answer.key in keys}
        self.stale = [answer for answer in answers if answer.key not in keys]

    @property
    def missing(self) -> list[Job]:
        """The answers to request, in order."""
        return [job for job in self._jobs if job.key not in self.answers]

    @property
    def progress(self) -> Progress:
        """The progress now."""
        seconds = self._seconds + (time.monotonic() - self._since if self.state is State.RUNNING else 0.0)
        rest = len(self._jobs) - len(self.answers)
        return Progress(
            total=len(self._jobs),
            done=len(self.answers),
            failed=sum(bool(answer.failure) for answer in self.answers.values()),
            under_way=self._under_way,
            requests=self._requests,
            tokens=self._tokens,
            costs=self._costs,
            seconds=seconds,
            left=seconds / self._ended * rest if self._ended and rest else 0.0 if not rest else None,
            state=self.state,
            reason=self._window_reason,
        )

    # The run

    async def run(self) -> None:
        """Request missing answers and make missing checks; return when that is done or stopped.

        A cancellation from outside stops the run and is raised again. Raises AnswersError if answers cannot be saved.
        """
        self._task = asyncio.current_task()
        await self.load()
        if self.resolved.plan.record and self.resolved.serving is not None:
            recorded = RecordedCalls(self.resolved.serving, self._store, self.resolved.id)
            await recorded.open()
            self._provider = LocalAnswerProvider(self.resolved, self._entered, lambda: recorded)
        self._start()
        try:
            unjudged = deque(await asyncio.to_thread(self._unjudged))
            async with asyncio.TaskGroup() as group:
                for work in self._workers(unjudged):
                    group.create_task(work)
        except asyncio.CancelledError:
            await asyncio.shield(self._save())
            if self.state is not State.STOPPED:
                self.state = State.STOPPED
                raise
            if self._task is not None:
                self._task.uncancel()
        except BaseExceptionGroup as group_error:
            self.state = State.STOPPED
            raise first_error(group_error) from None
        finally:
            self._seconds += time.monotonic() - self._since
        if self.state is not State.STOPPED:
            self.state = State.STOPPED if self.reason else State.DONE

    def pause(self) -> None:
        """Start no more requests; those under way are completed."""
        if self.state is State.RUNNING:
            self._seconds += time.monotonic() - self._since
            self.state = State.PAUSED
            self._resumed.clear()

    def resume(self) -> None:
        """Continue after a pause."""
        if self.state is State.PAUSED:
            self._start()
            self._resumed.set()

    def stop(self) -> None:
        """End the run now. Requests under way are cancelled, and made again by another run."""
        if self.state in (State.RUNNING, State.PAUSED) and self._task is not None:
            self.state = State.STOPPED
            self._task.cancel()

    def judged(self, answer: Answer) -> None:
        """Take over the verdicts of an answer that was judged elsewhere during the run."""
        if answer.key in self.answers:
            self.answers[answer.key] = answer

    def _start(self) -> None:
        self.state, self._since = State.RUNNING, time.monotonic()

    def _workers(self, unjudged: deque[tuple[Answer, Job]]) -> list[Coro]:
        by_gateway: dict[str, deque[Job]] = {}
        for job in self.missing:
            by_gateway.setdefault(job.column.settings.profile_id, deque()).append(job)
        at_once = self.resolved.plan.at_once
        workers: list[Coro] = [self._judge_again(unjudged) for _ in range(min(at_once, len(unjudged)))]
        for jobs in by_gateway.values():
            workers += [self._work(jobs) for _ in range(min(at_once, len(jobs)))]
        return workers

    async def _work(self, jobs: deque[Job]) -> None:
        while jobs and not self.reason:
            await self._resumed.wait()
            if not jobs or self._is_over():
                return
            job = jobs.popleft()
            self._under_way += 1
            try:
                result = await self._provider.answered(job, self._count)
                if result.fatal:
                    self.refused = True
                    self._end(f"{job.column.title}: {result.fatal}", f"{job.column.label}: {result.fatal}")
                    return
                self._ended += 1
                self._unsaved.append(result)
                await asyncio.shield(self._save())
            except AnswerProviderError as error:
                self._end(str(error))
            finally:
                self._under_way -= 1

    def _count(self, metrics: AnswerMetrics) -> None:
        self._requests += metrics.requests
        self._tokens += (metrics.prompt or 0) + (metrics.tokens or 0)
        self._costs = sum_costs((*self._costs, metrics.cost if metrics.price else None))

    def _is_over(self) -> bool:
        """Return whether no more requests may be started; end the run if a budget is used up."""
        budget = self.resolved.plan.budget
        spent = max((cost.amount for cost in self._costs), default=0.0)
        if budget.requests is not None and self._requests + self._under_way >= budget.requests:
            self._end(f"The budget of {budget.requests:,} requests is used up.")
        elif budget.tokens is not None and self._tokens >= budget.tokens:
            self._end(f"The budget of {budget.tokens:,} tokens is used up.")
        elif budget.money is not None and spent >= budget.money:
            self._end(f"The budget of {budget.money:g} is used up.")
        return bool(self.reason)

    def _end(self, reason: str, window_reason: str = "") -> None:
        """End the run by itself; the first reason counts."""
        if not self.reason:
            self.reason, self._window_reason = reason, window_reason or reason

    # Missing checks of saved answers

    def _unjudged(self) -> list[tuple[Answer, Job]]:
        """Return the saved answers that lack verdicts, but for those of a person."""
        unjudged = []
        for job in self._jobs:
            answer = self.answers.get(job.key)
            if answer is not None and not answer.failure:
                keys = {key for key, check in self.resolved.checks(job.case) if check.kind != "you"}
                if not keys <= answer.verdicts.keys():
                    unjudged.append((answer, job))
        return unjudged

    async def _judge_again(self, unjudged: deque[tuple[Answer, Job]]) -> None:
        while unjudged and not self.reason:
            await self._resumed.wait()
            if not unjudged or self._is_over():
                return
            answer, job = unjudged.popleft()
            saved = await self._store.details(self.resolved.id, answer)
            try:
                result = await self._provider.judged(AnswerResult(answer, saved.turns), job, self._count)
            except AnswerProviderError as error:
                self._end(str(error))
                return
            await self._store.judged(self.resolved.id, [(result.answer, result.judgements)])
            self._report([with_verdicts(result.answer, self.answers[job.key].verdicts)])

    # Saving

    async def _save(self) -> None:
        """Save the unsaved answers. Those that arrive while others are written are written together next."""
        async with self._saving:
            batch, self._unsaved = self._unsaved, []
            await self._store.add(self.resolved.id, batch)
            if batch:
                self._report([result.answer for result in batch])

    def _report(self, answers: Sequence[Answer]) -> None:
        self.answers |= {answer.key: answer for answer in answers}
        self._on_saved(answers)


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error of a group."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
