"""Decides about retries, as pure functions: which failures are transient, and how long to wait.

Exponential back-off with jitter (specification, section 7.3, rule 1), never shorter than the gateway asked for. The
caller waits and counts, and forbids retries after the first byte of content.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from random import Random

from playground.domain.errors import Failure, FailureKind
from playground.gateway.limits import RateLimits, gateway_time, read_reset

RETRIED_STATUS = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
RETRIED_KINDS = frozenset({FailureKind.REFUSED, FailureKind.CONNECTION, FailureKind.TIMEOUT_CONNECT})

#: Seconds. For a wait above ``LONGEST`` a person decides.
FIRST_DELAY = 0.5
LARGEST_BACKOFF = 30.0
LONGEST = 120.0

#: Types of transient errors of the native protocol inside a stream that began with 200.
_PASSING_TYPES = frozenset({"overloaded_error", "rate_limit_error"})

#: The unit of a dimension of the specification (section 8), as limit headers name it.
_UNITS = {"R": "requests", "T": "tokens", "I": "images"}

#: Words of a 429 for an empty account, which does not pass by waiting.
_EMPTY = r"insufficient|balance|credit|payment|budget|arrear|prepaid|fund|spend|余额|额度|欠费"
_MONEY = rf"{_EMPTY}|billing"
_NAMES_EMPTY = re.compile(_EMPTY, re.IGNORECASE)
_MONEY_CODE = re.compile(_MONEY, re.IGNORECASE)
_NO_MONEY = re.compile(rf"{_MONEY}|quota|(?:usage|monthly|plan) limit", re.IGNORECASE)
#: Words for a rate, which some gateways call a quota.
_A_RATE = re.compile(
    r"\brate[ _-]?limit|too many requests|resource (?:has been )?exhausted|"
    r"(?<![a-z])per[ _-]?(?:sec(?:ond)?|min(?:ute)?)(?![a-z])|requests?/m|\b[rti]p[sm]\b|"
    r"(?-i:Per(?:Second|Minute))",
    re.IGNORECASE,
)


def read_retry_after(headers: Iterable[tuple[str, str]], now: float) -> float | None:
    """Return the seconds to wait, from ``retry-after-ms`` or ``Retry-After`` (seconds or an HTTP date), or None."""
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
    """Return the seconds until the end of the window that a 429 ran into, from its limits; None if unknown.

    Considers the windows of the ``dimension`` in the message, else all; of these the used-up window that ends last, or
    the one with the smallest remaining share.
    """
    unit = _UNITS.get((dimension or " ")[0], "")
    ending = [window for window in limits.windows if window.reset_in is not None]
    windows = [window for window in ending if unit and unit in window.dimension] or ending
    used_up = [window.reset_in or 0.0 for window in windows if window.remaining is not None and window.remaining <= 0]
    if used_up:
        return max(used_up)
    tightest = RateLimits(tuple(windows)).tightest
    return tightest.reset_in if tightest is not None else None


def read_should_retry(headers: Iterable[tuple[str, str]]) -> bool | None:
    """Return the gateway's own verdict in ``x-should-retry``; None if it has none."""
    for name, value in headers:
        if name.lower() == "x-should-retry" and value.strip().lower() in ("true", "false"):
            return value.strip().lower() == "true"
    return None


def is_transient(failure: Failure, should_retry: bool | None = None) -> bool:
    """Return whether the same request may succeed later. ``should_retry`` is the gateway's own verdict."""
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
    """Return whether an account is empty, rather than a rate limit reached. A code outweighs the words."""
    code = f"{failure.code or ''} {failure.type or ''}"
    if _MONEY_CODE.search(code):
        return True
    is_rate = failure.dimension is not None or _A_RATE.search(failure.message)
    if failure.retry_after is not None and not _NAMES_EMPTY.search(failure.message):
        is_rate = True  # an empty account does not fill up by waiting
    return not is_rate and _NO_MONEY.search(f"{code} {failure.message}") is not None


def delay_after(failure: Failure, attempt: int, rng: Random, should_retry: bool | None = None) -> float | None:
    """Return the seconds to wait after the failure of the ``attempt``-th attempt (from 1); None for no retry.

    The back-off has full jitter above its half, so that clients do not return together. A wait that the gateway asked
    for (``failure.retry_after``) gets jitter on top; above ``LONGEST`` a person decides. ``should_retry`` is the result
    of ``read_should_retry``.
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
