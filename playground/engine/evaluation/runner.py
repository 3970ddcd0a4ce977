"""A run of an evaluation: requests missing answers within bounds and saves each as it is complete.

Each gateway has as many workers as requests may be under way there; its rate limits apply to all of them
(``gateway.limits``). An answer is done once it is on disk. After a stop, unfinished answers are requested again by the
next run; a gateway that refuses all requests ends the run with its reason. ``estimate`` says in advance what the
missing answers will take.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from playground.domain.costs import AnswerMetrics, Cost, PriceLookup, no_price, sum_costs, total
from playground.domain.durations import span
from playground.domain.model_facts import BY_LIST
from playground.domain.prices import cost_of, money
from playground.domain.tokens import estimate_tokens
from playground.domain.tool_servers import ServerAnswer
from playground.domain.tools import ToolDefinition
from playground.domain.usage import Usage
from playground.engine.evaluation.answers import AnswersError, AnswerStore, CallKey
from playground.engine.evaluation.provider import (
    Answer,
    AnswerProvider,
    AnswerProviderError,
    AnswerResult,
    LocalAnswerProvider,
    SerializedAnswer,
    with_verdicts,
)
from playground.engine.evaluation.resolved import Job, ResolvedEvaluation
from playground.engine.evaluation.statistics import mean
from playground.engine.session.tool_calls import Ticket, ToolCaller, ToolCallError

if TYPE_CHECKING:
    from playground.engine.evaluation.resolved import EvalVariant

# ---- recorded calls --------------------------------------------------------------------------------------------------


class RecordedCalls:
    """Calls tools as ``serving`` does, each call once; ``store`` holds the answers. Await ``open`` first."""

    def __init__(self, serving: Callable[[], ToolCaller], store: AnswerStore, evaluation: str) -> None:
        self._serving, self._store, self._evaluation = serving, store, evaluation
        self._tools: set[tuple[str, str]] = set()
        self._locks: dict[CallKey, asyncio.Lock] = {}

    async def open(self) -> None:
        """Load the names of the tools that have recorded answers. Raises AnswersError."""
        self._tools = {(call.server, call.tool) for call in await self._store.recorded_calls(self._evaluation)}

    def _is_recorded(self, tool: ToolDefinition) -> bool:
        return (tool.server, tool.name_there) in self._tools

    def refusal(self, tool: ToolDefinition) -> str:
        """Return why a tool cannot be called; a tool with recorded answers can be called without its server."""
        return "" if self._is_recorded(tool) else self._serving().refusal(tool)

    def mendable(self, tool: ToolDefinition) -> bool:
        """Return False: no person can help during an evaluation."""
        return False

    async def mend(self, tool: ToolDefinition) -> None:
        """Do nothing."""

    def trusted(self, tool: ToolDefinition) -> bool:
        """Return whether the server of a tool is trusted."""
        return self._serving().trusted(tool)

    def allowed(self, tool: ToolDefinition) -> bool:
        """Return whether a tool may run without a question."""
        return self._serving().allowed(tool)

    def expect(self, tools: Iterable[ToolDefinition]) -> None:
        """Announce the tools without recorded answers to their servers."""
        self._serving().expect(tool for tool in tools if not self._is_recorded(tool))

    async def ask(self, tool: ToolDefinition, arguments: str, ticket: Ticket) -> ServerAnswer:
        """Return the recorded answer, or else record that of the server. Raises ToolCallError."""
        call = CallKey.for_call(tool.server, tool.name_there, arguments)
        try:
            async with self._locks.setdefault(call, asyncio.Lock()):  # equal calls at the same time share one answer
                recorded = await self._store.recorded(self._evaluation, call)
                if recorded is not None:
                    return recorded.model_copy(update={"recorded": True})
                if reason := self._serving().refusal(tool):
                    raise ToolCallError(reason)
                answer = await self._serving().ask(tool, arguments, ticket)
                await self._store.record(self._evaluation, call, answer)
        except AnswersError as error:
            raise ToolCallError(str(error)) from None
        self._tools.add((tool.server, tool.name_there))
        return answer


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


# ---- estimate of a run -----------------------------------------------------------------------------------------------


_SAMPLE: Final = 40  # cases whose questions are counted, evenly spread


@dataclass(frozen=True)
class Estimate:
    """The estimated metrics of missing answers. ``seconds`` is None if unknown.

    ``answered``: tokens and price of the answers are included, because other answers of each variant are known.
    """

    requests: int
    prompt: int
    tokens: int
    costs: tuple[Cost, ...] = ()
    seconds: float | None = None
    answered: bool = True

    @property
    def words(self) -> str:
        """``≈ 90 requests · ≈ 19,000 tokens in · ≈ $0.05``, and what is not included."""
        if not self.requests:
            return "nothing is missing"
        parts = [f"≈ {self.requests:,} request{'s' * (self.requests != 1)}"]
        parts += [f"≈ {self.prompt:,} tokens in"] if self.prompt else []
        parts += [f"≈ {self.tokens:,} tokens out"] if self.answered and self.tokens else []
        prices = [f"≈ {money(cost.amount, cost.currency)}" for cost in self.costs]
        if any(cost.listed for cost in self.costs):
            prices[-1] = f"{prices[-1]} {BY_LIST}"
        return " · ".join([*parts, *prices]) + ("" if self.answered else " · answers not counted")


def estimate(
    resolved: ResolvedEvaluation,
    answers: Mapping[tuple[str, int], Answer],
    missing: Sequence[Job],
    entered: PriceLookup,
) -> Estimate:
    """Estimate what the ``missing`` answers will take: from known answers of a variant, else from its questions.

    Each judge takes one request for an answer.
    """
    counts = Counter(job.column.id for job in missing)
    requests = prompt = tokens = seconds = 0.0
    costs: list[Cost] = []
    answered = True
    for column in resolved.columns:
        if not (count := counts[column.id]):
            continue
        measured = [answer.metrics for answer in answers.values() if answer.column == column.id and not answer.failure]
        answered = answered and bool(measured)
        requests += round(count * (_mean(metrics.requests for metrics in measured) or 1.0))
        requests += count * len(resolved.judges)
        if measured:
            prompt += round(count * _mean(metrics.prompt for metrics in measured))
            tokens += round(count * _mean(metrics.tokens for metrics in measured))
            seconds += count * _mean(metrics.seconds for metrics in measured)
            scale = count / len(measured)
            costs += [
                cost._replace(amount=scale * cost.amount) for cost in sum_costs(metrics.cost for metrics in measured)
            ]
        else:
            question = _mean(_question_tokens(resolved, column))
            prompt += round(count * question)
            price = entered(column.settings.profile_id, column.settings.model)
            amount = cost_of(Usage(prompt=round(question), completion=0), price)
            costs += [Cost(count * amount, price.currency, price.told)] if price is not None and amount else []
    costs = [cost for cost in costs if cost.amount]
    return Estimate(
        requests=round(requests),
        prompt=round(prompt),
        tokens=round(tokens),
        costs=sum_costs(costs),
        seconds=seconds / max(resolved.plan.at_once, 1) or None,
        answered=answered,
    )


def _mean(values: Iterable[float | None]) -> float:
    """Return the mean with 0 for None; 0 without values."""
    numbers = [value or 0.0 for value in values]
    return mean(numbers) if numbers else 0.0


def _question_tokens(resolved: ResolvedEvaluation, column: EvalVariant) -> list[int]:
    """Estimate the tokens of the questions of a sample of cases."""
    sample = resolved.cases[:: max(1, len(resolved.cases) // _SAMPLE)]
    return [sum(estimate_tokens(turn.text) for turn in resolved.sent_turns(case, column)) for case in sample]
