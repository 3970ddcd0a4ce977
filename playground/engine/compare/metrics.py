"""Metrics of the answers to the last question in each lane, and which lane is best in each. Measured, never judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from playground.domain.costs import AnswerMetrics, Cost, PriceLookup, cost, total
from playground.domain.prices import money
from playground.domain.roles import Role
from playground.domain.transcript import Outcome, Turn, one_per_request
from playground.engine.inspect.compare import difference
from playground.engine.session.session import Session

#: Metrics in which lanes are compared: field, words for the best one, and whether more is better.
BEST: Final = (
    ("first", "soonest first token", False),
    ("rate", "most tokens per second", True),
    ("tokens", "fewest tokens", False),
    ("price", "cheapest", False),
    ("calls", "fewest calls", False),
)


@dataclass(frozen=True, slots=True)
class LaneMetrics:
    """Metrics since the last user turn: `first` token in seconds, `rate` of the last answer in tokens per second.

    `tokens` are the completion tokens and `prompt` the prompt tokens of all requests, as are `costs` and `seconds`.
    None where a gateway does not report it. `whole`: every answer is complete; `ended` says how the last one ended.
    """

    first: float | None = None
    rate: float | None = None
    tokens: int | None = None
    costs: tuple[Cost, ...] = ()
    calls: int = 0
    requests: int = 0
    prompt: int | None = None
    seconds: float = 0.0
    whole: bool = False
    ended: str = ""

    @property
    def price(self) -> float | None:
        """The sum of the costs; None without any."""
        return sum(cost.amount for cost in self.costs) if self.costs else None

    @property
    def currencies(self) -> frozenset[str]:
        """The currencies of the costs."""
        return frozenset(cost.currency for cost in self.costs)

    @property
    def listed(self) -> bool:
        """Return whether a price of the gateway's list was used."""
        return any(cost.listed and cost.amount for cost in self.costs)

    @property
    def of_answer(self) -> AnswerMetrics:
        """The metrics as those of one answer; a price in several currencies is unknown."""
        one_currency = len(self.currencies) == 1
        return AnswerMetrics(
            seconds=self.seconds or None,
            first=self.first,
            prompt=self.prompt,
            tokens=self.tokens,
            price=self.price if one_currency else None,
            currency=next(iter(self.currencies)) if one_currency else "",
            requests=self.requests,
            calls=self.calls,
            listed=self.listed,
        )

    @property
    def words(self) -> list[str]:
        """The known metrics in words."""
        return self.words_compared(None)

    @property
    def totals(self) -> list[str]:
        """The sums of all requests in words."""
        if not self.requests:
            return []
        words = [f"{self.requests} request{'s' * (self.requests != 1)}, {self.seconds:.2f} s in all"]
        words += [f"{self.prompt:,} tokens in"] if self.prompt is not None else []
        return [*words, f"{self.tokens:,} tokens out"] if self.tokens is not None else words

    def words_compared(self, first: LaneMetrics | None) -> list[str]:
        """Return the known metrics in words, with differences from those of the first lane if both are whole."""
        base = first if first is not None and first.whole and self.whole else LaneMetrics()
        words = [self.ended] if self.ended else []
        if self.first is not None:
            words.append(f"first token {self.first:.2f} s" + _difference(self.first, base.first, " s", 2))
        if self.rate is not None:
            words.append(f"{self.rate:.0f} tok/s" + _difference(self.rate, base.rate))
        if self.tokens is not None:
            words.append(f"{self.tokens:,} tok" + _difference(self.tokens, base.tokens))
        if self.costs:
            words.append(total(self.costs) + self._price_difference(base))
        if self.calls or base.calls:
            calls = f"{self.calls} call{'s' * (self.calls != 1)}"
            words.append(calls + (_difference(self.calls, base.calls) if base.requests else ""))
        return words

    def _price_difference(self, base: LaneMetrics) -> str:
        if self.price is None or base.price is None or self.currencies != base.currencies or len(self.currencies) > 1:
            return ""
        sign, amount = difference(0, self.price - base.price, 4)
        return f" ({sign}{money(amount, next(iter(self.currencies)))})"


def lane_metrics(lane: Session, prices: PriceLookup) -> LaneMetrics:
    """Return the metrics of the answers to a lane's last question; `prices` are those entered by a person."""
    path = lane.transcript.path
    last = next((index for index in range(len(path) - 1, -1, -1) if path[index].role is Role.USER), -1)
    is_open = bool(lane.debugger.waiting) or lane.debugger.answer_paused
    return turn_metrics(path[last + 1 :], lane.settings.profile_id, prices, is_open=is_open)


def turn_metrics(turns: Sequence[Turn], profile_id: str, prices: PriceLookup, *, is_open: bool = False) -> LaneMetrics:
    """Return the metrics of received turns; `is_open`: a call waits or the answer is paused, so they are not whole."""
    outcomes = list(one_per_request(turns))
    costs = [cost(outcome, profile_id, prices) for outcome in outcomes]
    is_priced = None not in costs and any(item.amount or not item.listed for item in costs if item is not None)
    usages = [outcome.usage for outcome in outcomes]
    return LaneMetrics(
        first=timing.first_token if outcomes and (timing := outcomes[0].timing) is not None else None,
        rate=_rate(outcomes[-1]) if outcomes else None,
        tokens=_sum(usage.completion if usage is not None else None for usage in usages),
        costs=tuple(item for item in costs if item is not None) if is_priced else (),
        calls=sum(len(turn.calls) for turn in turns),
        requests=len(outcomes),
        prompt=_sum(usage.prompt if usage is not None else None for usage in usages),
        seconds=sum(outcome.timing.end or 0.0 for outcome in outcomes if outcome.timing is not None),
        ended=outcomes[-1].ending.words if outcomes else "",
        whole=bool(outcomes) and all(outcome.is_complete for outcome in outcomes) and not is_open,
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    """Return the sum, None if a count is unknown or there is none."""
    values = list(counts)
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers and len(numbers) == len(values) else None


def best(metrics: Sequence[LaneMetrics]) -> list[list[str]]:
    """Return for each lane in what it is best, in words; incomplete answers and equal values do not count."""
    words: list[list[str]] = [[] for _ in metrics]
    one_currency = len({currency for item in metrics if item.whole for currency in item.currencies}) == 1
    for name, label, more in BEST:
        if name == "price" and not one_currency:
            continue
        values = {
            index: value
            for index, item in enumerate(metrics)
            if item.whole and (value := getattr(item, name)) is not None
        }
        if len(set(values.values())) < 2:
            continue
        winner = max(values.values()) if more else min(values.values())
        for index, value in values.items():
            if value == winner:
                words[index].append(label)
    return words


def _difference(value: float, base: float | None, unit: str = "", digits: int = 0) -> str:
    """Return the difference from the first lane, of the rounded values: ``(+0.11 s)``, ``(±0)``."""
    if base is None:
        return ""
    sign, amount = difference(base, value, digits)
    return f" ({sign}{amount:,.{digits}f}{unit})"


def _rate(outcome: Outcome) -> float | None:
    timing, usage = outcome.timing, outcome.usage
    writing = timing.writing if timing is not None else None
    return usage.completion / writing if usage is not None and usage.completion and writing is not None else None
