"""Rate-limit headers, in all the spellings gateways use, made into one shape with the raw value beside it.

Specification, section 8: ``X-RateLimit-Limit``, ``-Remaining`` and ``-Reset`` (Unix epoch seconds). Seen besides:
``-requests`` and ``-tokens`` variants, ``anthropic-ratelimit-*``, ``RateLimit`` and ``RateLimit-Policy`` of the IETF
drafts, and resets as epoch milliseconds, seconds from now, Go durations and RFC 3339. Nothing here decides to wait.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import islice

from playground.domain.durations import read_duration

_NAME = re.compile(r"^(?:x-|anthropic-|openai-)?rate-?limit-([a-z0-9-]+)$")
_NUMBER = re.compile(r"^\s*([0-9]+(?:\.[0-9]+)?)")
_FIELD = re.compile(r"^(?:x-)?rate-?limit(-policy)?$")
#: One member of a structured field: a string, a word or a number, then its parameters (RFC 9651).
_ITEM = re.compile(
    r'\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",;=]+))\s*(?:=\s*([^\s",;]+))?\s*((?:;[^",;]*(?:"[^"]*")?[^",;]*)*)'
)
_SECOND_NAME = re.compile(r';\s*"([^"]*)"')
_PARAMETER = re.compile(r';\s*([a-z*][a-z0-9_.*-]*)\s*=\s*"?([^";\s]*)', re.IGNORECASE)
_MOST_FIELDS = 50  # members of one header
_LONGEST_FIELD = 4096  # characters of one header

#: Numbers above these are a point in time, not a duration: 1973 in seconds, and the same in milliseconds.
_EPOCH_SECONDS = 1e8
_EPOCH_MILLISECONDS = 1e11

#: Seconds by which two clocks may differ and still count as the same: Date is rounded, and an answer takes time.
_AGREES = 5.0


@dataclass(frozen=True)
class RateLimit:
    """One window. ``dimension`` is "" (unnamed), "requests", "tokens", "input-tokens" ...

    ``reset_in`` is in seconds from the time given to ``read_limits``; None where the value says nothing readable.
    The ``raw`` triple is limit, remaining and reset as sent ("" where not sent).
    """

    dimension: str = ""
    limit: float | None = None
    remaining: float | None = None
    reset_in: float | None = None
    raw: tuple[str, str, str] = ("", "", "")

    @property
    def share(self) -> float | None:
        """What remains, from 0 to 1; None where it cannot be said."""
        if self.limit is None or self.remaining is None or self.limit <= 0:
            return None
        return min(1.0, max(0.0, self.remaining / self.limit))


@dataclass(frozen=True)
class RateLimits:
    """All windows that an answer told of; false when there were none. ``read_at`` is Unix time in seconds."""

    windows: tuple[RateLimit, ...] = ()
    read_at: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.windows)

    @property
    def tightest(self) -> RateLimit | None:
        """The window with the smallest remaining share; else the first one."""
        known = [window for window in self.windows if window.share is not None]
        if known:
            return min(known, key=lambda window: window.share or 0.0)
        return self.windows[0] if self.windows else None


def read_limits(headers: Iterable[tuple[str, str]], now: float) -> RateLimits:
    """The limits in ``headers`` (name, value), read at ``now`` (Unix seconds). Never raises on any value.

    Points in time are measured by the gateway's own clock where it sent one, so that ours may be wrong.
    """
    pairs = list(headers)
    theirs = gateway_time(pairs, now)
    windows: dict[str, RateLimit] = {}
    for name, sent in pairs:
        if (field := _FIELD.match(name.lower())) is not None:
            _add_fields(windows, sent, theirs, policy=bool(field[1]))
            continue
        found = _NAME.match(name.lower())
        if found is None:
            continue
        words = found[1].split("-")
        what = next((word for word in words if word in ("limit", "remaining", "reset")), None)
        if what is None or words[-1] == "after":
            continue
        words.remove(what)
        dimension = "-".join(words)
        window = windows.get(dimension, RateLimit(dimension))
        limit, remaining, reset = window.raw
        value = sent.strip()
        if what == "limit":
            window = replace(window, limit=read_number(value), raw=(value, remaining, reset))
        elif what == "remaining":
            window = replace(window, remaining=read_number(value), raw=(limit, value, reset))
        else:
            window = replace(window, reset_in=read_reset(value, theirs), raw=(limit, remaining, value))
        windows[dimension] = window
    return RateLimits(tuple(windows.values()), now)


def _add_fields(windows: dict[str, RateLimit], value: str, now: float, *, policy: bool) -> None:
    """Add what ``RateLimit`` or, for ``policy``, ``RateLimit-Policy`` says (IETF draft, ratelimit-headers).

    The newer form names each window (``"default";r=50;t=30`` with ``"default";q=100;w=60``), the older one has one
    (``limit=100, remaining=50, reset=30`` with ``100;w=60``).
    """
    for text, word, assigned, rest in islice(_ITEM.findall(value[:_LONGEST_FIELD]), _MOST_FIELDS):
        parameters = {name.lower(): item for name, item in _PARAMETER.findall(rest)}
        if assigned:
            sent = (assigned, "", "") if word == "limit" else ("", assigned, "") if word == "remaining" else None
            sent = ("", "", assigned) if word == "reset" else sent
            name = ""
        elif policy and word and read_number(word) is not None:
            name, sent = "", (word, "", "")
        else:
            second = _SECOND_NAME.search(rest)  # some put the kind of the policy before its name
            name = second[1] if second is not None else text or word
            sent = (parameters.get("q", ""), parameters.get("r", ""), parameters.get("t", ""))
        if sent is None or not any(sent):
            continue
        name = "" if name.lower() == "default" else name[:80]
        window = windows.get(name, RateLimit(name))
        limit, remaining, reset = (new or old for new, old in zip(sent, window.raw, strict=True))
        if policy and window.raw[0]:  # of several policies under one name the first counts, as the answer's own limit
            limit = window.raw[0]
        windows[name] = RateLimit(
            name, read_number(limit), read_number(remaining), read_reset(reset, now), (limit, remaining, reset)
        )


def read_date(headers: Iterable[tuple[str, str]]) -> float | None:
    """When the answer was sent by the gateway's clock (Unix seconds, whole ones), from Date and Age; None unsaid."""
    values = {name.lower(): value.strip() for name, value in headers}
    moment = _moment(values.get("date", ""))
    age = read_number(values.get("age", ""))
    return None if moment is None else moment + (age or 0.0)


