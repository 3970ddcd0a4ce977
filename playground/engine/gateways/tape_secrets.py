"""Mask secrets in recorded exchanges; all other bytes stay."""

from __future__ import annotations

from collections.abc import Iterator

from playground.domain.errors import Failure
from playground.gateway.redact import Redactor
from playground.gateway.redact_stream import StreamRedactor
from playground.gateway.tape import Exchange, Read
from playground.jsonkit.values import JSON, JSONObject


def redacted_reads(exchange: Exchange, redactor: Redactor) -> Iterator[Read]:
    """Yield the reads of the response body without secrets, also where reads or events cut one."""
    stream = StreamRedactor(redactor)
    for at, data in exchange.reads:
        yield from (Read(*piece) for piece in stream.redact_bytes(data, at))
    yield from (Read(*piece) for piece in stream.close(exchange.reads[-1].at if exchange.reads else 0.0))


def redacted_failure(failure: Failure | None, redactor: Redactor) -> JSON:
    """Return a failure as JSON, without secrets in its texts."""
    if failure is None:
        return None
    members = _redact_members(failure.model_dump(mode="json", exclude_none=True, exclude={"sent"}), redactor)
    if failure.sent is not None:
        members["sent"] = _redact_members(failure.sent.model_dump(mode="json", exclude_defaults=True), redactor)
    return members


def _redact_members(members: JSONObject, redactor: Redactor) -> JSONObject:
    """Return an object without secrets in its texts and in those of nested objects."""
    clean: JSONObject = {}
    for name, item in members.items():
        if isinstance(item, str):
            clean[name] = redactor.text(item)
        else:
            clean[name] = _redact_members(item, redactor) if isinstance(item, dict) else item
    return clean
