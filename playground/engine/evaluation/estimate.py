"""What an evaluation will take, as far as that can be said before it begins: from what came already, else from what is
asked. What nobody can know yet is said to be left out, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from playground.domain.costs import PriceLookup
from playground.domain.model_facts import BY_LIST
from playground.domain.prices import cost_of, money
from playground.domain.tokens import estimate_tokens
from playground.domain.usage import Usage
from playground.engine.evaluation.answering import Answer
from playground.engine.evaluation.inquiry import Column, Inquiry, Job
from playground.engine.evaluation.statistics import mean

_LOOKED_AT: Final = 40  # cases of a column whose questions are counted, evenly over all of them


@dataclass(frozen=True)
class Estimate:
    """Of what is missing. ``answered`` says whether the tokens and the price of answers are in it.

    ``listed``: some of the price is by a gateway's list.
    """

    requests: int
    prompt: int
    tokens: int
    price: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None
    answered: bool = True
    listed: bool = False

    @property
    def words(self) -> str:
        """``≈ 90 requests · ≈ 19,000 tokens in · ≈ $0.05``, with what is not in it."""
        if not self.requests:
            return "nothing is missing"
        parts = [f"≈ {self.requests:,} request{'s' * (self.requests != 1)}"]
        parts += [f"≈ {self.prompt:,} tokens in"] if self.prompt else []
        parts += [f"≈ {self.tokens:,} tokens out"] if self.answered and self.tokens else []
        prices = [f"≈ {money(amount, currency)}" for currency, amount in self.price.items()]
        parts += [*prices[:-1], f"{prices[-1]} {BY_LIST}" if self.listed else prices[-1]] if prices else []
        return " · ".join(parts) + ("" if self.answered else " · answers not counted")


def estimate(
    inquiry: Inquiry, answers: Mapping[tuple[str, int], Answer], missing: Sequence[Job], entered: PriceLookup
) -> Estimate:
    """What the ``missing`` answers will take; judges take a request each."""
    by_column: dict[str, int] = {}
    for job in missing:
        by_column[job.column.id] = by_column.get(job.column.id, 0) + 1
    requests = prompt = tokens = 0
    price: dict[str, float] = {}
    seconds, answered, by_list = 0.0, True, False
    for column in inquiry.columns:
        count = by_column.get(column.id, 0)
        if not count:
            continue
        came = [one for one in answers.values() if one.column == column.id and not one.failure]
        found = _of_answers(came) if came else _of_questions(inquiry, column, entered)
        answered = answered and bool(came)
        requests += round(count * (found.requests + len(inquiry.judges)))
        prompt += round(count * found.prompt)
        tokens += round(count * found.tokens)
        seconds += count * found.seconds
        if found.price:
            price[found.currency] = price.get(found.currency, 0.0) + count * found.price
            by_list = by_list or found.listed
    at_once = max(inquiry.plan.at_once, 1)
    return Estimate(requests, prompt, tokens, price, seconds / at_once if seconds else None, answered, by_list)


@dataclass(frozen=True)
class _Each:
    """What one answer takes, on average."""

    requests: float = 1.0
    prompt: float = 0.0
    tokens: float = 0.0
    price: float = 0.0
    currency: str = ""
    seconds: float = 0.0
    listed: bool = False


def _of_answers(came: Sequence[Answer]) -> _Each:
    figures = [one.figures for one in came]
    return _Each(
        requests=mean([one.requests for one in figures]),
        prompt=mean([one.prompt or 0 for one in figures]),
        tokens=mean([one.tokens or 0 for one in figures]),
        price=mean([one.price or 0.0 for one in figures]),
        currency=next((one.currency for one in figures if one.currency), ""),
        seconds=mean([one.seconds or 0.0 for one in figures]),
        listed=any(one.listed for one in figures),
    )


def _of_questions(inquiry: Inquiry, column: Column, entered: PriceLookup) -> _Each:
    """By what is asked: an answer that nobody has seen yet is not guessed."""
    step = max(1, len(inquiry.cases) // _LOOKED_AT)
    counts = [sum(estimate_tokens(turn.text) for turn in inquiry.given(case, column)) for case in inquiry.cases[::step]]
    prompt = mean(counts) if counts else 0.0
    rate = entered(column.settings.profile_id, column.settings.model)
    cost = cost_of(Usage(prompt=round(prompt), completion=0), rate)
    if rate is None:
        return _Each(prompt=prompt)
    return _Each(prompt=prompt, price=cost or 0.0, currency=rate.currency, listed=rate.told)
