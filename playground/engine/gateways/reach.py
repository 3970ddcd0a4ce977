"""The reach of a gateway, concluded from the end of its last request: whether it answers and accepts the key.

A gateway that refuses a request was reached; one to which nothing could be sent may be running. The first frame of the
window shows a state, so failures and advice, which take long to import, are imported by the functions that need them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playground.domain.errors import Failure


class Reach(StrEnum):
    """The state of a gateway."""

    UNKNOWN = "unknown"  # there was no request yet
    OK = "ok"  # it answered
    REFUSED = "refused"  # it answered, and refuses the key
    FAILING = "failing"  # it answered with an error of its own
    ODD = "odd"  # the answer is not that of a gateway
    SILENT = "silent"  # connected, and no answer in time
    NO_KEY = "no_key"  # nothing was sent: the key is missing
    HELD = "held"  # nothing was sent: a person has to agree first
    UNREACHED = "unreached"  # no connection


#: The states in words, for tooltips and the status bar.
WORDS: Final = {
    Reach.UNKNOWN: "not tested yet",
    Reach.OK: "reached",
    Reach.REFUSED: "reached, the key is refused",
    Reach.FAILING: "reached, internal error",
    Reach.ODD: "reached, it does not answer as a gateway does",
    Reach.SILENT: "connected, no answer in time",
    Reach.NO_KEY: "not tested, the key is missing",
    Reach.HELD: "not tested, needs your approval",
    Reach.UNREACHED: "not reached",
}


def reach_of(failure: Failure | None, *, answered: bool = False) -> Reach | None:
    """Return the reach after a request with that failure, or without one; None if it allows no conclusion.

    ``answered``: status and headers had arrived.
    """
    from playground.domain.errors import FailureGroup, FailureKind

    if failure is None:
        return Reach.OK
    if failure.kind is FailureKind.HTTP:
        return _reach_of_refusal(failure)
    if failure.kind in (FailureKind.INPUT, FailureKind.INTERNAL):
        return Reach.OK if answered else None
    if answered and failure.group in (FailureGroup.TIMEOUT, FailureGroup.NETWORK):
        return Reach.OK
    if failure.group in (FailureGroup.NETWORK, FailureGroup.TLS):
        return Reach.UNREACHED
    by_kind = {
        FailureKind.NO_KEY: Reach.NO_KEY,
        FailureKind.CONSENT: Reach.HELD,
        FailureKind.NOT_HTTP: Reach.ODD,
        FailureKind.DECODE: Reach.ODD,
        FailureKind.REDIRECT: Reach.ODD,
        FailureKind.TIMEOUT_FIRST: Reach.SILENT,
        FailureKind.TIMEOUT_TOTAL: Reach.SILENT,
    }
    return by_kind.get(failure.kind, Reach.OK)


def _reach_of_refusal(failure: Failure) -> Reach:
    from playground.domain.errors import FailureGroup
    from playground.engine.advice import advise
    from playground.engine.advice.by_kind import KEY_MEANINGS

    if advise(failure).meaning in KEY_MEANINGS:
        return Reach.REFUSED
    if failure.status == 407:
        return Reach.UNREACHED
    return Reach.FAILING if failure.group is FailureGroup.GATEWAY else Reach.OK
