"""Rules on the way an answer came: status, headers, an error's body, a stream or none, how many choices, the model.

Each looks at a case and says what it saw; where it can judge, the table of rules says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from playground.domain.errors import GUESSES, FailureKind
from playground.engine.inspect.lint.case import Case, Seen
from playground.jsonkit.values import JSON
from playground.protocols.error_fields import error_fields
from playground.protocols.error_waits import rate_limit_dimension
from playground.protocols.expected import other_count, other_way

_DOCUMENTED_STATUS: Final = frozenset({200, 400, 401, 402, 403, 404, 429, 500, 503, 504})
_EPOCH: Final = range(1_000_000_000, 100_000_000_000)  # seconds: later than 2001, and not milliseconds
#: What the decoders note where they say why an answer cannot be read.
_SAID: Final = frozenset({"cut_off", "empty", "no_body", "not_json", "not_object", "other_protocol", "stray_text"})
#: What the last part of a model's id may say of it that an answer leaves out or adds.
_VERSION: Final = re.compile(r"(?:[-@:.](?:latest|free|preview|v?\d[\d.\-]*))+$")


def status(case: Case) -> Iterator[Seen]:
    if case.exchange.status not in _DOCUMENTED_STATUS:
        yield Seen(f"the status is {case.exchange.status}, which is not a documented one", None)


def limit_values(case: Case) -> Iterator[Seen]:
    for name in ("X-RateLimit-Limit", "X-RateLimit-Remaining"):
        value = case.exchange.response_header(name)
        if value is not None and not value.strip().isdecimal():
            yield Seen(f"{name} is “{value[:60]}”, not a whole number", None)


def limit_reset(case: Case) -> Iterator[Seen]:
    value = case.exchange.response_header("X-RateLimit-Reset")
    if value is None:
        return
    number = int(value) if value.strip().isdecimal() and len(value) < 20 else 0
    if number not in _EPOCH:
        yield Seen(f"X-RateLimit-Reset is “{value[:60]}”, not a time in Unix seconds", None)


def mended(case: Case, code: str) -> Iterator[Seen]:
    """A body that contradicts its headers."""
    if code in case.exchange.mended:
        yield Seen(case.exchange.mended[code], None)


def no_body(case: Case) -> Iterator[Seen]:
    exchange = case.exchange
    empty = exchange.complete and not exchange.size and not exchange.dropped
    if empty and 200 <= (exchange.status or 0) < 300 and "no_body" not in case.noted:
        yield Seen("the answer has no body", None)


def error_shape(case: Case) -> Iterator[Seen]:
    error = case.error
    if not isinstance(error, dict):
        yield Seen("the error body is empty" if not case.exchange.reads else _not_an_object(error), case.last)
        return
    if case.exchange.protocol and case.expected.is_error(error):
        return
    wrong = []
    if type(error.get("code")) is not int:
        wrong.append("a code that is a whole number")
    if not isinstance(error.get("message"), str):
        wrong.append("a message")
    if "data" not in error or error["data"] is not None:
        wrong.append("data with null")
    if wrong:
        yield Seen(f"the error body lacks {', '.join(wrong[:-1])}{' and ' if wrong[1:] else ''}{wrong[-1]}", case.last)


def _not_an_object(error: JSON) -> str:
    return "the error body is not JSON" if error is None else "the error body is JSON, but not an object"


def error_type(case: Case) -> Iterator[Seen]:
    if isinstance(case.error, dict) and case.media_type != "application/json":
        arrival = f"came as {case.media_type}" if case.media_type else "came without a Content-Type"
        yield Seen(f"the error {arrival}", None)


def dimension(case: Case) -> Iterator[Seen]:
    if case.exchange.status == 429 and not rate_limit_dimension(error_fields(case.error).message):
        yield Seen("the message of the 429 names no limit", case.last)


def not_streamed(case: Case) -> Iterator[Seen]:
    if case.request.stream and not case.streamed and case.index.failure is None and "json_body" not in case.noted:
        yield Seen(other_way(streamed=False)[1], 0)


def streamed(case: Case) -> Iterator[Seen]:
    if case.streamed and not case.request.stream:
        yield Seen(other_way(streamed=True)[1], 0)


def stream_type(case: Case) -> Iterator[Seen]:
    if case.streamed and case.media_type != "text/event-stream" and "content_type" not in case.noted:
        yield Seen(f"the stream came as {case.media_type}" if case.media_type else "the stream has no Content-Type", 0)


def error_inside(case: Case) -> Iterator[Seen]:
    failure = case.index.failure
    if failure is not None and failure.kind is FailureKind.STREAM:
        where = "inside the stream" if case.streamed else "as an answer, with a status that says all is well"
        if case.streamed and case.expected.errors_in_stream and case.is_own_error(case.index.failed_at):
            return
        yield Seen(f"an error came {where}", case.index.failed_at)


def unreadable(case: Case) -> Iterator[Seen]:
    failure, kinds = case.index.failure, GUESSES | {FailureKind.OTHER_PROTOCOL}
    if failure is not None and failure.kind in kinds and case.exchange.complete and not case.noted & _SAID:
        yield Seen(failure.message, case.index.failed_at)


def choices(case: Case) -> Iterator[Seen]:
    """Another number of completions than asked for."""
    expected, received = case.request.count, len(case.choices)
    if received != expected:
        yield Seen(other_count(expected, received)[1], case.last)


def model(case: Case) -> Iterator[Seen]:
    requested, answered = case.request.model, case.index.model
    if requested and answered and not _akin(requested, answered):
        yield Seen(
            f"the answer names the model “{answered[:80]}”; “{requested[:80]}” was asked for", case.index.model_at
        )


def _akin(first: str, second: str) -> bool:
    """Return whether two ids may name one model: they differ only in a vendor prefix or a version suffix."""
    first, second = (_VERSION.sub("", name.lower().rpartition("/")[2]) for name in (first, second))
    return first.startswith(second) or second.startswith(first)
