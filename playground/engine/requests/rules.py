"""What rules for a gateway change about the next request, and why: words for the Request page and the panel."""

from __future__ import annotations

from typing import Final

from playground.domain.adaptations import Adaptation, AdaptationKind, effective
from playground.domain.request import Request
from playground.engine.session.request_executor import plain_settings
from playground.jsonkit.merge import MemberPath, holds

_WHY: Final = {
    AdaptationKind.OMIT: "this gateway does not take it",
    AdaptationKind.REPLACE: "this gateway does not take it as it is set",
    AdaptationKind.RENAME: "this gateway takes it under that name",
    AdaptationKind.ROLE: "this gateway does not take that role",
}


def rules_at_work(request: Request) -> tuple[Adaptation, ...]:
    """The rules that change something about a request, in the order they do. Raises ValueError where it cannot be
    written.
    """
    return effective(plain_settings(request), request.rules) if request.rules else ()


def reason(rule: Adaptation) -> str:
    """What a rule does about its field, why, and since when."""
    what = f"“{rule.field}” is {rule.deed}" if rule.kind is AdaptationKind.ROLE else rule.deed
    return f"{what}: {_WHY[rule.kind]}{f' · learnt {rule.learnt}' if rule.learnt else ''}"


def overruled(request: Request, rule: Adaptation) -> bool:
    """Whether what a rule takes away is put there again by an extra body, which wins."""
    path: MemberPath = tuple(rule.field.split("."))
    return rule.kind is not AdaptationKind.ROLE and any(
        holds(extra, path) for extra in (request.extra_body, request.inherited_body)
    )
