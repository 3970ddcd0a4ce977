"""Answers that a gateway refused because of one field, with the rule that lets them be requested again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from playground.domain.adaptations import Adaptation, today
from playground.domain.errors import Failure, FailureKind, Sent
from playground.engine.advice.parts import Offer
from playground.engine.advice.refused_fields import offers
from playground.engine.session.request_executor import with_sent_fields

if TYPE_CHECKING:
    from playground.engine.evaluation.provider import Answer
    from playground.engine.evaluation.resolved import EvalVariant, ResolvedEvaluation

_MAX_GROUPS: Final = 20  # different failures that are examined
_BAD_REQUEST: Final = 400  # saved answers have the words of a failure, not its status


@dataclass(frozen=True, slots=True)
class RefusedAnswers:
    """Answers that a gateway refused with the same words, and an ``offer`` of rules that avoids that.

    ``model`` is empty for several models; ``more`` counts refused answers that need other rules.
    """

    answers: tuple[Answer, ...]
    offer: Offer
    profile_id: str
    model: str
    why: str
    more: int = 0

    @property
    def rules(self) -> tuple[Adaptation, ...]:
        """The rules to save for the gateway."""
        model = self.model if self.offer.narrow else ""
        return self.offer.with_saved_rules(model, self.why, today()).rules

    @property
    def words(self) -> str:
        """The refusal in one or two sentences."""
        rule = self.offer.rules[0]
        count = f"{len(self.answers):,} answers were" if len(self.answers) > 1 else "One answer was"
        were = "were" if self.more > 1 else "was"
        more = f" {self.more:,} more {were} refused for other reasons, shown next." if self.more else ""
        return f"{count} refused: the gateway does not take “{rule.field}”.{more}"


def largest_refusal(resolved: ResolvedEvaluation, answers: Iterable[Answer]) -> RefusedAnswers | None:
    """Return the largest group of answers that were refused for one field; None without any. Slow: use a thread."""
    columns = {column.id: column for column in resolved.columns}
    groups: dict[tuple[str, str], list[Answer]] = {}
    for answer in answers:
        if answer.failure and answer.column in columns:
            groups.setdefault((columns[answer.column].settings.profile_id, answer.failure), []).append(answer)
    refusals: list[RefusedAnswers] = []
    for (profile_id, why), group in sorted(groups.items(), key=lambda item: -len(item[1]))[:_MAX_GROUPS]:
        if offer := _offer(resolved, columns[group[0].column], group[0], why):
            models = {columns[answer.column].settings.model for answer in group}
            model = models.pop() if len(models) == 1 else ""
            refusals.append(RefusedAnswers(tuple(group), offer, profile_id, model, why))
    if not refusals:
        return None
    return replace(refusals[0], more=sum(len(refusal.answers) for refusal in refusals[1:]))


def _offer(resolved: ResolvedEvaluation, column: EvalVariant, answer: Answer, why: str) -> Offer | None:
    case = next((case for case in resolved.cases if case.id == answer.case), None)
    if case is None:
        return None
    request = resolved.session(case, column)[0].next_request.build()
    sent = Sent(endpoint=request.protocol, keyed=None)
    failure = Failure(kind=FailureKind.HTTP, status=_BAD_REQUEST, message=why, sent=sent)
    return next(iter(offers(with_sent_fields(failure, request))), None)
