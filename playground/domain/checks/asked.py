"""Checks that a model or a person judges."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from playground.domain.checks.check import SHOWN, Check, Facts, Verdict, in_a_line, not_judged, quoted, row
from playground.domain.values import LongText
from playground.jsonkit.texts import cut


class _Asked(Check):
    @property
    def asks(self) -> bool:
        return True

    def _look(self, facts: Facts) -> Verdict:
        return not_judged("not judged yet")


class Judge(_Asked):
    """A model judges the answer by a rubric."""

    TITLE = "Judge"
    HELP = (
        "A model of your choice reads question and answer, and returns a score from 0 to 1 with a reason. "
        "It has to answer in JSON. A judge that fails, or returns no score, counts neither way."
    )
    kind: Literal["judge"] = "judge"
    rubric: Annotated[LongText, row("Passes when", "lines", "What a good answer is, in a sentence or a few.")] = ""
    model: Annotated[str, row("Model", "model", "The model that judges.", after="profile_id")] = ""
    profile_id: Annotated[str, row("Gateway", "gateway", "The gateway of the judge; empty for the experiment's.")] = ""
    least: Annotated[
        float, Field(ge=0, le=1), row("At least", "number", "The score from which it passes.", low=0, high=1, step=0.1)
    ] = 0.5

    @property
    def words(self) -> str:
        return ": ".join(filter(None, (cut(self.model, SHOWN), in_a_line(self.rubric, 2 * SHOWN))))

    @property
    def lack(self) -> str:
        if not self.model:
            return "The judge has no model. Choose one in its form."
        return "" if self.rubric.strip() else "The judge has no rubric: write when an answer passes."


class You(_Asked):
    """A person judges the answer."""

    TITLE = "You"
    HELP = "You rate each answer with a thumb and an optional note. Answers without a rating are not judged."
    kind: Literal["you"] = "you"
    rubric: Annotated[LongText, row("Look at", "lines", "What to look at when judging.")] = ""

    @property
    def words(self) -> str:
        return quoted(self.rubric) if self.rubric else ""
