"""When to try again, as pure functions: the caller sleeps, counts and asks.

Exponential back-off with jitter (specification, section 7.3, rule 1), never shorter than what the gateway asked
for. Trying again after the first content byte is the caller's to forbid: here only the failure is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from random import Random

from playground.domain.errors import Failure, FailureKind
from playground.gateway.limits import RateLimits, gateway_time, read_reset

RETRIED_STATUS = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
RETRIED_KINDS = frozenset({FailureKind.REFUSED, FailureKind.CONNECTION, FailureKind.TIMEOUT_CONNECT})

#: Seconds. Above ``LONGEST`` a person is asked instead.
FIRST_DELAY = 0.5
LARGEST_BACKOFF = 30.0
LONGEST = 120.0

#: What the native protocol calls an error that passes, inside a stream that began with 200.
_PASSING_TYPES = frozenset({"overloaded_error", "rate_limit_error"})

#: What a dimension of the specification (section 8) counts, as limit headers name it.
_UNITS = {"R": "requests", "T": "tokens", "I": "images"}

#: A 429 that says this is no rate limit and does not pass by waiting.
_EMPTY = r"insufficient|balance|credit|payment|budget|arrear|prepaid|fund|spend|余额|额度|欠费"
_MONEY = rf"{_EMPTY}|billing"
_NAMES_EMPTY = re.compile(_EMPTY, re.IGNORECASE)
_MONEY_CODE = re.compile(_MONEY, re.IGNORECASE)
_NO_MONEY = re.compile(rf"{_MONEY}|quota|(?:usage|monthly|plan) limit", re.IGNORECASE)
#: Some call a rate a quota, and say for which time it counts.
_A_RATE = re.compile(
    r"\brate[ _-]?limit|too many requests|resource (?:has been )?exhausted|"
    r"(?<![a-z])per[ _-]?(?:sec(?:ond)?|min(?:ute)?)(?![a-z])|requests?/m|\b[rti]p[sm]\b|"
    r"(?-i:Per(?:Second|Minute))",
    re.IGNORECASE,
)


def read_retry_after(headers: Iterable[tuple[str, str]], now: float) -> float | None:
    """Seconds to wait, from ``retry-after-ms`` or ``Retry-After`` (seconds or an HTTP date). None when not said."""
    pairs = list(headers)
    values = {name.lower(): value.strip() for name, value in pairs}
    try:
        milliseconds = float(values.get("retry-after-ms", ""))
    except ValueError:
        pass
    else:
        if 0 <= milliseconds < float("inf"):
            return milliseconds / 1000
    return read_reset(values["retry-after"], gateway_time(pairs, now)) if values.get("retry-after") else None


def wait_for_window(limits: RateLimits, dimension: str | None = None) -> float | None:
    """Seconds until a 429 may pass, from its rate-limit headers when it named no wait; None when they do not say.

    The windows of the ``dimension`` that the message names count, else all. Of those that are used up the last to
    open again is waited for; where none says so, the one with the least left.
    """
    unit = _UNITS.get((dimension or " ")[0], "")
    known = [window for window in limits.windows if window.reset_in is not None]
    windows = [window for window in known if unit and unit in window.dimension] or known
    used_up = [window.reset_in or 0.0 for window in windows if window.remaining is not None and window.remaining <= 0]
    if used_up:
        return max(used_up)
    tightest = RateLimits(tuple(windows)).tightest
    return tightest.reset_in if tightest is not None else None


def read_should_retry(headers: Iterable[tuple[str, str]]) -> bool | None:
    """What the gateway says itself in ``x-should-retry``; None when it says nothing."""
    for name, value in headers:
        if name.lower() == "x-should-retry" and value.strip().lower() in ("true", "false"):
            return value.strip().lower() == "true"
    return None


def is_transient(failure: Failure, should_retry: bool | None = None) -> bool:
    """Whether the same request may well succeed later. ``should_retry`` is the gateway's own word."""
    if should_retry is not None and failure.kind is FailureKind.HTTP:
        return should_retry
    if failure.kind in RETRIED_KINDS:
        return True
    if failure.kind is FailureKind.STREAM and failure.type in _PASSING_TYPES:
        return True
    if failure.kind not in (FailureKind.HTTP, FailureKind.STREAM) or failure.status not in RETRIED_STATUS:
        return False
    return failure.status != 429 or not reports_no_balance(failure)


def reports_no_balance(failure: Failure) -> bool:
    """Return whether an account is empty, rather than a rate limit reached for a minute. A code outweighs the words."""
    code = f"{failure.code or ''} {failure.type or ''}"
    if _MONEY_CODE.search(code):
        return True
    is_rate = failure.dimension is not None or _A_RATE.search(failure.message)
    if failure.retry_after is not None and not _NAMES_EMPTY.search(failure.message):
        is_rate = True  # an empty account does not fill up by waiting
    return not is_rate and _NO_MONEY.search(f"{code} {failure.message}") is not None


def delay_after(failure: Failure, attempt: int, rng: Random, should_retry: bool | None = None) -> float | None:
    """Seconds to wait before the next try after the ``attempt``-th one (from 1) failed; None: not by itself, ask.

    Full jitter above half of the back-off, so that clients do not come back together. A wait that the gateway named,
    or that its rate-limit headers gave (``failure.retry_after``), is kept to and jitter is put on top; above
    ``LONGEST`` it is for a person to decide. ``should_retry`` is what ``read_should_retry`` found.
    """
    if not is_transient(failure, should_retry):
        return None
    backoff = min(LARGEST_BACKOFF, FIRST_DELAY * 2.0 ** min(max(attempt, 1) - 1, 16))
    jittered = backoff * (0.5 + 0.5 * rng.random())
    if failure.retry_after is None:
        return jittered
    if failure.retry_after > LONGEST:
        return None
    return max(jittered, failure.retry_after + min(1.0, jittered) * 0.5)
