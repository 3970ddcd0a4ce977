"""Runs an evaluation: asks for the answers that are missing, in bounds, and keeps each as it ends. Knows no window.

Each gateway has as many workers as requests may be under way there; what it says of its limits holds for all who ask
it (``gateway.limits``). An answer counts as done once it is on disk. Stopped, what was under way is asked again
another time; a gateway that will answer nothing any more stops all of it and says why.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from playground.domain.costs import Cost, PriceLookup, total
from playground.domain.durations import span
from playground.engine.evaluation.answering import Answer, Brought, Figures, with_verdicts
from playground.engine.evaluation.answers import AnswerStore
from playground.engine.evaluation.inquiry import Inquiry, Job
from playground.engine.evaluation.judging import Judgement
from playground.engine.evaluation.making import Maker, Making, MakingError, Packed, no_price
from playground.engine.evaluation.recording import Recorded

Coro: TypeAlias = Coroutine[Any, Any, None]

#: Seconds for which a lot is added to before it is written, while more answers are under way: in small ones each costs
#: twice as much, and the writer's thread takes the interpreter from those that come. What others made comes in lots.
GATHER_S: Final = 0.01


class State(StrEnum):
    """Where an evaluation stands."""

    READY = "ready"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is. ``spent`` is what this run asked for, ``left`` seconds that it may still take, if that is known.

    ``reason`` is why it stopped by itself. ``listed``: some of it was spent by the price of a gateway's list.
    """

    total: int
    done: int
    failed: int = 0
    under_way: int = 0
    requests: int = 0
    tokens: int = 0
    spent: Mapping[str, float] | None = None
    listed: bool = False
    seconds: float = 0.0
    left: float | None = None
    state: State = State.READY
    reason: str = ""

    @property
    def left_words(self) -> str:
        """``≈ 40 s left``; empty where it does not run, or nobody knows."""
        if not self.left or self.state is not State.RUNNING:
            return ""
        return f"≈ {span(round(self.left) if self.left >= 10 else round(self.left, 1))} left"

    @property
    def price(self) -> str:
        """What it cost, in words; empty where nobody says."""
        return total(Cost(amount, currency, self.listed) for currency, amount in (self.spent or {}).items())


