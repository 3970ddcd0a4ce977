"""Rate limits: reads the headers of all gateways into one shape, and tells how long the next request has to wait.

Specification, section 8: ``X-RateLimit-Limit``, ``-Remaining`` and ``-Reset`` (Unix epoch seconds). Seen besides:
``-requests`` and ``-tokens`` variants, ``anthropic-ratelimit-*``, ``RateLimit`` and ``RateLimit-Policy`` of the IETF
drafts, and resets as epoch milliseconds, seconds from now, Go durations and RFC 3339. Nothing here waits.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import islice
from typing import Final

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

#: Seconds by which two clocks may differ and still count as equal: Date is rounded, and an answer takes time.
_AGREES = 5.0

#: The longest wait in seconds that a ``Limiter`` asks for; after a longer one the next refusal decides.
LONGEST: Final = 120.0

#: Dimensions of windows that count requests; "" is that of a single window.
_REQUESTS: Final = frozenset({"", "requests"})


@dataclass(frozen=True)
class RateLimit:
    """One window. ``dimension`` is "" (unnamed), "requests", "tokens", "input-tokens" ...

    ``reset_in`` is in seconds from the time given to ``read_limits``; None if the value is unreadable.
    The ``raw`` triple is limit, remaining and reset as sent ("" where not sent).
    """

    dimension: str = ""
    limit: float | None = None
    remaining: float | None = None
    reset_in: float | None = None
    raw: tuple[str, str, str] = ("", "", "")

    @property
    def share(self) -> float | None:
        """The remaining share, from 0 to 1; None if unknown."""
        if self.limit is None or self.remaining is None or self.limit <= 0:
            return None
        return min(1.0, max(0.0, self.remaining / self.limit))


@dataclass(frozen=True)
class RateLimits:
    """All windows in the headers of an answer; false when there are none. ``read_at`` is Unix time in seconds."""

    windows: tuple[RateLimit, ...] = ()
    read_at: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.windows)

    @property
    def tightest(self) -> RateLimit | None:
        """The window with the smallest remaining share; if no share is known the first one."""
        measured = [window for window in self.windows if window.share is not None]
        if measured:
            return min(measured, key=lambda window: window.share or 0.0)
        return self.windows[0] if self.windows else None


class Limiter:
    """Counts the requests that a gateway still accepts, for all that send to it through one client.

    It trusts the headers of the last answer, counted down by the requests sent since, until the end of their window;
    and a wait that any answer asked for. Callers do the waiting. ``clock`` gives monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._remaining: float | None = None  # requests in this window; None if unknown
        self._window_end = 0.0
        self._pause_end = 0.0
        self._under_way = 0

    @property
    def delay(self) -> float:
        """Seconds until the next request may be sent; 0 when it may be sent now."""
        now = self._clock()
        wait = self._pause_end - now
        remaining = self.remaining
        if remaining is not None and remaining < 1:
            wait = max(wait, self._window_end - now)
        return max(wait, 0.0)

    @property
    def remaining(self) -> float | None:
        """Requests that may still be sent in this window; None if unknown."""
        if self._remaining is not None and self._clock() >= self._window_end:
            self._remaining = None
        return self._remaining

    def begin(self) -> None:
        """Count a request that is sent."""
        self._under_way += 1
        if self._remaining is not None:
            self._remaining -= 1

    def end(self) -> None:
        """Count the end of a request."""
        self._under_way -= 1

    def give_back(self) -> None:
        """Undo ``begin`` for a request that was not sent."""
        self._under_way -= 1
        if self._remaining is not None:
            self._remaining += 1

    def note(self, limits: RateLimits) -> None:
        """Take over the limits of an answer. They may not include requests that are under way."""
        now = self._clock()
        for window in limits.windows:
            reset = window.reset_in
            if window.remaining is None or reset is None or reset <= 0:
                continue
            end = now + min(reset, LONGEST)
            if window.dimension in _REQUESTS:
                self._remaining = max(window.remaining - max(self._under_way - 1, 0), 0.0)
                self._window_end = end
            elif window.remaining <= 0:
                self._pause_end = max(self._pause_end, end)

    def hold(self, seconds: float) -> None:
        """Send nothing for that time, as an answer asked."""
        self._pause_end = max(self._pause_end, self._clock() + min(seconds, LONGEST))


def read_limits(headers: Iterable[tuple[str, str]], now: float) -> RateLimits:
    """Return the limits in ``headers`` (name, value), read at ``now`` (Unix seconds). Never raises on any value.

    Points in time are measured by the gateway's own clock where it sent its time, since ours may be wrong.
    """
    pairs = list(headers)
    theirs = gateway_time(pairs, now)
    windows: dict[str, RateLimit] = {}
    for name, sent in pairs:
        if (field := _FIELD.match(name.lower())) is not None:
            _add_fields(windows, sent, theirs, policy=bool(field[1]))
            continue
        match = _NAME.match(name.lower())
        if match is None:
            continue
        words = match[1].split("-")
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
    """Add the windows of ``RateLimit`` or, for ``policy``, ``RateLimit-Policy`` (IETF draft, ratelimit-headers).

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
            second = _SECOND_NAME.search(rest)  # some gateways put the kind of the policy before its name
            name = second[1] if second is not None else text or word
            sent = (parameters.get("q", ""), parameters.get("r", ""), parameters.get("t", ""))
        if sent is None or not any(sent):
            continue
        name = "" if name.lower() == "default" else name[:80]
        window = windows.get(name, RateLimit(name))
        limit, remaining, reset = (new or old for new, old in zip(sent, window.raw, strict=True))
        if policy and window.raw[0]:  # of several with one name the first counts
            limit = window.raw[0]
        windows[name] = RateLimit(
            name, read_number(limit), read_number(remaining), read_reset(reset, now), (limit, remaining, reset)
        )


def read_date(headers: Iterable[tuple[str, str]]) -> float | None:
    """Return the whole Unix seconds of the answer by the gateway's clock, from Date and Age; None if unknown."""
    values = {name.lower(): value.strip() for name, value in headers}
    moment = _moment(values.get("date", ""))
    age = read_number(values.get("age", ""))
    return None if moment is None else moment + (age or 0.0)


def gateway_time(headers: Iterable[tuple[str, str]], now: float) -> float:
    """Return Unix seconds by the gateway's clock; ``now``, which is finer, if they agree or it sent no time."""
    theirs = read_date(headers)
    return now if theirs is None or abs(theirs - now) < _AGREES else theirs


def read_number(value: str) -> float | None:
    """Return the number at the beginning of ``value`` ("100", "100;w=60", "100, 100;w=60"); None if there is none."""
    match = _NUMBER.match(value)
    return float(match[1]) if match is not None else None


def read_reset(value: str, now: float) -> float | None:
    """Return the seconds from ``now`` (Unix seconds) to the time in ``value``, at least 0; None if unreadable."""
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
    """Return the Unix seconds of an RFC 3339 or HTTP date; None for anything else."""
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
