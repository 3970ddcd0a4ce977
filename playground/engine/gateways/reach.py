"""What is known of a gateway from what was asked of it last: whether it answers, and whether the key is there.

Only ever what was seen. A gateway that refuses a request was reached; one to which nothing could be sent may well run.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playground.domain.errors import Failure


class Reach(StrEnum):
    """How it stands with a gateway."""

    UNKNOWN = "unknown"  # nothing was asked yet
    OK = "ok"  # it answered
    REFUSED = "refused"  # it answered, and does not let the key in
    FAILING = "failing"  # it answered with an error of its own
    ODD = "odd"  # something answered, and not as a gateway does
    SILENT = "silent"  # connected, and no answer in time
    NO_KEY = "no_key"  # nothing was sent: the key is not here
    HELD = "held"  # nothing was sent: a person has to agree first
    UNREACHED = "unreached"  # no connection


#: In words, for the dot's tooltip and the bottom line.
WORDS: Final = {
    Reach.UNKNOWN: "not asked yet",
    Reach.OK: "reached",
    Reach.REFUSED: "reached, the key is refused",
    Reach.FAILING: "reached, it answered with an error of its own",
    Reach.ODD: "reached, it does not answer as a gateway does",
    Reach.SILENT: "connected, no answer in time",
    Reach.NO_KEY: "not asked, the key is missing",
    Reach.HELD: "not asked, it waits for your yes",
    Reach.UNREACHED: "not reached",
}


def reach_of(failure: Failure | None, *, answered: bool = False) -> Reach | None:
    """What a request that ended so tells; None where it tells nothing of the gateway.

    ``answered`` says that status and headers had come, for a failure that does not tell.
    """
    from playground.domain.errors import FailureKind

    if failure is None:
        return Reach.OK
    if failure.kind is FailureKind.HTTP:
        return _by_refusal(failure)
    if failure.kind in (FailureKind.INPUT, FailureKind.INTERNAL):
        return Reach.OK if answered else None
    known = {
        FailureKind.NO_KEY: Reach.NO_KEY,
        FailureKind.CONSENT: Reach.HELD,
        FailureKind.NOT_HTTP: Reach.ODD,
        FailureKind.DECODE: Reach.ODD,
        FailureKind.REDIRECT: Reach.ODD,
        FailureKind.TIMEOUT_FIRST: Reach.OK if answered else Reach.SILENT,
        FailureKind.TIMEOUT_TOTAL: Reach.OK if answered else Reach.SILENT,
        FailureKind.CONNECTION: Reach.OK if answered else Reach.UNREACHED,
        FailureKind.NAME: Reach.UNREACHED,
        FailureKind.REFUSED: Reach.UNREACHED,
        FailureKind.TLS: Reach.UNREACHED,
        FailureKind.TIMEOUT_CONNECT: Reach.UNREACHED,
    }
    return known.get(failure.kind, Reach.OK)


def _by_refusal(failure: Failure) -> Reach:
    from playground.engine.advice import advise
    from playground.engine.advice.by_kind import KEY_MEANINGS

    if advise(failure).meaning in KEY_MEANINGS:
        return Reach.REFUSED
    status = failure.status or 0
    if status == 407:
        return Reach.UNREACHED
    return Reach.FAILING if status >= 500 else Reach.OK