def gateway_time(headers: Iterable[tuple[str, str]], now: float) -> float:
    """Now (Unix seconds) by the clock of the gateway; ours, which is finer, where they agree or it sent none."""
    theirs = read_date(headers)
    return now if theirs is None or abs(theirs - now) < _AGREES else theirs


def read_number(value: str) -> float | None:
    """The number that ``value`` begins with ("100", "100;w=60", "100, 100;w=60"); None when it begins with none."""
    found = _NUMBER.match(value)
    return float(found[1]) if found is not None else None


def read_reset(value: str, now: float) -> float | None:
    """Seconds from ``now`` (Unix seconds) until the time that ``value`` means, at least 0; None when unreadable."""
    value = value.strip()
    try:
        number = float(value)
    except ValueError:
        return _read_worded_reset(value, now)
    if not 0 <= number < float("inf"):
        return None
    if number >= _EPOCH_MILLISECONDS:
        return max(0.0, number / 1000 - now)
    if number >= _EPOCH_SECONDS:
        return max(0.0, number - now)
    return number


def _read_worded_reset(value: str, now: float) -> float | None:
    if (seconds := read_duration(value)) is not None:
        return seconds
    moment = _moment(value)
    return None if moment is None else max(0.0, moment - now)


@lru_cache(maxsize=8)  # hundreds of answers may come within the second that their Date names
def _moment(value: str) -> float | None:
    """Unix seconds of an RFC 3339 or HTTP date; None for anything else."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.timestamp()
    except (OverflowError, ValueError):
        return None
