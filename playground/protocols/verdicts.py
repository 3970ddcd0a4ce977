"""What is said of a body that is no answer, or not all of one: each failure in words, true for what came.

Nothing here looks at events; whoever read the body knows what came of it.
"""

from __future__ import annotations

from typing import Final

from playground.domain.errors import Failure, FailureKind
from playground.jsonkit import foreign

EXCERPT: Final = 65536  # characters of a body that are kept with a failure


def no_body() -> Failure:
    """A status and headers came, and nothing else."""
    return Failure(kind=FailureKind.NO_BODY, message="The gateway began an answer, and its body holds nothing.")


def stopped_short(events: int, end_marker: str, last: str = "") -> Failure:
    """A stream ended after so many events of an answer, without saying why; ``last`` came, which is none of it."""
    when = f"after {events} event{'s' * (events != 1)}" if events else "before any event"
    message = f"The stream stopped {when}: neither a finish reason nor {end_marker} came."
    told = f" What came besides: “{foreign.whole(last[:300])}”." if last else ""
    return Failure(kind=FailureKind.CUT_OFF, message=message + told)


def nothing_in_it(reason: str | None) -> Failure:
    """A complete answer is empty; ``reason`` is its finish reason."""
    how = f"with “{foreign.whole(reason[:60])}”" if reason else "without a finish reason"
    return Failure(kind=FailureKind.EMPTY, message=f"The answer ended {how}, and neither text nor a call came.")


def nothing_readable(note: str) -> Failure:
    """All of a complete answer that might have been content could not be read; ``note`` says what was odd."""
    return Failure(kind=FailureKind.DECODE, message=f"Nothing of the answer could be read: {note}.")


def not_json(text: str, reason: str) -> Failure:
    """A body that began like JSON and is none: cut off where more of it would have to come, else malformed."""
    if foreign.breaks_off(text):
        message = f"The body is JSON that breaks off after {len(text.rstrip())} characters."
        return _quoting(FailureKind.CUT_OFF, message, text)
    return _quoting(FailureKind.DECODE, f"The body cannot be read as JSON: {foreign.whole(reason[:200])}.", text)


def no_answer(what: str, text: str) -> Failure:
    """A body is JSON and no answer; ``what`` says why it is none."""
    return _quoting(FailureKind.DECODE, f"The body is JSON, but {what}.", text)


def other_protocol(asked: str, came: str, text: str) -> Failure:
    """All that came is of the protocol that was not asked; both are named for people."""
    message = f"This is an answer of {came}, and it was read as one of {asked}."
    return _quoting(FailureKind.OTHER_PROTOCOL, message, text)


def too_large(cap: int) -> Failure:
    """One event, or the whole body, is above ``cap`` bytes."""
    size = f"{cap / 1048576:g} MiB" if cap >= 1048576 else f"{cap} bytes"
    return Failure(kind=FailureKind.TOO_LARGE, message=f"One event is larger than {size}.")


def _quoting(kind: FailureKind, message: str, text: str) -> Failure:
    return Failure(kind=kind, message=message, body=foreign.whole(text[:EXCERPT]))