class Runner:
    """``run`` is awaited once; ``answers`` are those of the plan that are on disk, by digest and repeat.

    ``reason`` is why it stopped by itself, ``refused`` that a gateway would answer nothing any more.
    ``making`` makes the answers; without one they are made in this process.
    ``told`` hears of answers once they are on disk, in lots. ``stale`` are kept answers to what the plan does not ask.
    """

    def __init__(
        self,
        inquiry: Inquiry,
        store: AnswerStore,
        *,
        entered: PriceLookup = no_price,
        making: Making | None = None,
        told: Callable[[Sequence[Answer]], None] = lambda _answers: None,
    ) -> None:
        self.inquiry = inquiry
        self.answers: dict[tuple[str, int], Answer] = {}
        self.stale: list[Answer] = []
        self.state = State.READY
        self.reason = ""
        self.refused = False
        self._store, self._entered, self._told = store, entered, told
        self._making = making if making is not None else Maker(inquiry, entered, inquiry.serving)
        self._jobs = inquiry.jobs
        self._written: deque[tuple[Brought | Packed, asyncio.Future[None]]] = deque()
        self._arrived = asyncio.Event()
        self._go = asyncio.Event()
        self._go.set()
        self._task: asyncio.Task[object] | None = None
        self._spent: dict[str, float] = {}
        self._listed = False
        self._requests = self._tokens = self._under_way = self._begun = self._ended = 0
        self._since = self._seconds = 0.0
        self._closing = False

    # What is there

    async def load(self) -> None:
        """Find the answers that are kept. Raises AnswersError."""
        wanted = {job.key for job in self._jobs}
        self.answers, self.stale = {}, []
        for answer in await self._store.load(self.inquiry.id):
            if answer.key in wanted:
                self.answers[answer.key] = answer
            else:
                self.stale.append(answer)

    @property
    def missing(self) -> list[Job]:
        """The answers that are still to be asked for, in their order."""
        return [job for job in self._jobs if job.key not in self.answers]

    @property
    def progress(self) -> Progress:
        """How far it is now."""
        seconds = self._seconds + (time.monotonic() - self._since if self.state is State.RUNNING else 0.0)
        rest = len(self._jobs) - len(self.answers)
        return Progress(
            total=len(self._jobs),
            done=len(self.answers),
            failed=sum(bool(one.failure) for one in self.answers.values()),
            under_way=self._under_way,
            requests=self._requests,
            tokens=self._tokens,
            spent=dict(self._spent) or None,
            listed=self._listed,
            seconds=seconds,
            left=seconds / self._ended * rest if self._ended and rest else 0.0 if not rest else None,
            state=self.state,
            reason=self.reason,
        )

    # The run

    async def run(self) -> None:
        """Ask for what is missing, and make the checks that are. It returns when that is done, or stopped.

        Raises AnswersError where answers cannot be kept. Cancelled from outside it stops, and passes that on.
        """
        self._task = asyncio.current_task()
        await self.load()
        if self.inquiry.plan.record and self.inquiry.serving is not None:
            recorded = Recorded(self.inquiry.serving, self._store, self.inquiry.id)
            await recorded.open()
            self._making = Maker(self.inquiry, self._entered, lambda: recorded)
        self._begin()
        try:
            async with asyncio.TaskGroup() as group:
                writing = group.create_task(self._write())
                try:
                    await self._work_off()
                finally:
                    self._closing = True
                    self._arrived.set()
                await writing
        except asyncio.CancelledError:
            await self._write_rest()
            if self.state is not State.STOPPED:
                self.state = State.STOPPED
                raise
            if self._task is not None:
                self._task.uncancel()
        except BaseExceptionGroup as group_error:
            self.state = State.STOPPED
            raise first_of(group_error) from None
        finally:
            self._seconds += time.monotonic() - self._since
        if self.state is not State.STOPPED:
            self.state = State.STOPPED if self.reason else State.DONE

    async def _work_off(self) -> None:
        """Have all workers at work, until there is nothing left to do."""
        unjudged = deque(await asyncio.to_thread(self._unjudged))  # which reads all that are kept
        async with asyncio.TaskGroup() as group:
            for work in self._workers(unjudged):
                group.create_task(work)

    def pause(self) -> None:
        """Ask for no more for now; what is under way goes on."""
        if self.state is State.RUNNING:
            self._seconds += time.monotonic() - self._since
            self.state = State.PAUSED
            self._go.clear()

    def resume(self) -> None:
        """Go on after a pause."""
        if self.state is State.PAUSED:
            self._begin()
            self._go.set()

    def stop(self) -> None:
        """End it now. What is under way is let go, and asked for again when it is run another time."""
        if self.state in (State.RUNNING, State.PAUSED) and self._task is not None:
            self.state = State.STOPPED
            self._task.cancel()

    def _begin(self) -> None:
        self.state, self._since = State.RUNNING, time.monotonic()

    def _workers(self, unjudged: deque[tuple[Answer, Job]]) -> list[Coro]:
        jobs: dict[str, deque[Job]] = {}
        for job in self.missing:
            jobs.setdefault(job.column.settings.profile_id, deque()).append(job)
        at_once = self.inquiry.plan.at_once
        out: list[Coro] = [self._judge_again(unjudged) for _ in range(min(at_once, len(unjudged)))]
        for waiting in jobs.values():
            out += [self._work(waiting) for _ in range(min(at_once, len(waiting)))]
        return out

    async def _work(self, jobs: deque[Job]) -> None:
        while jobs and not self.reason:
            await self._go.wait()
            if not jobs or self._over():
                return
            job = jobs.popleft()
            self._under_way += 1
            self._begun += 1
            try:
                found = await self._answered(job)
                if found is not None:  # no more is lost, whatever happens, than is under way
                    await self._keep(found)
            finally:
                self._under_way -= 1

    async def _answered(self, job: Job) -> Brought | Packed | None:
        """One answer with its verdicts; None where it says that nothing more will be answered."""
        try:
            found = await self._making.answered(job, self._count)
        except MakingError as error:
            self._end(str(error))
            return None
        if found.fatal:
            self.refused = True
            self._end(f"{job.column.title}: {found.fatal}")
            return None
        self._ended += 1
        return found

    def _count(self, one: Figures | Judgement) -> None:
        self._requests += one.requests
        self._tokens += (one.prompt or 0) + (one.tokens or 0)
        if one.price:
            self._spent[one.currency] = self._spent.get(one.currency, 0.0) + one.price
            self._listed = self._listed or one.listed

    def _over(self) -> bool:
        """Whether nothing more is to be asked for, as when a bound is reached; what is under way still comes."""
        budget = self.inquiry.plan.budget
        spent = max(self._spent.values(), default=0.0)
        waiting = self._under_way  # each will take one request at least
        if budget.requests is not None and self._requests + waiting >= budget.requests:
            self._end(f"The budget of {budget.requests:,} requests is used up.")
        elif budget.tokens is not None and self._tokens >= budget.tokens:
            self._end(f"The budget of {budget.tokens:,} tokens is used up.")
        elif budget.money is not None and spent >= budget.money:
            self._end(f"The budget of {budget.money:g} is used up.")
        return bool(self.reason)

    def _end(self, reason: str) -> None:
        """Why it stops by itself: the first that is found."""
        self.reason = self.reason or reason

    # Checks that are new, of answers that are there

    def _unjudged(self) -> list[tuple[Answer, Job]]:
        """Kept answers that lack verdicts of the plan's checks."""
        out = []
        keys: dict[str, frozenset[str]] = {}
        for job in self._jobs:
            answer = self.answers.get(job.key)
            if answer is None or answer.failure:
                continue
            wanted = keys.get(job.case.id)
            if wanted is None:
                made = self.inquiry.keyed(job.case)
                wanted = keys[job.case.id] = frozenset(key for key, check in made if check.kind != "you")
            if not wanted <= answer.verdicts.keys():
                out.append((answer, job))
        return out

    async def _judge_again(self, unjudged: deque[tuple[Answer, Job]]) -> None:
        while unjudged and not self.reason:
            await self._go.wait()
            if not unjudged or self._over():
                return
            answer, job = unjudged.popleft()
            kept = await self._store.kept(self.inquiry.id, answer)
            try:
                found = await self._making.judged(Brought(answer, kept.turns), job, self._count)
            except MakingError as error:
                self._end(str(error))
                return
            await self._store.judged(self.inquiry.id, [(found.answer, found.judgements)])
            self._tell([with_verdicts(found.answer, self.answers[job.key].verdicts)])

    def judged(self, answer: Answer) -> None:
        """Somebody else judged an answer meanwhile."""
        if answer.key in self.answers:
            self.answers[answer.key] = answer

    # What is kept

    async def _keep(self, found: Brought | Packed) -> None:
        """Have an answer written, with those that come in meanwhile; it returns when it is on disk."""
        kept: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._written.append((found, kept))
        self._arrived.set()
        await kept

    async def _write(self) -> None:
        while not self._closing or self._written:
            await self._arrived.wait()
            if self._under_way > len(self._written) and any(isinstance(found, Brought) for found, _ in self._written):
                await asyncio.sleep(GATHER_S)
            self._arrived.clear()
            await self._write_lot()

    async def _write_lot(self) -> None:
        lot = list(self._written)
        if lot:
            await self._store.add(self.inquiry.id, [found for found, _ in lot])
            for _, kept in lot:
                self._written.popleft()
                if not kept.done():
                    kept.set_result(None)
            self._tell([found.answer for found, _ in lot])

    async def _write_rest(self) -> None:
        """What had ended when it was stopped is kept all the same."""
        await asyncio.shield(self._write_lot())

    def _tell(self, answers: Sequence[Answer]) -> None:
        for answer in answers:
            self.answers[answer.key] = answer
        self._told(answers)


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong first, of those that went wrong together."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
