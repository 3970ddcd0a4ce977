"""Answers: the request of one, its checks, and the values that represent it. A ``Runner`` gets them from a provider.

``LocalAnswerProvider`` works in this process; other providers may have answers made elsewhere, by that one again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeAlias

from playground.domain.checks.asked import Judge
from playground.domain.checks.check import Facts, Verdict, not_judged
from playground.domain.costs import NO_METRICS, AnswerMetrics, PriceLookup, no_price
from playground.domain.errors import Failure, FailureKind
from playground.domain.transcript import Role, Turn, last_answer
from playground.domain.variables import resolve_turns
from playground.engine.compare.metrics import turn_metrics
from playground.engine.evaluation.judging import JudgeClient, Judgement
from playground.engine.evaluation.resolved import Job, KeyedCheck, ResolvedEvaluation
from playground.engine.questions import checking
from playground.engine.questions.kinds import CheckUsable, CheckVerdict
from playground.engine.session.plan import Keep
from playground.engine.session.tool_calls import ToolCaller
from playground.gateway.retry import is_transient
from playground.gateway.tape import Exchange
from playground.jsonkit.texts import cut

PREVIEW_LENGTH: Final = 160  # characters of an answer in a table
#: Failures that every other request would have too: the key or its use is not accepted.
_FATAL_KINDS: Final = frozenset({FailureKind.NO_KEY, FailureKind.CONSENT})
_FATAL_STATUSES: Final = frozenset({401, 402, 403})


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer as a row of a table. ``failure`` is the reason why there is none; ``created_at`` is Unix time."""

    digest: str
    repeat: int
    case: str
    column: str
    created_at: float
    preview: str = ""
    failure: str = ""
    metrics: AnswerMetrics = NO_METRICS
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int]:
        """The key of the answer in its evaluation: digest and repeat."""
        return self.digest, self.repeat


def with_verdicts(answer: Answer, verdicts: Mapping[str, Verdict]) -> Answer:
    """Return the answer with verdicts added or replaced, by the keys of their checks."""
    return replace(answer, verdicts={**answer.verdicts, **verdicts})


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """An answer with its turns (the sent ones too), judgements and exchanges.

    ``fatal`` is the reason why no other request will be answered either.
    """

    answer: Answer
    turns: tuple[Turn, ...] = ()
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    exchanges: tuple[Exchange, ...] = ()
    fatal: str = ""


@dataclass(frozen=True, slots=True)
class SerializedAnswer:
    """An ``AnswerResult`` as the file of answers holds it, without secrets. ``row`` has the columns of its table."""

    answer: Answer
    row: tuple[Any, ...]
    turns: bytes
    judgements: bytes | None = None
    frames: bytes | None = None
    fatal: str = ""


#: Called with what an answer takes as it is spent, by its requests and by each judge.
Spend: TypeAlias = Callable[[AnswerMetrics], None]


class AnswerProviderError(Exception):
    """No more answers can be provided. The text is a whole sentence for people."""


class AnswerProvider(Protocol):
    """Makes answers. After a cancellation nothing of an unfinished answer remains."""

    async def answered(self, job: Job, spend: Spend) -> AnswerResult | SerializedAnswer:
        """Return one answer with its verdicts. Raises AnswerProviderError."""

    async def judged(self, result: AnswerResult, job: Job, spend: Spend) -> AnswerResult:
        """Return a saved answer with the verdicts it lacked and new judgements. Raises AnswerProviderError."""


class LocalAnswerProvider:
    """Makes answers in this process. ``serving`` calls tool servers; ``entered`` looks up prices."""

    def __init__(
        self,
        resolved: ResolvedEvaluation,
        entered: PriceLookup = no_price,
        serving: Callable[[], ToolCaller] | None = None,
    ) -> None:
        self._resolved, self._entered, self._serving = resolved, entered, serving
        self._judges = JudgeClient(resolved.connect, resolved.profile_of, resolved.base.profile_id, entered)
        self._slots: dict[str, asyncio.Semaphore] = {}  # of judges, by gateway
        self._problems: dict[str, str] = {}  # why a check cannot be used, by its key

    async def answered(self, job: Job, spend: Spend) -> AnswerResult:
        """Return one answer, with verdicts unless it failed."""
        result = await _request_answer(self._resolved, job, self._entered, self._serving)
        spend(result.answer.metrics)
        if result.fatal:
            return result
        if not result.answer.failure:
            result = await self.judged(result, job, spend)
        return result if self._keeps_exchanges(result, job) else replace(result, exchanges=())

    async def judged(self, result: AnswerResult, job: Job, spend: Spend) -> AnswerResult:
        """Return an answer with the verdicts it lacks."""
        received = received_turns(result.turns, self._resolved.sent_turns_as_written(job.case, job.column))
        received_ids = {turn.id for turn in received}
        sent = [turn for turn in result.turns if turn.id not in received_ids]
        facts = Facts(received, job.column.settings.tools, result.answer.metrics)
        verdicts: dict[str, Verdict] = {}
        judgements = dict(result.judgements)
        for key, check in self._resolved.checks(job.case):
            if key in result.answer.verdicts:
                continue
            if key not in self._problems:
                self._problems[key] = await checking.answer(CheckUsable(check))
            if problem := self._problems[key]:
                verdicts[key] = not_judged(problem)
            elif isinstance(check, Judge):
                async with self._slot(self._judges.gateway(check)):
                    verdicts[key], judgements[key] = await self._judges.ask(check, sent, received)
                spend(judgements[key].metrics)
            elif not check.asks:
                verdicts[key] = await checking.answer(CheckVerdict(check, facts))
        return replace(result, answer=with_verdicts(result.answer, verdicts), judgements=judgements)

    def _slot(self, profile_id: str) -> asyncio.Semaphore:
        return self._slots.setdefault(profile_id, asyncio.Semaphore(self._resolved.plan.at_once))

    def _keeps_exchanges(self, result: AnswerResult, job: Job) -> bool:
        keep, answer = self._resolved.plan.keep, result.answer
        if keep is not Keep.FAILED:
            return keep is Keep.ALL
        return bool(answer.failure) or passes(answer, self._resolved.checks(job.case)) is False


