"""Checks of the end of an answer."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from playground.domain.checks.check import Check, Facts, Verdict, judged, quoted, row
from playground.domain.transcript import LIMIT_REASONS

#: Finish reasons of refusals by the model or a content filter.
_REFUSED: Final = frozenset({"content_filter", "refusal", "safety"})


class Finish(Check):
    """The answer has the required finish reason."""

    TITLE = "Finish reason"
    HELP = "Passes when the gateway says that the answer ended for this reason."
    kind: Literal["finish"] = "finish"
    reason: Annotated[
        str,
        row(
            "Reason",
            "choice",
            "As the gateway spells it.",
            suggestions=(
                "stop",
                "end_turn",
                "completed",
                "tool_calls",
                "tool_use",
                *sorted(LIMIT_REASONS),
                "content_filter",
            ),
        ),
    ] = "stop"

    @property
    def words(self) -> str:
        return self.reason

    @property
    def lack(self) -> str:
        return "" if self.reason else "There is no finish reason to look for."

    def _look(self, facts: Facts) -> Verdict:
        reason = facts.finish_reason
        return judged(reason == self.reason, f"it ended with {reason}" if reason else "it ended without a reason")


class Refused(Check):
    """The model refused to answer."""

    TITLE = "Refusal"
    HELP = (
        "Passes when the answer is marked as a refusal: a part for it, or a finish reason that says so. A refusal in "
        "plain words is for a judge."
    )
    kind: Literal["refusal"] = "refusal"

    def _look(self, facts: Facts) -> Verdict:
        refusal = "".join(turn.refusal for turn in facts.turns)
        if refusal:
            return judged(True, f"it refused: {quoted(refusal)}")
        reason = facts.finish_reason
        return judged(reason in _REFUSED, f"it ended with {reason}" if reason in _REFUSED else "it did not refuse")
