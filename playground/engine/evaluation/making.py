"""How an answer is made: asked for, held to its checks, with what is kept of it. Whoever runs a plan asks a ``Making``.

Here is the one that makes answers in this process. Others may have them made elsewhere, by this one again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from playground.domain.costs import PriceLookup
from playground.domain.prices import Price
from playground.engine.evaluation.answering import (
    Answer,
    Brought,
    Checking,
    Figures,
    ask,
    brought_of,
    facts_of,
    with_verdicts,
)
from playground.engine.evaluation.inquiry import Inquiry, Job
from playground.engine.evaluation.judging import Judgement, Judging
from playground.engine.session.plan import Keep
from playground.engine.session.tool_calls import ToolCaller

#: Hears of what an answer takes, as it is spent: by the answer itself, and by each judge of it.
Spend: TypeAlias = Callable[[Figures | Judgement], None]


class MakingError(Exception):
    """No more answers can be made. The text says why, for people, and is a whole sentence."""


@dataclass(frozen=True, slots=True)
class Packed:
    """An answer made elsewhere, with what is kept of it as it stands in the file: nothing secret is in there.

    ``row`` are the columns of a table of answers; ``fatal`` is why nothing else will be answered.
    """

    answer: Answer
    row: tuple[Any, ...]
    turns: bytes
    judgements: bytes | None = None
    frames: bytes | None = None
    fatal: str = ""


class Making(Protocol):
    """Makes answers. Cancelled, nothing stays of one that was under way."""

    async def answered(self, job: Job, spend: Spend) -> Brought | Packed:
        """One answer with its verdicts; ``fatal`` says that nothing more will be answered. Raises MakingError."""

    async def judged(self, found: Brought, job: Job, spend: Spend) -> Brought:
        """A kept answer with the verdicts that it lacked, and what judges said besides. Raises MakingError."""


def no_price(_profile_id: str, _model: str) -> Price | None:
    """Nobody entered one."""
    return None


class Maker:
    """Makes answers in this process. ``serving`` asks tool servers; ``entered`` tells the prices that people set."""

    def __init__(
        self, inquiry: Inquiry, entered: PriceLookup = no_price, serving: Callable[[], ToolCaller] | None = None
    ) -> None:
        self._inquiry, self._entered, self._serving = inquiry, entered, serving
        judging = Judging(inquiry.connect, inquiry.profile_of, inquiry.base.profile_id, entered)
        self._checking = Checking(judging)
        self._slots: dict[str, asyncio.Semaphore] = {}

    async def answered(self, job: Job, spend: Spend) -> Brought:
        """One answer with its verdicts, but for one after which nothing more will be answered."""
        found = await ask(self._inquiry, job, self._entered, time.time(), self._serving)
        spend(found.answer.figures)
        if found.fatal:
            return found
        if not found.answer.failure:
            found = await self.judged(found, job, spend)
        return replace(found, exchanges=found.exchanges if self._keeps(found, job) else ())

    async def judged(self, found: Brought, job: Job, spend: Spend) -> Brought:
        """An answer with the verdicts that it lacks."""
        given = self._inquiry.given_as_written(job.case, job.column)
        brought = brought_of(found.turns, given)
        checks = self._inquiry.keyed(job.case)
        facts = facts_of(brought, found.answer, job)
        came = {turn.id for turn in brought}
        asked = [turn for turn in found.turns if turn.id not in came]
        verdicts, judgements = await self._checking.made(found, checks, facts, asked, self._slot)
        for one in judgements.values():
            spend(one)
        answer = with_verdicts(found.answer, verdicts)
        return replace(found, answer=answer, judgements={**found.judgements, **judgements})

    def _slot(self, profile_id: str) -> asyncio.Semaphore:
        """For judges on a gateway."""
        return self._slots.setdefault(profile_id, asyncio.Semaphore(self._inquiry.plan.at_once))

    def _keeps(self, found: Brought, job: Job) -> bool:
        keep = self._inquiry.plan.keep
        if keep is not Keep.FAILED:
            return keep is Keep.ALL
        return bool(found.answer.failure) or passes(found.answer, self._inquiry, job) is False


def passes(answer: Answer, inquiry: Inquiry, job: Job) -> bool | None:
    """Whether an answer passed every check of its case; None where it failed or nothing judged it."""
    if answer.failure:
        return None
    found = [answer.verdicts[key].passed for key, _ in inquiry.keyed(job.case) if key in answer.verdicts]
    known = [one for one in found if one is not None]
    return all(known) if known else None
