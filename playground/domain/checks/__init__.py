"""All kinds of check, and the discriminated union that reads them from files. Each module has those of a subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, Union

from pydantic import Discriminator, Tag
from pydantic.json_schema import SkipJsonSchema

from playground.domain.checks.asked import Judge, You
from playground.domain.checks.calls import Calls, ToolCalled
from playground.domain.checks.check import Check, Facts, Verdict, not_judged
from playground.domain.checks.endings import Finish, Refused
from playground.domain.checks.figures import Cheap, FirstToken, Latency, Tokens
from playground.domain.checks.json_answers import FitsSchema, IsJSON, PathEquals
from playground.domain.checks.texts import Contains, Equals, Matches, Similar, StartsWith


class UnknownCheck(Check):
    """A check of a newer version. It is preserved and not applied."""

    TITLE = "Unknown check"
    HELP = "A newer version of this application has this check. It is kept and skipped."
    kind: str = "unknown"

    @property
    def words(self) -> str:
        return self.kind

    @property
    def lack(self) -> str:
        return "A newer version has this check; it is skipped."

    def _look(self, facts: Facts) -> Verdict:
        return not_judged(self.lack)


#: All kinds, in the order of the menu.
CHECKS: Final[tuple[type[Check], ...]] = (
    Contains,
    Matches,
    Equals,
    StartsWith,
    IsJSON,
    FitsSchema,
    PathEquals,
    ToolCalled,
    Calls,
    Finish,
    Latency,
    FirstToken,
    Tokens,
    Cheap,
    Refused,
    Similar,
    Judge,
    You,
)
_KINDS: Final = frozenset(str(kind.model_fields["kind"].default) for kind in CHECKS)

_CONTRARY: Final[Mapping[type[Check], tuple[str, Callable[[], Check]]]] = {
    Contains: ("Not contains", partial(Contains, negated=True)),
    ToolCalled: ("No tool called", partial(ToolCalled, negated=True)),
}

#: Factories of new checks by their title: each kind, and the negation of those that are often negated.
OFFERED: Final[Mapping[str, Callable[[], Check]]] = {
    name: make
    for kind in CHECKS
    for name, make in ((kind.TITLE, kind), *((_CONTRARY[kind],) if kind in _CONTRARY else ()))
}


def _kind(value: Any) -> str | None:
    """Return the tag of the check to read a value as; None if the value has no kind."""
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return None if kind is None else kind if kind in _KINDS else "unknown"


if TYPE_CHECKING:
    AnyCheck: TypeAlias = Check
else:
    _TAGGED = [Annotated[kind, Tag(kind.model_fields["kind"].default)] for kind in CHECKS]
    AnyCheck = Annotated[
        Union[(*_TAGGED, Annotated[SkipJsonSchema[UnknownCheck], Tag("unknown")])],
        Discriminator(_kind),
    ]
