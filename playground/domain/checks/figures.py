"""Checks of what an answer took: time, tokens, money."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from playground.domain.checks.check import Check, Facts, Verdict, judged, not_judged, row
from playground.domain.prices import money


class _OfFigure(Check):
    def _held(self, found: float | None, most: float, words: str) -> Verdict:
        return not_judged(words) if found is None else judged(found <= most, words)


class Latency(_OfFigure):
    """The answer is there in time."""

    TITLE = "Latency"
    HELP = "Passes when the last token is there in time, all requests of a tool loop together."
    kind: Literal["latency"] = "latency"
    seconds: Annotated[
        float, Field(ge=0, allow_inf_nan=False), row("Seconds", "number", "To the last token, at most.", low=0)
    ] = 5.0

    @property
    def words(self) -> str:
        return f"≤ {self.seconds:g} s to the last token"

    def _look(self, facts: Facts) -> Verdict:
        found = facts.seconds
        return self._held(found, self.seconds, f"{found:.2f} s" if found is not None else "no time was taken")


class FirstToken(_OfFigure):
    """The answer begins in time."""

    TITLE = "First token"
    HELP = "Passes when the first token is there in time. An answer that is not streamed has none: it is not judged."
    kind: Literal["first_token"] = "first_token"
    seconds: Annotated[
        float, Field(ge=0, allow_inf_nan=False), row("Seconds", "number", "To the first token, at most.", low=0)
    ] = 1.0

    @property
    def words(self) -> str:
        return f"≤ {self.seconds:g} s to the first token"

    def _look(self, facts: Facts) -> Verdict:
        found = facts.first
        return self._held(found, self.seconds, f"{found:.2f} s" if found is not None else "the answer came as a whole")


class Tokens(_OfFigure):
    """The answer is not too long."""

    TITLE = "Tokens"
    HELP = "Passes when the answers of all requests together have at most so many tokens, as the gateway counts them."
    kind: Literal["tokens"] = "tokens"
    most: Annotated[int, Field(ge=0), row("At most", "integer", "So many, or fewer.", low=0)] = 500

    @property
    def words(self) -> str:
        return f"≤ {self.most:,}"

    def _look(self, facts: Facts) -> Verdict:
        found = facts.tokens
        return self._held(found, self.most, f"{found:,} tokens" if found is not None else "the gateway does not say")


class Cheap(_OfFigure):
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
        found = facts.price
        words = money(found, facts.currency) if found is not None else "no price is known"
        return self._held(found, self.most, words)
