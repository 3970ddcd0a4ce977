"""One answer: a session is run for a case in a column, and what came is held to the checks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from playground.domain.checks.asked import Judge
from playground.domain.checks.check import Check, Facts, Verdict, not_judged
from playground.domain.costs import PriceLookup
from playground.domain.errors import Failure, FailureKind, RunRefusedError
from playground.domain.transcript import Role, Turn, last_answer
from playground.domain.variables import resolve_turns
from playground.engine.compare.metrics import LaneMetrics, turn_metrics
from playground.engine.evaluation.inquiry import Inquiry, Job
from playground.engine.evaluation.judging import Judgement, Judging
from playground.engine.questions import checking
from playground.engine.questions.kinds import CheckUsable, CheckVerdict
from playground.engine.session.session import Session
from playground.engine.session.tool_calls import ToolCaller
from playground.gateway.tape import Exchange
from playground.jsonkit.texts import cut

GIST: Final = 160  # characters of an answer that a table shows
#: After these nothing else will be answered either: the key is refused, or nothing is left to pay with.
_FOR_ALL: Final = frozenset({FailureKind.NO_KEY, FailureKind.CONSENT})
_REFUSED: Final = frozenset({401, 402, 403})


class Figures(NamedTuple):
    """What an answer took. Seconds to the last and to the first token; None where nobody says.

    ``real`` are the calls that a tool server was asked for it. ``listed``: the price is by the gateway's list.
    """

    seconds: float | None = None
    first: float | None = None
    prompt: int | None = None
    tokens: int | None = None
    price: float | None = None
    currency: str = ""
    requests: int = 0
    calls: int = 0
    real: int = 0
    listed: bool = False


NO_FIGURES: Final = Figures()


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, as a row of a table needs it: ``failure`` is why there is none, for good. ``at`` is Unix time.

    Of one that was kept, ``written`` are figures and verdicts as they stand in the file (``read_written``).
    """

    digest: str
    repeat: int
    case: str
    column: str
    at: float
    gist: str = ""
    failure: str = ""
    figures: Figures = NO_FIGURES
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    written: str = field(default="", init=False, repr=False, compare=False)

    @property
    def key(self) -> tuple[str, int]:
        """Which one it is in its evaluation."""
        return self.digest, self.repeat

    @classmethod
    def kept(cls, digest: str, repeat: int, *rest: Any) -> Answer:
        """One that was kept, from its fields up to ``failure`` and what is ``written``, which is not read yet.

        A table shows a few of ten thousand: to read all of them takes longer than everything else until it is seen.
        """
        made = cls.__new__(cls)
        for name, value in zip(_KEPT, (digest, repeat, *rest), strict=True):
            object.__setattr__(made, name, value)
        return made

    if not TYPE_CHECKING:  # any name would be known otherwise

        def __getattr__(self, name: str) -> Any:
            """Figures or verdicts that nobody asked for until now."""
            if name not in ("figures", "verdicts"):
                raise AttributeError(name)
            if text := self.written:  # else another thread has read it since
                figures, verdicts = read_written(text) or (NO_FIGURES, {})  # damaged: its checks are made again
                object.__setattr__(self, "figures", figures)
                object.__setattr__(self, "verdicts", verdicts)
                object.__setattr__(self, "written", "")
            return object.__getattribute__(self, name)


_KEPT: Final = ("digest", "repeat", "case", "column", "at", "gist", "failure", "written")


def read_written(text: str) -> tuple[Figures, dict[str, Verdict]] | None:
    """Figures and verdicts from the JSON that is kept of them, a list of both; None where it cannot be read."""
    try:
        figures, judged = json.loads(text)
        return Figures(*figures), {key: _shared(Verdict(*one)) for key, one in judged.items()}
    except (ValueError, TypeError, AttributeError):
        return None


@lru_cache(maxsize=4096)
def _shared(verdict: Verdict) -> Verdict:
    """One for all that say the same: answers to a case are mostly judged alike, and the collector looks at each one."""
    return verdict


@dataclass(frozen=True, slots=True)
class Brought:
    """An answer with all that came: turns as they were asked and came, judges, what went over the wire.

    ``fatal`` is why nothing else will be answered.
    """

    answer: Answer
    turns: tuple[Turn, ...] = ()
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    exchanges: tuple[Exchange, ...] = ()
    fatal: str = ""


def with_verdicts(answer: Answer, verdicts: Mapping[str, Verdict]) -> Answer:
    """The same with more verdicts, or others."""
    return replace(answer, verdicts={**answer.verdicts, **verdicts})


async def ask(
    inquiry: Inquiry, job: Job, entered: PriceLookup, now: float, serving: Callable[[], ToolCaller] | None = None
) -> Brought:
    """Ask for one answer; its checks are not made yet. ``serving`` asks tool servers. Cancelled, nothing stays."""
    session, more = inquiry.session(job.case, job.column, serving)
    given = {turn.id for turn in session.transcript.path}
    refused = await _run(session)
    for turns in more:
        last = _last_answer(session)
        if refused or last is None or last.outcome is None or not last.outcome.is_complete or session.debugger.paused:
            break
        given |= {turn.id for turn in turns}
        session.history.transcript = session.transcript.append(*turns)
        refused = await _run(session)
    path = session.transcript.path
    brought = tuple(turn for turn in path if turn.id not in given)
    failure = _failure(brought, refused)
    waits = session.debugger.paused
    figures = turn_metrics(brought, job.column.settings.profile_id, entered, is_open=waits)
    streamed = all(turn.outcome.streamed for turn in brought if turn.outcome is not None)
    answer = Answer(
        digest=job.digest,
        repeat=job.repeat,
        case=job.case.id,
        column=job.column.id,
        at=now,
        gist=gist(brought),
        failure=cut(" ".join(failure.message.split()), 2 * GIST) if failure is not None else "",
        figures=_figures(figures, streamed=streamed)._replace(real=sum(map(is_real, brought))),
    )
    fatal = failure.message if failure is not None and is_fatal(failure) else ""
    asked_as = resolve_turns(path, session.settings.variables)
    exchanges = tuple(session.exchanges.values())
    session.experiment.close()
    return Brought(answer, asked_as, exchanges=exchanges, fatal=fatal)