def passes(answer: Answer, checks: Iterable[KeyedCheck]) -> bool | None:
    """Return whether an answer passed every check; None if it failed or no check judged it."""
    if answer.failure:
        return None
    verdicts = (answer.verdicts.get(key) for key, _ in checks)
    results = [verdict.passed for verdict in verdicts if verdict is not None and verdict.passed is not None]
    return all(results) if results else None


def received_turns(turns: Sequence[Turn], sent: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the turns of an answer without those that were ``sent``: received ones and results of tools."""
    ids = {turn.id for turn in sent}
    return tuple(turn for turn in turns if turn.id not in ids and (turn.outcome is not None or turn.role is Role.TOOL))


def is_real(turn: Turn) -> bool:
    """Return whether a turn holds what a tool server answered now, rather than a recording."""
    return any(result.served is not None and not result.served.recorded for result in turn.results)


def is_fatal(failure: Failure) -> bool:
    """Return whether other requests will fail too: the key is refused, or a quota is used up."""
    if failure.kind in _FATAL_KINDS:
        return True
    if failure.kind is not FailureKind.HTTP:
        return False
    return failure.status in _FATAL_STATUSES or (failure.status == 429 and not is_transient(failure))


def preview(received: Sequence[Turn]) -> str:
    """Return the beginning of an answer on one line."""
    parts = last_answer(received)
    if not parts:
        return ""
    last = parts[-1]
    text = "".join(turn.text for turn in parts)
    words = text or last.refusal or ", ".join(f"{call.name}({call.arguments})" for call in last.calls)
    return cut(" ".join(words[: 4 * PREVIEW_LENGTH].split()), PREVIEW_LENGTH)


async def _request_answer(
    resolved: ResolvedEvaluation, job: Job, entered: PriceLookup, serving: Callable[[], ToolCaller] | None
) -> AnswerResult:
    """Request one answer, without its checks."""
    session, rounds = resolved.session(job.case, job.column, serving)
    sent_ids = {turn.id for turn in session.transcript.path}
    refusal = (await session.complete()).refusal
    for turns in rounds:
        last = next((turn for turn in reversed(session.transcript.path) if turn.role is Role.ASSISTANT), None)
        if refusal or last is None or last.outcome is None or not last.outcome.is_complete or session.debugger.paused:
            break
        sent_ids |= {turn.id for turn in turns}
        session.history.transcript = session.transcript.append(*turns)
        refusal = (await session.complete()).refusal
    path = session.transcript.path
    received = tuple(turn for turn in path if turn.id not in sent_ids)
    failure = _failure(received, refusal)
    lane = turn_metrics(received, job.column.settings.profile_id, entered, is_open=session.debugger.paused)
    metrics = lane.of_answer._replace(real=sum(map(is_real, received)))
    if not all(turn.outcome.streamed for turn in received if turn.outcome is not None):
        metrics = metrics._replace(first=None)  # the first token of an unstreamed answer is its last
    answer = Answer(
        digest=job.digest,
        repeat=job.repeat,
        case=job.case.id,
        column=job.column.id,
        created_at=time.time(),
        preview=preview(received),
        failure=cut(" ".join(failure.message.split()), 2 * PREVIEW_LENGTH) if failure is not None else "",
        metrics=metrics,
    )
    result = AnswerResult(
        answer,
        resolve_turns(path, session.settings.variables),
        exchanges=tuple(session.exchanges.values()),
        fatal=failure.message if failure is not None and is_fatal(failure) else "",
    )
    session.experiment.close()  # frees the experiment at once instead of at the next collection
    return result


def _failure(received: Sequence[Turn], refusal: str) -> Failure | None:
    """Return why there is no answer; None if there is one, even one cut off by its token limit."""
    outcomes = [turn.outcome for turn in received if turn.outcome is not None]
    if not outcomes:
        return Failure(kind=FailureKind.INPUT, message=refusal if refusal and not received else "Nothing was sent.")
    if outcomes[-1].failure is not None or outcomes[-1].is_complete:
        return outcomes[-1].failure
    return Failure(kind=FailureKind.DECODE, message="Part of the answer could not be read.")
