"""Answers of an evaluation that were refused for the same field, and the offer that has all of them asked again."""

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
    from playground.engine.evaluation.answering import Answer
    from playground.engine.evaluation.inquiry import Column, Inquiry

_MOST: Final = 20  # different failures that are looked at
_REFUSED: Final = 400  # an answer keeps the words of its failure alone


@dataclass(frozen=True, slots=True)
class Refused:
    """``answers`` that one gateway refused in the same words, and what would have them taken."""

    answers: tuple[Answer, ...]
    offer: Offer
    profile_id: str
    model: str  # that all of them were asked of; empty for several
    why: str
    more: int = 0  # answers refused otherwise, with an offer of their own

    @property
    def rules(self) -> tuple[Adaptation, ...]:
        """The rules as the gateway is to keep them."""
        model = self.model if self.offer.narrow else ""
        return self.offer.kept(model, self.why, today()).rules

    @property
    def words(self) -> str:
        """What happened, in one sentence."""
        rule = self.offer.rules[0]
        many = f"{len(self.answers):,} answers were" if len(self.answers) > 1 else "One answer was"
        were = "were" if self.more > 1 else "was"
        more = f" {self.more:,} more {were} refused otherwise: that comes next." if self.more else ""
        return f"{many} refused: the gateway does not take “{rule.field}”.{more}"


def refused_alike(inquiry: Inquiry, answers: Iterable[Answer]) -> Refused | None:
    """The most answers that were refused for the same field; None where there are none. For another thread."""
    columns = {column.id: column for column in inquiry.columns}
    groups: dict[tuple[str, str], list[Answer]] = {}
    for one in answers:
        if one.failure and one.column in columns:
            groups.setdefault((columns[one.column].settings.profile_id, one.failure), []).append(one)
    found: list[Refused] = []
    for (profile_id, why), group in sorted(groups.items(), key=lambda pair: -len(pair[1]))[:_MOST]:
        if offered := _offered(inquiry, columns[group[0].column], group[0], why):
            models = {columns[one.column].settings.model for one in group}
            model = models.pop() if len(models) == 1 else ""
            found.append(Refused(tuple(group), offered[0], profile_id, model, why))
    return replace(found[0], more=sum(len(one.answers) for one in found[1:])) if found else None


def _offered(inquiry: Inquiry, column: Column, answer: Answer, why: str) -> tuple[Offer, ...]:
    case = next((case for case in inquiry.cases if case.id == answer.case), None)
    if case is None:
        return ()
    request = inquiry.session(case, column)[0].next_request.build()
    failure = Failure(
        kind=FailureKind.HTTP, status=_REFUSED, message=why, sent=Sent(endpoint=request.protocol, keyed=None)
    )
    return offers(with_sent_fields(failure, request))