async def _run(session: Session) -> str:
    """Run to the end. Returns why that was refused; empty when it was not."""
    try:
        await session.debugger.run_to_end()
    except RunRefusedError as error:
        return str(error)
    return ""


def is_real(turn: Turn) -> bool:
    """Whether a turn is what a tool server answered when it was asked, and no recording of that."""
    return any(one.served is not None and not one.served.recorded for one in turn.results)


def _last_answer(session: Session) -> Turn | None:
    return next((turn for turn in reversed(session.transcript.path) if turn.role is Role.ASSISTANT), None)


def _failure(brought: Sequence[Turn], refused: str) -> Failure | None:
    """Why there is no answer; None where there is one, be it cut off by its own limit."""
    if refused and not brought:
        return Failure(kind=FailureKind.INPUT, message=refused)
    outcomes = [turn.outcome for turn in brought if turn.outcome is not None]
    if not outcomes:
        return Failure(kind=FailureKind.INPUT, message="Nothing was asked.")
    last = outcomes[-1]
    if last.failure is not None:
        return last.failure
    return (
        None if last.is_complete else Failure(kind=FailureKind.DECODE, message="Part of the answer could not be read.")
    )


def is_fatal(failure: Failure) -> bool:
    """Whether nothing else will be answered there: a key that is refused, a quota that is used up."""
    from playground.gateway.retry import is_transient

    if failure.kind in _FOR_ALL:
        return True
    if failure.kind is not FailureKind.HTTP:
        return False
    return failure.status in _REFUSED or (failure.status == 429 and not is_transient(failure))


def _figures(found: LaneMetrics, *, streamed: bool) -> Figures:
    one = len(found.currencies) == 1
    return Figures(
        seconds=found.seconds or None,
        first=found.first if streamed else None,  # of a whole answer it is no more than when it came
        prompt=found.prompt,
        tokens=found.tokens,
        price=found.price if one else None,
        currency=next(iter(found.currencies)) if one else "",
        requests=found.requests,
        calls=found.calls,
        listed=found.listed,
    )


def gist(brought: Sequence[Turn]) -> str:
    """What an answer says, in a line."""
    parts = last_answer(brought)
    if not parts:
        return ""
    last = parts[-1]
    text = "".join(turn.text for turn in parts)
    words = text or last.refusal or ", ".join(f"{call.name}({call.arguments})" for call in last.calls)
    return cut(" ".join(words[: 4 * GIST].split()), GIST)


def facts_of(brought: Sequence[Turn], answer: Answer, job: Job) -> Facts:
    """What the checks are made of."""
    found = answer.figures
    return Facts(
        turns=tuple(brought),
        tools=job.column.settings.tools,
        seconds=found.seconds,
        first=found.first,
        tokens=found.tokens,
        price=found.price,
        currency=found.currency,
    )


def brought_of(turns: Sequence[Turn], given: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns of an answer but for those that were given."""
    ids = {turn.id for turn in given}
    came = (turn for turn in turns if turn.id not in ids)
    return tuple(turn for turn in came if turn.outcome is not None or turn.role is Role.TOOL)


class Checking:
    """Makes the checks of answers. Each check is looked at once for whether it can be used."""

    def __init__(self, judging: Judging) -> None:
        self.judging = judging
        self._problems: dict[str, str] = {}

    async def made(
        self,
        found: Brought,
        checks: Sequence[tuple[str, Check]],
        facts: Facts,
        asked: Sequence[Turn],
        slot: Callable[[str], AbstractAsyncContextManager[object]],
    ) -> tuple[dict[str, Verdict], dict[str, Judgement]]:
        """The verdicts of those checks that the answer does not have yet, and what judges said, by the checks' keys.

        ``slot`` is held while a judge is asked on the gateway of that id.
        """
        verdicts: dict[str, Verdict] = {}
        judgements: dict[str, Judgement] = {}
        for key, check in checks:
            if key in found.answer.verdicts:
                continue
            if problem := await self._problem(key, check):
                verdicts[key] = not_judged(problem)
            elif isinstance(check, Judge):
                async with slot(self.judging.gateway(check)):
                    verdicts[key], judgements[key] = await self.judging.ask(check, asked, facts.turns)
            elif not check.asks:
                verdicts[key] = await self._verdict(check, facts)
        return verdicts, judgements

    async def _problem(self, key: str, check: Check) -> str:
        known = self._problems.get(key)
        if known is None:
            question = CheckUsable(check)
            now = checking.now(question)
            known = self._problems[key] = now if now is not None else await checking.answer(question)
        return known

    @staticmethod
    async def _verdict(check: Check, facts: Facts) -> Verdict:
        question = CheckVerdict(check, facts)
        now = checking.now(question)
        return _shared(now if now is not None else await checking.answer(question))
