"""An estimate of what the missing answers of an evaluation will take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from playground.domain.costs import Cost, PriceLookup
from playground.domain.model_facts import BY_LIST
from playground.domain.prices import cost_of, money
from playground.domain.tokens import estimate_tokens
from playground.domain.usage import Usage
from playground.engine.evaluation.metrics import sum_costs
from playground.engine.evaluation.provider import Answer
from playground.engine.evaluation.resolved import EvalVariant, Job, ResolvedEvaluation
from playground.engine.evaluation.statistics import mean

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
