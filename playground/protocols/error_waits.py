"""Read from an error how long to wait, and which rate limit it names (specification, section 8)."""

from __future__ import annotations

import re
from typing import Final

from playground.domain.durations import read_duration

_SEARCHED: Final = 64 * 1024  # characters of a body, and
_SEARCHED_MESSAGE: Final = 16 * 1024  # of a message
#: ``google.rpc.RetryInfo``: "3.2s", or the object that a duration is in some bodies. JSON may be inside a text.
_RETRY_DELAY: Final = re.compile(
    r'(?:retry_?delay|quotaResetDelay)\\*"\s*:\s*(?:\\*"(?P<text>[\d.hm]{1,40}s)|\{\s*\\*"seconds\\*"\s*:\s*\\*"?(?P<seconds>\d{1,12}))',
    re.IGNORECASE,
)
_RETRY_AFTER: Final = re.compile(
    r'(?:retry[_-]?after|estimated_time)(?:[_-]?(?P<unit>seconds|secs?|milliseconds|ms))?\\*"\s*:\s*\\*"?(?P<number>\d{1,12}(?:\.\d{1,9})?)'
    r'(?=[\\"\s,}\]]|s\\*"|\Z)',
    re.IGNORECASE,
)
_UNIT: Final = r"(?:d(?:ays?)?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?|s|illiseconds?)?|s(?:ec(?:ond)?s?)?)"
_BEFORE_WAIT: Final = (
    r"(?:(?:try|retry)(?:ing)?(?: your request| the request| again| this)*(?: in| after)"
    r"|wait(?: for| at least)?|resets? (?:in|after))"
)
_AMOUNT: Final = r"\d{1,9}(?:\.\d{1,9})?"
_SPOKEN: Final = re.compile(
    rf"\b{_BEFORE_WAIT}:?\s+(?:about\s+)?"
    rf"(?P<wait>{_AMOUNT}\s?{_UNIT}\b(?:,?\s?(?:and )?{_AMOUNT}\s?{_UNIT}\b)*"
    rf"|(?:{_AMOUNT}(?:d|h|ms|m|s))+(?![A-Za-z0-9]))",
    re.IGNORECASE,
)

_DIMENSION: Final = re.compile(r"(?<![A-Za-z])(RPM|RPD|TPM|TPD|IPM|IPD)(?![A-Za-z])")
_SPELLED: Final = re.compile(
    r"(?<![a-z])(request|token|image)s?[ _-](?:per|/)[ _-](min(?:ute)?|day)(?![a-z])", re.IGNORECASE
)
_QUOTA_ID: Final = re.compile(
    r"quotaId\W{1,9}\w{0,80}?(Request|Token|Image)s?(?:Per(?!Minute|Day)[A-Z][a-z]{1,20}){0,4}Per(Minute|Day)"
)


def wait_in_error(text: str, message: str) -> float | None:
    """Return the seconds to wait that an error's body ``text`` or its ``message`` name; None where they name none."""
    if delay := _RETRY_DELAY.search(text, 0, _SEARCHED):
        return read_duration(delay["text"]) if delay["text"] else float(delay["seconds"])
    if after := _RETRY_AFTER.search(text, 0, _SEARCHED):
        thousandths = (after["unit"] or "").lower() in ("ms", "milliseconds")
        return float(after["number"]) / (1000 if thousandths else 1)
    spoken = _SPOKEN.search(message, 0, _SEARCHED_MESSAGE)
    return read_duration(spoken["wait"]) if spoken else None


def rate_limit_dimension(message: str, text: str = "") -> str | None:
    """Return the limit that a message or the quota ids in the body ``text`` name: RPM, RPD, TPM, TPD, IPM, IPD."""
    if abbreviation := _DIMENSION.search(message, 0, _SEARCHED_MESSAGE):
        return abbreviation.group(1)
    if spelled := _SPELLED.search(message, 0, _SEARCHED_MESSAGE):
        return f"{spelled.group(1)[0]}P{spelled.group(2)[0]}".upper()
    quotas = [f"{unit[0]}P{time[0]}" for unit, time in _QUOTA_ID.findall(text[:_SEARCHED])]
    return max(quotas, key=lambda quota: quota.endswith("D"), default=None)  # a day passes after a minute
