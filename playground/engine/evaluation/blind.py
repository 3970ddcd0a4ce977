"""Two answers to the same, without names: somebody says which is better, and at the end it is told whose they were.

Which pair comes when, and which answer stands at which side, is drawn by the plan's seed, so that it is the same when
it is gone on with another day. A pair counts once; both good and both bad count neither way.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from playground.engine.evaluation.answers import Pair
from playground.engine.evaluation.provider import Answer
from playground.engine.evaluation.resolved import EvalVariant
from playground.engine.evaluation.results import SURE, Results
from playground.engine.evaluation.statistics import Interval, mcnemar, p_words, wilson
from playground.engine.session.plan import Case


class Vote(StrEnum):
    """What is said of a pair; the first is the answer of the first of both columns."""

    FIRST = "first"
    OTHER = "other"
    BOTH = "both"
    NEITHER = "neither"


@dataclass(frozen=True)
class BlindPair:
    """A pair as it is shown. ``turned``: the first column's answer stands at the right."""

    case: Case
    pair: Pair
    first: Answer
    other: Answer
    turned: bool

    @property
    def shown(self) -> tuple[Answer, Answer]:
        """Left and right."""
        return (self.other, self.first) if self.turned else (self.first, self.other)

    def vote(self, left: bool) -> Vote:
        """What it means that the left one is better, or the right one."""
        return Vote.FIRST if left is not self.turned else Vote.OTHER


@dataclass(frozen=True)
class VoteCounts:
    """How often each was better. ``share`` and ``interval`` are those of the other column among pairs that decided."""

    first: int
    other: int
    both: int
    neither: int
    left: int
    interval: Interval
    p: float
    words: str

    @property
    def share(self) -> float | None:
        """From 0 to 1; None before any pair decided."""
        decided = self.first + self.other
        return self.other / decided if decided else None


def blind_pairs(results: Results, first: EvalVariant, other: EvalVariant) -> list[BlindPair]:
    """All pairs of answers that came in both columns, in the order in which they are shown."""
    chance = random.Random(f"{results.resolved.plan.seed} {first.id} {other.id}")  # noqa: S311 - not for secrets
    out = []
    for case in results.resolved.cases:
        here, there = results.cell(case, first), results.cell(case, other)
        for one, two in zip(here.answers, there.answers, strict=True):
            turned = chance.random() < 0.5  # drawn for those that are missing, too: another answer moves no other pair
            if one is None or two is None or one.failure or two.failure:
                continue
            out.append(BlindPair(case, (one.digest, two.digest, one.repeat), one, two, turned))
    chance.shuffle(out)
    return out


def count_votes(
    found: Sequence[BlindPair], votes: Mapping[Pair, str], first: EvalVariant, other: EvalVariant
) -> VoteCounts:
    """Who won so far. Repeats of a case are votes like any other: what is judged are answers, one by one."""
    said = [votes.get(one.pair) for one in found]
    counts = {vote: sum(one == vote for one in said) for vote in Vote}
    won, lost = counts[Vote.OTHER], counts[Vote.FIRST]
    p, decided = mcnemar(won, lost), won + lost
    interval = wilson(won, decided)
    if not decided:
        words = "No pair has decided yet."
    elif p < SURE:
        better, worse = (other, first) if won > lost else (first, other)
        share = round(100 * max(won, lost) / decided)
        words = f"{better.title} was better than {worse.title} in {share} % of {decided} pairs (p {p_words(p)})."
    else:
        words = (
            f"From {decided} pairs it cannot be told whether {first.title} or {other.title} is better (p {p_words(p)})."
        )
    left = sum(one is None for one in said)
    return VoteCounts(lost, won, counts[Vote.BOTH], counts[Vote.NEITHER], left, interval, p, words)
