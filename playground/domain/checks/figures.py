"""Checks of metrics of an answer: time, tokens, price."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from playground.domain.checks.check import Check, Facts, Verdict, judged, not_judged, row
from playground.domain.prices import money


class _MetricCheck(Check):
    def _at_most(self, value: float | None, most: float, words: str) -> Verdict:
        return not_judged(words) if value is None else judged(value <= most, words)


class Latency(_MetricCheck):
    """The last token arrives in time."""

    TITLE = "Latency"
    HELP = "Passes when the last token arrives within the limit, all requests of a tool loop together."
    kind: Literal["latency"] = "latency"
    seconds: Annotated[
        float, Field(ge=0, allow_inf_nan=False), row("Seconds", "number", "To the last token, at most.", low=0)
    ] = 5.0

    @property
    def words(self) -> str:
        return f"≤ {self.seconds:g} s to the last token"

    def _look(self, facts: Facts) -> Verdict:
        seconds = facts.metrics.seconds
        return self._at_most(seconds, self.seconds, f"{seconds:.2f} s" if seconds is not None else "no time was taken")


class FirstToken(_MetricCheck):
    """The first token arrives in time."""

    TITLE = "First token"
    HELP = "Passes when the first token arrives within the limit. An answer that is not streamed is not judged."
    kind: Literal["first_token"] = "first_token"
    seconds: Annotated[
        float, Field(ge=0, allow_inf_nan=False), row("Seconds", "number", "To the first token, at most.", low=0)
    ] = 1.0

    @property
    def words(self) -> str:
        return f"≤ {self.seconds:g} s to the first token"

    def _look(self, facts: Facts) -> Verdict:
        seconds = facts.metrics.first
        words = f"{seconds:.2f} s" if seconds is not None else "the answer was not streamed"
        return self._at_most(seconds, self.seconds, words)


class Tokens(_MetricCheck):
    """The answer is not too long."""

    TITLE = "Tokens"
    HELP = "Passes when the answers of all requests together have at most so many tokens, as the gateway counts them."
    kind: Literal["tokens"] = "tokens"
    most: Annotated[int, Field(ge=0), row("At most", "integer", "So many, or fewer.", low=0)] = 500

    @property
    def words(self) -> str:
        return f"≤ {self.most:,}"

    def _look(self, facts: Facts) -> Verdict:
        tokens = facts.metrics.tokens
        words = f"{tokens:,} tokens" if tokens is not None else "the gateway does not say"
        return self._at_most(tokens, self.most, words)


class Cheap(_MetricCheck):
    """The answer does not cost too much."""

    TITLE = "Price"
    HELP = "Passes when all requests of the answer together cost at most so much, by the prices entered for the models."
    kind: Literal["price"] = "price"
    most: Annotated[
        float, Field(ge=0, allow_inf_nan=False), row("At most", "number", "In the currency of its price.", low=0)
    ] = 0.01

    @property
    def words(self) -> str:
        return f"≤ {self.most:g}"

    def _look(self, facts: Facts) -> Verdict:
        price = facts.metrics.price
        words = money(price, facts.metrics.currency) if price is not None else "no price is known"
        return self._at_most(price, self.most, words)
