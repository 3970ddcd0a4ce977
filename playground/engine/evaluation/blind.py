"""Blind comparison: a person votes on pairs of answers without knowing their variants.

The order of pairs and the sides of the answers are random by the plan's seed, so that a comparison can be continued
later. Each pair counts once; both good and both bad count neither way.
"""

from __future__ import annotations

import random
from collections import Counter
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
    """A vote on a pair: the answer of the first or the second variant is better, or both are good or bad."""

    FIRST = "first"
    SECOND = "other"
    BOTH = "both"
    NEITHER = "neither"


@dataclass(frozen=True)
class BlindPair:
    """A pair of answers to a case. ``is_swapped``: the answer of the first variant is on the right."""

    case: Case
    pair: Pair
    first: Answer
    second: Answer
    is_swapped: bool

    @property
    def sides(self) -> tuple[Answer, Answer]:
        """The answers on the left and on the right."""
        return (self.second, self.first) if self.is_swapped else (self.first, self.second)

    def vote(self, is_left: bool) -> Vote:
        """Return the vote for the left or the right answer."""
        return Vote.FIRST if is_left is not self.is_swapped else Vote.SECOND


@dataclass(frozen=True)
class VoteCounts:
    """The counts of the votes. ``share`` and ``interval`` are those of the second variant among decided pairs."""

    first: int
    second: int
    both: int
    neither: int
    remaining: int
    interval: Interval
    p: float
    words: str

    @property
    def share(self) -> float | None:
        """The share from 0 to 1; None before a pair decided."""
        decided = self.first + self.second
        return self.second / decided if decided else None


def blind_pairs(results: Results, first: EvalVariant, second: EvalVariant) -> list[BlindPair]:
    """Return all pairs of answers that both variants have, in random order."""
    rng = random.Random(f"{results.resolved.plan.seed} {first.id} {second.id}")  # noqa: S311 - not secret
    pairs = []
    for case in results.resolved.cases:
        for a, b in zip(results.cell(case, first).answers, results.cell(case, second).answers, strict=True):
            is_swapped = rng.random() < 0.5  # drawn for missing answers too: a new answer changes no other pair
            if a is not None and b is not None and not a.failure and not b.failure:
                pairs.append(BlindPair(case, (a.digest, b.digest, a.repeat), a, b, is_swapped))
    rng.shuffle(pairs)
    return pairs


def count_votes(
    pairs: Sequence[BlindPair], votes: Mapping[Pair, str], first: EvalVariant, second: EvalVariant
) -> VoteCounts:
    """Count the votes and test whether a variant is better. Repeats of a case are votes of their own."""
    counts = Counter(votes.get(pair.pair) for pair in pairs)
    won, lost = counts[Vote.SECOND], counts[Vote.FIRST]
    p, decided = mcnemar(won, lost), won + lost
    if not decided:
        words = "No pair has decided yet."
    elif p < SURE:
        better, worse = (second, first) if won > lost else (first, second)
        share = round(100 * max(won, lost) / decided)
        words = f"{better.label} was better than {worse.label} in {share} % of {decided} pairs (p {p_words(p)})."
    else:
        titles = f"{first.label} or {second.label}"
        words = f"From {decided} pairs it cannot be told whether {titles} is better (p {p_words(p)})."
    interval = wilson(won, decided)
    return VoteCounts(lost, won, counts[Vote.BOTH], counts[Vote.NEITHER], counts[None], interval, p, words)
