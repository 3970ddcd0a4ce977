"""Failures of bodies that are no answer, or not all of one, with their sentences for people."""

from __future__ import annotations

from typing import Final

from playground.domain.errors import Failure, FailureCause, FailureKind
from playground.jsonkit import foreign

EXCERPT: Final = 65536  # characters of a body that are kept with a failure


def no_body() -> Failure:
    """Return the failure of an empty body."""
    return Failure(kind=FailureKind.NO_BODY, message="The gateway began an answer, and its body holds nothing.")


def stopped_short(events: int, end_marker: str, last: str = "") -> Failure:
    """Return the failure of a stream cut off after that many ``events``; ``last`` is text outside the answer."""
    when = f"after {events} event{'s' * (events != 1)}" if events else "before any event"
    message = f"The stream stopped {when}: neither a finish reason nor {end_marker} came."
    extra = f" Also received: “{foreign.whole(last[:300])}”." if last else ""
    return Failure(kind=FailureKind.CUT_OFF, message=message + extra)


def nothing_in_it(reason: str | None) -> Failure:
    """Return the failure of a complete, empty answer; ``reason`` is its finish reason."""
    how = f"with “{foreign.whole(reason[:60])}”" if reason else "without a finish reason"
    return Failure(kind=FailureKind.EMPTY, message=f"The answer ended {how}, and neither text nor a call came.")


def nothing_readable(note: str) -> Failure:
    """Return the failure of an answer without readable content; ``note`` describes the deviation."""
    return Failure(kind=FailureKind.DECODE, message=f"Nothing of the answer could be read: {note}.")


def not_json(text: str, reason: str) -> Failure:
    """Return the failure of a body that is broken JSON: cut off where more is needed, else malformed."""
    if foreign.breaks_off(text):
        message = f"The body is JSON that breaks off after {len(text.rstrip())} characters."
        return _quoting(FailureKind.CUT_OFF, message, text, FailureCause.BROKEN_OFF)
    message = f"The body cannot be read as JSON: {foreign.whole(reason[:200])}."
    return _quoting(FailureKind.DECODE, message, text, FailureCause.MALFORMED)


def no_answer(what: str, text: str) -> Failure:
    """Return the failure of a JSON body that is no answer; ``what`` is the reason."""
    return _quoting(FailureKind.DECODE, f"The body is JSON, but {what}.", text)


def other_protocol(expected: str, received: str, text: str) -> Failure:
    """Return the failure of an answer in another protocol; both are named for people."""
    message = f"This is an answer of {received}, and it was read as one of {expected}."
    return _quoting(FailureKind.OTHER_PROTOCOL, message, text)


def too_large(cap: int) -> Failure:
    """Return the failure of an event, or a whole body, above ``cap`` bytes."""
    size = f"{cap / 1048576:g} MiB" if cap >= 1048576 else f"{cap} bytes"
    return Failure(kind=FailureKind.TOO_LARGE, message=f"One event is larger than {size}.")


def _quoting(kind: FailureKind, message: str, text: str, cause: FailureCause | None = None) -> Failure:
    return Failure(kind=kind, message=message, body=foreign.whole(text[:EXCERPT]), cause=cause)
